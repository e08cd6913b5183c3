"""Operators that work on each element alone, and their gradients: scales and definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import largest, largest_of_new, largest_product
from counterfoil_core.arithmetic.families.parts import Definition, Outputs, Scale, ScaleRule, add, floating_tensors
from counterfoil_core.kernels.exact import elementwise, functions
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.sums import Arguments

# Scales. Gradients are measured by the gradient that arrives. With the size of the function's argument in it, which a
# gradient can be far below, 31 bits between S and the finest quantum would do little harm; with 13 the gradient would
# be rounded to zero.
# gelu and logit are of the rule `inputs`: they err by an ulp of 1 that is multiplied by the argument, or stands in a
# logarithm. Where every argument is below -3, or close to a half, the largest result says nothing about that.

_TANH_SLOPE = 0.8
"""sqrt(2 / pi) of GELU's tanh form, rounded up."""

_TANH_CUBIC = 3 * 0.044715


def _output(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Elementwise functions with an error relative to the result: the largest output."""
    return [None if out is None or not out.is_floating_point() else largest_of_new(out) for out in outputs]


def _terms(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums of a few terms: the sizes of the terms together."""
    if "tensor1" in arguments:
        # addcmul, addcdiv: what is added is the result less the first term, so no larger than both together.
        return [add(largest(arguments["self"]), largest(arguments["self"]), largest_of_new(outputs[0]))]
    if "end" in arguments:
        span = add(largest(arguments["self"]), largest(arguments["end"]))
        return [span * (1.0 + largest(arguments["weight"]))]
    # alpha belongs to one of both, to the first for rsub: a bound need not tell which.
    factor = max(1.0, abs(float(arguments["alpha"])))
    return [add(largest(arguments["self"]), largest(arguments["other"])) * factor]


def _inputs(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Means, weighted means and elementwise functions that add terms no larger than their inputs."""
    top = add(*(largest(x) for x in floating_tensors(arguments)))
    return [None if out is None or not out.is_floating_point() else add(top, largest_of_new(out)) for out in outputs]


def _gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of functions whose slope, and every term of it, is about 1 at most: the gradient that arrives."""
    return [largest(arguments["grad_output"]) + largest_of_new(outputs[0])]


def _gate_gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of silu and mish: an error that is an ulp of 1 is multiplied by x."""
    return [largest_product(arguments["grad_output"], arguments["self"], 1.0, 0.0)]


def _glu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of glu: as of a gate, with the other half of the argument in the place of x."""
    return [largest(arguments["grad_output"]) * (1.0 + largest(arguments["self"]))]


def _gelu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of GELU; in the tanh form 1 - tanh^2 errs by an ulp of 1, and is multiplied by a cubic of x."""
    if arguments["approximate"] != "tanh":
        return _gradient(arguments, outputs)
    return [largest_product(arguments["grad_output"], arguments["self"], 0.5 * _TANH_SLOPE, _TANH_CUBIC)]


def _elu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of ELU: the result less its limit is multiplied by the coefficient."""
    coefficient = abs(arguments["alpha"] * arguments["scale"] * arguments["input_scale"])
    return [largest(arguments["grad_output"]) * max(1.0, coefficient) + largest_of_new(outputs[0])]


SCALES: Mapping[str, ScaleRule] = {
    "output": _output,
    "inputs": _inputs,
    "terms": _terms,
    "gradient": _gradient,
    "gate_gradient": _gate_gradient,
    "gelu_backward": _gelu_backward,
    "glu_backward": _glu_backward,
    "elu_backward": _elu_backward,
}


def _divide(arguments: Arguments, profile: Profile) -> Tensor:
    return elementwise.divide(arguments["self"], arguments["other"])


def _function(kind: str) -> Definition:
    names = functions.operand_names(kind)
    return lambda arguments, profile: functions.evaluate(kind, *(arguments[name] for name in names))


DEFINITIONS: Mapping[str, Definition] = {
    "div": _divide,
    **{kind: _function(kind) for kind in functions.FUNCTIONS},
}
"""By operator kind."""


def _operands(first: Any, second: Any) -> tuple[Tensor, Tensor]:
    """Both operands as float32 tensors: numbers take the nearest value first, and so do integers."""
    device = next(operand.device for operand in (first, second) if isinstance(operand, Tensor))
    found = [
        operand.to(torch.float32) if isinstance(operand, Tensor) else elementwise.number(operand, device)
        for operand in (first, second)
    ]
    return found[0], found[1]


def _add(arguments: Arguments) -> Tensor:
    rule = elementwise.add if arguments["alpha"] == 1 else elementwise.subtract
    return rule(*_operands(arguments["self"], arguments["other"]))


def _subtract(arguments: Arguments) -> Tensor:
    rule = elementwise.subtract if arguments["alpha"] == 1 else elementwise.add
    return rule(*_operands(arguments["self"], arguments["other"]))


def _subtract_from(arguments: Arguments) -> Tensor:
    x, other = _operands(arguments["self"], arguments["other"])
    return elementwise.subtract(other, x) if arguments["alpha"] == 1 else elementwise.add(other, x)


def _multiply(arguments: Arguments) -> Tensor:
    return elementwise.multiply(*_operands(arguments["self"], arguments["other"]))


OF_NUMBERS: Mapping[str, Callable[[Arguments], Tensor]] = {
    "add": _add,
    "sub": _subtract,
    "rsub": _subtract_from,
    "mul": _multiply,
}
"""Operators of class exact whose numbers become tensors first; alpha is 1 or -1."""
