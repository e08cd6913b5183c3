"""An operator of a program together with what computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from counterfoil_core.arithmetic.compute.definitions import Definition, definition_of
from counterfoil_core.arithmetic.families.parts import Form, Run, natively
from counterfoil_core.arithmetic.families.table import FORMS, LOOPS
from counterfoil_core.operators.catalogue import kinds_with, names_with
from counterfoil_core.operators.facts import DRAWS, Trait, Use
from counterfoil_core.operators.node import Node, TensorType
from counterfoil_core.operators.signatures import overload

# Frees operators from the strides of their arguments. A program's values are tensors with an order of elements, C
# order; how they lie in memory belongs to the machine. A few operators of torch look at the strides all the same: they
# refuse some, or compute something else without a word. Rounding makes its outputs contiguous, and other back ends
# choose strides of their own, so neither may show in a result.

RELABELLED = kinds_with(Trait.RELABELS)
"""Kinds that give the elements, in C order, another shape; torch's own refuse strides that need a copy, and the last
gives the elements in the order of memory."""
CONTIGUOUS = kinds_with(Trait.CONTIGUOUS)
"""Kinds whose arguments must be contiguous: torch's own refuse others, or read them as if they were."""


class StrideFree:
    """An operator of torch whose result does not depend on the strides of its arguments.

    Args:
        kind: The operator kind.
        function: The operator, an ``OpOverload``.
    """

    def __init__(self, kind: str, function: Any) -> None:
        self._schema = function._schema
        self._run: Callable[..., Any] = _relabel if kind in RELABELLED else _contiguous(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the operator."""
        return self._run(*args, **kwargs)


def stride_free(kind: str, function: Any) -> Any:
    """Return the operator itself, or what stands for it where its result would depend on strides."""
    return StrideFree(kind, function) if kind in RELABELLED | CONTIGUOUS else function


def _relabel(x: Tensor, size: Any, stride: Any = None) -> Tensor:
    return x.reshape(size)


def _contiguous(function: Any) -> Callable[..., Any]:
    def laid_out(value: Any) -> Any:
        return value.contiguous() if isinstance(value, Tensor) else value

    def run(*args: Any, **kwargs: Any) -> Any:
        named: Mapping[str, Any] = {name: laid_out(value) for name, value in kwargs.items()}
        return function(*(laid_out(value) for value in args), **named)

    return run


Outputs = list[Tensor | None]
Compute = Callable[["Operation", list[Any], dict[str, Any]], Any]
"""Runs one operator on its arguments; :func:`native` or a perturbed executor."""

FACTORIES = names_with(Trait.MAKES)
"""Operators without a tensor argument: they must be told the device, and the dtype that the program gives them."""


@dataclass(frozen=True)
class Operation:
    """A node together with the torch function that computes it."""

    node: Node  #: The node.
    function: Any  #: The torch function; None for random numbers, which Philox draws.
    is_factory: bool  #: Whether it must be told the device and the dtype.
    is_piece: bool = False  #: Whether it is a piece of another operator's own form, and so computed by the library.

    @cached_property
    def definition(self) -> Definition | None:
        """What computes it where the library's result is not the defined one."""
        return definition_of(self.node)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the function's parameters, in order."""
        return tuple(argument.name for argument in self.function._schema.arguments)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Default values of the parameters that have one."""
        return {a.name: a.default_value for a in self.function._schema.arguments if a.has_default_value()}

    def named(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, with defaults filled in."""
        return {**self.defaults, **dict(zip(self.parameter_names, args, strict=False)), **kwargs}

    def form(self, args: list[Any], kwargs: dict[str, Any]) -> Form | None:
        """Return the form of our own in which a rounded operator is computed; None where that is the library's.

        Of tensors among the arguments only ``shape`` and ``dtype`` are looked at.
        """
        entry = self.node.entry
        if self.is_piece or entry.longest is None:
            return None
        return FORMS[entry.kind] if Use(entry, self.named(args, kwargs)).own_form else None

    def own_form(self, args: list[Any], kwargs: dict[str, Any]) -> Callable[[Run], Any] | None:
        """Return what computes a rounded operator from its pieces, where it is computed in a form of our own."""
        form = self.form(args, kwargs)
        return None if form is None else lambda run: form(run, self.named(args, kwargs))


def native(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Compute an operator as the device does, in the form that its shapes call for, or by its definition.

    Args:
        operation: The operator.
        args: Its arguments by position.
        kwargs: Its arguments by name.

    Raises:
        NonFiniteError: The definition of an exact operator refuses its arguments.
    """
    if operation.definition is not None:
        return operation.definition(operation, args, kwargs)
    form = operation.own_form(args, kwargs)
    if form is not None:
        return form(natively)
    loops = LOOPS.get(operation.node.operator)
    result = None if loops is None else loops(operation.named(args, kwargs))
    return operation.function(*args, **kwargs) if result is None else result


def piece(name: str) -> Operation:
    """Return the operation of a piece of an own form, for a machine that computes pieces in its own way."""
    return replace(make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward")), is_piece=True)


def make_operation(node: Node) -> Operation:
    """Return what computes a node.

    Raises:
        ProgramError: This torch has no such operator.
    """
    if node.operator in DRAWS:
        return Operation(node, None, False)
    function = overload(node.operator)
    return Operation(node, stride_free(node.operator.split(".")[1], function), node.operator in FACTORIES)
