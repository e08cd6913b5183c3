"""What is known of draws: types and classes."""

from __future__ import annotations

from counterfoil_core.operators.facts import DRAWS, EXPONENTIAL, NORMAL, UNIFORM, Operator, OperatorClass
from counterfoil_core.operators.shaperules import Arguments, Results, ShapeRule, Typed, require


def _drawn(arguments: Arguments) -> Results:
    drawn = Typed(arguments["dtype"], tuple(arguments["size"]))
    # The program says the dtype, and only the one that is computed in is drawn.
    require(drawn.floating)
    return [drawn]


RULES: dict[str, ShapeRule] = dict.fromkeys(DRAWS, _drawn)
"""By operator."""


FACTS = (
    Operator(UNIFORM, OperatorClass.EXACT, "integer arithmetic on a counter (Philox4x32-10)"),
    Operator(NORMAL, OperatorClass.EXACT, "one correctly rounded function of such integers"),
    Operator(EXPONENTIAL, OperatorClass.EXACT, "one correctly rounded function of such integers"),
)
