"""The instructions of a chain on one block, inside the loop that sweeps it (:mod:`.arithmetic.grid.tiles`).

Blocks are float64 ``[n]``. Each instruction is one correctly rounded operation or a selection, so its bits are those of
torch's operator (docs/numerics.md, *Operator classes*); the choice of an instruction stands outside of its loop, so
that LLVM makes vector instructions of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.magnitudes import as_bits
from counterfoil_core.kernels.cpu.rounding import MAGNITUDE, mixed_block, round_values, watched_block
from counterfoil_core.program.chains import Code

WIDEN, TRUTH, FILL = int(Code.WIDEN), int(Code.TRUTH), int(Code.FILL)
ADD, ADD_S, SUB, SUB_S, SUB_FROM_S = (
    int(Code.ADD), int(Code.ADD_S), int(Code.SUB), int(Code.SUB_S), int(Code.SUB_FROM_S)
)  # fmt: skip
MUL, MUL_S, DIV, DIV_S, DIV_FROM_S = (
    int(Code.MUL), int(Code.MUL_S), int(Code.DIV), int(Code.DIV_S), int(Code.DIV_FROM_S)
)  # fmt: skip
SQRT, NEG, ABS, MAX, MIN = int(Code.SQRT), int(Code.NEG), int(Code.ABS), int(Code.MAX), int(Code.MIN)
OF_ONE = (SQRT, NEG, ABS)
OF_A_NUMBER = (ADD_S, SUB_S, SUB_FROM_S, MUL_S, DIV_S, DIV_FROM_S)
LT, LE, EQ, NE, WHERE = int(Code.LT), int(Code.LE), int(Code.EQ), int(Code.NE), int(Code.WHERE)
ROUND, WATCH, NARROW, DECIDE = int(Code.ROUND), int(Code.WATCH), int(Code.NARROW), int(Code.DECIDE)


@kernel(nogil=True, error_model="numpy")
def of_one(code: int, target: Any, a: Any) -> None:
    """Instructions of one operand.

    Args:
        code: One of OF_ONE.
        target: float64 ``[n]``; written.
        a: float64 ``[n]``: the operand.
    """
    if code == SQRT:
        for i in range(target.size):
            target[i] = np.sqrt(a[i])
    elif code == NEG:
        for i in range(target.size):
            target[i] = -a[i]
    else:
        for i in range(target.size):
            target[i] = abs(a[i])


@kernel(nogil=True, error_model="numpy")
def of_a_number(code: int, target: Any, a: Any, s: float) -> None:
    """Instructions of an operand and a number.

    Args:
        code: One of OF_A_NUMBER.
        target: float64 ``[n]``; written.
        a: float64 ``[n]``: the operand.
        s: The number.
    """
    if code == ADD_S:
        for i in range(target.size):
            target[i] = a[i] + s
    elif code == SUB_S:
        for i in range(target.size):
            target[i] = a[i] - s
    elif code == SUB_FROM_S:
        for i in range(target.size):
            target[i] = s - a[i]
    elif code == MUL_S:
        for i in range(target.size):
            target[i] = a[i] * s
    elif code == DIV_S:
        for i in range(target.size):
            target[i] = a[i] / s
    else:
        for i in range(target.size):
            target[i] = s / a[i]


@kernel(nogil=True, error_model="numpy")
def of_two(code: int, target: Any, a: Any, b: Any) -> None:
    """Instructions of two operands; comparisons give 1 and 0.

    Args:
        code: An instruction.
        target: float64 ``[n]``; written.
        a: float64 ``[n]``: the first operand.
        b: float64 ``[n]``: the second.
    """
    if code == ADD:
        for i in range(target.size):
            target[i] = a[i] + b[i]
    elif code == SUB:
        for i in range(target.size):
            target[i] = a[i] - b[i]
    elif code == MUL:
        for i in range(target.size):
            target[i] = a[i] * b[i]
    elif code == DIV:
        for i in range(target.size):
            target[i] = a[i] / b[i]
    elif code == MAX:
        # What is not a number stays so; the zero of either sign becomes +0.
        for i in range(target.size):
            x, y = a[i], b[i]
            target[i] = (x if x > y or x != x else y) + 0.0
    elif code == MIN:
        for i in range(target.size):
            x, y = a[i], b[i]
            target[i] = (x if x < y or x != x else y) + 0.0
    elif code == LT:
        for i in range(target.size):
            target[i] = 1.0 if a[i] < b[i] else 0.0
    elif code == LE:
        for i in range(target.size):
            target[i] = 1.0 if a[i] <= b[i] else 0.0
    elif code == EQ:
        for i in range(target.size):
            target[i] = 1.0 if a[i] == b[i] else 0.0
    else:
        for i in range(target.size):
            target[i] = 1.0 if a[i] != b[i] else 0.0


@kernel(nogil=True, error_model="numpy")
def watch(a: Any, base: Any, key: Any) -> Any:
    """Return the sum mod 2^64 of the fingerprint terms of a block.

    Args:
        a: float64 ``[n]``.
        base: Index of its first element, uint64.
        key: The fingerprint key, uint64.
    """
    total, _ = watched_block(a, base, key)
    return total


@kernel(nogil=True, error_model="numpy")
def to_float32(target: Any, a: Any) -> Any:
    """Round to float32, ties to even; returns the bits of the largest magnitude of the results as float64."""
    largest = np.uint64(0)
    for i in range(target.size):
        value = np.float32(a[i])
        target[i] = value
        largest = max(largest, as_bits(np.float64(value)) & np.uint64(MAGNITUDE))
    return largest


@kernel(nogil=True, error_model="numpy")
def round_block(
    target: Any, a: Any, codes: Any, floor: Any, p: Any, tau: float, base: Any, key: Any
) -> tuple[Any, Any, Any]:
    """Round a block as :func:`counterfoil_core.kernels.cpu.rounding.round_values`, and fingerprint it.

    Args:
        target: float64 ``[n]``; written.
        a: float64 ``[n]``: what to round.
        codes: uint64 ``[n]`` or more; written: where close decisions are.
        floor: The biased exponent below which the quantum no longer shrinks, uint64.
        p: Bits of the significand, uint64.
        tau: Largest distance from a midpoint, inclusive, of a close decision.
        base: Index of the first element, uint64.
        key: The fingerprint key, uint64.

    Returns:
        Whether a decision was close; the sum of the fingerprint terms; the bits of the largest magnitude before
        rounding.
    """
    some, largest = round_values(target, a, codes, floor, p, tau)
    return some, mixed_block(target, base, key), largest
