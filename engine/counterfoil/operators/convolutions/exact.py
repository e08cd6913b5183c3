"""Convolutions and their gradients by the definition of the exact profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor

from counterfoil.base.sentence import say
from counterfoil.kernels.exact import convolutions
from counterfoil.kernels.exact.forms import Profile
from counterfoil.kernels.exact.geometry import Geometry
from counterfoil.operators.exact import Arguments, Single
from counterfoil.operators.sums import spatial


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


def _from_outputs(arguments: Arguments) -> int:
    outputs, _, *kernel = arguments["weight"].shape
    return int(outputs // arguments["groups"] * math.prod(kernel))


def _products(arguments: Arguments) -> tuple[int]:
    return (_from_outputs(arguments) if arguments["transposed"] else math.prod(arguments["weight"].shape[1:]),)


def _gradient_products(arguments: Arguments) -> tuple[int, ...]:
    transposed, mask, found = arguments["transposed"], arguments["output_mask"], []
    if mask[0]:
        found.append(math.prod(arguments["weight"].shape[1:]) if transposed else _from_outputs(arguments))
    if mask[1]:
        small = arguments["input" if transposed else "grad_output"].shape
        found.append(math.prod((small[0], *small[2:])))
    return tuple(found)


def _several(arguments: Arguments) -> str | None:
    if arguments["bias"] is not None:
        return say("has a bias, which is an addition of its own")
    return _without_batch(arguments)


def _several_gradients(arguments: Arguments) -> str | None:
    if arguments["output_mask"][2]:
        return say("gives the gradient of a bias, which is a sum of its own")
    return _without_batch(arguments)


def _without_batch(arguments: Arguments) -> str | None:
    axes = len(arguments["weight"].shape)
    return None if axes >= 3 and len(arguments["input"].shape) == axes else say("has no batch axis")


SINGLES: Mapping[str, Single] = {
    "convolution": Single(_convolution, products=_products, several=_several),
    "convolution_backward": Single(_convolution_backward, products=_gradient_products, several=_several_gradients),
}
