"""Constant tensors that a step meets without their being state: they become state of the order.

An order commits to its state, so a constant that lies there is as good as a registered buffer: nobody has to edit a
library's code. Equal constants are one. Nothing updates them, so they keep their values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from torch import Tensor

from counterfoil.program.assembly import assembled
from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program, node_values

NAME = "constant"
"""Constants are named ``constant.1``, ``constant.2`` and so on, in the order in which the step uses them."""


class Constants:
    """The constants of a step that is being lowered. Until names are given their values have numbers below 0."""

    def __init__(self) -> None:
        self._known: dict[Digest, int] = {}
        self._held: list[tuple[Tensor, TensorType]] = []

    def value_of(self, tensor: Tensor, described: TensorType) -> Value:
        """Return the value of a constant: the same one for the same dtype, shape and contents."""
        kept = tensor.detach().cpu().contiguous().clone()
        digest = tensor_digest(NAME, kept.numpy())
        if digest not in self._known:
            self._held.append((kept, described))
            self._known[digest] = -len(self._held)
        return Value(self._known[digest])

    def __getitem__(self, number: int) -> tuple[Tensor, TensorType]:
        return self._held[-number - 1]


def with_constants(
    nodes: Sequence[Node],
    inputs: tuple[Input, ...],
    updates: Mapping[str, Value],
    loss: Value,
    combined: Mapping[str, Value],
    constants: Constants,
    taken: Collection[str] = (),
) -> tuple[Program, dict[str, Tensor]]:
    """Put a program together whose state is the given inputs and the constants that its nodes use.

    Args:
        nodes: The operators; numbers of values may have gaps, and constants have numbers below 0.
        inputs: The inputs, state first, sorted by name.
        updates: Value of the new state by name.
        loss: Value of the loss.
        combined: Of a gradient program the values that are combined, by name.
        constants: The constants.
        taken: Names that they must not get, besides those of the inputs.

    Returns:
        The program, its values numbered from 0 without gaps; and the constants by name.
    """
    used = [value.number for node in nodes for value in node_values(node)]
    used += [value.number for value in (*updates.values(), *combined.values(), loss)]
    known = {*taken, *(item.name for item in inputs)}
    named: dict[int, str] = {}
    for number in dict.fromkeys(used):
        if number < 0:
            named[number] = _free_name(known)
            known.add(named[number])
    added = {number: Input(name, "state", constants[number][1]) for number, name in named.items()}
    numbered = {**dict(enumerate(inputs)), **added}
    # State comes first, sorted by name; the other inputs keep their order behind it.
    order = sorted(
        numbered, key=lambda number: (numbered[number].kind != "state", _sort_name(numbered[number]), number)
    )
    renumbered = {old: new for new, old in enumerate(order)}
    program = assembled(nodes, tuple(numbered[number] for number in order), renumbered, updates, loss, combined)
    return program, {name: constants[number][0] for number, name in named.items()}


def _sort_name(item: Input) -> str:
    return item.name if item.kind == "state" else ""


def _free_name(taken: set[str]) -> str:
    number = 1
    while f"{NAME}.{number}" in taken:
        number += 1
    return f"{NAME}.{number}"
