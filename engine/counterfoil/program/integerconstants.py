"""Integers that are cut off rounded constants: decided when the step is captured, once for all machines.

A table of distances, say, may be the logarithm of numbers that are always the same, without its fraction. A rounded
number an ulp away has another integer, and the logarithm of zero, which such tables leave out afterwards, would stop
a step. So the integers themselves become a constant of the order.
"""

from __future__ import annotations

import operator as python_operator
from typing import Any

import torch
from torch import Tensor, fx

from counterfoil_core.operators.catalogue import classify, is_allowed
from counterfoil_core.operators.facts import OperatorClass


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
