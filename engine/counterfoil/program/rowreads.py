"""Which of the rows that the schedule names for a step its program reads; docs/bundle-format.md, section 14. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil_core.operators.node import Node, Value
from counterfoil_core.program.graph import Program

_PICKS = frozenset(("narrow", "split", "split_with_sizes", "index_select", "unbind", "gather", "unfold", "diagonal"))
"""Operators that read some rows of a batch when they go along the first axis; which is not followed."""
_SCATTERED = frozenset(("index", "take", "masked_select", "embedding", "as_strided"))
"""Operators that read elements of which it is not followed where they stand."""


def positions_read(program: Program) -> dict[str, npt.NDArray[np.bool_]] | None:
    """Say which of the rows that the schedule names for a step its program reads; the others fill a shorter batch up.

    A program that is captured for a shorter batch first cuts the rows of the step to those that its batch has, by
    slices along the first axis (docs/bundle-format.md, section 14).

    Args:
        program: The program of a step, or of a share of one.

    Returns:
        By the name of each data array that it reads: bool ``[rows]``. None where that cannot be told, since it picks
        rows in another way than by slices with fixed ends.
    """
    uses: dict[int, list[Node]] = {}
    for node in program.nodes:
        for number in set(_values((node.args, [item for _, item in node.kwargs]))):
            uses.setdefault(number, []).append(node)
    kept = {value.number for value in program.results} | {program.loss.number}
    found: dict[str, npt.NDArray[np.bool_]] = {}
    for number, given in enumerate(program.inputs):
        if given.kind == "batch":
            read = np.zeros(given.type.shape[0], np.bool_)
            if not _mark(number, np.arange(len(read)), len(given.type.shape), read, uses, kept):
                return None
            found[given.name] = found[given.name] | read if given.name in found else read
    return found


def _mark(
    number: int,
    rows: npt.NDArray[np.int64],
    axes: int,
    read: npt.NDArray[np.bool_],
    uses: Mapping[int, Sequence[Node]],
    kept: set[int],
) -> bool:
    """Mark the rows that are read of a value of some axes that holds ``rows``; False where it cannot be told."""
    waiting = [(number, rows)]  # no recursion: a stranger's program may slice what it sliced any number of times
    while waiting:
        number, rows = waiting.pop()
        if number in kept:
            read[rows] = True
        for node in uses.get(number, ()):
            name = node.operator.split(".")[1]
            along = node.args[1] if len(node.args) > 1 else 0
            first = type(along) is not int or along % axes == 0
            if node.args[:1] != (Value(number),):
                read[rows] = True  # beside another value
            elif name in _SCATTERED or (first and name in _PICKS):
                return False
            elif name == "slice":
                ends = [*node.args[2:], None, None, None][:3]
                if node.kwargs or type(along) is not int or not all(end is None or type(end) is int for end in ends):
                    return False
                # Along another axis rows become shorter, and stay as many.
                waiting.append((node.first_value, rows[slice(*ends)] if first else rows))
            elif name == "select" and first:
                if len(node.args) < 3 or type(node.args[2]) is not int:
                    return False
                read[rows[node.args[2]]] = True
            else:
                read[rows] = True
    return True


def _values(item: Any) -> Iterator[int]:
    """The numbers of the values among arguments, also those within lists."""
    if isinstance(item, Value):
        yield item.number
    elif isinstance(item, (tuple, list)):
        for each in item:
            yield from _values(each)
