"""Error bounds of convolutions and their gradients; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import sum_terms
from counterfoil_core.operators.facts import Bound, Use


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
