"""Convolutions and their gradients by the definition of the exact profiles."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from counterfoil_core.kernels.exact import convolutions
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.operators.exact import Arguments, Rule
from counterfoil_core.operators.sums import spatial


def _geometry(arguments: Arguments) -> Geometry:
    axes = arguments["weight"].dim() - 2
    stride, padding, dilation = (tuple(spatial(arguments[name], axes)) for name in ("stride", "padding", "dilation"))
    return Geometry(stride, padding, dilation, arguments["groups"])


def _convolution(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["bias"] is None, "a bias is an operation of its own"
    x, weight, geometry = arguments["input"], arguments["weight"], _geometry(arguments)
    if not arguments["transposed"]:
        return convolutions.convolution(x, weight, geometry, profile.bits, profile.kernels)
    size = [
        (length - 1) * stride - 2 * padding + dilation * (taps - 1) + extra + 1
        for length, stride, padding, dilation, taps, extra in zip(
            x.shape[2:],
            geometry.stride,
            geometry.padding,
            geometry.dilation,
            weight.shape[2:],
            spatial(arguments["output_padding"], weight.dim() - 2),
            strict=True,
        )
    ]
    return convolutions.input_gradient(x, weight, size, geometry, profile.bits, profile.kernels)


def _convolution_backward(arguments: Arguments, profile: Profile) -> tuple[Tensor | None, ...]:
    g, x, weight, geometry = (*(arguments[name] for name in ("grad_output", "input", "weight")), _geometry(arguments))
    wanted, kernel, settings = arguments["output_mask"], weight.shape[2:], (geometry, profile.bits, profile.kernels)
    assert not wanted[2], "the gradient of a bias is an operation of its own"
    results: list[Tensor | None] = [None, None, None]
    if arguments["transposed"]:
        if wanted[0]:
            results[0] = convolutions.convolution(g, weight, *settings)
        if wanted[1]:
            results[1] = convolutions.weight_gradient(x, g, kernel, *settings)
    else:
        if wanted[0]:
            results[0] = convolutions.input_gradient(g, weight, x.shape[2:], *settings)
        if wanted[1]:
            results[1] = convolutions.weight_gradient(g, x, kernel, *settings)
    return tuple(results)


SINGLES: Mapping[str, Rule] = {"convolution": _convolution, "convolution_backward": _convolution_backward}
"""By operator kind."""
