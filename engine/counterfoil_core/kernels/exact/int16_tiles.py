"""A tile of a product of int16 matrices: the loop that everything else of this form is around, for each vector unit.

Processors multiply vectors of int16 and add neighbouring products to int32 in one instruction, all the way back to SSE2
(``pmaddwd``); AArch64 multiplies halves of a vector and adds in one (``smlal``). Neither needs the 8-bit dot products
that newer ones have. LLVM finds these instructions in the vector operations that are written here; each lane of
int32 takes two products a step, so the result does not depend on which.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from counterfoil_core.kernels.cache import intrinsic, types

ROWS = 4
"""Rows of the left operand in a tile."""
COLUMNS = 2
"""Rows of the right operand, which lies transposed: with more, sums are spilled out of AVX2's sixteen registers."""
STEP = 16
"""Elements of the inner axis in a step: a vector of 256 bits. Rows are padded with zeros to multiples of it."""
_INT16, _INT32, _INT64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_READ = ir.VectorType(_INT16, STEP)
_ADDED = ir.VectorType(_INT32, STEP // 2)
_LANES = STEP // 4
_TOTAL = ir.VectorType(_INT64, _LANES)
_PAIR = ir.VectorType(_INT64, COLUMNS)


def steps_at_once(magnitude: int) -> int:
    """Return how many steps a lane of int32 adds without wrapping: each adds two products of that magnitude at most.

    Args:
        magnitude: The largest product of an element of the one operand with one of the other.

    Raises:
        ValueError: Not even one.
    """
    steps = (2**31 - 1) // (2 * magnitude)
    if not steps:
        raise ValueError(f"two products of up to {magnitude} do not fit into int32")
    return steps


@intrinsic
def tile(
    typing_context: Any, left: Any, left_start: Any, right: Any, right_start: Any, apart: Any, steps: Any, at_once: Any,
    sums: Any, place: Any, width: Any = None,
) -> Any:  # fmt: skip
    """Add the sums of products of 4 rows with 2 rows to others, inside compiled code.

    Args:
        typing_context: numba's.
        left: int16 ``[n]``, contiguous.
        left_start: Where its first row begins.
        right: int16 ``[n]``, contiguous.
        right_start: Where its first row begins.
        apart: Elements from a row to the next, of both.
        steps: Steps of 16 elements, one at least.
        at_once: Steps that int32 adds; what they gave is then added in int64.
        sums: int64 ``[n]``, which is added to.
        place: Where the sum of the first row of both lies there.
        width: Elements from there to those of the next row of ``left``.
    """
    signature = types.void(
        left, types.intp, right, types.intp, types.intp, types.intp, types.intp, sums, types.intp, types.intp
    )

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def memory(place: int) -> Any:
            return context.make_array(signature.args[place])(context, builder, arguments[place]).data

        apart, steps, at_once = arguments[4:7]
        rows, columns = (builder.gep(memory(operand), [arguments[operand + 1]]) for operand in (0, 2))
        totals = _in_blocks(builder, steps, at_once, lambda first: _reader(builder, rows, columns, apart, first))
        for row in range(0, ROWS, 2):
            found = _lanes_added(builder, totals[row * COLUMNS : (row + 2) * COLUMNS])
            for each in range(2):
                offset = builder.add(arguments[8], builder.mul(arguments[9], ir.Constant(_INT64, row + each)))
                place = builder.bitcast(builder.gep(memory(7), [offset]), _PAIR.as_pointer())
                before = builder.load(place)
                part = _chosen(builder, found, range(each * COLUMNS, (each + 1) * COLUMNS))
                store = builder.store(builder.add(before, part), place)
                before.align = store.align = _INT64.width // 8
        return context.get_dummy_value()

    return signature, build


_Read = Callable[[Any], tuple[list[Any], list[Any]]]
"""Gives the vectors of all rows of both operands at a step."""


def _in_blocks(builder: Any, steps: Any, at_once: Any, reader: Callable[[Any], _Read]) -> list[Any]:
    """Add the products of all steps, a block at a time: int64 vectors."""
    zero, none = ir.Constant(_INT64, 0), ir.Constant(_TOTAL, [0] * _LANES)
    before, block, after = builder.block, builder.append_basic_block("block"), builder.append_basic_block("after")
    builder.branch(block)
    builder.position_at_end(block)
    first, totals = builder.phi(_INT64), [builder.phi(_TOTAL) for _ in range(ROWS * COLUMNS)]
    left = builder.sub(steps, first)
    count = builder.select(builder.icmp_signed("<", left, at_once), left, at_once)
    sums = _in_steps(builder, count, reader(first))
    added = [builder.add(total, _widened(builder, found)) for total, found in zip(totals, sums, strict=True)]
    following = builder.add(first, count)
    for phi, start, again in ((first, zero, following), *zip(totals, [none] * len(totals), added, strict=True)):
        phi.add_incoming(start, before)
        phi.add_incoming(again, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, steps), block, after)
    builder.position_at_end(after)
    return added


