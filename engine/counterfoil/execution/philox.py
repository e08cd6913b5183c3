"""Philox4x32-10, the counter-based generator of Salmon et al. (SC 2011; Random123), in integers on any device.

A draw is keyed by the order's seed (the 64-bit key) and by step and draw number (the upper half of the 128-bit
counter); the lower half counts blocks of four numbers. No state, no order of calls: every element is a pure function
of (seed, step, draw, index), the same bits everywhere.
"""

from __future__ import annotations

import torch
from torch import Tensor

_MASK = 0xFFFFFFFF
_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10

Word = Tensor | int


def _mul(a: int, b: Word) -> tuple[Word, Word]:
    # int64 wraps, which keeps the low 64 bits right; the mask removes the sign bits that the shift copies.
    product = b * a
    return (product >> 32) & _MASK, product & _MASK


def philox4x32(counter: tuple[Word, Word, Word, Word], key: tuple[int, int]) -> tuple[Word, Word, Word, Word]:
    """Apply ten rounds to a counter.

    Args:
        counter: Four 32-bit words, each an integer or an int64 tensor.
        key: Two 32-bit words.

    Returns:
        Four 32-bit words of the same kind.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        high0, low0 = _mul(_M0, c0)
        high1, low1 = _mul(_M1, c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + _W0) & _MASK, (k1 + _W1) & _MASK
    return c0, c1, c2, c3


def uniform(
    shape: tuple[int, ...], *, seed: int, step: int, draw: int, dtype: torch.dtype, device: torch.device | str
) -> Tensor:
    """Draw numbers in [0, 1), each a multiple of 2^-24 so that float32 holds it.

    Args:
        shape: Shape of the result.
        seed: The order's seed, 0 to 2^64 - 1.
        step: Step number, 0 to 2^32 - 1.
        draw: Number of the draw within the step, 0 to 2^32 - 1.
        dtype: Floating dtype of the result.
        device: Device of the result.
    """
    count = 1
    for length in shape:
        count *= length
    blocks = torch.arange(-(-count // 4), dtype=torch.int64, device=device)
    counter: tuple[Word, Word, Word, Word] = (blocks & _MASK, blocks >> 32, step & _MASK, draw & _MASK)
    words = philox4x32(counter, (seed & _MASK, seed >> 32))
    stacked = torch.stack([word for word in words if isinstance(word, Tensor)], dim=1).flatten()[:count]
    return ((stacked >> 8).to(dtype) * 2.0**-24).reshape(shape)
