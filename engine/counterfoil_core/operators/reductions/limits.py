"""How many terms a sum over axes adds: single operations of the exact profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.sums import Arguments, reduced_lengths


def _terms(arguments: Arguments) -> tuple[int]:
    return (math.prod(reduced_lengths(arguments)),)


LIMITS: Mapping[str, Limited] = dict.fromkeys(("sum", "cumsum"), Limited(terms=_terms))
"""By operator kind."""
