"""What operators of the exact profiles need in memory inside: operands as integers or digits, sums, unfolded images.

They count in the form that CPUs with 8-bit dot products use (:mod:`counterfoil_core.kernels.exact.forms`), which needs
most: products of two matrices and convolutions by int8 digits, where there are two or three of them, and everything
else in float64. Digits that a product has cut are kept for the second product that their value is in
(:mod:`counterfoil_core.kernels.exact.digits`), and count so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from counterfoil_core.kernels.exact.limits import float64_block
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Argument, Node, TensorType, Value

_DIGIT, _MOST_ADDED = 7, 1 << 15
"""Bits of a digit with its sign, and products of digits that int32 adds (:mod:`.kernels.exact.digits`)."""
_WIDE, _SUM = 8, 4
"""Bytes of a float64 number or an int64 sum, and of an int32 sum."""
_TILE_BYTES, _FEWEST_ROWS = 640 * 1024, 64
"""What is unfolded of one digit of images at a time, and rows of it at the least."""
_TILES = 4
"""Tiles that take memory at once, as measured: what is unfolded, what the library packs, and what is not free yet."""
_INSIDE = _WIDE
"""Bytes for each element of its largest operand or result that any other operator needs; measured was half of it."""


@dataclass(frozen=True)
class Workspace:
    """What an operator needs inside."""

    bytes: int = 0  #: While it computes.
    #: By the number of a value what its digits take, from one product that it is in to the second.
    kept: dict[int, int] = field(default_factory=dict)


def workspace(types: Sequence[TensorType | None], node: Node, bits: int) -> Workspace:
    """Return what an operator needs inside under an exact profile; nothing for what moves or shows.

    Args:
        types: The type of every value of the program.
        node: The operator.
        bits: S of the profile.
    """
    if node.entry.operator_class is not OperatorClass.ROUNDED:
        return Workspace()
    kind, given = node.entry.kind, [_described(types, argument) for argument in node.args]
    if kind in ("mm", "mv", "dot", "bmm"):
        return _product(node, given[0], given[1], bits)
    if kind == "convolution":
        return _convolution(node, (0,), given[0], given[1], node.outputs[0], bits)
    if kind == "convolution_backward":
        return _convolution(node, (0, 1), given[1], given[2], given[0], bits)
    return Workspace(_INSIDE * max(map(_elements, (*given, *node.outputs)), default=0))


def _product(node: Node, left: TensorType | None, right: TensorType | None, bits: int) -> Workspace:
    made, planes = _elements(node.outputs[0]), _planes(bits)
    if not planes or node.entry.kind != "mm":
        inner = left.shape[-1] if left is not None and left.shape else 1
        sums = 1 if inner <= float64_block(2 * bits) else 3
        return Workspace(_WIDE * (_elements(left) + _elements(right) + sums * made))
    kept = {}
    for argument, operand in zip(node.args, (left, right), strict=False):
        if isinstance(argument, Value):
            kept[argument.number] = planes * _elements(operand)
    return Workspace(planes * _SUM * made, kept)


def _convolution(
    node: Node,
    images: Sequence[int],
    x: TensorType | None,
    weight: TensorType | None,
    made: TensorType | None,
    bits: int,
) -> Workspace:
    """Return what a convolution needs that makes ``made`` of x; so do its gradients, of what arrives in its place."""
    planes = _planes(bits)
    kernel = math.prod(weight.shape[1:]) if weight is not None else 1
    grouped = x is not None and weight is not None and x.shape[1:2] != weight.shape[1:2]
    if not planes or grouped or kernel > _MOST_ADDED:
        # The library unfolds a whole batch.
        taps = math.prod(weight.shape[2:]) if weight is not None else 1
        unfolded = max(_elements(x), _elements(made)) * (taps if taps > 1 else 0)
        return Workspace(_WIDE * (_elements(x) + _elements(weight) + _elements(made) + unfolded))
    rows = max(_FEWEST_ROWS, _TILE_BYTES // max(kernel, 1))
    outputs = weight.shape[0] if weight is not None and weight.shape else 1
    tiles = _TILES * planes * rows * (kernel + _SUM * outputs)
    # The gradient by the weight is added up in integers of its size.
    summed = planes * (1 + _WIDE) * _elements(weight)
    kept = {}
    for position in images:
        argument = node.args[position]
        if isinstance(argument, Value):
            described = x if len(images) == 1 or position == 1 else made
            kept[argument.number] = _digits(bits) * _elements(described)
    return Workspace(tiles + summed, kept)


def _digits(bits: int) -> int:
    return -(-(bits + 1) // _DIGIT)


def _planes(bits: int) -> int:
    """Planes of int8 that an operand is cut into: its digits, and sums of two of them; none where float64 computes."""
    digits = _digits(bits)
    return digits * (digits + 1) // 2 if digits in (2, 3) else 0


def _described(types: Sequence[TensorType | None], argument: Argument) -> TensorType | None:
    return types[argument.number] if isinstance(argument, Value) else None


def _elements(described: TensorType | None) -> int:
    return 0 if described is None else described.elements
