"""Gradients of paddings, windows and folding, which are sums of copies: scales and definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import largest
from counterfoil_core.arithmetic.families.parts import Definition, Outputs, Scale, ScaleRule
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.sums import total_of_overlaps
from counterfoil_core.operators.sums import Arguments

# Scales of the gradients of paddings, windows and folding: sums of copies of a gradient.


def over_magnitudes(kind: str) -> ScaleRule:
    """Return the rule of such an operator: the same operator over magnitudes, so exactly the terms that meet."""

    def magnitudes(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
        function = getattr(torch.ops.aten, kind).default
        # The gradient comes first.
        gradient, *others = (argument.name for argument in function._schema.arguments)
        return [largest(function(arguments[gradient].abs(), *(arguments[name] for name in others)))]

    return magnitudes


def _col2im(arguments: Arguments, profile: Profile) -> Tensor:
    columns = arguments["self"]
    size, kernel, stride, padding, dilation = (
        arguments[name] for name in ("output_size", "kernel_size", "stride", "padding", "dilation")
    )
    blocks = [
        (length + 2 * p - d * (taps - 1) - 1) // s + 1
        for length, taps, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    leading = columns.shape[:-2]
    channels = columns.shape[-2] // math.prod(kernel)
    shaped = columns.reshape(*leading, channels, *kernel, *blocks)
    windows = shaped.permute(*range(len(leading) + 1), -2, -1, -4, -3)
    return total_of_overlaps(windows, size, stride, padding, dilation)


def _unfold_backward(arguments: Arguments, profile: Profile) -> Tensor:
    g, sizes, step = arguments["grad_in"], arguments["input_sizes"], arguments["step"]
    axis = arguments["dim"] % len(sizes)
    # [..., windows, ..., size] with the windows' axis and that within them last.
    windows = g.movedim(axis, -2)
    found = total_of_overlaps(windows, [sizes[axis]], [step], [0], [1])
    return found.movedim(-1, axis).contiguous()


DEFINITIONS: Mapping[str, Definition] = {"col2im": _col2im, "unfold_backward": _unfold_backward}
"""By operator kind."""
