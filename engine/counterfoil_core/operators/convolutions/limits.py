"""How many terms convolutions and their gradients add, and which of them are single operations of exact profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

from counterfoil_core.base.sentence import say
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.sums import Arguments


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
