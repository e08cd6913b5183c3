"""Pooling and its gradients, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from counterfoil_core.operators.judging.accumulation import Meetings
from counterfoil_core.operators.judging.forms import Arguments, Call, Element, ExactOutput, Judge
from counterfoil_core.operators.judging.ieee import Value
from counterfoil_core.operators.judging.numbers import fixed_point
from counterfoil_core.operators.judging.quantisation import of_terms
from counterfoil_core.operators.judging.selections import plus_zero
from counterfoil_core.operators.judging.separable import Weights, register

JUDGE = Judge()


@JUDGE.definition("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d")
def _max_pool(call: Call) -> Element:
    """The first largest of a window, row by row; the last that is no number comes before all; a zero is +0."""
    x = call["self"]
    axes = 3 if "3d" in call.kind else 2
    lengths, counts = x.shape[-axes:], call.shape[-axes:]
    planes = x.reshape(-1, *lengths)
    windows = [_places_of_windows(call, axis, axes, lengths[axis], counts[axis]) for axis in range(axes)]

    def element(index: int) -> Value:
        plane = planes[index // math.prod(counts)]
        place = np.unravel_index(index % math.prod(counts), counts)
        best: tuple[int, ...] | None = None
        for source in product(*(windows[axis][place[axis]] for axis in range(axes))):
            value = plane[source].item()
            if best is None or value != value or value > plane[best].item():
                best = source
        assert best is not None
        if call.output:
            return int(np.ravel_multi_index(best, lengths))
        return plus_zero(plane[best].item())

    return element


def _places_of_windows(call: Call, axis: int, axes: int, length: int, count: int) -> list[list[int]]:
    """The places of each window along an axis."""
    if call.kind == "adaptive_max_pool2d":
        return [list(window) for window in _adaptive_windows(length, count)]
    kernel, padding, dilation = (_settings(call[name], axes)[axis] for name in ("kernel_size", "padding", "dilation"))
    stride = _settings(call["stride"], axes)[axis] if call["stride"] else kernel
    starts = [i * stride - padding for i in range(count)]
    taps = [[start + tap * dilation for tap in range(kernel)] for start in starts]
    return [[place for place in window if 0 <= place < length] for window in taps]


def _adaptive_windows(length: int, count: int) -> list[range]:
    """Windows from floor(i n / m) to ceil((i + 1) n / m)."""
    return [range(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _settings(values: Any, axes: int) -> list[int]:
    """A setting for each axis, where one may be given for all."""
    listed = [values] if isinstance(values, int) else list(values)
    return listed * axes if len(listed) == 1 else listed


def _windows(call: Call, inputs: Sequence[int], outputs: Sequence[int]) -> list[Weights]:
    """Average pooling: windows that may reach into the padding, whose elements count or do not."""
    axes = len(inputs)
    kernel = _settings(call["kernel_size"], axes)
    stride = _settings(call["stride"] or kernel, axes)
    padding = _settings(call["padding"], axes)
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


def _adaptive(_: Call, inputs: Sequence[int], outputs: Sequence[int]) -> list[Weights]:
    return [
        [[(source, Fraction(1, len(window))) for source in window] for window in _adaptive_windows(length, count)]
        for length, count in zip(inputs, outputs, strict=True)
    ]


register(JUDGE, 1, ["avg_pool1d"], [], _windows)
register(JUDGE, 2, ["avg_pool2d"], ["avg_pool2d_backward"], _windows)
register(JUDGE, 3, ["avg_pool3d"], ["avg_pool3d_backward"], _windows)
register(JUDGE, 1, ["adaptive_avg_pool1d"], [], _adaptive)
register(JUDGE, 2, ["_adaptive_avg_pool2d"], ["_adaptive_avg_pool2d_backward"], _adaptive)
register(JUDGE, 3, ["_adaptive_avg_pool3d"], ["_adaptive_avg_pool3d_backward"], _adaptive)


def _plane_of(axes: int) -> Callable[[Call], ExactOutput]:
    def rule(call: Call) -> ExactOutput:
        """Each gradient goes to the place, within its plane, that the forward pass took its maximum from."""
        g, indices = call["grad_output"], call["indices"]
        area = int(np.prod(call.shape[-axes:]))
        planes = g.reshape(-1, int(np.prod(g.shape[-axes:]))).shape[0]
        places = indices.reshape(planes, -1) + np.arange(planes)[:, None] * area
        meetings = Meetings(places, g)
        return ExactOutput(lambda index: fixed_point(meetings.at(index)).total, meetings.most)

    return rule


JUDGE.exact_form("max_pool2d_with_indices_backward", "adaptive_max_pool2d_backward")(_plane_of(2))
JUDGE.exact_form("max_pool3d_with_indices_backward")(_plane_of(3))


def _positions(axes: int) -> Callable[[Arguments], int]:
    """All windows of a plane may have their maximum in one place."""
    return lambda arguments: math.prod(arguments["grad_output"].shape[-axes:])


JUDGE.quantised("max_pool2d_with_indices_backward", "adaptive_max_pool2d_backward")(
    of_terms("grad_output", _positions(2))
)
JUDGE.quantised("max_pool3d_with_indices_backward")(of_terms("grad_output", _positions(3)))
