"""Error bounds of average pooling, and gradients of pooling; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import FUNCTION
from counterfoil_core.operators.facts import Bound, Use


def average(use: Use) -> Sequence[Bound]:
    """Average pooling: the window's terms, and a division for each axis that is averaged by itself."""
    lengths = sums.windows(use.kind, use.arguments)
    override = use.arguments.get("divisor_override")
    # With a divisor of one's own the result may be larger than the terms that the scale is made of.
    factor = 1.0 if override is None else max(1.0, math.prod(lengths) / abs(override))
    if use.own_form:
        return [Bound(sum(lengths) + FUNCTION * (len(lengths) + 1), factor)]
    return [Bound(math.prod(lengths) + FUNCTION, factor)]


def covering_windows(use: Use) -> Sequence[Bound]:
    """Gradients of pooling: the windows over one element."""
    axes = sums.pool_axes(use.kind)
    kernel = sums.spatial(use.arguments["kernel_size"], axes)
    stride = sums.spatial(use.arguments["stride"] or kernel, axes)
    dilation = sums.spatial(use.arguments.get("dilation") or [1], axes)
    override = use.arguments.get("divisor_override")
    return [Bound(math.prod(map(sums.covering, kernel, stride, dilation)) + FUNCTION, max(1.0, 1 / abs(override or 1)))]


def adaptive_windows(use: Use) -> Sequence[Bound]:
    """Gradients of adaptive pooling: at most ceil(out / in) + 1 windows along each axis."""
    axes = sums.pool_axes(use.kind)
    g, x = use.shape("grad_output"), use.shape("self")
    covering = math.prod(-(-out // max(n, 1)) + 1 for out, n in zip(g[-axes:], x[-axes:], strict=True))
    # The scale takes at least 8 windows for granted.
    return [Bound(covering + FUNCTION, max(1.0, covering / 8))]


def longest(use: Use) -> float:
    """Return how many elements lie in a window."""
    return math.prod(sums.windows(use.kind, use.arguments))
