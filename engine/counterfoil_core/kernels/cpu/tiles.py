"""Sums of products of float64 numbers for twelve vectors at a time, in the processor's registers.

Both tiles have four rows and three columns of vectors: with AVX2 and AVX-512 a vector is a register. Products are fused
with the sum where the processor fuses them. Compiled code only: addresses are of bytes, uint64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding, ir

from counterfoil_core.kernels.cache import intrinsic, types

ROWS, COLUMNS = 4, 3
"""Rows and columns of a tile."""
LANES = 8 if binding.get_host_cpu_features().get("avx512f") else 4
"""Numbers of a vector."""
TILE = ROWS * COLUMNS * LANES
"""Numbers of a tile."""

_NUMBER, _WORD = ir.DoubleType(), ir.IntType(64)
_VECTOR = ir.VectorType(_NUMBER, LANES)
_BYTES = 8

_Values = list[Any]
_Next = Callable[[Any, _Values], _Values]


def _addresses(count: int) -> Any:
    return types.UniTuple(types.uint64, count)  # type: ignore[no-untyped-call]


def _loop(builder: Any, count: Any, begun: _Values, following: _Next) -> _Values:
    """Do something ``count`` times; of the number of the time and of values it makes those of the next time."""
    before = builder.block
    body, after = builder.append_basic_block("sum"), builder.append_basic_block("summed")
    builder.cbranch(builder.icmp_signed(">", count, _WORD(0)), body, after)
    builder.position_at_end(body)
    number = builder.phi(_WORD)
    values = [builder.phi(value.type) for value in begun]
    made = following(number, values)
    end = builder.block
    advanced = builder.add(number, _WORD(1))
    number.add_incoming(_WORD(0), before)
    number.add_incoming(advanced, end)
    for value, first, later in zip(values, begun, made, strict=True):
        value.add_incoming(first, before)
        value.add_incoming(later, end)
    builder.cbranch(builder.icmp_signed("<", advanced, count), body, after)
    builder.position_at_end(after)
    results = [builder.phi(value.type) for value in begun]
    for result, first, later in zip(results, begun, made, strict=True):
        result.add_incoming(first, before)
        result.add_incoming(later, end)
    return results


def _load(builder: Any, address: Any, kind: Any, place: int = 0) -> Any:
    pointer = builder.inttoptr(address, kind.as_pointer())
    return builder.load(builder.gep(pointer, [_WORD(place)]), align=_BYTES)


def _spread(builder: Any, number: Any) -> Any:
    """A vector whose elements are all one number."""
    single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), lanes)


def _declared(builder: Any, name: str, kinds: Sequence[Any]) -> Any:
    """A function of LLVM's own that gives a vector."""
    made = builder.module.globals.get(name)
    return made or ir.Function(builder.module, ir.FunctionType(_VECTOR, kinds), name)


def _fused(builder: Any) -> Callable[[Any, Any, Any], Any]:
    function = _declared(builder, f"llvm.fmuladd.v{LANES}f64", [_VECTOR] * 3)
    return lambda one, other, added: builder.call(function, [one, other, added])


def _zeros() -> _Values:
    return [ir.Constant(_VECTOR, [_NUMBER(0.0)] * LANES) for _ in range(ROWS * COLUMNS)]


