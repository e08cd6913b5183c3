"""Chains of elementwise operators in Triton, for CUDA: one launch computes, fingerprints and looks at what is stored.

A program runs the instructions of a chain (:mod:`counterfoil_core.program.chains`) on its elements in registers. They
are a constant of the kernel, by name, so each chain is compiled by itself. Each is one correctly rounded operation or a
selection: nothing is fused (the launch asks for that), divisions and roots are IEEE 754's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.kernels.cuda.rounding import INTERPRETED_BLOCK, Slot, is_interpreted, mix, total_of
from counterfoil_core.kernels.cuda.zeros import zeros
from counterfoil_core.kernels.devices import device_of

BLOCK = 1024
"""Elements of one program on a device."""
_WARPS = 4
_KEY = tl.constexpr(int(Slot.KEY))
_FINGERPRINT = tl.constexpr(int(Slot.FINGERPRINT))
_LARGEST = tl.constexpr(int(Slot.LARGEST))
_MAGNITUDE = tl.constexpr(0x7FFFFFFF)
_MAGNITUDE64 = tl.constexpr(0x7FFFFFFFFFFFFFFF)
_NAN = tl.constexpr(0x7FF8000000000000)
_INFINITY = tl.constexpr(0x7FF0000000000000)

_MOST_OF_INT32 = (1 << 31) - 1
WHOLE = (1, 1)
"""How an operand is spread that is not."""
Instruction = tuple[str, int, int, int]
"""What it does, and what it takes, by number: a value, then values, a scalar, a place, or a result and its top.

Values are numbered as they come: first the operands, then what each instruction makes."""


@triton.jit
def _run_chain(
    operands: tl.tensor,
    overs: tl.tensor,
    inners: tl.tensor,
    results: tl.tensor,
    scalars: tl.tensor,
    rows: tl.tensor,
    tops: tl.tensor,
    count: tl.tensor,
    code: tl.constexpr,
    spread: tl.constexpr,
    short: tl.constexpr,
    dtype: tl.constexpr,
    size: tl.constexpr,
) -> None:
    """Run the instructions of a chain on a block, in ``dtype``."""
    index = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size).to(tl.int64)
    inside = index < count
    values = ()  # type: Any
    for k in tl.static_range(len(operands)):
        place = index
        if spread[k]:
            # int32 where it suffices: its quotients take a fifth of the instructions.
            whole = index.to(tl.int32) if short else index
            place = ((whole // overs[k]) * inners[k] + whole % inners[k]).to(tl.int64)
        values = values + (tl.load(operands[k] + place, mask=inside, other=0),)  # noqa: RUF005 (Triton has no other)
    for k in tl.static_range(len(code)):
        a = values[code[k][1]]
        if code[k][0] == "SITE":
            # As _fingerprint_block.
            bits = a.to(tl.float64).to(tl.int64, bitcast=True)
            magnitude = bits & _MAGNITUDE64
            bits = tl.where(magnitude > _INFINITY, _NAN, bits)
            row = rows[code[k][2]]
            terms = mix(bits, index, tl.load(row + _KEY).to(tl.uint64, bitcast=True))
            tl.atomic_max(row + _LARGEST, tl.max(tl.where(inside, magnitude, 0), 0), sem="relaxed")
            tl.atomic_add(row + _FINGERPRINT, total_of(tl.where(inside, terms, 0)), sem="relaxed")
            made = a
        elif code[k][0] == "STORE":
            made = a
            tl.store(results[code[k][2]] + index, made, mask=inside)
        elif code[k][0] == "NARROW":
            made = a.to(tl.float32)
            top = tl.where(inside, made.to(tl.int32, bitcast=True) & _MAGNITUDE, 0)
            tl.atomic_max(tops[code[k][3]], tl.max(top, 0), sem="relaxed")
            tl.store(results[code[k][2]] + index, made, mask=inside)
        elif code[k][0] == "DECIDE":
            made = a
            tl.store(results[code[k][2]] + index, a != 0, mask=inside)
        elif (code[k][0] == "WIDEN") | (code[k][0] == "TRUTH"):
            made = a.to(dtype)
        elif code[k][0] == "FILL":
            made = tl.load(scalars[code[k][2]])
        elif code[k][0] == "ADD":
            made = a + values[code[k][2]]
        elif code[k][0] == "ADD_S":
            made = a + tl.load(scalars[code[k][2]])
        elif code[k][0] == "SUB":
            made = a - values[code[k][2]]
        elif code[k][0] == "SUB_S":
            made = a - tl.load(scalars[code[k][2]])
        elif code[k][0] == "SUB_FROM_S":
            made = tl.load(scalars[code[k][2]]) - a
        elif code[k][0] == "MUL":
            made = a * values[code[k][2]]
        elif code[k][0] == "MUL_S":
            made = a * tl.load(scalars[code[k][2]])
        elif code[k][0] == "DIV":
            made = tl.div_rn(a, values[code[k][2]])
        elif code[k][0] == "DIV_S":
            made = tl.div_rn(a, tl.load(scalars[code[k][2]]))
        elif code[k][0] == "DIV_FROM_S":
            made = tl.div_rn(tl.load(scalars[code[k][2]]), a)
        elif code[k][0] == "SQRT":
            # No zero of a function has a sign.
            made = tl.sqrt_rn(a) + 0.0
        elif code[k][0] == "NEG":
            made = a * -1.0
        elif code[k][0] == "ABS":
            made = tl.abs(a)
        elif code[k][0] == "LT":
            made = (a < values[code[k][2]]).to(dtype)
        elif code[k][0] == "LE":
            made = (a <= values[code[k][2]]).to(dtype)
        elif code[k][0] == "EQ":
            made = (a == values[code[k][2]]).to(dtype)
        elif code[k][0] == "NE":
            made = (a != values[code[k][2]]).to(dtype)
        else:
            tl.static_assert(code[k][0] == "WHERE")
            made = tl.where(a != 0, values[code[k][2]], values[code[k][3]])
        values = values + (made,)  # noqa: RUF005


def narrow(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return float64 numbers as float32 ones, and the bits of their largest magnitude.

    Args:
        x: float64, contiguous and not empty.

    Returns:
        float32, the shape of ``x``; int32 ``[1]``.
    """
    result, top = torch.empty(x.shape, dtype=torch.float32, device=x.device), zeros(1, torch.int32, x.device)
    run((("NARROW", 0, 0, 0),), x.numel(), [x.view(-1)], [WHOLE], [result.view(-1)], [], [], [top], torch.float64)
    return result, top


