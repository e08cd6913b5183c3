"""What is known of each operator: random numbers."""

from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL, UNIFORM, Operator, OperatorClass

FACTS = (
    Operator(UNIFORM, OperatorClass.EXACT, "integer arithmetic on a counter (Philox4x32-10)"),
    Operator(NORMAL, OperatorClass.EXACT, "one correctly rounded function of such integers"),
    Operator(EXPONENTIAL, OperatorClass.EXACT, "one correctly rounded function of such integers"),
)
