"""Composite operators as single operations: what a capture for an exact profile puts in their place.

Each function is a row of the table "Composite operators" in ``docs/numerics.md``, operation by operation: association
and order are the definition, since each operation rounds. The program of an order holds the result, so this table, and
what a library makes of a composite operator, may change later without touching any order.

Numbers stay numbers in a program, as Python has them; whoever computes takes the nearest float32 value first. Where
a row names a number that follows from others, such as 1 / p, it is worked out in float64 here.

No operation may give infinity or no number where the composite operator gives a number, not even where
a ``where`` drops it: a step ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from counterfoil.program.composites import activations, losses, norms, pooling, products, reductions, softmax, terms

COMPOSITES: Mapping[Any, Callable[..., Any]] = {
    **terms.TABLE,
    **products.TABLE,
    **reductions.TABLE,
    **softmax.TABLE,
    **norms.TABLE,
    **activations.TABLE,
    **losses.TABLE,
    **pooling.TABLE,
}
"""Single operations for each composite operator, in the form that ``make_fx`` takes; ``NotImplemented`` where a use is
a single operation itself, or computes integers."""
MUTATING: Mapping[Any, Callable[..., Any]] = norms.MUTATING
"""Those that change an argument: they belong into a pass before mutations are removed."""
