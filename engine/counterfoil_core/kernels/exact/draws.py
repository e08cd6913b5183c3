"""Normal and exponential random numbers, made of random integers: the correctly rounded float32 of the true value.

A word w of 32 bits stands for the number (w + 1/2) / 2^32, which is neither 0 nor 1. As for functions, the library's
float64 decides wherever its error cannot, and exact arithmetic elsewhere. No value is zero, or a midpoint of two
float32 numbers: the logarithm of a rational number other than 1 times an algebraic one other than 0 is transcendental.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from counterfoil_core.kernels.exact.bracket import bracketed
from counterfoil_core.kernels.exact.truth import CONTEXT, Number, rounded_between

ERROR = 2.0**-46
"""Largest relative error of these float64 values that is allowed for, as for functions."""
WORDS = 2**32
_QUARTER = 2**31
"""A quarter of a turn, in units of 2^-33 turns."""


def exponential(words: Tensor) -> Tensor:
    """Return ``-log((w + 1/2) / 2^32)`` of each word.

    Args:
        words: int64 ``[n]``: 0 to 2^32 - 1.

    Returns:
        float32 ``[n]``.
    """
    result, doubtful = bracketed(-torch.log(_between_0_and_1(words)), ERROR)
    for index in doubtful.tolist():
        result[index] = exponential_of(int(words[index]))
    return result


def normal(words: Tensor) -> Tensor:
    """Return Box and Muller's two numbers of each two words.

    Args:
        words: int64 ``[2 * n]``: 0 to 2^32 - 1.

    Returns:
        float32 ``[2 * n]``: of the words v and w ``r cos(t)`` and ``r sin(t)``, with
        ``r = sqrt(-2 log((v + 1/2) / 2^32))`` and ``t = 2 pi (w + 1/2) / 2^32``.
    """
    result, doubtful = bracketed(approximate_normal(words), ERROR)
    for index in doubtful.tolist():
        first = index // 2 * 2
        result[index] = normal_of(int(words[first]), int(words[first + 1]), sine=index % 2 == 1)
    return result


def approximate_normal(words: Tensor) -> Tensor:
    """Return the float64 values of :func:`normal`, off by less than ERROR relatively."""
    pairs = words.view(-1, 2)
    radius = torch.sqrt(-2.0 * torch.log(_between_0_and_1(pairs[:, 0])))
    # The angle is odd in units of 2^-33 turns. Sines of what is left of a quarter, on either side, do not cancel.
    odd = pairs[:, 1] * 2 + 1
    quarter, left = odd // _QUARTER, (odd % _QUARTER).to(torch.float64)
    unit = math.pi / WORDS
    sine, cosine = torch.sin(left * unit), torch.sin((_QUARTER - left) * unit)
    turned = quarter % 2 == 1
    along = torch.where(turned, sine, cosine)
    across = torch.where(turned, cosine, sine)
    along = torch.where((quarter == 1) | (quarter == 2), -along, along)
    across = torch.where(quarter >= 2, -across, across)
    return torch.stack((radius * along, radius * across), 1).flatten()


def _between_0_and_1(words: Tensor) -> Tensor:
    """``(w + 1/2) / 2^32``, which float64 holds."""
    return (words.to(torch.float64) + 0.5) / WORDS


# Single elements, decided by mpmath.


def exponential_of(word: int) -> float:
    """Return the element of :func:`exponential` for one word."""
    return _certain(-_log_of(word))


def normal_of(first: int, second: int, *, sine: bool) -> float:
    """Return one of the two elements of :func:`normal` for two words."""
    angle = CONTEXT.pi * (2 * second + 1) / WORDS
    return _certain(CONTEXT.sqrt(-2 * _log_of(first)) * (CONTEXT.sin(angle) if sine else CONTEXT.cos(angle)))


def _log_of(word: int) -> Number:
    return CONTEXT.log(CONTEXT.mpf(2 * word + 1) / (2 * WORDS))


def _certain(value: Number) -> float:
    low, high = rounded_between(value)
    assert low == high, "no random number is a midpoint of two float32 numbers"
    return low
