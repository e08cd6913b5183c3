"""Computes the operators of exact profiles by their definitions (``docs/numerics.md``, "Exact profiles")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.arithmetic.compute.operation import Compute, Operation, native
from counterfoil.arithmetic.exact.operators import SINGLES
from counterfoil.base.errors import NonFiniteError, ProgramError
from counterfoil.base.sentence import say
from counterfoil.kernels.exact import elementwise
from counterfoil.kernels.exact.forms import Profile
from counterfoil.operators.catalogue import OperatorClass


def exactly(profile: Profile) -> Compute:
    """Return what computes operators under an exact profile, in the forms of products that it names.

    Args:
        profile: The profile, and the forms that this machine computes rightly.
    """

    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        node = operation.node
        if node.entry.operator_class is not OperatorClass.ROUNDED:
            rule = _ELEMENTWISE.get(node.entry.kind)
            output = node.outputs[0]
            if rule is None or output is None or not output.floating:
                return native(operation, args, kwargs)
            return rule(operation.named(args, kwargs))
        single = SINGLES.get(node.entry.kind)
        if single is None:
            # Such a program is refused where it is read.
            raise ProgramError(say("The operator {0} has no exact result.", node.where))
        try:
            return single.compute(operation.named(args, kwargs), profile)
        except NonFiniteError as error:
            raise NonFiniteError(say("{0} ({1})", error.sentence, node.where), remedy=error.remedy) from error

    return compute


def _operands(first: Any, second: Any) -> tuple[Tensor, Tensor]:
    """Both operands as float32 tensors: numbers take the nearest value first, and so do integers."""
    device = next(operand.device for operand in (first, second) if isinstance(operand, Tensor))
    found = [
        operand.to(torch.float32) if isinstance(operand, Tensor) else elementwise.number(operand, device)
        for operand in (first, second)
    ]
    return found[0], found[1]


def _add(arguments: Mapping[str, Any]) -> Tensor:
    rule = elementwise.add if arguments["alpha"] == 1 else elementwise.subtract
    return rule(*_operands(arguments["self"], arguments["other"]))


def _subtract(arguments: Mapping[str, Any]) -> Tensor:
    rule = elementwise.subtract if arguments["alpha"] == 1 else elementwise.add
    return rule(*_operands(arguments["self"], arguments["other"]))


def _subtract_from(arguments: Mapping[str, Any]) -> Tensor:
    x, other = _operands(arguments["self"], arguments["other"])
    return elementwise.subtract(other, x) if arguments["alpha"] == 1 else elementwise.add(other, x)


def _multiply(arguments: Mapping[str, Any]) -> Tensor:
    return elementwise.multiply(*_operands(arguments["self"], arguments["other"]))


_ELEMENTWISE: Mapping[str, Callable[[Mapping[str, Any]], Tensor]] = {
    "add": _add,
    "sub": _subtract,
    "rsub": _subtract_from,
    "mul": _multiply,
}
"""Operators of class exact whose numbers become tensors first; alpha is 1 or -1."""
