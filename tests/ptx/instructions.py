"""Integer and floating-point instructions, conversions, moves and barriers, by definition (PTX ISA 9.0, section 9.7).

Floating-point arithmetic is IEEE 754's, rounded to nearest; what is not a number is the pattern that NVIDIA's devices
give. What would have fewer or other bits than separate operations is a :class:`ptx.program.Fault`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .machine import Machine, Mask, instruction
from .program import TYPES, UNSIGNED, Array, Fault, Instruction, Vector

_NOT_A_NUMBER = {
    np.dtype(np.float32): np.array(0x7FFFFFFF, np.uint32).view(np.float32),
    np.dtype(np.float64): np.array(0x7FFFFFFFFFFFFFFF, np.uint64).view(np.float64),
}


def canonical(x: Array) -> Array:
    """Return floating-point numbers with one pattern for what is not a number (sections 9.7.3 and 9.7.4)."""
    return np.where(np.isnan(x), _NOT_A_NUMBER[x.dtype], x)


def packed(machine: Machine, operand: object, kind: str) -> Array:
    """Return an operand whose type is a pair, as ``f32x2``: ``[lanes, 2]``."""
    single = TYPES[kind[:-2]]
    return machine.every(operand, f"b{16 * single.itemsize}").view(single).reshape(machine.lanes, 2)


def unpacked(values: Array) -> Array:
    """Return the bits of pairs ``[lanes, 2]``, as unsigned integers ``[lanes]``."""
    return np.ascontiguousarray(values).view(UNSIGNED[2 * values.itemsize])[:, 0]


# Floating point, sections 9.7.3 and 9.7.4; integers, section 9.7.1.


def _binary(machine: Machine, one: Instruction, mask: Mask, function: Callable[[Array, Array], Array]) -> None:
    to, left, right = one.operands
    if one.type.endswith("x2"):
        one.only("rn")
        found = function(packed(machine, left, one.type), packed(machine, right, one.type))
        return machine.write(to, unpacked(canonical(found) if found.dtype.kind == "f" else found), mask)
    found = function(machine.read(left, one.type), machine.read(right, one.type))
    if one.type[0] == "f":
        one.only("rn")
        found = canonical(found)
    else:
        one.only("lo")
    return machine.write(to, found, mask)


@instruction("add", "sub")
def _add(machine: Machine, one: Instruction, mask: Mask) -> None:
    if not one.type.startswith("bf16"):
        return _binary(machine, one, mask, np.add if one.opcode == "add" else np.subtract)
    one.only("rn")
    to, *operands = one.operands
    left, right = (_of_bfloat(machine, operand, one.type).astype(np.float64) for operand in operands)
    found = _to_bfloat(_added_to_odd(left, right if one.opcode == "add" else -right))
    return machine.write(to, found[:, 0] if found.shape[1] == 1 else unpacked(found), mask)


def _high(left: Array, right: Array) -> Array:
    """The upper half of products of 32-bit integers, or of 64-bit ones."""
    kind = left.dtype
    if kind.itemsize == 4:
        wide = np.int64 if kind.kind == "i" else np.uint64
        return ((left.astype(wide) * right.astype(wide)) >> wide(32)).astype(kind)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = left.view(np.uint64), right.view(np.uint64)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = (middle & low) + a0 * b1
    found = a1 * b1 + (middle >> half) + (other >> half)
    if kind.kind == "i":
        found = found - np.where(left < 0, b, 0).astype(np.uint64) - np.where(right < 0, a, 0).astype(np.uint64)
    return found.view(kind)


def _product(machine: Machine, one: Instruction) -> Array:
    left, right = (machine.read(operand, one.type) for operand in one.operands[1:3])
    if "wide" in one.modifiers:
        wide = TYPES[one.type[0] + str(2 * int(one.type[1:]))]
        return left.astype(wide) * right.astype(wide)
    one.only("lo", "hi")
    return _high(left, right) if "hi" in one.modifiers else left * right


@instruction("mul")
def _mul(machine: Machine, one: Instruction, mask: Mask) -> None:
    if one.type[0] == "f":
        return _binary(machine, one, mask, np.multiply)
    return machine.write(one.operands[0], _product(machine, one), mask)


@instruction("mad")
def _mad(machine: Machine, one: Instruction, mask: Mask) -> None:
    if one.type[0] == "f":
        raise Fault("fused multiply-add")
    product = _product(machine, one)
    sign = "s" if product.dtype.kind == "i" else "u"
    machine.write(one.operands[0], product + machine.read(one.operands[3], f"{sign}{8 * product.itemsize}"), mask)


@instruction("fma")
def _fma(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Only where rounding the product first gives the same: so that it is nobody's business whether a sum is fused."""
    one.only("rn")
    to, *operands = one.operands
    if one.type.startswith("bf16"):
        a, b, c = (_of_bfloat(machine, operand, one.type).astype(np.float64) for operand in operands)
        product, bits, nearest = a * b, 8, _to_bfloat
    elif one.type in ("f32", "f32x2"):
        single = one.type == "f32"
        a, b, c = (
            (machine.every(x, "f32")[:, None] if single else packed(machine, x, one.type)).astype(np.float64)
            for x in operands
        )
        product, bits, nearest = a * b, 24, lambda x: canonical(x.astype(np.float32)).view(np.uint32)
    else:
        raise Fault("fused multiply-add")
    fused = nearest(_added_to_odd(product, c))
    separate = nearest(_added_to_odd(_value_of(nearest(product), bits), c))
    here = slice(None) if mask is None else mask
    if (fused != separate)[here].any():
        raise Fault("fused multiply-add, and its bits are not those of a product and a sum")
    machine.write(to, fused[:, 0] if fused.shape[1] == 1 else unpacked(fused), mask)


