"""Scales of the gradients of pooling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from counterfoil_core.arithmetic.grid.magnitude import largest
from counterfoil_core.arithmetic.grid.scales.shared import Arguments, Outputs, Rule, Scale
from counterfoil_core.operators import sums


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


RULES: Mapping[str, Rule] = {
    "overlap": _overlap,
}
