"""Error bounds of sums over repeated indices; docs/numerics.md derives each."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.facts import Bound, BoundRule, Use


def meeting(extra: int) -> BoundRule:
    """Sums over repeated indices: what can meet, in groups and groups of them, and what was there."""

    def rule(use: Use) -> Sequence[Bound]:
        met = sums.meeting(use.kind, use.arguments)
        return [Bound((sums.in_parts(met, sums.block_length(met)) if use.own_form else met) + extra)]

    return rule


def longest(use: Use) -> float:
    """Return how many terms can meet in one element; 0 where a mask among the indices tells that by its values."""
    indices = use.arguments.get("indices")
    if use.kind == "index_put" and (
        not isinstance(indices, (list, tuple))
        or any(index is not None and not str(index.dtype).endswith(("int64", "int32")) for index in indices)
    ):
        return 0.0
    return sums.meeting(use.kind, use.arguments)