def _added_to_odd(a: Array, b: Array) -> Array:
    """The sums of float64 numbers, rounded to odd: rounded again, to half as many bits, they are rounded once."""
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    bits = total.view(np.int64)
    lost = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    # One towards zero where the number is too large in magnitude, and an odd neighbour either way.
    inward = (error < 0) == (total > 0)
    return np.where(lost, bits + np.where(inward, -1, 1), bits).view(np.float64)


def _to_bfloat(x: Array) -> Array:
    """The bits, uint16, of the bfloat16 numbers nearest to float64 or float32 ones."""
    if x.dtype == np.float64:
        # To float32, to odd.
        near = x.astype(np.float32)
        off = np.isfinite(near) & (near.astype(np.float64) != x) & (near.view(np.uint32) & 1 == 0)
        larger = np.abs(near.astype(np.float64)) > np.abs(x)
        near = np.where(off, near.view(np.int32) + np.where(larger, -1, 1), near.view(np.int32)).astype(np.int32)
        x = near.view(np.float32)
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(x), 0x7FFF, rounded).astype(np.uint16)


def _value_of(bits: Array, precision: int) -> Array:
    """The float64 values of bfloat16 (precision 8) or float32 numbers by their bits."""
    wide = bits.astype(np.uint32) << np.uint32(16) if precision == 8 else bits
    return wide.view(np.float32).astype(np.float64)


def _of_bfloat(machine: Machine, operand: object, kind: str) -> Array:
    raw = machine.every(operand, "b32" if kind.endswith("x2") else "b16").view(np.uint16)
    return (raw.reshape(machine.lanes, -1).astype(np.uint32) << np.uint32(16)).view(np.float32)


