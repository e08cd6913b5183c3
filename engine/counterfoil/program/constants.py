"""Constant tensors that a step meets without their being state: they become state of the order.

An order commits to its state, so a constant that lies there is as good as a registered buffer: nobody has to edit a
library's code. Equal constants are one. Nothing updates them, so they keep their values.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx

from counterfoil.program.assembly import assemble
from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.operators.catalogue import classify, is_allowed
from counterfoil_core.operators.facts import OperatorClass
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
    program = assemble(nodes, tuple(numbered[number] for number in order), renumbered, updates, loss, combined)
    return program, {name: constants[number][0] for number, name in named.items()}


def _sort_name(item: Input) -> str:
    return item.name if item.kind == "state" else ""


def _free_name(taken: set[str]) -> str:
    number = 1
    while f"{NAME}.{number}" in taken:
        number += 1
    return f"{NAME}.{number}"


# Integers that are cut off rounded constants: decided when the step is captured, once for all machines. A table of
# distances, say, may be the logarithm of numbers that are always the same, without its fraction. A rounded number an
# ulp away has another integer, and the logarithm of zero, which such tables leave out afterwards, would stop a step. So
# the integers themselves become a constant of the order.


class SettledNodes:
    """What the nodes of a graph give that depend on no input."""

    def __init__(self, graph: fx.Graph) -> None:
        self._module = graph.owning_module
        self._known: dict[fx.Node, Any] = {}
        self._rounded: dict[fx.Node, bool] = {}
        for node in graph.nodes:
            self._follow(node)

    def integers(self, node: fx.Node) -> Tensor | None:
        """Return the integers that a node makes of rounded constants; None where it does anything else.

        Numbers beyond the integers stop at the smallest or largest, and what is no number becomes 0.
        """
        made = node.meta.get("val")
        if node.target is not torch.ops.aten._to_copy.default or not isinstance(made, Tensor):
            return None
        source = node.args[0]
        if made.dtype.is_floating_point or made.dtype is torch.bool or not isinstance(source, fx.Node):
            return None
        if not self._rounded.get(source, False):
            return None
        values = self._value(source)
        if not isinstance(values, Tensor) or not values.is_floating_point():
            return None
        limits = torch.iinfo(made.dtype)
        values = torch.where(torch.isnan(values), 0.0, values.double())
        low, high = values < float(limits.min), values >= float(limits.max)
        whole = torch.where(low | high, 0.0, values).to(made.dtype)
        return whole.masked_fill(low, limits.min).masked_fill(high, limits.max)

    def _follow(self, node: fx.Node) -> None:
        """Note whether a node depends on no input, and on a rounded operator."""
        if node.op == "get_attr":
            self._rounded[node] = False
            return
        if node.op != "call_function" or not all(given in self._rounded for given in node.all_input_nodes):
            return
        target = node.target
        if target is python_operator.getitem:
            self._rounded[node] = self._rounded[node.all_input_nodes[0]]
            return
        if not isinstance(target, torch._ops.OpOverload) or target._schema.is_mutable:
            return
        name = f"{target.namespace}.{target._opname}.{target._overloadname}"
        if target.namespace != "aten" or torch.Tag.nondeterministic_seeded in target.tags:
            return
        rounds = is_allowed(name) and classify(name).operator_class is OperatorClass.ROUNDED
        self._rounded[node] = rounds or any(self._rounded[given] for given in node.all_input_nodes)

    def _value(self, node: fx.Node) -> Any:
        if node not in self._known:
            if node.op == "get_attr":
                held = getattr(self._module, str(node.target), None)
                if not isinstance(held, Tensor) or type(held).__name__ == "FakeTensor":
                    return None
                self._known[node] = held.detach()
            else:
                given = [self._value(item) for item in node.all_input_nodes]
                if any(value is None for value in given):
                    return None
                values = dict(zip(node.all_input_nodes, given, strict=True))
                args, kwargs = fx.map_arg((node.args, node.kwargs), values.__getitem__)
                self._known[node] = node.target(*args, **kwargs)  # type: ignore[operator]
        return self._known[node]
