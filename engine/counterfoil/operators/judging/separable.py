"""Pooling and padding, and their gradients: linear maps that work on each spatial axis alone.

Along one axis such a map gives, for each place of its result, the places that it is made from and their weights. Over
several axes the weights multiply. The gradient is the transposed map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from counterfoil.operators.judging.forms import Call, ExactOutput, exact_form
from counterfoil.operators.judging.numbers import Array, NotExactError, Number, number

Weights = list[list[tuple[int, Fraction]]]
"""For each place of the result along one axis: the places it is made from, each with its weight."""
_WHOLE = Fraction(1)


def _transposed(weights: Weights, length: int) -> Weights:
    result: Weights = [[] for _ in range(length)]
    for place, sources in enumerate(weights):
        for source, weight in sources:
            result[source].append((place, weight))
    return result


def _mapped(call: Call, x: Array, axes: Sequence[Weights]) -> ExactOutput:
    """The map whose axes are the last ones of ``x``."""
    planes = x.reshape(-1, *x.shape[x.ndim - len(axes) :])
    area = math.prod(call.shape[len(call.shape) - len(axes) :])

    def element(index: int) -> Number:
        place = call.place(index)[len(call.shape) - len(axes) :]
        total = Fraction(0)
        for sources in product(*(axis[at] for axis, at in zip(axes, place, strict=True))):
            value = planes[(index // area, *(source for source, _ in sources))]
            if not math.isfinite(value):
                raise NotExactError("a value that reaches it is infinite or not a number")
            total += math.prod((weight for _, weight in sources), start=Fraction(float(value)))
        return number(total.numerator) / number(total.denominator)

    most = math.prod(max((len(sources) for sources in axis), default=1) for axis in axes)
    return ExactOutput(element, 20 * most)


def _backward(call: Call, axes: Sequence[Weights]) -> ExactOutput:
    lengths = call.shape[len(call.shape) - len(axes) :]
    transposed = [_transposed(axis, length) for axis, length in zip(axes, lengths, strict=True)]
    return _mapped(call, call["grad_output"], transposed)


def _each(values: Any, axes: int) -> list[int]:
    listed = [values] if isinstance(values, int) else list(values)
    return listed * axes if len(listed) == 1 else listed


def _windows(call: Call, inputs: Sequence[int], outputs: Sequence[int]) -> list[Weights]:
    """Average pooling: windows that may reach into the padding, whose elements count or do not."""
    axes = len(inputs)
    kernel = _each(call["kernel_size"], axes)
    stride = _each(call["stride"] or kernel, axes)
    padding = _each(call["padding"], axes)
    divisor = call.get("divisor_override")
    result = []
    for axis, (length, count) in enumerate(zip(inputs, outputs, strict=True)):
        weights: Weights = []
        for place in range(count):
            start = place * stride[axis] - padding[axis]
            end = min(start + kernel[axis], length + padding[axis])
            covered = range(max(start, 0), min(end, length))
            parts = end - start if call["count_include_pad"] else len(covered)
            if divisor:
                parts = divisor if axis == 0 else 1
            weights.append([(source, Fraction(1, parts)) for source in covered])
        result.append(weights)
    return result


def _adaptive(inputs: Sequence[int], outputs: Sequence[int]) -> list[Weights]:
    """Adaptive average pooling: windows from floor(i n / m) to ceil((i + 1) n / m)."""
    result = []
    for length, count in zip(inputs, outputs, strict=True):
        windows = [range(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]
        result.append([[(source, Fraction(1, len(window))) for source in window] for window in windows])
    return result


def _padded(call: Call, lengths: Sequence[int], source: Callable[[int, int], int]) -> list[Weights]:
    """Padding by elements of the tensor itself; the argument lists the last axis first."""
    padding = call["padding"]
    result = []
    for axis, length in enumerate(lengths):
        before, after = padding[2 * (len(lengths) - 1 - axis) :][:2]
        places: Iterable[int] = range(-before, length + after)
        result.append([[(source(place, length), _WHOLE)] for place in places])
    return result


def _mirrored(place: int, length: int) -> int:
    inside = abs(place)
    return inside if inside < length else 2 * (length - 1) - inside


def _clamped(place: int, length: int) -> int:
    return min(max(place, 0), length - 1)


def _register(
    axes: int, forward: Sequence[str], backward: Sequence[str], weights: Callable[..., list[Weights]]
) -> None:
    """Register kinds that map the last ``axes`` axes; ``weights`` takes the call and both sides' lengths."""

    def forward_rule(call: Call) -> ExactOutput:
        x = call["self"]
        return _mapped(call, x, weights(call, x.shape[x.ndim - axes :], call.shape[len(call.shape) - axes :]))

    def backward_rule(call: Call) -> ExactOutput:
        g = call["grad_output"]
        return _backward(call, weights(call, call.shape[len(call.shape) - axes :], g.shape[g.ndim - axes :]))

    exact_form(*forward)(forward_rule)
    exact_form(*backward)(backward_rule)


def _without_call(make: Callable[..., list[Weights]]) -> Callable[..., list[Weights]]:
    return lambda call, inputs, outputs: make(inputs, outputs)


def _by_padding(source: Callable[[int, int], int]) -> Callable[..., list[Weights]]:
    return lambda call, inputs, outputs: _padded(call, inputs, source)


_register(1, ["avg_pool1d"], [], _windows)
_register(2, ["avg_pool2d"], ["avg_pool2d_backward"], _windows)
_register(3, ["avg_pool3d"], ["avg_pool3d_backward"], _windows)
_register(1, ["adaptive_avg_pool1d"], [], _without_call(_adaptive))
_register(2, ["_adaptive_avg_pool2d"], ["_adaptive_avg_pool2d_backward"], _without_call(_adaptive))
_register(3, ["_adaptive_avg_pool3d"], ["_adaptive_avg_pool3d_backward"], _without_call(_adaptive))
_register(1, [], ["reflection_pad1d_backward"], _by_padding(_mirrored))
_register(2, [], ["reflection_pad2d_backward"], _by_padding(_mirrored))
_register(1, [], ["replication_pad1d_backward"], _by_padding(_clamped))
_register(2, [], ["replication_pad2d_backward"], _by_padding(_clamped))
