"""Products of matrices by a warp, and what brings their operands (PTX ISA 9.0, sections 9.7.14 and 9.7.9.25)."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from .accesses import parts_of
from .machine import Machine, Mask, instruction
from .program import Array, Fault, Instruction

_LANE = np.arange(32)
_GROUP, _IN_GROUP = _LANE >> 2, _LANE & 3


class Fragments(NamedTuple):
    """Rows and columns, ``[32, elements]``, of the elements of a lane, in the order of its registers."""

    a: tuple[Array, Array]
    b: tuple[Array, Array]
    c: tuple[Array, Array]


@cache
def fragments(m: int, n: int, k: int, size: int) -> Fragments:
    """Return which elements a lane holds of A ``[m, k]``, B ``[k, n]`` and C ``[m, n]`` (section 9.7.14.5).

    Args:
        m: 8 or 16.
        n: 8.
        k: So many elements as two or four lanes' registers hold, four times.
        size: Bytes of an element of A and B.
    """
    assert n == 8, "other shapes are not executed"
    held = 4 // size
    elements = np.arange(held)
    along = [_IN_GROUP[:, None] * held + elements + start for start in range(0, k, 4 * held)]
    across = [np.repeat((_GROUP + start)[:, None], held, 1) for start in range(0, m, 8)]
    pair = _IN_GROUP[:, None] * 2 + np.arange(2)
    return Fragments(
        (np.concatenate(across * len(along), 1), np.concatenate([part for part in along for _ in across], 1)),
        (np.concatenate(along, 1), np.concatenate([across[0]] * len(along), 1)),
        (np.concatenate([rows[:, :1].repeat(2, 1) for rows in across], 1), np.concatenate([pair] * len(across), 1)),
    )


def _matrix(machine: Machine, operand: object, kind: str, where: tuple[Array, Array], shape: tuple[int, int]) -> Array:
    """A matrix of each warp, float64 ``[warps, *shape]``: of bytes or bfloat16 numbers."""
    words = np.stack([machine.every(register, "b32") for register in parts_of(operand)], 1)
    if kind == "bf16":
        values = (words.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    else:
        values = words.view({"s8": np.int8, "u8": np.uint8}[kind])
    if values.shape[1] != where[0].shape[1]:
        raise Fault("a fragment of another length")
    found = np.empty((machine.lanes // 32, *shape))
    found[:, where[0], where[1]] = values.reshape(-1, 32, values.shape[1])
    return found


@instruction("mma")
def _mma(machine: Machine, one: Instruction, mask: Mask) -> None:
    """D = A B + C: of bytes in int32, which may not overflow; of bfloat16 only where no order of additions matters."""
    machine.whole_warps(mask)
    shape = re.search(r"\.m(\d+)n(\d+)k(\d+)\.row\.col\.", one.text)
    kinds = one.modifiers[-4:]
    integers = kinds[0] == kinds[3] == "s32" and {kinds[1], kinds[2]} <= {"s8", "u8"}
    if shape is None or not (integers or kinds == ("f32", "bf16", "bf16", "f32")):
        raise Fault("not executed")
    m, n, k = map(int, shape.groups())
    where = fragments(m, n, k, 1 if integers else 2)
    to, left, right, base = one.operands
    a = _matrix(machine, left, kinds[1], where.a, (m, k))
    b = _matrix(machine, right, kinds[2], where.b, (k, n))
    c = np.empty((len(a), m, n))
    held = np.stack([machine.every(register, kinds[3]) for register in parts_of(base)], 1)
    c[:, where.c[0], where.c[1]] = held.reshape(-1, 32, held.shape[1])
    total = a @ b + c
    here = slice(None) if mask is None else mask.reshape(-1, 32)[:, 0]
    if integers:
        if (np.abs(total[here]) >= 1 << 31).any():
            raise Fault("a sum of bytes' products beyond int32")
    else:
        _exact_in_any_order(a[here], b[here], c[here])
    result = total[:, where.c[0], where.c[1]].reshape(machine.lanes, -1)
    for place, register in enumerate(parts_of(to)):
        value = result[:, place]
        machine.write(register, value.astype(np.int64).astype(np.int32) if integers else value.astype(np.float32), mask)


def _exact_in_any_order(a: Array, b: Array, c: Array) -> None:
    """Refuse sums whose terms do not all fit into 24 bits together.

    Tensor cores add groups of terms aligned to the largest, and cut after 24 bits on Turing, Ampere and Ada, after 25
    on Hopper and Blackwell (arXiv 2511.10909). Sums of multiples of a unit below 2^24 units are exact in any case.
    """
    whole_numbers = all((np.rint(x) == x).all() for x in (a, b, c))
    if whole_numbers and (np.abs(a) @ np.abs(b) + np.abs(c) <= 2.0**24).all():
        return
    terms = np.concatenate([a[:, :, :, None] * b[:, None], c[:, :, None]], 2)
    if not np.isfinite(terms).all():
        raise Fault("terms of a product that are not finite")
    magnitude = np.abs(terms)
    mantissa, exponent = np.frexp(magnitude)
    whole = (mantissa * 2.0**53).astype(np.int64)
    unit = np.where(whole == 0, np.inf, np.ldexp((whole & -whole).astype(np.float64), exponent - 53)).min(2)
    if (magnitude.sum(2) > np.where(np.isinf(unit), 0, unit) * 2.0**24).any():
        raise Fault("a sum of bfloat16 products that depends on the order of its terms")


def _rows(machine: Machine, one: Instruction, operand: object, mask: Mask) -> tuple[int, Array, Array]:
    """Matrices of an instruction; its warps' first lanes; where the rows lie, ``[warps, 8 * matrices]``."""
    machine.whole_warps(mask)
    found = re.search(r"\.m8n8\.x([124])\.(?:trans\.)?shared(?:::cta)?\.b16", one.text)
    if found is None:
        raise Fault("not executed")
    count = int(found[1])
    lanes = machine.active(mask).reshape(-1, 32)
    addressed = lanes[:, : 8 * count].ravel()
    return count, lanes, machine.places(operand, 16, addressed).reshape(-1, 8 * count)


