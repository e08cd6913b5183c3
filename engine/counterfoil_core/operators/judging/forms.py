"""What judges an operator: an element of its output, by its definition; each family has its own in ``judge``.

An operator of class rounded has an *exact form*, its mathematical value. One of class exact has a *definition*: what
the element is bit for bit, the sign of a zero included. Under an exact profile rounded operators have one too: a sum or
a product is the exact form of operands that were quantised, rounded once; a function is the number nearest to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.ieee import Value
from counterfoil_core.operators.judging.numbers import Number
from counterfoil_core.operators.node import Node

FUNCTION_COST = 200
"""What one mpmath function costs, in products of exact sums."""
Arguments = dict[str, Any]
"""Arguments of an operator by name, with defaults filled in."""
Element = Callable[[int], Value]
"""Returns the element of a flat C-order index, as its dtype holds it."""


@dataclass(frozen=True)
class ExactOutput:
    """The elements of one output of an operator."""

    #: Returns the element of a flat C-order index. What elements share (rows, statistics) is kept.
    element: Callable[[int], Number]
    cost: int  #: Products, or what takes as long, that an element needs if nothing is shared.
    #: For operators of class exact: returns the defined result of a flat C-order index as its dtype holds it.
    #: ``element`` is the same as a number, which has no sign where it is zero.
    value: Element | None = None


class Call:
    """One use of an operator: its arguments by name, tensors as numpy arrays.

    Args:
        node: The operator.
        arguments: Its arguments by name; tensors float64, float32, integer or bool, on any device.
        output: Which of its outputs is wanted.
    """

    def __init__(self, node: Node, arguments: Arguments, output: int) -> None:
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
Definition = Callable[[Call], Element]
Quantisation = Callable[[Arguments, int], Arguments]
"""Takes the arguments of a sum or of a product under an exact profile, floating-point tensors float32, and S of the
profile; returns what quantisation leaves of them, float64. Exact arithmetic with these, and one rounding to float32,
gives the defined output. Raises NotExactError where a value is not finite, or the operator, used like this, is no
single operation."""
_Made = TypeVar("_Made")


class Judge:
    """What judges the operators of one family, by operator kind.

    Attributes:
        exact_forms: Of rounded operators.
        definitions: Of operators of class exact.
        quantisations: Of sums and products under an exact profile.
        functions: Of functions under an exact profile: the names of their operands, and their value as a float32
            number, given float32 numbers.
    """

    def __init__(self) -> None:
        self.exact_forms: dict[str, Rule] = {}
        self.definitions: dict[str, Definition] = {}
        self.quantisations: dict[str, Quantisation] = {}
        self.functions: dict[str, tuple[tuple[str, ...], Callable[..., float]]] = {}

    def exact_form(self, *kinds: str) -> Callable[[Rule], Rule]:
        """Register an exact form for operator kinds."""
        return _registered(self.exact_forms, kinds)

    def definition(self, *kinds: str) -> Callable[[Definition], Definition]:
        """Register the definition of operator kinds of class exact."""
        return _registered(self.definitions, kinds)

    def quantised(self, *kinds: str) -> Callable[[Quantisation], Quantisation]:
        """Register what quantisation leaves of the arguments of operator kinds."""
        return _registered(self.quantisations, kinds)


def _registered(table: dict[str, _Made], kinds: Sequence[str]) -> Callable[[_Made], _Made]:
    def register(made: _Made) -> _Made:
        for kind in kinds:
            assert kind not in table, f"{kind} is judged twice"
            table[kind] = made
        return made

    return register


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
