"""Scales of the gradients of paddings, windows and folding: sums of copies of a gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from counterfoil_core.arithmetic.grid.magnitude import largest
from counterfoil_core.arithmetic.grid.scales.shared import Arguments, Outputs, Rule, Scale


def over_magnitudes(kind: str) -> Rule:
    """Return the rule of such an operator: the same operator over magnitudes, so exactly the terms that meet."""

    def magnitudes(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
        function = getattr(torch.ops.aten, kind).default
        # The gradient comes first.
        gradient, *others = (argument.name for argument in function._schema.arguments)
        return [largest(function(arguments[gradient].abs(), *(arguments[name] for name in others)))]

    return magnitudes
