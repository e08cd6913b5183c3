"""Which type the results have: convolutions and their gradients."""

from __future__ import annotations

from counterfoil_core.operators.shaping import Arguments, Results, ShapeRule, Typed, each, fits, floats, masked, require


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
    return masked([arguments["input"], arguments["weight"], Typed(made.dtype, (channels,))], mask)


RULES: dict[str, ShapeRule] = {
    "aten.convolution.default": _convolution,
    "aten.convolution_backward.default": _convolution_backward,
}
"""By operator."""
