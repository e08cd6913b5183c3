"""What one step of an optimizer computes, as data: the operators that it calls, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._ops import OpOverload

PARAMETER, GRADIENT = "<parameter>:", "<gradient>:"
"""What the names of parameters and gradients among the tensors of a step begin with."""


class Ref(NamedTuple):
    """A tensor of the step: one that it is given, or that one of its operators made."""

    tensor: int


class Number(NamedTuple):
    """A number among the arguments of an operator, by its place among all numbers of the step."""

    place: int  #: Its place.
    #: Of a tensor of one element in whose place it stands; None where it is a number of Python's.
    shape: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class Fixed:
    """A tensor with values that are the same in every step; equal to another by its bits."""

    tensor: Tensor

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fixed):
            return NotImplemented
        one, two = self.tensor, other.tensor
        return (one.dtype, one.shape) == (two.dtype, two.shape) and bool(torch.equal(one, two))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Call:
    """One operator of a step."""

    func: OpOverload  #: The operator.
    #: Its arguments in order, in lists where it takes lists; tensors are :class:`Ref` or :class:`Fixed`, and numbers
    #: that may be others in another step :class:`Number`.
    args: list[Any]
    kwargs: dict[str, Any]  #: Those by name.
    results: tuple[Ref, ...]  #: The tensors that it returns.
    written: tuple[Ref, ...]  #: Tensors among the arguments that it changes in place.
    line: str  #: File and line of the optimizer's code.

    def leaves(self) -> Iterator[Any]:
        """Yield every argument, those in lists one by one."""
        for item in (*self.args, *self.kwargs.values()):
            yield from leaves_of(item)

    @property
    def reads(self) -> list[Ref]:
        """The tensors among the arguments."""
        return [item for item in self.leaves() if isinstance(item, Ref)]

    @property
    def numbers(self) -> list[Number]:
        """The numbers among the arguments."""
        return [item for item in self.leaves() if isinstance(item, Number)]

    @property
    def kind(self) -> str:
        """The operator's name, without library, overload, and the underscore of those that work in place."""
        return kind_of(self.func)


@dataclass(frozen=True)
class StepCalls:
    """What an optimizer's step computes."""

    calls: list[Call]  #: The operators, in order.
    numbers: list[float]  #: The value of each number.
    #: The tensors that the step is given, by name: parameters, gradients, and the optimizer's own.
    roots: dict[str, Ref]
    finals: dict[str, Ref]  #: The tensors that the optimizer holds after the step, by the same names, gradients apart.
    storages: dict[Ref, int]  #: A name for the memory that each tensor lies in: views lie in that of another.
    described: dict[Ref, Tensor]  #: A tensor without memory like each of the tensors.

    @property
    def written(self) -> set[int]:
        """The memory that the step changes."""
        return {self.storages[ref] for call in self.calls for ref in call.written}


def leaves_of(item: Any) -> Iterator[Any]:
    """Yield an argument, or each of a list's."""
    if type(item) is list:
        for part in item:
            yield from leaves_of(part)
    else:
        yield item


def with_leaves(item: Any, change: Callable[[Any], Any]) -> Any:
    """Return an argument, or a list of them, with every single one changed."""
    return [with_leaves(part, change) for part in item] if type(item) is list else change(item)


def kind_of(func: OpOverload) -> str:
    """Return an operator's name, without library, overload, and the underscore of those that work in place."""
    name = func._schema.name.partition("::")[2]
    return name[:-1] if name.endswith("_") else name


@cache
def numeric(func: OpOverload) -> Mapping[str | int, bool]:
    """Return which arguments of an operator take numbers, by position and by name.

    A tensor's place takes one, too; sizes, axes and choices are no numbers: they say what is computed.
    """
    found: dict[str | int, bool] = {}
    for position, argument in enumerate(func._schema.arguments):
        kind = argument.type
        while kind.kind() in ("OptionalType", "ListType"):
            kind = kind.getElementType()
        found[argument.name] = kind.kind() in ("NumberType", "FloatType", "TensorType")
        if not argument.kwarg_only:
            found[position] = found[argument.name]
    return found
