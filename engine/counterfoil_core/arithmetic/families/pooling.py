"""Pooling and its gradients: scales, forms along one axis after another, definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import largest
from counterfoil_core.arithmetic.families.parts import Definition, Form, Outputs, Run, Scale, ScaleRule
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.sums import total_by_place
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments

# Scales of the gradients of pooling.


def _overlap(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients that overlapping windows bring together: the windows over one element times the largest of them."""
    g = arguments["grad_output"]
    windows = 1.0
    if "kernel_size" in arguments:
        kernel = arguments["kernel_size"]
        stride = arguments.get("stride") or kernel
        dilation = arguments.get("dilation") or [1]
        axes = max(map(len, (kernel, stride, dilation)))
        windows = float(math.prod(map(sums.covering, *(sums.spatial(v, axes) for v in (kernel, stride, dilation)))))
    elif outputs[0] is not None and outputs[0].numel():
        windows = float(max(1, -(-g.numel() // outputs[0].numel()))) * 8.0
    return [largest(g) * windows]


SCALES: Mapping[str, ScaleRule] = {
    "overlap": _overlap,
}

# Average pooling along one axis after another.


def _average(operator: str) -> Form:
    """Average pooling along one axis after another: the number of elements of a window is a product over the axes."""

    def form(run: Run, a: Arguments) -> Any:
        x, override = a["self"], a.get("divisor_override")
        axes = sums.pool_axes(operator)
        kernel = sums.spatial(a["kernel_size"], axes)
        stride = sums.spatial(a["stride"] or kernel, axes)
        padding = sums.spatial(a["padding"], axes)
        for axis in reversed(range(axes)):

            def only(values: Sequence[int], other: int, axis: int = axis) -> list[int]:
                return [values[axis] if number == axis else other for number in range(axes)]

            x = run(
                f"aten.{operator}.default", x, only(kernel, 1), only(stride, 1), only(padding, 0), a["ceil_mode"],
                a["count_include_pad"], None if override is None else 1,
            )  # fmt: skip
        return x if override is None else run("aten.div.Scalar", x, float(override))

    return form


def _adaptive_average(operator: str) -> Form:
    """Adaptive average pooling along one axis after another."""

    def form(run: Run, a: Arguments) -> Any:
        x = a["self"]
        axes = sums.pool_axes(operator)
        sizes = sums.spatial(a["output_size"], axes)
        for axis in reversed(range(axes)):
            current = list(x.shape[-axes:])
            current[axis] = sizes[axis]
            x = run(f"aten.{operator}.default", x, current)
        return x

    return form


FORMS: dict[str, Form] = {
    **{kind: _average(kind) for kind in ("avg_pool2d", "avg_pool3d")},
    **{kind: _adaptive_average(kind) for kind in ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")},
}
"""Forms by operator kind."""


def _max_pool_backward(axes: int) -> Definition:
    """Each gradient goes to the place in its plane that the maximum was taken from."""

    def compute(arguments: Arguments, profile: Profile) -> Tensor:
        x, g, indices = arguments["self"], arguments["grad_output"], arguments["indices"]
        area, met = math.prod(x.shape[-axes:]), math.prod(g.shape[-axes:])
        planes = x.numel() // max(area, 1)
        offsets = torch.arange(planes, device=g.device)[:, None] * area
        places = indices.reshape(planes, met) + offsets
        return total_by_place(g.reshape(-1), places.reshape(-1), x.numel(), met).view(x.shape)

    return compute


DEFINITIONS: Mapping[str, Definition] = {
    "max_pool2d_with_indices_backward": _max_pool_backward(2),
    "adaptive_max_pool2d_backward": _max_pool_backward(2),
    "max_pool3d_with_indices_backward": _max_pool_backward(3),
}
"""By operator kind."""
