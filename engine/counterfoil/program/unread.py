"""What nobody reads of a step: what it computes for a log, and what a metric adds up in place."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, fx
from torch._subclasses.fake_tensor import FakeTensor


def without_unread_changes(traced: fx.GraphModule) -> fx.GraphModule:
    """Leave out operators that write into a constant which the results, and whatever else is changed, do not read.

    Args:
        traced: A step as it is written; changed in place, and returned.
    """
    roots = {node: root for node in traced.graph.nodes if (root := _written_constant(node)) is not None}
    if not roots:
        return traced
    # One tensor may have several nodes, and several tensors one memory.
    memories = {node: _memory(traced, node) for node in traced.graph.nodes if node.op == "get_attr"}
    changes = {node: memories[root] for node, root in roots.items()}
    read = _all_inputs(node for node in traced.graph.nodes if _acts(node) and node not in changes)
    while True:
        # What is read may be changed before: then all that the change reads is read, too.
        seen = {memory for node, memory in memories.items() if node in read}
        grown = read | _all_inputs(node for node, memory in changes.items() if memory in seen)
        if grown == read:
            break
        read = grown
    unread = {node for node, memory in changes.items() if memory not in seen}
    for node in traced.graph.nodes:
        # What reads a change that nobody reads is read by nobody either.
        if any(given in unread for given in node.all_input_nodes):
            unread.add(node)
    for node in reversed(list(traced.graph.nodes)):
        if node in unread:
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


def read_nodes(graph: fx.Graph) -> list[fx.Node]:
    """Return the nodes that results, draws and changes of a traced step are made from, and these, in their order."""
    read = _all_inputs(node for node in graph.nodes if _acts(node))
    return [node for node in graph.nodes if node in read]


def _acts(node: fx.Node) -> bool:
    """Whether a node is there for its own sake: a result, an input, a draw, a change, or nobody knows."""
    if node.op in ("get_attr", "call_function"):
        target = node.target
        if not isinstance(target, torch._ops.OpOverload):
            return False
        seeded = torch.Tag.nondeterministic_seeded in target.tags
        return seeded or target._schema.is_mutable or target.namespace != "aten"
    return True


def _mutates(node: fx.Node) -> bool:
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable


def _written_constant(node: fx.Node) -> fx.Node | None:
    """The constant that an operator writes into, itself or by a view."""
    if not _mutates(node) or not node.args or not isinstance(node.args[0], fx.Node):
        return None
    root = node.args[0]
    while root.op == "call_function" and root.args and isinstance(root.args[0], fx.Node):
        target = root.target
        if not isinstance(target, torch._ops.OpOverload) or not (target.is_view or target._schema.is_mutable):
            return None
        root = root.args[0]
    return root if root.op == "get_attr" else None


def _memory(traced: fx.GraphModule, node: fx.Node) -> int:
    """What tells the memory of a constant from others'."""
    held = getattr(traced, str(node.target))
    if not isinstance(held, Tensor) or isinstance(held, FakeTensor) or held.layout is not torch.strided:
        return id(held)
    return held.untyped_storage().data_ptr() or id(held)


def _all_inputs(nodes: Iterable[fx.Node]) -> set[fx.Node]:
    """The nodes, and all that they are made from."""
    found: set[fx.Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes
    return found
