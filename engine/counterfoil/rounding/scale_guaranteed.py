"""Scale rules under guaranteed margins, where the usual rule bounds what hardware does but not the worst case.

Most operators keep their rule of :mod:`counterfoil.rounding.scale`. The ones here multiply an error that is relative to
one argument by another argument: normalisations by ``max|x| * rstd`` where a row's mean is large against its deviation,
gradients of gates by ``|x|``. docs/numerics.md derives each.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from counterfoil.program.operators import Operator
from counterfoil.rounding import scale
from counterfoil.rounding.magnitude import along
from counterfoil.rounding.scale import Arguments, Outputs, Rule, Scale

_TANH_SLOPE = 0.8
"""sqrt(2 / pi) of GELU's tanh form, rounded up."""
_TANH_CUBIC = 3 * 0.044715


def guaranteed_rule(entry: Operator) -> Rule:
    """Return the scale rule of an operator under guaranteed margins."""
    return _RULES.get(entry.kind) or scale.rule(entry.scale)


def _normalised(x: Tensor, rstd: Tensor, weight: Tensor | float, bias: Tensor | None) -> list[Scale]:
    """Scales of (result, mean, rstd) for ``x`` ``[rows, ...]``: a variance's error relative to std * max|x|."""
    top = along(x, 0).largest
    ratio = top * rstd
    return [
        (ratio * (1.0 + ratio) * weight).amax() + scale.largest(bias),
        top.amax(),
        (rstd * (1.0 + ratio)).amax(),
    ]


def _batch_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    x, weight, rstd = arguments["input"], arguments["weight"], outputs[2]
    usual = scale.rule("batch_norm")(arguments, outputs)
    if rstd is None or rstd.numel() == 0:
        return usual
    factor = 1.0 if weight is None else weight.abs()
    result = _normalised(x.transpose(0, 1), rstd, factor, arguments["bias"])[0]
    return [result, *usual[1:]]


def _factor(arguments: Arguments) -> Tensor | float:
    return scale.largest(arguments["weight"]) if arguments["weight"] is not None else 1.0


def _layer_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    rstd = outputs[2]
    assert rstd is not None
    rows = arguments["input"].reshape(rstd.numel(), -1)
    return _normalised(rows, rstd.flatten(), _factor(arguments), arguments["bias"])


def _layer_norm_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    usual = scale.rule("layer_norm_backward")(arguments, outputs)
    return [None if outputs[0] is None else _input_gradient(arguments), *usual[1:]]


def _input_gradient(arguments: Arguments) -> Scale:
    """Gradients of row norms: sums of g x and g, each multiplied by x again where the result is put together."""
    rstd = arguments["rstd"].flatten()
    g, x = (arguments[name].reshape(rstd.numel(), -1) for name in ("grad_out", "input"))
    spread = 1.0 + along(x, 0).largest * rstd
    top: Tensor = (along(g, 0).largest * rstd * spread * spread).amax()
    return top * _factor(arguments)


def _group_norm_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    usual = scale.rule("group_norm_backward")(arguments, outputs)
    return [None if outputs[0] is None else _input_gradient(arguments), *usual[1:]]


def _gate_gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of silu and hardswish: an error that is an ulp of 1 is multiplied by x."""
    g, x = arguments["grad_output"].double(), arguments["self"].double()
    return [scale.largest(g * (1.0 + x.abs()))]


def _gelu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of GELU; in the tanh form 1 - tanh^2 errs by an ulp of 1, and is multiplied by a cubic of x."""
    if arguments["approximate"] != "tanh":
        return scale.rule("inputs")(arguments, outputs)
    g, x = arguments["grad_output"].double(), arguments["self"].double()
    return [scale.largest(g * (1.0 + 0.5 * _TANH_SLOPE * x.abs() * (1.0 + _TANH_CUBIC * x * x)))]


_RULES: dict[str, Rule] = {
    "gelu": scale.rule("inputs"),
    "logit": scale.rule("inputs"),
    "gelu_backward": _gelu_backward,
    "silu_backward": _gate_gradient,
    "hardswish_backward": _gate_gradient,
    "_native_batch_norm_legit_functional": _batch_norm,
    "_native_batch_norm_legit": _batch_norm,
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
    "native_group_norm": _layer_norm,
    "native_group_norm_backward": _group_norm_backward,
}
