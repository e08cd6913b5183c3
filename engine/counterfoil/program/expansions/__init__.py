"""Operators that capture puts together from others, under every profile: distances, bags, sampled grids and their like.

Each function says in operators of the allow-list what PyTorch's documentation says of the operator; gradients are the
derivatives that PyTorch gives, with the same values where there is none. So class, scale, bound, exact form and
imitation are those of the parts. ``docs/numerics.md``, "Put together at capture", has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from counterfoil.program.expansions import bags, distances, grids, losses, norms, terms

EXPANSIONS: Mapping[Any, Callable[..., Any]] = {
    **bags.TABLE,
    **distances.TABLE,
    **grids.TABLE,
    **losses.TABLE,
    **norms.TABLE,
    **terms.TABLE,
}
"""What takes the place of an operator while a step is traced, in the form that ``make_fx`` takes."""
WRITING: Mapping[Any, Callable[..., Any]] = {**norms.WRITING, **terms.WRITING}
"""The same for operators that write, when mutations have been removed."""
