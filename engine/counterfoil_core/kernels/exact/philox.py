"""Philox4x32-10, the counter-based generator of Salmon et al. (SC 2011; Random123), in integers on any device.

A draw is keyed by the order's seed (the 64-bit key) and by step and draw number (the upper half of the 128-bit
counter); the lower half counts blocks of four numbers. No state, no order of calls: every element is a pure function
of (seed, step, draw, index), the same bits everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cache import kernel

_MASK = 0xFFFFFFFF
_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
DIGITS = 24
"""Bits of a number that is drawn from [0, 1): float32 holds it."""

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


def words(blocks: range, *, seed: int, step: int, draw: int, device: torch.device | str, upper: int = 32) -> Tensor:
    """Return the words of some blocks of a draw.

    Args:
        blocks: Numbers of the blocks, in steps of one.
        seed: The order's seed, 0 to 2^64 - 1.
        step: Step number, 0 to 2^32 - 1.
        draw: Number of the draw within the step, 0 to 2^32 - 1.
        device: Device of the result.
        upper: How many of a word's upper bits are wanted, 31 at most for int32.

    Returns:
        Integers ``[4 * blocks]`` in 0 to 2^upper - 1: int32 on the CPU where it holds them, else int64.
    """
    if devices.loops_reach(torch.device(device)):
        filled = _fill(blocks.start, len(blocks), 32 - upper, seed & _MASK, seed >> 32, step & _MASK, draw & _MASK)
        return torch.from_numpy(filled.view(np.int32) if upper < 32 else filled.astype(np.int64))
    if devices.triton_reaches(torch.device(device)):
        from counterfoil_core.kernels.cuda import philox

        key = seed & _MASK, seed >> 32
        return philox.words(blocks, key, step & _MASK, draw & _MASK, torch.device(device), 32 - upper)
    return words_by_torch(blocks, seed=seed, step=step, draw=draw, device=device) >> (32 - upper)


def words_by_torch(blocks: range, *, seed: int, step: int, draw: int, device: torch.device | str) -> Tensor:
    """The same, all bits of each word, with torch's operators: int64."""
    numbers = torch.arange(blocks.start, blocks.stop, dtype=torch.int64, device=device)
    counter: tuple[Word, Word, Word, Word] = (numbers & _MASK, numbers >> 32, step & _MASK, draw & _MASK)
    found = philox4x32(counter, (seed & _MASK, seed >> 32))
    return torch.stack([word for word in found if isinstance(word, Tensor)], dim=1).flatten()


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
    count = math.prod(shape)
    integers = words(range(-(-count // 4)), seed=seed, step=step, draw=draw, device=device, upper=DIGITS)[:count]
    return (integers.to(dtype) * 2.0**-DIGITS).reshape(shape)


@kernel(nogil=True)
def _fill(first: int, blocks: int, shift: int, key0: int, key1: int, step: int, draw: int) -> Any:
    """The same compiled for the CPU: uint32 ``[4 * blocks]``, each word without its lowest ``shift`` bits."""
    mask = np.uint64(_MASK)
    s32 = np.uint64(32)
    cut = np.uint64(shift)
    out = np.empty(4 * blocks, np.uint32)
    for block in range(blocks):
        number = np.uint64(first + block)
        c0, c1 = number & mask, number >> s32
        c2, c3 = np.uint64(step), np.uint64(draw)
        k0, k1 = np.uint64(key0), np.uint64(key1)
        for _ in range(_ROUNDS):
            p0, p1 = np.uint64(_M0) * c0, np.uint64(_M1) * c2
            c0, c1, c2, c3 = (p1 >> s32) ^ c1 ^ k0, p1 & mask, (p0 >> s32) ^ c3 ^ k1, p0 & mask
            k0, k1 = (k0 + np.uint64(_W0)) & mask, (k1 + np.uint64(_W1)) & mask
        out[4 * block] = c0 >> cut
        out[4 * block + 1] = c1 >> cut
        out[4 * block + 2] = c2 >> cut
        out[4 * block + 3] = c3 >> cut
    return out
