"""Error bounds of gradients of paddings and of windows; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.facts import Bound, Use


def padding(use: Use) -> Sequence[Bound]:
    """Gradients of padding: the places that an element was copied to."""
    pairs = list(use.arguments["padding"])
    by_axis = [sum(pairs[i : i + 2]) for i in range(0, len(pairs), 2)]
    return [Bound(math.prod(3 if use.kind.startswith("reflection") else 1 + max(n, 0) for n in by_axis))]


def overlapping(use: Use) -> Sequence[Bound]:
    """Windows put back: as many as lie over one element."""
    if use.kind == "unfold_backward":
        return [Bound(sums.covering(use.arguments["size"], use.arguments["step"], 1))]
    return [Bound(math.prod(sums.spatial(use.arguments["kernel_size"], 2)))]
