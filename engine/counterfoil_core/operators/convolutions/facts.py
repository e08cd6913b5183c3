"""What is known of convolutions and their gradients: error bounds, terms of exact profiles, types, classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from counterfoil_core.base.sentence import say
from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import sum_terms
from counterfoil_core.operators.facts import Bound, Trait, Use, rounded_operators
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    each,
    fits,
    floats,
    masked_results,
    require,
)


def convolution(use: Use) -> Sequence[Bound]:
    """Convolutions: input channels of a group times kernel positions, and the bias."""
    weight = use.shape("weight")
    per_output = math.prod(weight[1:])
    if use.arguments["transposed"]:
        per_output = weight[0] // use.arguments["groups"] * math.prod(weight[2:])
    return [Bound(per_output + 1)]


def convolution_backward(use: Use) -> Sequence[Bound]:
    """Gradients of convolutions: output channels times kernel positions; batch times positions, twice."""
    weight, g = use.shape("weight"), use.shape("grad_output")
    kernel = math.prod(weight[2:])
    to_input = (weight[1] if use.arguments["transposed"] else weight[0] // use.arguments["groups"]) * kernel
    parts = sums.WeightParts(use.arguments)
    positions = parts.terms if use.own_form else parts.positions
    to_bias = sum_terms(use, sums.channel_lengths(g))
    return [Bound(max(to_input, 1)), Bound(max(positions, 1)), Bound(to_bias)]


def longest_of_gradients(use: Use) -> float:
    """Return over how many positions of how many samples the gradients of weight and bias are summed."""
    arguments = use.arguments
    mask, g = arguments["output_mask"], use.shape("grad_output")
    if len(g) < 3:
        return 0.0
    weight = sums.WeightParts(arguments).positions if mask[1] else 0
    return max(weight, g[0] * math.prod(g[2:]) if mask[2] else 0)


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


LIMITS: Mapping[str, Limited] = {
    "convolution": Limited(products=_products, several=_several),
    "convolution_backward": Limited(products=_gradient_products, several=_several_gradients),
}
"""By operator kind."""


def _convolved(arguments: Arguments) -> Typed:
    """What a convolution gives, or the gradient of it that a backward pass takes."""
    x, weight = floats(arguments, "input", "weight")
    spatial, groups = x.rank - 2, arguments["groups"]
    require(1 <= spatial <= 3 and weight.rank == x.rank and groups >= 1)
    transposed = arguments["transposed"]
    settings = [each(arguments[name], spatial) for name in ("stride", "padding", "dilation", "output_padding")]
    stride, padding, dilation, outer = settings
    require(min(stride) >= 1 and min(padding) >= 0 and min(dilation) >= 1 and min(outer) >= 0)
    require(weight.shape[0] % groups == 0 and weight.shape[0] >= groups)
    if transposed:
        require(x.shape[1] == weight.shape[0])
        require(all(more < max(s, d) for more, s, d in zip(outer, stride, dilation, strict=True)))
        channels = weight.shape[1] * groups
    else:
        require(x.shape[1] == weight.shape[1] * groups and not any(outer))
        channels = weight.shape[0]
    lengths = []
    for n, k, s, p, d, more in zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, outer, strict=True):
        reach = d * (k - 1) + 1
        require(transposed or n + 2 * p >= reach)
        length = (n - 1) * s - 2 * p + reach + more if transposed else (n + 2 * p - reach) // s + 1
        require(length >= 1)
        lengths.append(length)
    return Typed(x.dtype, (x.shape[0], channels, *lengths))


def _convolution(arguments: Arguments) -> Results:
    result = _convolved(arguments)
    fits(arguments["bias"], Typed(result.dtype, (result.shape[1],)))
    return [result]


def _convolution_backward(arguments: Arguments) -> Results:
    made = _convolved(arguments)
    channels, mask = made.shape[1], arguments["output_mask"]
    require(arguments["grad_output"] == made)
    require(arguments["bias_sizes"] == [channels] or (arguments["bias_sizes"] in (None, [0]) and not mask[2]))
    return masked_results([arguments["input"], arguments["weight"], Typed(made.dtype, (channels,))], mask)


RULES: dict[str, ShapeRule] = {
    "aten.convolution.default": _convolution,
    "aten.convolution_backward.default": _convolution_backward,
}
"""By operator."""


FACTS = (
    *rounded_operators("convolution", convolution, "convolution.default", Trait.SUMS),
    *rounded_operators(
        "convolution_backward",
        convolution_backward,
        "convolution_backward.default",
        Trait.SUMS,
        longest=longest_of_gradients,
    ),
)