def _in_steps(builder: Any, count: Any, read: _Read) -> list[Any]:
    """Add the products of so many steps: int32 vectors."""
    before, step, after = builder.block, builder.append_basic_block("step"), builder.append_basic_block("added")
    builder.branch(step)
    builder.position_at_end(step)
    number, sums = builder.phi(_INT64), [builder.phi(_ADDED) for _ in range(ROWS * COLUMNS)]
    rows, columns = read(number)
    products = [_products(builder, row, column) for row in rows for column in columns]
    added = [builder.add(total, product) for total, product in zip(sums, products, strict=True)]
    following = builder.add(number, ir.Constant(_INT64, 1))
    zero, none = ir.Constant(_INT64, 0), ir.Constant(_ADDED, [0] * (STEP // 2))
    for phi, start, again in ((number, zero, following), *zip(sums, [none] * len(sums), added, strict=True)):
        phi.add_incoming(start, before)
        phi.add_incoming(again, step)
    builder.cbranch(builder.icmp_signed("<", following, count), step, after)
    builder.position_at_end(after)
    return added


def _reader(builder: Any, left: Any, right: Any, apart: Any, first: Any) -> _Read:
    def read(number: Any) -> tuple[list[Any], list[Any]]:
        offset = builder.mul(builder.add(first, number), ir.Constant(_INT64, STEP))

        def rows(start: Any, count: int) -> list[Any]:
            found = []
            for row in range(count):
                place = builder.add(offset, builder.mul(apart, ir.Constant(_INT64, row)))
                loaded = builder.load(builder.bitcast(builder.gep(start, [place]), _READ.as_pointer()))
                loaded.align = _INT16.width // 8
                found.append(loaded)
            return found

        return rows(left, ROWS), rows(right, COLUMNS)

    return read


# What one instruction adds: neighbours on x86, an element of each half on AArch64.
_PARTS = (
    (range(STEP // 2), range(STEP // 2, STEP))
    if platform.machine().lower() in ("aarch64", "arm64")
    else (range(0, STEP, 2), range(1, STEP, 2))
)


def _products(builder: Any, row: Any, column: Any) -> Any:
    """Multiply two vectors and add two products in each lane."""
    wide = ir.VectorType(_INT32, STEP)
    product = builder.mul(builder.sext(row, wide), builder.sext(column, wide))
    return builder.add(*(_chosen(builder, product, places) for places in _PARTS))


def _widened(builder: Any, sums: Any) -> Any:
    """Add the two halves of a vector of int32 in int64."""
    parts = (_chosen(builder, sums, range(start, start + _LANES)) for start in (0, _LANES))
    return builder.add(*(builder.sext(part, _TOTAL) for part in parts))


def _lanes_added(builder: Any, vectors: list[Any]) -> Any:
    """Return a vector of the sums of four vectors' lanes."""

    def added(a: Any, b: Any, first: list[int], second: list[int]) -> Any:
        return builder.add(_chosen(builder, a, first, b), _chosen(builder, a, second, b))

    halves = [added(vectors[i], vectors[i + 1], [0, 4, 2, 6], [1, 5, 3, 7]) for i in (0, 2)]
    return added(halves[0], halves[1], [0, 1, 4, 5], [2, 3, 6, 7])


def _chosen(builder: Any, vector: Any, places: Sequence[int], other: Any = None) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, len(places)), list(places))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined) if other is None else other, mask)
