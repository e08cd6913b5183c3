"""What is known of pooling: error bounds, terms of exact profiles, types, classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from counterfoil_core.operators import indices, sums
from counterfoil_core.operators.bounds import FUNCTION
from counterfoil_core.operators.facts import SELECTS, Bound, Trait, Use, exact, rounded_operators
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.shaperules import Arguments, Results, ShapeRule, Typed, each, floats, require


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


def _meeting(axes: int) -> Limited:
    """All gradients of a plane may go to one place of it."""
    return Limited(terms=lambda arguments: (math.prod(arguments["grad_output"].shape[-axes:]),), indexed=True)


LIMITS: Mapping[str, Limited] = {
    "max_pool2d_with_indices_backward": _meeting(2),
    "adaptive_max_pool2d_backward": _meeting(2),
    "max_pool3d_with_indices_backward": _meeting(3),
}
"""By operator kind."""


def _split(x: Typed, spatial: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lengths of samples and channels, and of the axes that are pooled."""
    require(x.rank in (spatial + 1, spatial + 2))
    return x.shape[:-spatial], x.shape[-spatial:]


def _window(arguments: Arguments, spatial: int) -> Typed:
    """What a pooling with a window gives."""
    (x,) = floats(arguments, "self")
    outer, lengths = _split(x, spatial)
    kernel = each(arguments["kernel_size"], spatial)
    stride = each(arguments["stride"], spatial) if arguments["stride"] else kernel
    padding, dilation = each(arguments["padding"], spatial), each(arguments.get("dilation", [1] * spatial), spatial)
    require(min(kernel) >= 1 and min(stride) >= 1 and min(dilation) >= 1)
    require(all(0 <= 2 * p <= k for p, k in zip(padding, kernel, strict=True)))
    require(arguments.get("divisor_override") != 0)
    made = [
        _length(*axis, ceil=arguments["ceil_mode"])
        for axis in zip(lengths, kernel, stride, padding, dilation, strict=True)
    ]
    return Typed(x.dtype, (*outer, *made))


def _length(n: int, k: int, s: int, p: int, d: int, *, ceil: bool) -> int:
    room = n + 2 * p - d * (k - 1) - 1
    require(room >= 0 and n >= k)
    length = (room + (s - 1 if ceil else 0)) // s + 1
    # The last window begins inside of the input, or of the padding before it.
    return length - 1 if ceil and (length - 1) * s >= n + p else length


def _average(spatial: int) -> ShapeRule:
    return lambda arguments: [_window(arguments, spatial)]


def _average_backward(spatial: int) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        gradient, x = floats(arguments, "grad_output", "self")
        require(gradient == _window(arguments, spatial))
        return [x]

    return rule


def _largest(spatial: int) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        made = _window(arguments, spatial)
        return [made, Typed("int64", made.shape)]

    return rule


def _largest_backward(spatial: int) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        gradient, x = floats(arguments, "grad_output", "self")
        require([gradient, arguments["indices"]] == list(_largest(spatial)(arguments)))
        return [x]

    return rule


def _adapted(x: Typed, size: Sequence[int], spatial: int) -> Typed:
    outer, _ = _split(x, spatial)
    lengths = each(size, spatial)
    require(min(lengths) >= 1)
    return Typed(x.dtype, (*outer, *lengths))


def _adaptive(spatial: int) -> ShapeRule:
    return lambda arguments: [_adapted(floats(arguments, "self")[0], arguments["output_size"], spatial)]


def _adaptive_backward(spatial: int) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        gradient, x = floats(arguments, "grad_output", "self")
        require(gradient == _adapted(x, list(gradient.shape[-spatial:]), spatial))
        return [x]

    return rule


def _adaptive_largest(arguments: Arguments) -> Results:
    made = _adapted(floats(arguments, "self")[0], arguments["output_size"], 2)
    return [made, Typed("int64", made.shape)]


def _adaptive_largest_backward(arguments: Arguments) -> Results:
    gradient, _ = floats(arguments, "grad_output", "self")
    require(arguments["indices"] == Typed("int64", gradient.shape))
    return _adaptive_backward(2)(arguments)


RULES: dict[str, ShapeRule] = {
    **{f"aten.avg_pool{axes}d.default": _average(axes) for axes in (1, 2, 3)},
    **{f"aten.avg_pool{axes}d_backward.default": _average_backward(axes) for axes in (2, 3)},
    **{f"aten.max_pool{axes}d_with_indices.default": _largest(axes) for axes in (2, 3)},
    **{f"aten.max_pool{axes}d_with_indices_backward.default": _largest_backward(axes) for axes in (2, 3)},
    "aten.adaptive_avg_pool1d.default": _adaptive(1),
    **{f"aten._adaptive_avg_pool{axes}d.default": _adaptive(axes) for axes in (2, 3)},
    **{f"aten._adaptive_avg_pool{axes}d_backward.default": _adaptive_backward(axes) for axes in (2, 3)},
    "aten.adaptive_max_pool2d.default": _adaptive_largest,
    "aten.adaptive_max_pool2d_backward.default": _adaptive_largest_backward,
}
"""By operator."""


FACTS = (
    *exact(
        SELECTS,
        "max_pool2d_with_indices.default max_pool3d_with_indices.default adaptive_max_pool2d.default",
        decides=(0, 1),
    ),
    *rounded_operators("inputs", average, "adaptive_avg_pool1d.default avg_pool1d.default"),
    *rounded_operators(
        "inputs",
        average,
        "avg_pool2d.default avg_pool3d.default _adaptive_avg_pool2d.default _adaptive_avg_pool3d.default",
        longest=longest,
    ),
    *rounded_operators(
        "overlap",
        covering_windows,
        "max_pool2d_with_indices_backward.default",
        Trait.SUMS,
        indices=indices.in_windows(2),
    ),
    *rounded_operators(
        "overlap",
        covering_windows,
        "max_pool3d_with_indices_backward.default",
        Trait.SUMS,
        indices=indices.in_windows(3),
    ),
    *rounded_operators("overlap", covering_windows, "avg_pool2d_backward.default avg_pool3d_backward.default"),
    *rounded_operators(
        "overlap",
        adaptive_windows,
        "adaptive_max_pool2d_backward.default",
        Trait.SUMS,
        indices=indices.in_windows(2),
    ),
    *rounded_operators(
        "overlap",
        adaptive_windows,
        "_adaptive_avg_pool2d_backward.default _adaptive_avg_pool3d_backward.default",
    ),
)
