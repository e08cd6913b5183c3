"""Instructions that reach for memory or for other lanes of a warp (PTX ISA 9.0, sections 9.7.9 and 9.7.13)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .machine import Machine, Mask, instruction
from .program import TYPES, UNSIGNED, Array, Fault, Instruction, Vector


def parts_of(operand: object) -> tuple[object, ...]:
    """Return the registers of an operand, which may be one."""
    return operand.parts if isinstance(operand, Vector) else (operand,)


def in_shared(one: Instruction) -> bool:
    """Whether an instruction's address is one of shared memory."""
    return any(modifier.startswith("shared") for modifier in one.modifiers)


@instruction("ld")
def _ld(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, source = one.operands
    kind = TYPES[one.type]
    registers = parts_of(to)
    if "param" in one.modifiers:
        bits = machine.launch.parameters[source.base.name] & ((1 << 8 * kind.itemsize) - 1)
        return machine.write(registers[0], np.array(bits, UNSIGNED[kind.itemsize]).view(kind), mask)
    lanes = machine.active(mask)
    width, count = kind.itemsize, len(registers)
    if in_shared(one):
        places = machine.places(source, width * count, lanes)
        machine.shared.note_reads(places, width * count, machine.warp[lanes])
        found = machine.shared.views[width][(places // width)[:, None] + np.arange(count)]
    else:
        address = machine.address(source)
        if not address.ndim and mask is None:
            found = machine.storages.read(address[None], width, count)
            for place, register in enumerate(registers):
                machine.write(register, found[0, place].view(kind), None)
            return None
        addresses = machine.spread(address)[lanes]
        found = machine.storages.read(addresses, width, count)
    for place, register in enumerate(registers):
        value = found[:, place]
        if mask is not None:
            value = np.zeros(machine.lanes, value.dtype)
            value[lanes] = found[:, place]
        machine.write(register, np.ascontiguousarray(value).view(kind), mask)
    return None


@instruction("st")
def _st(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, source = one.operands
    kind = TYPES[one.type]
    lanes = machine.active(mask)
    values = [machine.every(register, one.type)[lanes].view(UNSIGNED[kind.itemsize]) for register in parts_of(source)]
    words = np.stack(values, 1)
    if in_shared(one):
        places = machine.places(to, kind.itemsize * words.shape[1], lanes)
        machine.shared.write(places, words, machine.warp[lanes])
    else:
        machine.storages.write(machine.spread(machine.address(to))[lanes], words)


_ATOMICS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "or": np.bitwise_or, "and": np.bitwise_and,
    "xor": np.bitwise_xor, "exch": lambda old, new: new,
}  # fmt: skip


@instruction("atom", "red")
def _atom(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Of integers: a sum of floating-point numbers would depend on the order (section 9.7.13.9)."""
    *to, target, operand = one.operands
    what = one.modifiers[-2]
    if in_shared(one) or what not in _ATOMICS:
        raise Fault("not executed")
    if one.type[0] == "f":
        raise Fault("an atomic operation of floating-point numbers depends on the order")
    lanes = machine.active(mask)
    if machine.rng is not None:
        lanes = machine.rng.permutation(lanes)
    kind = TYPES[one.type]
    addresses = machine.spread(machine.address(target))[lanes]
    values = machine.every(operand, one.type)[lanes]
    function = _ATOMICS[what]
    before = np.empty(len(lanes), kind)
    # The first of each address together, then the second of each, and so on.
    order = np.argsort(addresses, kind="stable")
    ranks = np.arange(len(lanes)) - np.searchsorted(addresses[order], addresses[order], "left")
    if len(lanes) and ranks.max() > 64:
        _one_after_another(machine, function, addresses, values, before)
    else:
        for rank in range(int(ranks.max()) + 1 if len(lanes) else 0):
            some = order[ranks == rank]
            old = machine.storages.read(addresses[some], kind.itemsize, 1)[:, 0].view(kind)
            before[some] = old
            new = np.ascontiguousarray(function(old, values[some]).astype(kind))
            machine.storages.write(addresses[some], new.view(UNSIGNED[kind.itemsize])[:, None])
    if to:
        found = np.zeros(machine.lanes, kind)
        found[lanes] = before
        machine.write(to[0], found, mask)


def _one_after_another(
    machine: Machine, function: Callable[[Array, Array], Array], addresses: Array, values: Array, before: Array
) -> None:
    """Few addresses, each of many lanes: sums by running totals, others one by one."""
    for address in np.unique(addresses):
        some = np.flatnonzero(addresses == address)
        old = machine.storages.read(address[None], values.itemsize, 1)[:, 0].view(values.dtype)
        if function is _ATOMICS["exch"]:
            states = np.concatenate([old, values[some]])
        else:
            assert isinstance(function, np.ufunc)
            states = function.accumulate(np.concatenate([old, values[some]]), dtype=values.dtype)
        before[some] = states[:-1]
        machine.storages.write(address[None], states[-1:].view(UNSIGNED[values.itemsize])[:, None])


# Between the lanes of a warp, section 9.7.9.6 and on.


@instruction("shfl")
def _shfl(machine: Machine, one: Instruction, mask: Mask) -> None:
    machine.whole_warps(mask)
    to, operand, offset, limits = one.operands[:4]
    value, by = machine.every(operand, "u32"), machine.read(offset, "u32").astype(np.int64) & 31
    bounds = machine.read(limits, "u32").astype(np.int64)
    lane = machine.thread % 32
    clamp, segment = bounds & 31, (bounds >> 8) & 31
    last = (lane & segment) | (clamp & ~segment)
    way = one.modifiers[1]
    if way == "up":
        source = lane - by
        inside = source >= last
    else:
        source = {"down": lane + by, "bfly": lane ^ by, "idx": (lane & segment) | (by & ~segment)}[way]
        inside = source <= last
    found = value[np.arange(machine.lanes) - lane + np.where(inside, source, lane)]
    registers = parts_of(to)
    machine.write(registers[0], found, mask)
    if len(registers) > 1:
        machine.write(registers[1], inside, mask)


@instruction("redux")
def _redux(machine: Machine, one: Instruction, mask: Mask) -> None:
    machine.whole_warps(mask)
    value = machine.every(one.operands[1], one.type).reshape(-1, 32)
    what = _ATOMICS[one.modifiers[1]]
    assert isinstance(what, np.ufunc)
    machine.write(one.operands[0], np.repeat(what.reduce(value, 1, dtype=value.dtype), 32), mask)


@instruction("vote")
def _vote(machine: Machine, one: Instruction, mask: Mask) -> None:
    machine.whole_warps(mask)
    value = machine.every(one.operands[1], "pred").reshape(-1, 32)
    way = one.modifiers[1]
    if way == "ballot":
        found = (value.astype(np.uint32) << np.arange(32, dtype=np.uint32)).sum(1, dtype=np.uint32)
    elif way in ("any", "all"):
        found = value.any(1) if way == "any" else value.all(1)
    else:
        raise Fault("not executed")
    machine.write(one.operands[0], np.repeat(found, 32), mask)
