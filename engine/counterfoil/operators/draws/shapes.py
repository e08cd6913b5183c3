"""Which type the results have: random numbers."""

from __future__ import annotations

from counterfoil.operators.facts import DRAWS
from counterfoil.operators.shaping import Arguments, Results, ShapeRule, Typed


def _drawn(arguments: Arguments) -> Results:
    return [Typed(arguments["dtype"], tuple(arguments["size"]))]


RULES: dict[str, ShapeRule] = dict.fromkeys(DRAWS, _drawn)
"""By operator."""
