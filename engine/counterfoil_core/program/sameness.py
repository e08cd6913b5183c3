"""Which values of a program are forms of one and the same: views that keep all elements, and copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from counterfoil_core.operators.catalogue import names_with
from counterfoil_core.operators.facts import Trait

if TYPE_CHECKING:
    from counterfoil_core.operators.node import Node
    from counterfoil_core.program.graph import Input

_ORDERED = names_with(Trait.SAME_ORDER)
"""The same elements in the same (C) order."""
_REORDERED = names_with(Trait.OTHER_ORDER)
"""The same elements in another order, or several times."""


class Same(NamedTuple):
    """What a value is a form of."""

    members: int  #: Number of the value that has the same elements, in any order and any number of times.
    #: Number of the value that has the same elements in the same C order; with ``turned`` after the two last axes of
    #: this one were exchanged.
    order: int
    turned: bool  #: See ``order``.


def sameness(inputs: Sequence[Input], nodes: Sequence[Node]) -> tuple[Same, ...]:
    """Return for each value of a program, by its number, what it is a form of: for most that is the value itself."""
    found = [Same(number, number, False) for number in range(len(inputs))]
    shapes: list[tuple[int, ...] | None] = [item.type.shape for item in inputs]
    for node in nodes:
        for position, output in enumerate(node.outputs):
            number = node.first_value + position
            own = Same(number, number, False)
            shape = None if output is None else output.shape
            found.append(own if shape is None or position else _form(node, shape, own, found, shapes))
            shapes.append(shape)
    return tuple(found)


def _form(
    node: Node, shape: tuple[int, ...], own: Same, found: Sequence[Same], shapes: Sequence[tuple[int, ...] | None]
) -> Same:
    if node.operator not in _ORDERED | _REORDERED:
        return own
    number: int | None = getattr(node.args[0], "number", None)
    if number is None or 0 in shape:
        return own
    source, before = found[number], shapes[number]
    if node.operator in _ORDERED:
        # Of exchanged axes only the same shape has the same elements at the same places.
        if source.turned and shape != before:
            return Same(source.members, own.order, False)
        return source
    if before is not None and _exchanges(node, len(before)):
        return Same(source.members, source.order, not source.turned)
    return Same(source.members, own.order, False)


def _exchanges(node: Node, axes: int) -> bool:
    """Whether an operator exchanges the two last axes, and does nothing else."""
    if node.operator == "aten.t.default":
        return axes == 2
    if node.operator != "aten.transpose.int" or axes < 2:
        return False
    one, other = (axis % axes for axis in node.args[1:3] if isinstance(axis, int))
    return {one, other} == {axes - 1, axes - 2}
