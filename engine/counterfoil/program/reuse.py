"""Softmax in the place of the exponential of its logarithm, where a program of single operations has its parts.

The gradient of a log softmax is told its result and takes the exponential of that, a second function of every
logit. The forward pass had the exponentials already: e / sum(e) is the same number, and closer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterfoil_core.operators.node import Argument, Node, Value

_EXP, _LOG, _SUM, _SUB, _DIV = (
    f"aten.{name}" for name in ("exp.default", "log.default", "sum.dim_IntList", "sub.Tensor", "div.Tensor")
)


def softmax_in_place_of_exponentials(nodes: Sequence[Node]) -> list[Node]:
    """Replace ``exp(z - log(sum(exp(z))))`` by ``exp(z) / sum(exp(z))``.

    Args:
        nodes: Operators in the order in which they run.

    Returns:
        As many, with the same values; some that were used are not any more.
    """
    made = {node.first_value: node for node in nodes}
    return [_softmax(node, made) or node for node in nodes]


def _softmax(node: Node, made: Mapping[int, Node]) -> Node | None:
    """The division, where a node is such an exponential."""
    logarithm = _operand(node, _EXP, 0, made)
    total = _operand(_operand(logarithm, _SUB, 1, made), _LOG, 0, made)
    exponentials = _operand(total, _SUM, 0, made)
    if total is None or exponentials is None or exponentials.operator != _EXP or logarithm is None:
        return None
    if exponentials.args[0] != logarithm.args[0] or logarithm.kwargs or not _keeps_axes(total):
        return None
    parts = (Value(exponentials.first_value), Value(total.first_value))
    return Node(_DIV, parts, (), node.outputs, node.first_value, node.module, node.phase)


def _operand(node: Node | None, operator: str, position: int, made: Mapping[int, Node]) -> Node | None:
    """The node that made an operand of a node of this operator."""
    if node is None or node.operator != operator:
        return None
    given: Argument = node.args[position]
    return made.get(given.number) if isinstance(given, Value) else None


def _keeps_axes(total: Node) -> bool:
    return len(total.args) > 2 and total.args[2] is True
