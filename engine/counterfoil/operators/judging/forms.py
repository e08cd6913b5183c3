"""The exact form of each operator: which have one, and how an element of it is computed.

The rules stand beside this module, by the nature of the operator. A rule computes what the operator is defined to be;
it shares no code with what it judges.

An operator of class rounded has a rule for its exact mathematical value. One of class exact has a *definition*: it says
what the element is bit for bit, the sign of a zero included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.operators.catalogue import OperatorClass
from counterfoil.operators.judging.ieee import Value
from counterfoil.operators.judging.numbers import MP, Array, NotExactError, Number, number
from counterfoil.operators.node import Node

FUNCTION_COST = 200
"""What one mpmath function costs, in products of exact sums."""


@dataclass(frozen=True)
class ExactOutput:
    """The elements of one output of an operator.

    Attributes:
        element: Returns the element of a flat C-order index. What elements share (rows, statistics) is kept.
        cost: Products, or what takes as long, that an element needs if nothing is shared.
        value: For operators of class exact: returns the defined result of a flat C-order index as its dtype holds it.
            ``element`` is the same as a number, which has no sign where it is zero.
    """

    element: Callable[[int], Number]
    cost: int
    value: Callable[[int], Value] | None = None


class Call:
    """One use of an operator: its arguments by name, tensors as numpy arrays.

    Args:
        node: The operator.
        arguments: Its arguments by name; tensors float64, float32, integer or bool, on any device.
        output: Which of its outputs is wanted.
    """

    def __init__(self, node: Node, arguments: dict[str, Any], output: int) -> None:
        described = node.outputs[output]
        assert described is not None, "an output that the operator does not have"
        self.kind = node.entry.kind
        self.overload = node.operator.split(".")[2]
        self.output = output
        self.shape = described.shape
        self.arguments = {name: _on_cpu(value) for name, value in arguments.items()}
        self.floating_dtype = _floating_dtype(self.arguments.values())
        self.dtype = self.floating_dtype if described.floating else described.dtype

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The argument, or ``default`` where this overload has none of that name."""
        return self.arguments.get(name, default)

    @property
    def holds_infinity(self) -> bool:
        """Whether a tensor among the arguments holds an infinity, so that infinite results are allowed."""
        return any(
            isinstance(value, np.ndarray) and value.dtype.kind == "f" and bool(np.isinf(value).any())
            for value in self.arguments.values()
        )

    def place(self, index: int) -> tuple[int, ...]:
        """The multi-index of a flat index of the output."""
        return tuple(int(i) for i in np.unravel_index(index, self.shape))


def _floating_dtype(arguments: Iterable[Any]) -> str:
    """The compute dtype: what the floating arguments have, or what is asked for."""
    for argument in arguments:
        for value in argument if isinstance(argument, list) else (argument,):
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                return str(value.dtype.name)
            if isinstance(value, torch.dtype) and value.is_floating_point:
                return str(value).removeprefix("torch.")
    return "float64"


def _on_cpu(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    return [_on_cpu(item) for item in value] if isinstance(value, (list, tuple)) else value


Rule = Callable[[Call], ExactOutput]
_RULES: dict[str, Rule] = {}
Definition = Callable[[Call], Callable[[int], Value]]
_DEFINITIONS: dict[str, Definition] = {}
WITHOUT: dict[str, str] = {}
"""Kinds of rounded operators without an exact form, each with the reason, as the end of "... because"."""


def exact_form(*kinds: str) -> Callable[[Rule], Rule]:
    """Register a rule for operator kinds."""

    def register(rule: Rule) -> Rule:
        for kind in kinds:
            assert kind not in _RULES, f"{kind} has two exact forms"
            _RULES[kind] = rule
        return rule

    return register


def definition(*kinds: str) -> Callable[[Definition], Definition]:
    """Register the definition of operator kinds of class exact."""

    def register(rule: Definition) -> Definition:
        for kind in kinds:
            assert kind not in _DEFINITIONS, f"{kind} has two definitions"
            _DEFINITIONS[kind] = rule
        return rule

    return register


def rule_of(kind: str) -> Rule:
    """The rule of a rounded kind, for the same kind of integers."""
    return _RULES[kind]


def exact_kinds() -> frozenset[str]:
    """The operator kinds that have an exact form; some of them as rounded operators only, or as exact ones."""
    return frozenset(_RULES) | defined_kinds()


def defined_kinds() -> frozenset[str]:
    """The operator kinds of class exact that have a definition."""
    return frozenset(_DEFINITIONS)


def exact_output(node: Node, arguments: dict[str, Any], output: int) -> ExactOutput:
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
    rule = _RULES.get(kind)
    if rule is None:
        raise NotExactError(WITHOUT.get(kind, "nobody has written down its exact form"))
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


def exact_elements(node: Node, arguments: dict[str, Any], output: int, indices: Sequence[int]) -> list[Number]:
    """Return the exact elements at flat C-order ``indices`` of an output; raises as :func:`exact_output` does."""
    element = exact_output(node, arguments, output).element
    return [element(int(index)) for index in indices]


def axes_of(dims: int | Sequence[int] | None, rank: int) -> list[int]:
    """The axes that a reduction reduces: all where it names none."""
    if dims is None or (not isinstance(dims, int) and not len(dims)):
        return list(range(rank))
    chosen = [dims] if isinstance(dims, int) else dims
    return sorted({axis % rank for axis in chosen}) if rank else []


def rows_over(x: Array, axes: Sequence[int]) -> Array:
    """Return ``x`` as ``[rows, n]``: the n elements that meet over ``axes``, a row for each place in the other axes."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.transpose(*kept, *axes) if x.ndim else x
    # Of nothing numpy works out no length.
    return moved.reshape(*(math.prod(x.shape[axis] for axis in chosen) for chosen in (kept, axes)))
