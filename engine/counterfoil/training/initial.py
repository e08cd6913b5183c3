"""Initial weights that come out the same on every machine.

torch's own initialisers draw from its generators, whose numbers differ between instruction sets. These draw from
Philox and use operations that are exact or correctly rounded.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from counterfoil_core.kernels.cpu.philox import DIGITS, uniform, words

_STEP = 0
"""Random draws of training begin at step 1; initial weights are drawn as step 0."""
_TERMS = 12
_BLOCKS_AT_ONCE = 2**15
"""Blocks of four numbers that are added while they lie in the cache."""


def _draw(shape: tuple[int, ...], seed: int, draw: int) -> Tensor:
    return uniform(shape, seed=seed, step=_STEP, draw=draw, dtype=torch.float64, device="cpu")


def fan_in_uniform(model: nn.Module, seed: int) -> None:
    """Fill weights of two or more axes uniformly in +-sqrt(3 / fan_in) times 1/sqrt(3), biases likewise with theirs.

    The distribution of torch's linear and convolution layers (LeCun et al. 1998). Norm layers keep ones and zeros.
    """
    draw = 0
    with torch.no_grad():
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if not isinstance(weight, Tensor) or weight.dim() < 2:
                continue
            bound = 1.0 / math.sqrt(weight[0].numel())
            for tensor in (weight, getattr(module, "bias", None)):
                if isinstance(tensor, Tensor):
                    tensor.copy_((_draw(tuple(tensor.shape), seed, draw) * 2.0 - 1.0) * bound)
                    draw += 1


def nearly_normal(shape: tuple[int, ...], deviation: float, seed: int, draw: int) -> Tensor:
    """Draw nearly normal numbers: the sum of twelve uniform ones, less six (Irwin-Hall), times ``deviation``.

    Unlike Box-Muller it needs no logarithm or cosine, so every machine gives the same bits.

    Args:
        shape: Shape of the tensor.
        deviation: Its standard deviation.
        seed: Key of the generator, Philox4x32-10 (Salmon et al. 2011).
        draw: Which tensor of this seed it is, from 0.

    Returns:
        float32 of this shape.
    """
    result = torch.empty(math.prod(shape), dtype=torch.float32)
    for first in range(0, len(result), 4 * _BLOCKS_AT_ONCE):
        piece = result[first : first + 4 * _BLOCKS_AT_ONCE]
        blocks = range(first // 4, -(-(first + len(piece)) // 4))
        # Sums of integers, and of multiples of 2^-24 in float64, are exact, and so are the same.
        total = torch.zeros(4 * len(blocks), dtype=torch.int32)
        for term in range(_TERMS):
            total += words(blocks, seed=seed, step=_STEP, draw=draw * _TERMS + term, device="cpu", upper=DIGITS)
        drawn = total[: len(piece)].double().mul_(2.0**-DIGITS).sub_(_TERMS / 2)
        piece.copy_(drawn.mul_(deviation))
    return result.reshape(shape)


def he_uniform(model: nn.Module, seed: int) -> None:
    """Fill weights of two or more axes uniformly with variance 2 / fan_in, and their biases with zero.

    For networks of rectified linear units, whose signal keeps its size through any number of layers (He et al. 2015,
    "Delving deep into rectifiers", section 2.2). Norm layers keep ones and zeros.
    """
    draw = 0
    with torch.no_grad():
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if not isinstance(weight, Tensor) or weight.dim() < 2:
                continue
            bound = math.sqrt(6.0 / weight[0].numel())
            weight.copy_(_draw(tuple(weight.shape), seed, draw).mul_(2.0).sub_(1.0).mul_(bound))
            draw += 1
            bias = getattr(module, "bias", None)
            if isinstance(bias, Tensor):
                bias.zero_()