@instruction("ldmatrix")
def _ldmatrix(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Lanes 8 i to 8 i + 7 have the addresses of the rows, of 16 bytes, of matrix i (section 9.7.14.5.15)."""
    to, source = one.operands
    count, lanes, rows = _rows(machine, one, source, mask)
    warps = np.repeat(machine.warp[lanes[:, 0]], rows.shape[1])
    machine.shared.note_reads(rows.ravel(), 16, warps)
    for place, register in enumerate(parts_of(to)):
        matrix = machine.shared.views[2][rows[:, 8 * place : 8 * place + 8, None] // 2 + np.arange(8)]
        if "trans" in one.modifiers:
            matrix = matrix.transpose(0, 2, 1)
        low, high = (matrix[:, _GROUP, 2 * _IN_GROUP + half].astype(np.uint32) for half in (0, 1))
        value = np.zeros(machine.lanes, np.uint32)
        value[lanes] = low | (high << np.uint32(16))
        machine.write(register, value, mask)
    assert place == count - 1


@instruction("stmatrix")
def _stmatrix(machine: Machine, one: Instruction, mask: Mask) -> None:
    """The reverse of ``ldmatrix`` (section 9.7.14.5.16)."""
    to, source = one.operands
    _, lanes, rows = _rows(machine, one, to, mask)
    for place, register in enumerate(parts_of(source)):
        halves = machine.every(register, "b32")[lanes].view(np.uint16).reshape(-1, 32, 2)
        matrix = np.empty((len(lanes), 8, 8), np.uint16)
        for half in (0, 1):
            matrix[:, _GROUP, 2 * _IN_GROUP + half] = halves[:, :, half]
        if "trans" in one.modifiers:
            matrix = matrix.transpose(0, 2, 1)
        warps = np.repeat(machine.warp[lanes[:, 0]], 8)
        machine.shared.write(rows[:, 8 * place : 8 * place + 8].ravel(), matrix.reshape(-1, 8), warps)


# Asynchronous copies: what is copied is there when the thread that asked for it has waited, and not before.


@instruction("cp")
def _cp(machine: Machine, one: Instruction, mask: Mask) -> None:
    lanes = machine.active(mask)
    if "commit_group" in one.modifiers:
        machine.group[lanes] += 1
    elif "wait_group" in one.modifiers:
        _arrive(machine, mask, machine.group - one.operands[0].bits)
    elif "wait_all" in one.modifiers:
        _arrive(machine, mask, machine.group + 1)
    elif re.match(r"(?:@!?%p\d+ )?cp\.async\.c[ag]\.shared(?:::cta)?\.global ", one.text):
        _copy(machine, one, lanes)
    else:
        raise Fault("not executed")


def _copy(machine: Machine, one: Instruction, lanes: Array) -> None:
    """Poison the target; bytes beyond the fourth operand are zeros (section 9.7.9.25.3.1)."""
    to, source, size, *given = one.operands
    width = size.bits
    places = machine.places(to, width, lanes)
    if machine.shared.foreign(places, width, machine.warp[lanes]):
        raise Fault("race on shared memory: other warps have touched what is copied to")
    addresses = machine.spread(machine.address(source))[lanes]
    if (addresses % width).any():
        raise Fault(f"misaligned copy of {width} bytes")
    length = np.minimum(machine.every(given[0], "u32")[lanes], width) if given else np.full(len(lanes), width)
    data = np.zeros((len(lanes), width), np.uint8)
    for count in np.unique(length[length > 0]):
        some = length == count
        data[some, :count] = machine.storages.read_bytes(addresses[some], int(count))
    touched = places[:, None] + np.arange(width)
    machine.shared.copies = True
    machine.shared.pending[touched] = True
    machine.shared.views[1][touched] = 0xCD
    machine.copies.append((lanes, machine.group[lanes], touched, data))


def _arrive(machine: Machine, mask: Mask, before: Array) -> None:
    """Bring the copies of groups below ``before``, int64 ``[lanes]``, of the threads that wait."""
    left = []
    for lanes, groups, touched, data in machine.copies:
        done = groups < before[lanes]
        if mask is not None:
            done &= mask[lanes]
        if done.any():
            machine.shared.pending[touched[done]] = False
            # Other warps see it behind a barrier only: it counts as written now.
            machine.shared.write(touched[done, 0], data[done], machine.warp[lanes[done]])
        if not done.all():
            left.append((lanes[~done], groups[~done], touched[~done], data[~done]))
    machine.copies = left
