"""Results whose every element is one of the input, or a fill."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import Call, Element, Judge
from counterfoil_core.operators.judging.ieee import convert_element

Move = Callable[[Call], Array]
"""Returns the whole result, as an array of the shape of the output."""


def whole(judge: Judge, *kinds: str) -> Callable[[Move], Move]:
    """Register the definition of operator kinds, given as what makes the whole result."""

    def register(move: Move) -> Move:
        def rule(call: Call) -> Element:
            flat = np.asarray(move(call)).reshape(-1)
            if flat.dtype.name == call.dtype:
                return lambda index: flat[index].item()
            return lambda index: convert_element(flat[index].item(), call.dtype)

        judge.definition(*kinds)(rule)
        return move

    return register
