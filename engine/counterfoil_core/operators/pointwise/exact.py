"""Elementwise operators by the definitions of the exact profiles: operations, and the functions of one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.kernels.exact import elementwise, functions
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.exact import Arguments, Rule


def _divide(arguments: Arguments, profile: Profile) -> Tensor:
    return elementwise.divide(arguments["self"], arguments["other"])


def _function(kind: str) -> Rule:
    names = functions.operand_names(kind)
    return lambda arguments, profile: functions.evaluate(kind, *(arguments[name] for name in names))


SINGLES: Mapping[str, Rule] = {
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
