"""How many products a product of matrices adds: single operations of the exact profiles."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil_core.operators import sums
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.sums import Arguments


def _inner(arguments: Arguments) -> tuple[int]:
    return (sums.inner_length(arguments),)


LIMITS: Mapping[str, Limited] = dict.fromkeys(("mm", "bmm", "mv", "dot"), Limited(products=_inner))
"""By operator kind."""
