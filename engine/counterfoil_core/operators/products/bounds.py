"""Error bounds of products of matrices and vectors; docs/numerics.md derives each."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.facts import Bound, Use


def product(use: Use) -> Sequence[Bound]:
    """Matrix products: the inner length; three more for alpha, beta and what is added."""
    n = sums.inner_length(use.arguments)
    return [Bound((sums.in_parts(n, sums.part_length(n)) if use.own_form else n) + 3)]


def longest(use: Use) -> float:
    """Return the inner length."""
    return sums.inner_length(use.arguments)
