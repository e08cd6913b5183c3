"""What works on each element alone, by its operands at one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from counterfoil_core.operators.judging.forms import FUNCTION_COST, Call, ExactOutput, Judge
from counterfoil_core.operators.judging.numbers import Number, number


class At:
    """The arguments of an elementwise operator at one element of its output."""

    def __init__(self, call: Call, index: int) -> None:
        self.call = call
        self.place = call.place(index)

    def __call__(self, name: str) -> Number:
        """A tensor's element, with broadcasting, or a number."""
        value = self.call[name]
        if isinstance(value, np.ndarray):
            return number(np.broadcast_to(value, self.call.shape)[self.place])
        return number(value)

    def raw(self, name: str) -> float:
        """The same as the float that it is: a signed zero keeps its sign."""
        value = self.call[name]
        if isinstance(value, np.ndarray):
            return float(np.broadcast_to(value, self.call.shape)[self.place])
        return float(value)

    def computed(self, value: float) -> Any:
        """A number as the compute dtype holds it: arithmetic with it rounds as every back end's does."""
        dtype: np.dtype[Any] = self.call["self"].dtype
        return dtype.type(value)

    def half(self, name: str, shift: int) -> Number:
        """An element of the first (0) or the second (1) half, along ``dim``, of a tensor that is cut in two."""
        value = self.call[name]
        axis = self.call["dim"] % value.ndim
        place = list(self.place)
        middle = value.shape[axis] // 2
        place[axis] = place[axis] % middle + shift * middle
        return number(value[tuple(place)])


Function = Callable[[At], Number]


def elementwise(judge: Judge, *kinds: str) -> Callable[[Function], Function]:
    """Register the exact form of operator kinds, given as a function of the operands at one place."""

    def register(function: Function) -> Function:
        judge.exact_form(*kinds)(lambda call: ExactOutput(lambda index: function(At(call, index)), FUNCTION_COST))
        return function

    return register