@instruction("div", "rem")
def _div(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Of integers; 0 as a divisor is a fault, since the result is anything (section 9.7.1.8). Of IEEE 754's numbers."""
    if one.type[0] == "f":
        return _binary(machine, one, mask, np.divide)
    left, right = (machine.read(operand, one.type) for operand in one.operands[1:])
    zero = machine.spread(np.asarray(right == 0))
    if (zero if mask is None else zero & mask).any():
        raise Fault("division by zero")
    right = np.where(right == 0, np.ones_like(right), right)
    rest = np.fmod(left, right)
    machine.write(one.operands[0], rest if one.opcode == "rem" else (left - rest) // right, mask)


@instruction("sqrt")
def _sqrt(machine: Machine, one: Instruction, mask: Mask) -> None:
    """IEEE 754's, which numpy's is, too."""
    one.only("rn")
    to, operand = one.operands
    with np.errstate(all="ignore"):
        machine.write(to, np.sqrt(machine.read(operand, one.type)), mask)


@instruction("min", "max")
def _extreme(machine: Machine, one: Instruction, mask: Mask) -> None:
    if one.type[0] == "f":
        raise Fault("not executed for floating-point numbers")
    _binary(machine, one, mask, np.minimum if one.opcode == "min" else np.maximum)


@instruction("neg", "abs")
def _sign(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Of floating-point numbers only the sign's bit changes."""
    one.only()
    to, operand = one.operands
    if one.type[0] == "f":
        bits = machine.read(operand, "b" + one.type[1:])
        sign = bits.dtype.type(1 << 8 * bits.itemsize - 1)
        return machine.write(to, bits ^ sign if one.opcode == "neg" else bits & ~sign, mask)
    value = machine.read(operand, one.type)
    return machine.write(to, -value if one.opcode == "neg" else np.abs(value), mask)


@instruction("dp4a")
def _dp4a(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Four products of bytes and a sum, mod 2^32 (section 9.7.1.23)."""
    to, left, right, base = one.operands
    total = machine.every(base, "u32")
    kinds = [TYPES["s8" if kind == "s32" else "u8"] for kind in one.modifiers[-2:]]
    bytes_of = [
        machine.every(operand, "b32").view(kind).reshape(-1, 4).astype(np.int64)
        for operand, kind in zip((left, right), kinds, strict=True)
    ]
    machine.write(to, total + (bytes_of[0] * bytes_of[1]).sum(1).astype(np.uint32), mask)


# Bits, sections 9.7.1 and 9.7.8.


@instruction("and", "or", "xor")
def _logic(machine: Machine, one: Instruction, mask: Mask) -> None:
    one.only()
    function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[one.opcode]
    to, left, right = one.operands
    machine.write(to, function(machine.read(left, one.type), machine.read(right, one.type)), mask)


@instruction("not")
def _not(machine: Machine, one: Instruction, mask: Mask) -> None:
    machine.write(one.operands[0], ~machine.read(one.operands[1], one.type), mask)


@instruction("lop3")
def _lop3(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, *operands, table = one.operands
    a, b, c = (machine.read(operand, "b32") for operand in operands)
    found = np.zeros_like(a)
    for case in range(8):
        if table.bits >> case & 1:
            found = found | ((a if case & 4 else ~a) & (b if case & 2 else ~b) & (c if case & 1 else ~c))
    machine.write(to, found, mask)


@instruction("shl", "shr")
def _shift(machine: Machine, one: Instruction, mask: Mask) -> None:
    """By more than the width: nothing is left, or the sign alone."""
    one.only()
    kind = "u" + one.type[1:] if one.opcode == "shl" or one.type[0] == "b" else one.type
    bits = int(kind[1:])
    value, amount = machine.read(one.operands[1], kind), machine.read(one.operands[2], "u32")
    by = np.minimum(amount, bits - 1).astype(value.dtype)
    found = value << by if one.opcode == "shl" else value >> by
    if kind[0] == "u":
        found = np.where(amount >= bits, 0, found).astype(value.dtype)
    machine.write(one.operands[0], found, mask)


@instruction("shf")
def _funnel(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, low, high, amount = one.operands
    both = machine.read(low, "u32").astype(np.uint64) | (machine.read(high, "u32").astype(np.uint64) << np.uint64(32))
    by = machine.read(amount, "u32").astype(np.uint64)
    by = by & np.uint64(31) if "wrap" in one.modifiers else np.minimum(by, np.uint64(32))
    found = (both << by) >> np.uint64(32) if "l" in one.modifiers else both >> by
    machine.write(to, found.astype(np.uint32), mask)


@instruction("bfe")
def _extract(machine: Machine, one: Instruction, mask: Mask) -> None:
    """A field of bits; a signed one is extended by its highest bit (section 9.7.1.19)."""
    to, operand, start, length = one.operands
    bits = int(one.type[1:])
    value = machine.read(operand, one.type)
    first = (machine.read(start, "u32") & 255).astype(np.int64)
    count = (machine.read(length, "u32") & 255).astype(np.int64)
    # As the upper bits of the word, which a shift brings down with their sign.
    top = np.minimum(first + count, bits)
    left = (bits - top).astype(UNSIGNED[bits // 8])
    down = np.minimum(left.astype(np.int64) + first, bits - 1).astype(value.dtype)
    found = (value.view(UNSIGNED[bits // 8]) << left).view(value.dtype) >> down
    empty = (count == 0) | ((first >= bits) & (one.type[0] == "u"))
    machine.write(to, np.where(empty, 0, found).astype(value.dtype), mask)


@instruction("prmt")
def _permute(machine: Machine, one: Instruction, mask: Mask) -> None:
    one.only()
    to, low, high, selector = one.operands
    both = machine.read(low, "u32").astype(np.uint64) | (machine.read(high, "u32").astype(np.uint64) << np.uint64(32))
    selected = machine.read(selector, "u32").astype(np.uint64)
    found = np.zeros((), np.uint64)
    for place in range(4):
        choice = (selected >> np.uint64(4 * place)) & np.uint64(15)
        byte = (both >> ((choice & np.uint64(7)) * np.uint64(8))) & np.uint64(255)
        sign = np.where(byte >= 128, np.uint64(255), np.uint64(0))
        byte = np.where(choice >= 8, sign, byte)
        found = found | (byte << np.uint64(8 * place))
    machine.write(to, found.astype(np.uint32), mask)


@instruction("popc")
def _count(machine: Machine, one: Instruction, mask: Mask) -> None:
    machine.write(one.operands[0], np.bitwise_count(machine.read(one.operands[1], one.type)).astype(np.uint32), mask)


# Comparison and selection, section 9.7.6.

_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip


@instruction("setp")
def _setp(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, left, right, *other = one.operands
    comparison, *combined = one.modifiers[:-1]
    a, b = machine.read(left, one.type), machine.read(right, one.type)
    if one.type[0] != "f":
        found = _COMPARISONS[comparison](a, b)
    else:
        unordered = np.isnan(a) | np.isnan(b)
        if comparison in ("num", "nan"):
            found = unordered == (comparison == "nan")
        elif comparison in _COMPARISONS:
            found = _COMPARISONS[comparison](a, b) & ~unordered
        else:
            found = _COMPARISONS[comparison.removesuffix("u")](a, b) | unordered
    if combined:
        logic = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[combined[0]]
        found = logic(found, machine.read(other[0], "pred"))
    machine.write(to, found, mask)


@instruction("selp")
def _selp(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, yes, no, which = one.operands
    kind = one.type
    machine.write(to, np.where(machine.read(which, "pred"), machine.read(yes, kind), machine.read(no, kind)), mask)


# Moves and conversions, section 9.7.9.


@instruction("mov")
def _mov(machine: Machine, one: Instruction, mask: Mask) -> None:
    to, operand = one.operands
    width = TYPES[one.type].itemsize
    if isinstance(to, Vector):
        part = UNSIGNED[width // len(to.parts)]
        parts = machine.every(operand, one.type).view(part).reshape(machine.lanes, -1)
        for place, register in enumerate(to.parts):
            machine.write(register, parts[:, place].copy(), mask)
    elif isinstance(operand, Vector):
        part = f"b{8 * width // len(operand.parts)}"
        parts = np.stack([machine.every(register, part) for register in operand.parts], 1)
        machine.write(to, parts.view(UNSIGNED[width])[:, 0], mask)
    else:
        machine.write(to, machine.read(operand, one.type), mask)


@instruction("cvta")
def _cvta(machine: Machine, one: Instruction, mask: Mask) -> None:
    if "shared" in one.modifiers:
        raise Fault("generic addresses of shared memory are not executed")
    machine.write(one.operands[0], machine.read(one.operands[1], one.type), mask)


_TO_INTEGER = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}


@instruction("cvt")
def _cvt(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Conversions: to floating point to nearest, to integers held at the ends of their range (section 9.7.9.21)."""
    to, *operands = one.operands
    *how, target, source = one.modifiers
    if target == "bf16x2":
        high, low = (_to_bfloat(machine.every(operand, source)) for operand in operands)
        return machine.write(to, unpacked(np.stack([low, high], 1)), mask)
    if source == "bf16" and target == "f32":
        return machine.write(to, _of_bfloat(machine, operands[0], source)[:, 0], mask)
    value = machine.read(operands[0], source)
    if target == "bf16":
        if how != ["rn"] or source[1:] == "64":
            raise Fault("not executed")
        return machine.write(to, _to_bfloat(value if source == "f32" else value.astype(np.float64)), mask)
    kind = TYPES[target]
    if target[0] == "f":
        widens = source == "f32" and target == "f64"
        if how != ([] if widens else ["rn"]):
            raise Fault("rounds otherwise than to nearest")
        return machine.write(to, canonical(value.astype(kind)), mask)
    if source[0] != "f":
        if how:
            raise Fault("not executed")
        return machine.write(to, value.astype(kind), mask)
    (way,) = how
    whole = _TO_INTEGER[way](value.astype(np.float64))
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    inside = (whole >= float(least)) & (whole < float(most + 1))
    held = np.where(whole > 0, np.array(most, kind), np.array(least, kind))
    found = np.where(inside, np.where(inside, whole, 0.0).astype(kind), held)
    return machine.write(to, np.where(np.isnan(value), np.zeros((), kind), found), mask)


# Synchronisation, section 9.7.13.


@instruction("bar", "barrier")
def _bar(machine: Machine, one: Instruction, mask: Mask) -> None:
    if "warp" in one.modifiers:
        return machine.whole_warps(mask)
    if len(one.operands) != 1 or "sync" not in one.modifiers:
        raise Fault("barriers of a part of the threads are not executed")
    return machine.barrier(mask)


@instruction("fence", "membar")
def _fence(machine: Machine, one: Instruction, mask: Mask) -> None:
    """Threads go in step here: what one has stored all see."""