def _weighted_sums(typing_context: Any, x: Any, offsets: Any, weights: Any, count: Any, target: Any) -> Any:
    """Write to ``target`` ``[rows, columns, lanes]`` sums of numbers times weights.

    ``x`` are three addresses. The n-th term of a row and a column is the row's weight, of ``weights``
    ``[count, rows]``, times the vector that lies the n-th of ``offsets`` behind the column's address.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places, at_offsets, at_weights, times, written = arguments
        columns = [builder.extract_value(places, n) for n in range(COLUMNS)]
        fused = _fused(builder)

        def following(number: Any, sums: _Values) -> _Values:
            offset = _load(builder, builder.add(at_offsets, builder.mul(number, _WORD(_BYTES))), _WORD)
            values = [_load(builder, builder.add(column, offset), _VECTOR) for column in columns]
            row = builder.add(at_weights, builder.mul(number, _WORD(_BYTES * ROWS)))
            spread = [_spread(builder, _load(builder, row, _NUMBER, n)) for n in range(ROWS)]
            return [fused(spread[n // COLUMNS], values[n % COLUMNS], sums[n]) for n in range(ROWS * COLUMNS)]

        pointer = builder.inttoptr(written, _VECTOR.as_pointer())
        for n, value in enumerate(_loop(builder, times, _zeros(), following)):
            builder.store(value, builder.gep(pointer, [_WORD(n)]), align=_BYTES)
        return context.get_dummy_value()

    return types.void(_addresses(COLUMNS), types.uint64, types.uint64, types.int64, types.uint64), build


def _sums_of_products(
    typing_context: Any, g: Any, x: Any, whole: Any, of_whole: Any, cut: Any, of_cut: Any, target: Any
) -> Any:
    """Add to ``target`` ``[rows, columns]`` sums of products of two numbers.

    ``g`` are four addresses and ``x`` three. ``whole`` ``[of_whole, 3]`` and ``cut`` ``[of_cut, 3]`` say for each
    vector how far behind the addresses of both it lies, and how many of its numbers count: all, in the first.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [builder.extract_value(arguments[0], n) for n in range(ROWS)]
        columns = [builder.extract_value(arguments[1], n) for n in range(COLUMNS)]
        _, _, whole_ones, of_whole_ones, cut_ones, of_cut_ones, written = arguments
        fused = _fused(builder)
        zeros = _zeros()

        def following(begin: Any, load: Callable[[Any, Any], Any]) -> _Next:
            def added(number: Any, sums: _Values) -> _Values:
                place = builder.add(begin, builder.mul(number, _WORD(3 * _BYTES)))
                of_g, of_x, valid = (_load(builder, place, _WORD, n) for n in range(3))
                one = [load(builder.add(row, of_g), valid) for row in rows]
                other = [load(builder.add(column, of_x), valid) for column in columns]
                return [fused(one[n // COLUMNS], other[n % COLUMNS], sums[n]) for n in range(ROWS * COLUMNS)]

            return added

        def partly(address: Any, valid: Any) -> Any:
            lanes = ir.VectorType(_WORD, LANES)
            counts = ir.Constant(lanes, list(range(LANES)))
            limit = builder.insert_element(ir.Constant(lanes, ir.Undefined), valid, ir.IntType(32)(0))
            none = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            limits = builder.shuffle_vector(limit, ir.Constant(lanes, ir.Undefined), none)
            mask = builder.icmp_signed("<", counts, limits)
            pointer = builder.inttoptr(address, _VECTOR.as_pointer())
            flags = ir.VectorType(ir.IntType(1), LANES)
            name = f"llvm.masked.load.v{LANES}f64.p0v{LANES}f64"
            function = _declared(builder, name, [pointer.type, ir.IntType(32), flags, _VECTOR])
            return builder.call(function, [pointer, ir.IntType(32)(_BYTES), mask, zeros[0]])

        wholly = following(whole_ones, lambda at, _: _load(builder, at, _VECTOR))
        sums = _loop(builder, of_whole_ones, zeros, wholly)
        sums = _loop(builder, of_cut_ones, sums, following(cut_ones, partly))
        _add_lanes(builder, sums, written)
        return context.get_dummy_value()

    four, three = _addresses(ROWS), _addresses(COLUMNS)
    return types.void(four, three, types.uint64, types.int64, types.uint64, types.int64, types.uint64), build


def _add_lanes(builder: Any, sums: Sequence[Any], target: Any) -> None:
    """Add the sum of each vector's numbers to the numbers at an address."""
    pointer = builder.inttoptr(target, _NUMBER.as_pointer())
    for n, value in enumerate(sums):
        lanes = [builder.extract_element(value, ir.IntType(32)(lane)) for lane in range(LANES)]
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [builder.fadd(one, other) for one, other in zip(lanes[:half], lanes[half:], strict=True)]
        place = builder.gep(pointer, [_WORD(n)])
        builder.store(builder.fadd(builder.load(place, align=_BYTES), lanes[0]), place, align=_BYTES)


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _VECTOR.as_pointer())


def _move_vector(typing_context: Any, target: Any, source: Any) -> Any:
    """Copy a vector from one address to another."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        written, read = arguments
        builder.store(_load(builder, read, _VECTOR), _at(builder, written), align=_BYTES)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), build


def _put_row(typing_context: Any, targets: Any, sums: Any, number: Any) -> Any:
    """Write the vectors of a row to three addresses, a number added."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        written, read, added = arguments
        spread = _spread(builder, added)
        for n in range(COLUMNS):
            value = builder.fadd(_load(builder, read, _VECTOR, n), spread)
            builder.store(value, _at(builder, builder.extract_value(written, n)), align=_BYTES)
        return context.get_dummy_value()

    return types.void(_addresses(COLUMNS), types.uint64, types.float64), build


def _add_row(typing_context: Any, targets: Any, sums: Any) -> Any:
    """Add the vectors of a row to what lies at three addresses."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        written, read = arguments
        for n in range(COLUMNS):
            place = builder.extract_value(written, n)
            value = builder.fadd(_load(builder, place, _VECTOR), _load(builder, read, _VECTOR, n))
            builder.store(value, _at(builder, place), align=_BYTES)
        return context.get_dummy_value()

    return types.void(_addresses(COLUMNS), types.uint64), build


weighted_sums: Any = intrinsic(_weighted_sums)
sums_of_products: Any = intrinsic(_sums_of_products)
move_vector: Any = intrinsic(_move_vector)
put_row: Any = intrinsic(_put_row)
add_row: Any = intrinsic(_add_row)
