"""Whether this machine drew what seed, step and place define, before a trainer is accused of other random numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil.operators.judging.draws import drawn_element
from counterfoil.operators.node import Node

_MOST_ELEMENTS = 1024
"""Elements that are drawn again: a quarter of a second."""


def is_as_defined(node: Node, own: npt.NDArray[np.float64], seed: int, step: int) -> bool:
    """Compare elements of a draw with what integers and 256 bits make of them.

    Args:
        node: The random operator.
        own: float64 ``[n]``: what this machine drew there.
        seed: The order's seed.
        step: The step.
    """
    draw = node.args[1]
    assert isinstance(draw, int)
    indices = np.unique(np.linspace(0, max(len(own) - 1, 0), min(len(own), _MOST_ELEMENTS)).astype(np.int64))
    return all(
        own[index] == drawn_element(node.operator, int(index), seed=seed, step=step, draw=draw) for index in indices
    )
