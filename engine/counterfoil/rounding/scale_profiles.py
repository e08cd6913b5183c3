"""Scale rules that differ between precision profiles.

Most operators keep their rule of :mod:`counterfoil.rounding.scale` under every profile. Two tables replace some:

* **Close rules**, when computing in float32 or with guaranteed margins: gradients of elementwise functions are measured
  by the gradient that arrives. The usual rule adds the size of the function's argument, which a gradient can be far
  below: with 31 bits between S and the finest quantum that does no harm, with 13 the gradient would be rounded to zero.
* **Guaranteed rules**: the usual ones bound what hardware does but not the worst case, where an error that is relative
  to one argument is multiplied by another: in normalisations by ``max|x| * rstd``.

docs/numerics.md derives each.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from counterfoil.bundle.schema import Precision
from counterfoil.program.operators import Operator
from counterfoil.rounding import scale
from counterfoil.rounding.magnitude import along
from counterfoil.rounding.scale import Arguments, Outputs, Rule, Scale

_TANH_SLOPE = 0.8
"""sqrt(2 / pi) of GELU's tanh form, rounded up."""
_TANH_CUBIC = 3 * 0.044715


def rule_for(entry: Operator, precision: Precision) -> Rule:
    """Return the scale rule of an operator under a precision profile."""
    if precision.guaranteed and entry.kind in _GUARANTEED:
        return _GUARANTEED[entry.kind]
    if (precision.guaranteed or precision.compute == "float32") and entry.kind in _CLOSE:
        return _CLOSE[entry.kind]
    return scale.rule(entry.scale)


def _normalised(x: Tensor, rstd: Tensor, weight: Tensor | float, bias: Tensor | None) -> list[Scale]:
    """Scales of (result, mean, rstd) for ``x`` ``[rows, ...]``: a variance's error relative to std * max|x|."""
    top = along(x, 0).largest
    ratio = top * rstd
    spread = scale.deviation(ratio, x.numel() // max(rstd.numel(), 1))
    return [
        (ratio * (1.0 + spread) * weight).amax() + scale.largest(bias),
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
    ratio = along(x, 0).largest * rstd
    spread = 1.0 + scale.deviation(ratio, x.shape[1])
    top: Tensor = (along(g, 0).largest * rstd * (1.0 + ratio) * spread).amax()
    return top * _factor(arguments)


def _group_norm_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    usual = scale.rule("group_norm_backward")(arguments, outputs)
    return [None if outputs[0] is None else _input_gradient(arguments), *usual[1:]]


def _gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of functions whose slope, and every term of it, is about 1 at most: the gradient that arrives."""
    return [scale.largest(arguments["grad_output"]) + scale.largest(outputs[0])]


def _gate_gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of silu and mish: an error that is an ulp of 1 is multiplied by x."""
    g, x = arguments["grad_output"].double(), arguments["self"].double()
    return [scale.largest(g * (1.0 + x.abs()))]


def _glu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of glu: as of a gate, with the other half of the argument in the place of x."""
    return [scale.largest(arguments["grad_output"]) * (1.0 + scale.largest(arguments["self"]))]


def _gelu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of GELU; in the tanh form 1 - tanh^2 errs by an ulp of 1, and is multiplied by a cubic of x."""
    if arguments["approximate"] != "tanh":
        return _gradient(arguments, outputs)
    g, x = arguments["grad_output"].double(), arguments["self"].double()
    return [scale.largest(g * (1.0 + 0.5 * _TANH_SLOPE * x.abs() * (1.0 + _TANH_CUBIC * x * x)))]


def _elu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of ELU: the result less its limit is multiplied by the coefficient."""
    coefficient = abs(arguments["alpha"] * arguments["scale"] * arguments["input_scale"])
    return [scale.largest(arguments["grad_output"]) * max(1.0, coefficient) + scale.largest(outputs[0])]


def _nll_loss(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Negative log likelihood: a weighted mean is no larger than its terms; a sum has as many as there are targets."""
    log_likelihood = scale.largest(arguments["self"])
    if arguments["reduction"] == 2:
        weight = 1.0 if arguments["weight"] is None else scale.largest(arguments["weight"])
        log_likelihood = log_likelihood * weight * float(arguments["target"].numel())
    elif arguments["reduction"] == 0:
        log_likelihood = scale.largest(outputs[0])
    return [log_likelihood, scale.largest(outputs[1])]


_RELATIVE = scale.rule("output")
"""Products and quotients alone, and correctly rounded differences: an error relative to the result."""
_CLOSE: dict[str, Rule] = {
    "tanh_backward": _gradient,
    "sigmoid_backward": _RELATIVE,
    "logit_backward": _RELATIVE,
    "gelu_backward": _gelu_backward,
    "silu_backward": _gate_gradient,
    "mish_backward": _gate_gradient,
    "elu_backward": _elu_backward,
    "softplus_backward": _gradient,
    "glu": _RELATIVE,
    "glu_backward": _glu_backward,
    "_prelu_kernel": _RELATIVE,
    "_prelu_kernel_backward": _RELATIVE,
    "mse_loss_backward": _RELATIVE,
    "smooth_l1_loss_backward": _RELATIVE,
    "huber_loss_backward": _RELATIVE,
    "nll_loss_backward": _RELATIVE,
    "nll_loss2d_backward": _RELATIVE,
    "nll_loss_forward": _nll_loss,
    "nll_loss2d_forward": _nll_loss,
}
_GUARANTEED: dict[str, Rule] = {
    "gelu": scale.rule("inputs"),
    "logit": scale.rule("inputs"),
    "_native_batch_norm_legit_functional": _batch_norm,
    "_native_batch_norm_legit": _batch_norm,
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
    "native_group_norm": _layer_norm,
    "native_group_norm_backward": _group_norm_backward,
}
