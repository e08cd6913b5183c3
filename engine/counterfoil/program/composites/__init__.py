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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.program.composites import activations, losses, norms, pooling, products, reductions, softmax, terms


def _view(x: Tensor, size: Sequence[int]) -> Any:
    """What a library lays out in C order may lie otherwise when single operations made it: then it is copied first.

    Layout is no part of a value, and a program's ``view`` gives the elements in C order another shape.
    """
    with _disable_current_modes():
        try:
            torch.empty_strided(tuple(x.shape), x.stride(), device="meta").view(tuple(size))
        except RuntimeError:
            laid_out = False
        else:
            laid_out = True
    return NotImplemented if laid_out else x.contiguous().view(tuple(size))


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
LAID_OUT: Mapping[Any, Callable[..., Any]] = {torch.ops.aten.view.default: _view}
"""What reads the elements of a tensor in C order, for those that single operations lay out otherwise."""
