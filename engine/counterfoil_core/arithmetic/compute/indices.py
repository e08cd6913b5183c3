"""Indices are looked at before an operator uses them.

Not every function of the library does: some write wherever an index points to, and others stop the whole device. A
program from a stranger may hand any integers on as indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torch import Tensor

from counterfoil_core.base.sentence import say
from counterfoil_core.operators.facts import Operator

Named = Mapping[str, Any]


def check_indices(entry: Operator, arguments: Named) -> None:
    """Check the indices of one operator.

    Args:
        entry: The operator's entry.
        arguments: Its arguments by name.

    Raises:
        IndexError: One points outside of what it is an index of.
    """
    for indices, low, high in _pointing(entry, arguments):
        smallest, largest = (int(bound) for bound in indices.aminmax())
        if smallest < low or largest >= high:
            raise IndexError(
                say("an index is {0}, outside of {1} to {2}", smallest if smallest < low else largest, low, high - 1)
            )


def check_indices_ahead(entry: Operator, arguments: Named) -> tuple[dict[int, Tensor], list[Tensor]]:
    """Look at the indices of one operator without waiting for the device they are on.

    Args:
        entry: The operator's entry.
        arguments: Its arguments by name.

    Returns:
        What takes the place of index tensors, by their ``id``: the same, and an index that is surely one where they
        point outside. And whether any does: bool ``[]`` each.

    Raises:
        IndexError: There is nothing to point to.
    """
    instead, wrong = {}, []
    for indices, low, high in _pointing(entry, arguments):
        if low >= high:
            check_indices(entry, arguments)
        outside = (indices < low) | (indices >= high)
        for given in _tensors(arguments.values()):
            # The rule for labels looks at a tensor that it makes of them.
            if given is indices or (given is arguments.get("target") and given.shape == indices.shape):
                instead[id(given)] = given.masked_fill(outside, 0)
        wrong.append(outside.any())
    return instead, wrong


def _tensors(arguments: Iterable[Any]) -> Iterator[Tensor]:
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from _tensors(argument)


def _pointing(entry: Operator, arguments: Named) -> Iterator[tuple[Tensor, int, int]]:
    for indices, low, high in () if entry.indices is None else entry.indices(arguments):
        if indices.numel() and type(indices).__name__ != "FakeTensor":
            yield indices, low, high
