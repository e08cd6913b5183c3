"""Arithmetic whose results are defined by mathematics: the operations of the exact profiles.

Any machine that conforms to IEEE 754 gives the same bits, whatever its order of operations, its library and the form
that it computes in: products and sums are exact until their one rounding, elementwise operations are IEEE 754's, and
functions are correctly rounded. ``docs/numerics.md``, "Exact profiles", defines each and proves it.

Not :mod:`counterfoil.exact`, the rational reference that single elements are judged by and that knows no tensor
operation, nor :mod:`counterfoil.execution.defined`, which is about operators that round nothing.
"""

from counterfoil.definite import convolutions, elementwise, forms, functions, limits, operators, products, sums
from counterfoil.definite.products import Form, Scope
from counterfoil.definite.quantise import Quantised, quantise

__all__ = [
    "Form",
    "Quantised",
    "Scope",
    "convolutions",
    "elementwise",
    "forms",
    "functions",
    "limits",
    "operators",
    "products",
    "quantise",
    "sums",
]
