"""Convolutions and their gradients: exact inner products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import Arguments, Call, ExactOutput, Judge
from counterfoil_core.operators.judging.numbers import Fixed, NotExactError, Number, exact_sum, fixed_point, number
from counterfoil_core.operators.judging.quantisation import of_product

JUDGE = Judge()


class _Geometry:
    """How the positions of a convolution's larger side, of its smaller side, and of its kernel belong together.

    Along each axis, position p of the smaller side meets position ``p * stride + tap * dilation - padding`` of the
    larger one under the kernel's position ``tap``.
    """

    def __init__(self, call: Call, large: Sequence[int], small: Sequence[int], kernel: Sequence[int]) -> None:
        rank = len(kernel)

        def setting(name: str) -> list[int]:
            values = list(call[name])
            return values * rank if len(values) == 1 else values

        settings = (setting(name) for name in ("stride", "padding", "dilation"))
        self._axes = list(zip(large, small, kernel, *settings, strict=True))

    def under(self, place: Sequence[int]) -> tuple[list[Any], list[Any]]:
        """For a place of the smaller side: the places of the larger one and the taps that meet there."""
        return self._pairs(place, lambda p, axis: [(p * axis[3] + t * axis[5] - axis[4], t) for t in range(axis[2])], 0)

    def over(self, place: Sequence[int]) -> tuple[list[Any], list[Any]]:
        """For a place of the larger side: the places of the smaller one and the taps that meet there."""

        def pairs(q: int, axis: tuple[int, ...]) -> list[tuple[int, int]]:
            reached = [(q + axis[4] - t * axis[5], t) for t in range(axis[2])]
            return [(at // axis[3], t) for at, t in reached if at % axis[3] == 0]

        return self._pairs(place, pairs, 1)

    def along(self, taps: Sequence[int]) -> tuple[list[Any], list[Any]]:
        """For a place of the kernel: the places of the larger and of the smaller side that meet there."""
        return self._pairs(taps, lambda t, axis: [(p * axis[3] + t * axis[5] - axis[4], p) for p in range(axis[1])], 0)

    def _pairs(self, place: Sequence[int], pairs: Any, bound: int) -> tuple[list[Any], list[Any]]:
        """Pairs along each axis whose first lies within the side ``bound``, as one list of indices for each axis."""
        found = [
            [pair for pair in pairs(at, axis) if 0 <= pair[0] < axis[bound]]
            for at, axis in zip(place, self._axes, strict=True)
        ]
        return [[a for a, _ in axis] for axis in found], [[b for _, b in axis] for axis in found]


def _block(x: Array, *indices: Sequence[int]) -> Fixed:
    """The elements of ``x`` at all combinations of the indices, in C order."""
    return fixed_point(x[np.ix_(*indices)])


def _geometry(call: Call, x: Array, weight: Array, y: Sequence[int]) -> _Geometry:
    if x.ndim != weight.ndim:
        raise NotExactError("its input has no batch axis")
    large, small = (y, x.shape) if call["transposed"] else (x.shape, y)
    return _Geometry(call, large[2:], small[2:], weight.shape[2:])


@JUDGE.exact_form("convolution")
def _convolution(call: Call) -> ExactOutput:
    x, weight, bias, groups = call["input"], call["weight"], call["bias"], call["groups"]
    geometry = _geometry(call, x, weight, call.shape)
    inputs = range(x.shape[1] // groups)

    def element(index: int) -> Number:
        n, o, *place = call.place(index)
        outputs = call.shape[1] // groups
        channels = [o // outputs * len(inputs) + c for c in inputs]
        if call["transposed"]:
            sources, taps = geometry.over(place)
            inner = _block(x, [n], channels, *sources).dot(_block(weight, channels, [o % outputs], *taps))
        else:
            sources, taps = geometry.under(place)
            inner = _block(x, [n], channels, *sources).dot(_block(weight, [o], inputs, *taps))
        return inner if bias is None else _plus(inner, number(bias[o]))

    return ExactOutput(element, len(inputs) * int(np.prod(weight.shape[2:])) + 1)


@JUDGE.exact_form("convolution_backward")
def _convolution_backward(call: Call) -> ExactOutput:
    g, x, weight, groups = call["grad_output"], call["input"], call["weight"], call["groups"]
    geometry = _geometry(call, x, weight, g.shape)
    transposed = call["transposed"]
    ins, outs = x.shape[1] // groups, g.shape[1] // groups

    def of_input(index: int) -> Number:
        n, c, *place = call.place(index)
        channels = [c // ins * outs + o for o in range(outs)]
        if transposed:
            sources, taps = geometry.under(place)
            return _block(g, [n], channels, *sources).dot(_block(weight, [c], range(outs), *taps))
        sources, taps = geometry.over(place)
        return _block(g, [n], channels, *sources).dot(_block(weight, channels, [c % ins], *taps))

    def of_weight(index: int) -> Number:
        first, second, *taps = call.place(index)
        large, small = geometry.along(taps)
        batch = range(x.shape[0])
        if transposed:  # weight is [inputs, outputs of a group, ...]; the gradient lies on the larger side
            channel = first // ins * outs + second
            return _block(x, batch, [first], *small).dot(_block(g, batch, [channel], *large))
        channel = first // outs * ins + second
        return _block(g, batch, [first], *small).dot(_block(x, batch, [channel], *large))

    def of_bias(index: int) -> Number:
        return exact_sum(g[:, index])

    positions = g.size // g.shape[1]
    costs = (outs * int(np.prod(weight.shape[2:])), x.size // x.shape[1] if transposed else positions, positions)
    return ExactOutput((of_input, of_weight, of_bias)[call.output], costs[call.output])


def _plus(first: Number, second: Number) -> Number:
    """The sum of two numbers, without rounding."""
    return first.context.fadd(first, second, exact=True)


@JUDGE.quantised("convolution")
def _quantised(arguments: Arguments, bits: int) -> Arguments:
    if arguments["bias"] is not None:
        raise NotExactError("a bias is an operation of its own")
    return of_product("input", "weight")(arguments, bits)


@JUDGE.quantised("convolution_backward")
def _quantised_backward(arguments: Arguments, bits: int) -> Arguments:
    if arguments["output_mask"][2]:
        raise NotExactError("the gradient of a bias is an operation of its own")
    # Of the gradient by the input the weight is the other operand, of that by the weight the input.
    others = [name for name, wanted in zip(("weight", "input"), arguments["output_mask"], strict=False) if wanted]
    return of_product("grad_output", *others)(arguments, bits)
