"""Arithmetic whose results are defined by mathematics: the operations of the exact profiles.

Any machine that conforms to IEEE 754 gives the same bits, whatever its order of operations, its library and the form
that it computes in: products and sums are exact until their one rounding, elementwise operations are IEEE 754's, and
functions are correctly rounded. ``docs/numerics.md``, "Exact profiles", defines each, and ``docs/proofs.md`` proves it.

Not :mod:`counterfoil_core.operators.judge`, the rational reference that single elements are judged by and that knows no
tensor operation.
"""
