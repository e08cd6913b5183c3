"""Which type the results have: pooling and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil_core.operators.shaping import Arguments, Results, ShapeRule, Typed, each, floats, require


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
