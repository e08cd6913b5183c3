"""Where a step is fingerprinted: everything that two honest machines have in common and a dishonest one may not.

Results of rounded operators are not enough. What a step reads, and every value on which a discrete decision hangs, must
be compared as well: else two sides that part there seem to part at the next rounded operator, "whose inputs agree".
What a fingerprint does not tell is in docs/threat-model.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from counterfoil_core.operators.catalogue import decided_arguments
from counterfoil_core.operators.facts import DRAWS, OperatorClass

if TYPE_CHECKING:
    from counterfoil_core.operators.node import Argument, Node
    from counterfoil_core.program.graph import Input


class PlaceSort(Enum):
    """What is fingerprinted at a place."""

    BATCH = "batch"
    """The rows of a data array, as the step reads them."""
    ROUNDED = "rounded"
    """A floating-point output of an operator of class rounded."""
    DRAW = "draw"
    """Random numbers."""
    DECIDING = "deciding"
    """A floating-point output of an operator of class exact on which a discrete decision hangs."""


@dataclass(frozen=True)
class Place:
    """One fingerprint of a step."""

    sort: PlaceSort  #: What is fingerprinted.
    node: int | None  #: Index of the node in the program; None for a batch.
    output: int  #: Index of the output among the node's; for a batch the number of the input's value.
    site: int | None = None  #: Number of the rounding site; None at places of another sort.
    name: str = ""  #: Name of the data array of a batch; else empty.


def places_of(inputs: Sequence[Input], nodes: Sequence[Node]) -> tuple[Place, ...]:
    """Return the places of a program in the order of a step's fingerprints: batches first, then node by node."""
    places = [
        Place(PlaceSort.BATCH, None, number, name=item.name)
        for number, item in enumerate(inputs)
        if item.kind == "batch"
    ]
    deciding = _deciding_values(inputs, nodes)
    site = 0
    for index, node in enumerate(nodes):
        for position, output in enumerate(node.outputs):
            if output is None or not output.floating:
                continue
            if node.entry.operator_class is OperatorClass.ROUNDED:
                places.append(Place(PlaceSort.ROUNDED, index, position, site))
                site += 1
            elif node.operator in DRAWS:
                places.append(Place(PlaceSort.DRAW, index, position))
            elif node.first_value + position in deciding:
                places.append(Place(PlaceSort.DECIDING, index, position))
    return tuple(places)


def _deciding_values(inputs: Sequence[Input], nodes: Sequence[Node]) -> frozenset[int]:
    """Numbers of the values on which a discrete decision hangs; views stand for what they show."""
    shown: dict[int, int] = {}
    floating = {number for number, item in enumerate(inputs) if item.type.floating}
    deciding: set[int] = set()
    for node in nodes:
        outputs = range(node.first_value, node.first_value + len(node.outputs))
        floating.update(n for n, output in zip(outputs, node.outputs, strict=True) if output and output.floating)
        if node.entry.operator_class is OperatorClass.VIEW:
            for base in _numbers(node.args[:1]):
                shown.update(dict.fromkeys(outputs, shown.get(base, base)))
            continue
        positions = decided_arguments(node.operator, casts_away=not (node.outputs[0] and node.outputs[0].floating))
        # The keyword arguments of these operators are not tensors.
        for number in _numbers([node.args[at] for at in positions if at < len(node.args)]):
            if number in floating:
                deciding.add(shown.get(number, number))
    return frozenset(deciding)


def _numbers(arguments: Iterable[Argument]) -> list[int]:
    """Numbers of the values among arguments, nested ones included."""
    found: list[int] = []
    for argument in arguments:
        if isinstance(argument, tuple):
            found += _numbers(argument)
        elif (number := getattr(argument, "number", None)) is not None:
            found.append(number)
    return found
