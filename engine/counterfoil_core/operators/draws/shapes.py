"""Which type the results have: random numbers."""

from __future__ import annotations

from counterfoil_core.operators.facts import DRAWS
from counterfoil_core.operators.shaping import Arguments, Results, ShapeRule, Typed, require


def _drawn(arguments: Arguments) -> Results:
    drawn = Typed(arguments["dtype"], tuple(arguments["size"]))
    # The program says the dtype, and only the one that is computed in is drawn.
    require(drawn.floating)
    return [drawn]


RULES: dict[str, ShapeRule] = dict.fromkeys(DRAWS, _drawn)
"""By operator."""
