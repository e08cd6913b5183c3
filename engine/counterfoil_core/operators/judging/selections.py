"""Which of several elements is the largest or the smallest, and what a zero becomes then."""

from __future__ import annotations

from counterfoil_core.operators.judging.ieee import Value


def first_extreme(values: list[Value], sign: int) -> int:
    """Position of the first largest (1) or smallest (-1); the first that is no number comes before all."""
    best = 0
    for position, value in enumerate(values):
        if value != value:
            return position
        if (value > values[best]) if sign > 0 else (value < values[best]):
            best = position
    return best


def plus_zero(value: Value) -> Value:
    """The same, a zero as +0."""
    return value + 0.0 if isinstance(value, float) else value
