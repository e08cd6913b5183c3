"""Philox4x32-10 in Triton, for CUDA: a draw is one launch, and is written once.

The generator is that of :mod:`counterfoil_core.kernels.exact.philox`, whose words these are.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.kernels.devices import device_of

SIZE = 512
"""Blocks of four words of a program."""

_M0, _M1 = tl.constexpr(0xD2511F53), tl.constexpr(0xCD9E8D57)
_W0, _W1 = tl.constexpr(0x9E3779B9), tl.constexpr(0xBB67AE85)
_ROUNDS = tl.constexpr(10)


@triton.jit
def _fill(
    out: tl.tensor,
    start: tl.tensor,
    blocks: tl.tensor,
    key0: tl.tensor,
    key1: tl.tensor,
    step: tl.tensor,
    draw: tl.tensor,
    shift: tl.constexpr,
    size: tl.constexpr,
) -> None:
    """Write the words of some blocks, each without its lowest ``shift`` bits, as int64."""
    none = tl.full((size,), 0, tl.int64)
    place = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size)
    number = place + start
    c0, c1 = number.to(tl.uint32), (number >> 32).to(tl.uint32)
    c2, c3 = (none + step).to(tl.uint32), (none + draw).to(tl.uint32)
    k0, k1 = (none + key0).to(tl.uint32), (none + key1).to(tl.uint32)
    m0, m1 = (none + _M0).to(tl.uint32), (none + _M1).to(tl.uint32)
    w0, w1 = (none + _W0).to(tl.uint32), (none + _W1).to(tl.uint32)
    for _ in tl.static_range(_ROUNDS):
        high0, high1 = tl.umulhi(m0, c0), tl.umulhi(m1, c2)
        low0, low1 = m0 * c0, m1 * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + w0, k1 + w1
    inside = place < blocks
    tl.store(out + 4 * place, (c0 >> shift).to(tl.int64), mask=inside)
    tl.store(out + 4 * place + 1, (c1 >> shift).to(tl.int64), mask=inside)
    tl.store(out + 4 * place + 2, (c2 >> shift).to(tl.int64), mask=inside)
    tl.store(out + 4 * place + 3, (c3 >> shift).to(tl.int64), mask=inside)


def words(blocks: range, key: tuple[int, int], step: int, draw: int, device: torch.device, shift: int) -> Tensor:
    """Return the words of some blocks of a draw.

    Args:
        blocks: Numbers of the blocks, in steps of one.
        key: Both words of the key.
        step: Step number, 0 to 2^32 - 1.
        draw: Number of the draw within the step, 0 to 2^32 - 1.
        device: Where the result lies.
        shift: How many of a word's lower bits are left out.

    Returns:
        int64 ``[4 * blocks]``, in 0 to 2^(32 - shift) - 1.
    """
    out = torch.empty(4 * len(blocks), dtype=torch.int64, device=device)
    if len(blocks):
        with device_of(out):
            _fill[(-(-len(blocks) // SIZE),)](
                out, blocks.start, len(blocks), *key, step, draw, shift=shift, size=SIZE, num_warps=4,
                enable_fp_fusion=False,
            )  # fmt: skip
    return out
