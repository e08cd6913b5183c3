"""Exact values of single elements of any operator's output, looked up with the judge of the operator's family.

What judges. Nothing here is used by what computes, and nothing of that here (import contracts hold that), so that no
mistake confirms itself. Only what is asked for is computed; of an operand that is quantised every element is looked at,
since the largest one decides about all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from counterfoil_core.operators.convolutions import judge as convolutions
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.indexing import judge as indexing
from counterfoil_core.operators.judging.forms import (
    FUNCTION_COST,
    Arguments,
    Call,
    Definition,
    Element,
    ExactOutput,
    Rule,
)
from counterfoil_core.operators.judging.ieee import SINGLE, convert_element, fraction_of, round_to, wrap
from counterfoil_core.operators.judging.numbers import MP, NotExactError, Number, number
from counterfoil_core.operators.losses import judge as losses
from counterfoil_core.operators.moves import judge as moves
from counterfoil_core.operators.node import Node
from counterfoil_core.operators.norms import judge as norms
from counterfoil_core.operators.pointwise.judge import definitions, functions, singles
from counterfoil_core.operators.pooling import judge as pooling
from counterfoil_core.operators.products import judge as products
from counterfoil_core.operators.reductions import judge as reductions
from counterfoil_core.operators.uses import INTEGER_KINDS

_FAMILIES = (
    convolutions, indexing, losses, moves, norms, definitions, functions, singles, pooling, products, reductions,
)  # fmt: skip
"""A draw has no arguments: :mod:`counterfoil_core.operators.draws.judge` judges it by the seed."""


def _integers(exact_form: Rule, call: Call) -> Element:
    """The exact integer modulo 2^n; arguments are converted to the result's dtype first."""
    for name, value in call.arguments.items():
        if isinstance(value, np.ndarray) and name not in ("index", "indices"):
            changed = [convert_element(item, call.dtype) for item in value.reshape(-1).tolist()]
            call.arguments[name] = np.array(changed, np.int64).reshape(value.shape)
    exact = exact_form(call).element
    return lambda index: wrap(int(exact(index)), call.dtype)


_EXACT_FORMS = {kind: rule for family in _FAMILIES for kind, rule in family.JUDGE.exact_forms.items()}
_DEFINITIONS: dict[str, Definition] = {
    **{kind: partial(_integers, _EXACT_FORMS[kind]) for kind in INTEGER_KINDS},
    **{kind: rule for family in _FAMILIES for kind, rule in family.JUDGE.definitions.items()},
}
_QUANTISATIONS = {kind: rule for family in _FAMILIES for kind, rule in family.JUDGE.quantisations.items()}
_FUNCTIONS = {kind: rule for family in _FAMILIES for kind, rule in family.JUDGE.functions.items()}


def exact_kinds() -> frozenset[str]:
    """The operator kinds that have an exact form; some of them as rounded operators only, or as exact ones."""
    return frozenset(_EXACT_FORMS) | defined_kinds()


def defined_kinds() -> frozenset[str]:
    """The operator kinds of class exact that have a definition."""
    return frozenset(_DEFINITIONS)


def single_kinds() -> frozenset[str]:
    """The kinds of rounded operators that an exact profile defines as one operation."""
    return frozenset(_QUANTISATIONS) | frozenset(_FUNCTIONS)


def exact_output(node: Node, arguments: Arguments, output: int) -> ExactOutput:
    """Return what computes single elements of one output of an operator.

    Args:
        node: The operator.
        arguments: Its arguments by name, with defaults filled in.
        output: Which of its outputs.

    Raises:
        NotExactError: The operator, used like this, has no exact form. Also raised by ``element`` where a discrete
            choice hangs on the last bit, and where the result is no finite number.
    """
    kind = node.entry.kind
    if node.entry.operator_class is OperatorClass.EXACT and kind in _DEFINITIONS:
        value = _DEFINITIONS[kind](Call(node, arguments, output))
        return ExactOutput(lambda index: number(value(index)), FUNCTION_COST, value)
    rule = _EXACT_FORMS.get(kind)
    if rule is None:
        raise NotExactError("nobody has written down its exact form")
    call = Call(node, arguments, output)
    found = rule(call)
    return ExactOutput(_checked(found.element, call.holds_infinity), found.cost)


def _checked(element: Callable[[int], Number], infinities_pass: bool) -> Callable[[int], Number]:
    def checked(index: int) -> Number:
        try:
            value = element(index)
        except ZeroDivisionError as error:
            raise NotExactError("its result is infinite") from error
        if isinstance(value, MP.mpc) or MP.isnan(value) or (MP.isinf(value) and not infinities_pass):
            raise NotExactError("its result is infinite or not a number")
        return value

    return checked


@dataclass(frozen=True)
class DefinedOutput:
    """The elements of one output of an operator of an exact profile."""

    #: Returns the defined element of a flat C-order index as its dtype holds it: a float with its sign where it is
    #: zero, infinite or not a number where that is the definition. Raises NotExactError where nobody knows.
    element: Element
    cost: int  #: Products, or what takes as long, that an element needs.


def defined_output(node: Node, arguments: Arguments, output: int, bits: int) -> DefinedOutput:
    """Return what computes single elements of one output of an operator under an exact profile.

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
    if kind in _QUANTISATIONS:
        found = exact_output(node, _QUANTISATIONS[kind](arguments, bits), output)
        return DefinedOutput(_once_rounded(found), found.cost)
    if kind in _FUNCTIONS:
        return DefinedOutput(_function(node, arguments, output, *_FUNCTIONS[kind]), FUNCTION_COST)
    raise NotExactError("it is no single operation of the exact profiles")


def _once_rounded(exact: ExactOutput) -> Element:
    return lambda index: round_to(fraction_of(exact.element(index)), SINGLE) + 0.0


def _function(
    node: Node, arguments: Arguments, output: int, names: tuple[str, ...], function: Callable[..., float]
) -> Element:
    """A function of the operands at one place; numbers take the nearest float32 value first."""
    described = node.outputs[output]
    assert described is not None
    operands = [_spread(arguments[name], described.shape) for name in names]
    return lambda index: function(*(convert_element(operand[index].item(), SINGLE) for operand in operands))


def _spread(given: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The elements of an operand for each place of the result."""
    array = given.detach().cpu().numpy() if isinstance(given, Tensor) else np.array(convert_element(given, SINGLE))
    return np.broadcast_to(array, shape).reshape(-1)
