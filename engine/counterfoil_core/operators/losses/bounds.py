"""Error bounds of losses; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import FUNCTION, sum_terms
from counterfoil_core.operators.facts import Bound, Use


def loss(use: Use) -> Sequence[Bound]:
    """Losses: one rounding for each addition, and those of a term."""
    lengths = sums.loss_terms(use.arguments)
    count = sum_terms(use, lengths)
    if use.kind.startswith("nll"):
        # Both the sum of the terms and that of their weights.
        return [Bound(2 * count + FUNCTION + 3), Bound(count)]
    of_a_term = 2 * FUNCTION + 16 if use.kind == "binary_cross_entropy" else 8
    # The scale of a sum counts the terms along the first axis only.
    rows = max(lengths[0] if lengths else 1, 1)
    factor = max(1.0, math.prod(lengths) / rows) if use.arguments["reduction"] == 2 else 1.0
    return [Bound(count + of_a_term + FUNCTION, 1.0 if use.kind == "binary_cross_entropy" else factor)]


def longest(use: Use) -> float:
    """Return how many terms are reduced."""
    return math.prod(sums.loss_terms(use.arguments)) if use.arguments["reduction"] else 0
