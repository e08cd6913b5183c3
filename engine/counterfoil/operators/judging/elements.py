"""Single elements of what the exact profiles compute, by their definitions, in integers and fractions.

What judges a dispute. It shares no code with the tensor operations that it judges (an import contract holds that): a
product or a sum is the exact form of operands that were quantised here by themselves, rounded once. Only what is asked
for is computed; of an operand that is quantised every element is looked at, since the largest one decides about all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from counterfoil.operators.catalogue import OperatorClass
from counterfoil.operators.judging.forms import FUNCTION_COST, ExactOutput, exact_output
from counterfoil.operators.judging.functions import FUNCTION_KINDS, SINGLE, fraction_of, value_of
from counterfoil.operators.judging.ieee import Value, converted, quotient, rounded
from counterfoil.operators.judging.numbers import NotExactError
from counterfoil.operators.judging.quantisation import QUANTISED_KINDS, Arguments, quantised_arguments
from counterfoil.operators.node import Node

_OPERANDS = {
    "div": ("self", "other"),
    "pow": ("self", "exponent"),
    "atan2": ("self", "other"),
    "xlogy": ("self", "other"),
}
"""Names of the operands of what is computed of two numbers."""


@dataclass(frozen=True)
class DefinedOutput:
    """The elements of one output of an operator of an exact profile.

    Attributes:
        element: Returns the defined element of a flat C-order index as its dtype holds it: a float with its sign where
            it is zero, infinite or not a number where that is the definition. Raises NotExactError where nobody knows.
        cost: Products, or what takes as long, that an element needs.
    """

    element: Callable[[int], Value]
    cost: int


def defined_output(node: Node, arguments: Arguments, output: int, bits: int) -> DefinedOutput:
    """Return what computes single elements of one output of an operator.

    Args:
        node: The operator: of class exact, or a single operation of the exact profiles.
        arguments: Its arguments by name, with defaults filled in; floating-point tensors are float32.
        output: Which of its outputs.
        bits: S of the profile.

    Raises:
        NotExactError: No definition is known for this use of the operator.
    """
    kind = node.entry.kind
    if node.entry.operator_class is OperatorClass.EXACT:
        found = exact_output(node, arguments, output)
        if found.value is None:
            raise NotExactError("nobody has written down its definition")
        return DefinedOutput(found.value, found.cost)
    if kind in QUANTISED_KINDS:
        found = exact_output(node, quantised_arguments(kind, arguments, bits), output)
        return DefinedOutput(_once_rounded(found), found.cost)
    if kind == "div":
        return DefinedOutput(_pointwise(node, arguments, output, lambda x, y: quotient(x, y, SINGLE)), FUNCTION_COST)
    if kind in FUNCTION_KINDS:
        return DefinedOutput(_pointwise(node, arguments, output, lambda *x: value_of(kind, *x)), FUNCTION_COST)
    raise NotExactError("it is no single operation of the exact profiles")


def kinds() -> frozenset[str]:
    """The kinds of rounded operators that have a definition here."""
    return FUNCTION_KINDS | QUANTISED_KINDS | {"div"}


def _once_rounded(exact: ExactOutput) -> Callable[[int], Value]:
    return lambda index: rounded(fraction_of(exact.element(index)), SINGLE) + 0.0


def _pointwise(node: Node, arguments: Arguments, output: int, function: Callable[..., float]) -> Callable[[int], Value]:
    """A function of the operands at one place; numbers take the nearest float32 value first."""
    described = node.outputs[output]
    assert described is not None
    names: Sequence[str] = _OPERANDS.get(node.entry.kind, ("self",))
    operands = [_spread(arguments[name], described.shape) for name in names]
    return lambda index: function(*(converted(operand[index].item(), SINGLE) for operand in operands))


def _spread(given: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The elements of an operand for each place of the result."""
    array = given.detach().cpu().numpy() if isinstance(given, Tensor) else np.array(converted(given, SINGLE))
    return np.broadcast_to(array, shape).reshape(-1)
