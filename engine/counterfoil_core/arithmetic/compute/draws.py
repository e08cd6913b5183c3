"""The random operators of a program: pure functions of seed, step, number of the draw and index.

``docs/numerics.md``, "Randomness", defines each element. A draw is the same in every profile: its elements are float32
numbers, which every compute dtype holds.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.base.cancel import check_cancelled
from counterfoil_core.kernels.exact import draws
from counterfoil_core.kernels.exact.philox import uniform, words
from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL, UNIFORM

_PIECE = 1 << 14
"""Blocks of four numbers that are computed at once: what float64 takes stays small."""


def draw_numbers(
    operator: str, shape: tuple[int, ...], *, seed: int, step: int, draw: int, dtype: torch.dtype,
    device: torch.device | str,
) -> Tensor:  # fmt: skip
    """Draw the numbers of a random operator.

    Args:
        operator: One of the random operators.
        shape: Shape of the result.
        seed: The order's seed, 0 to 2^64 - 1.
        step: Step number, 0 to 2^32 - 1.
        draw: Number of the draw within the step, 0 to 2^32 - 1.
        dtype: Floating dtype of the result.
        device: Device of the result.

    Raises:
        CancelledError: The token that is looked at was cancelled.
    """
    key: dict[str, Any] = {"seed": seed, "step": step, "draw": draw, "device": device}
    if operator == UNIFORM:
        return uniform(shape, dtype=dtype, **key)
    function = {NORMAL: draws.normal, EXPONENTIAL: draws.exponential}[operator]
    count = math.prod(shape)
    blocks = range(-(-count // 4))
    result = torch.empty(4 * len(blocks), dtype=dtype, device=device)
    for start in blocks[::_PIECE]:
        check_cancelled()
        piece = blocks[start : start + _PIECE]
        result[4 * piece.start : 4 * piece.stop] = function(words(piece, **key))
    return result[:count].reshape(shape)