def run(
    code: Sequence[Instruction],
    count: int,
    operands: Sequence[Tensor],
    spreads: Sequence[tuple[int, int]],
    results: Sequence[Tensor],
    scalars: Sequence[Tensor],
    rows: Sequence[Tensor],
    tops: Sequence[Tensor],
    dtype: torch.dtype,
) -> None:
    """Run the instructions of a chain.

    Args:
        code: The instructions.
        count: n, elements of the chain.
        operands: Of ``dtype``, float32 or bool, ``[n]`` or what is spread over it, contiguous.
        spreads: Of each ``over`` and ``inner``: its element ``i // over * inner + i % inner`` belongs to the element i.
        results: Of the same dtypes, ``[n]``; written.
        scalars: Of ``dtype``, ``[]`` each.
        rows: int64 ``[16]`` each: the rows of the places that are fingerprinted (:class:`.rounding.Slot`).
        tops: int32 ``[1]`` each, raised to the bits of the largest magnitude of what a ``NARROW`` stores.
        dtype: float32; or float64, in which there are no quotients and roots.
    """
    overs, inners = zip(*spreads, strict=True)
    given: list[Any] = [tuple(one) for one in (operands, overs, inners, results, scalars, rows, tops)]
    size = INTERPRETED_BLOCK if is_interpreted() and count > BLOCK else BLOCK
    with device_of(operands[0]):
        _run_chain[(-(-count // size),)](
            *given, count, code=tuple(code), dtype=tl.float64 if dtype is torch.float64 else tl.float32, size=size,
            spread=tuple(one != WHOLE for one in spreads), short=count <= _MOST_OF_INT32 - size, num_warps=_WARPS,
            enable_fp_fusion=False,
        )  # fmt: skip
