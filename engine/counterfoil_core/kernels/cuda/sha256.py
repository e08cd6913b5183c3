"""SHA-256 of many chunks at once on a CUDA device, in Triton: each lane hashes one chunk, word by word.

FIPS 180-4. A chunk is preceded by the byte that RFC 9162 puts before a Merkle leaf, so its words straddle those of the
tensor: each is made of two neighbours. All arithmetic is that of 32-bit unsigned integers, which is exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray
from torch import Tensor

from counterfoil_core.kernels.devices import device_of

_LANES = 32
"""Chunks of one program: a warp. Few, since a state has few chunks beside the threads of a device."""
_OPTIONS = {"num_warps": 1, "num_stages": 1, "enable_fp_fusion": False}
"""One stage: a lane reads again what it has just written, which nothing may be fetched ahead of."""

_ROUND_CONSTANTS = (
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
)  # fmt: skip


@triton.jit
def _turned(x: tl.tensor, by: tl.constexpr) -> tl.tensor:
    return (x >> by) | (x << (32 - by))


@triton.jit
def _byte(data: tl.tensor, length: tl.tensor, place: tl.tensor) -> tl.tensor:
    # The padded message of a chunk: its prefix, a zero byte; its bytes; 0x80; zeros. The length follows elsewhere.
    inside = (place >= 1) & (place <= length)
    byte = tl.load(data + (place - 1), mask=inside, other=0).to(tl.uint32)
    return tl.where(place == length + 1, 128, byte).to(tl.uint32)


@triton.jit
def _leaves(
    starts: tl.tensor,
    lengths: tl.tensor,
    count: tl.tensor,
    blocks: tl.tensor,
    constants: tl.tensor,
    schedule: tl.tensor,
    out: tl.tensor,
    lanes: tl.constexpr,
) -> None:
    """Hash chunks by their addresses, the longest of ``blocks`` blocks; each lane has room for 64 words of its own."""
    number = tl.program_id(0).to(tl.int64) * lanes + tl.arange(0, lanes).to(tl.int64)
    inside = number < count
    data = tl.load(starts + number, mask=inside, other=0).to(tl.pointer_type(tl.uint8))
    length = tl.load(lengths + number, mask=inside, other=0)
    # Prefix, bytes, 0x80 and eight bytes of length.
    last = (1 + length + 8) // 64
    bits = ((length + 1) * 8).to(tl.uint32)
    zero = bits & 0
    h0 = zero + 0x6A09E667
    h1 = zero + 0xBB67AE85
    h2 = zero + 0x3C6EF372
    h3 = zero + 0xA54FF53A
    h4 = zero + 0x510E527F
    h5 = zero + 0x9B05688C
    h6 = zero + 0x1F83D9AB
    h7 = zero + 0x5BE0CD19
    words = schedule + number * 64
    for block in range(0, blocks):
        for t in range(0, 16):
            place = length * 0 + block * 64 + 4 * t
            word = _byte(data, length, place) << 24
            word = word | (_byte(data, length, place + 1) << 16)
            word = word | (_byte(data, length, place + 2) << 8)
            word = word | _byte(data, length, place + 3)
            # The length's upper word is zero, as what is beyond the bytes is.
            ends = tl.where(t == 15, last, -1)
            word = tl.where(ends == block, bits, word)
            tl.store(words + t, word.to(tl.int32, bitcast=True))
        for t in range(16, 64):
            early = tl.load(words + (t - 15)).to(tl.uint32, bitcast=True)
            late = tl.load(words + (t - 2)).to(tl.uint32, bitcast=True)
            word = tl.load(words + (t - 16)).to(tl.uint32, bitcast=True)
            word = word + tl.load(words + (t - 7)).to(tl.uint32, bitcast=True)
            word = word + (_turned(early, 7) ^ _turned(early, 18) ^ (early >> 3))
            word = word + (_turned(late, 17) ^ _turned(late, 19) ^ (late >> 10))
            tl.store(words + t, word.to(tl.int32, bitcast=True))
        a, b, c, d, e, f, g, h = h0, h1, h2, h3, h4, h5, h6, h7
        for t in range(0, 64):
            word = tl.load(words + t).to(tl.uint32, bitcast=True)
            first = h + (_turned(e, 6) ^ _turned(e, 11) ^ _turned(e, 25)) + (g ^ (e & (f ^ g)))
            first = first + tl.load(constants + t).to(tl.uint32, bitcast=True) + word
            second = (_turned(a, 2) ^ _turned(a, 13) ^ _turned(a, 22)) + ((a & b) | (c & (a | b)))
            h = g
            g = f
            f = e
            e = d + first
            d = c
            c = b
            b = a
            a = first + second
        # Chunks end at different blocks.
        more = block <= last
        h0 = tl.where(more, h0 + a, h0)
        h1 = tl.where(more, h1 + b, h1)
        h2 = tl.where(more, h2 + c, h2)
        h3 = tl.where(more, h3 + d, h3)
        h4 = tl.where(more, h4 + e, h4)
        h5 = tl.where(more, h5 + f, h5)
        h6 = tl.where(more, h6 + g, h6)
        h7 = tl.where(more, h7 + h, h7)
    target = out + number * 8
    tl.store(target, h0.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 1, h1.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 2, h2.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 3, h3.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 4, h4.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 5, h5.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 6, h6.to(tl.int32, bitcast=True), mask=inside)
    tl.store(target + 7, h7.to(tl.int32, bitcast=True), mask=inside)


def leaf_hashes(tensors: Sequence[Tensor], chunk_bytes: int) -> list[NDArray[np.uint8]]:
    """Return the Merkle leaf hash of each chunk of the bytes of some tensors, all in one launch.

    Args:
        tensors: On one device, contiguous, of any shape and dtype.
        chunk_bytes: Length of a chunk; the last of a tensor may be shorter.

    Returns:
        uint8 ``[chunks, 32]`` for each tensor.
    """
    assert all(tensor.is_contiguous() for tensor in tensors)
    sizes = [tensor.numel() * tensor.element_size() for tensor in tensors]
    places = [np.arange(0, size, chunk_bytes, dtype=np.int64) for size in sizes]
    ends = np.cumsum([0, *map(len, places)])
    count = int(ends[-1])
    if not count:
        return [np.empty((0, 32), np.uint8) for _ in tensors]
    device = tensors[0].device
    starts = np.concatenate([tensor.data_ptr() + place for tensor, place in zip(tensors, places, strict=True)])
    lengths = np.concatenate([np.minimum(size - place, chunk_bytes) for size, place in zip(sizes, places, strict=True)])
    programs = -(-count // _LANES)
    # As int32, which every torch has; the kernel takes the bits.
    constants = torch.tensor(_SIGNED, dtype=torch.int32, device=device)
    schedule = torch.empty(programs * _LANES * 64, dtype=torch.int32, device=device)
    out = torch.empty((count, 8), dtype=torch.int32, device=device)
    with device_of(out):
        _leaves[(programs,)](
            torch.from_numpy(starts).to(device), torch.from_numpy(lengths).to(device), count,
            (1 + int(lengths.max()) + 8) // 64 + 1, constants, schedule, out, lanes=_LANES, **_OPTIONS,
        )  # fmt: skip
    # Words are big-endian in a digest.
    words = out.cpu().numpy().astype(">i4").view(np.uint8).reshape(count, 32)
    return [words[first:last].copy() for first, last in itertools.pairwise(ends.tolist())]


_SIGNED = [value - (1 << 32) if value >= 1 << 31 else value for value in _ROUND_CONSTANTS]
