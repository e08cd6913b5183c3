"""Tables in float64 of which a step takes elements and casts them to float32: tables in float32.

To take elements and then to cast them gives what it gives to cast first: the same bits. Whatever computes with float64
stays as it is, and a program cannot hold it.
"""

from __future__ import annotations

import torch
from torch import Tensor, fx
from torch.utils._python_dispatch import _disable_current_modes

_aten = torch.ops.aten
_TAKING = {
    _aten.index.Tensor, _aten.index_select.default, _aten.gather.default, _aten.select.int, _aten.slice.Tensor,
    _aten.view.default, _aten._unsafe_view.default, _aten.expand.default, _aten.unsqueeze.default, _aten.squeeze.dim,
    _aten.squeeze.default, _aten.permute.default, _aten.transpose.int, _aten.t.default, _aten.alias.default,
    _aten.detach.default, _aten.clone.default, _aten.flip.default, _aten.embedding.default, _aten.reshape.default,
    _aten.lift_fresh_copy.default, _aten.repeat.default,
}  # fmt: skip
"""Operators whose results are elements of their first operand."""


def fold_doubles(traced: fx.GraphModule) -> fx.GraphModule:
    """Let constants in float64 that are only taken from and then cast to float32 be in float32.

    Args:
        traced: A step as it is written; changed in place, and returned.
    """
    for node in list(traced.graph.nodes):
        if node.op != "get_attr":
            continue
        held = getattr(traced, str(node.target), None)
        wide: list[fx.Node] = []
        if type(held) is Tensor and held.dtype is torch.float64 and node.users and _only_cast(node, wide):
            name = f"{node.target}_float32"
            with _disable_current_modes():
                setattr(traced, name, held.to(torch.float32))
            node.target = name
            for copy in wide:
                copy.kwargs = {**copy.kwargs, "dtype": torch.float32}
    traced.recompile()
    return traced


def _only_cast(node: fx.Node, wide: list[fx.Node]) -> bool:
    """Whether all that a node gives is cast to float32 after elements were taken from it.

    Args:
        node: The node.
        wide: Is told the copies in float64 on the way.
    """
    for user in node.users:
        if user.op != "call_function" or node in user.all_input_nodes[1:] or user.all_input_nodes[0] is not node:
            return False
        copies = user.target is _aten._to_copy.default
        dtype = user.kwargs.get("dtype", torch.float64) if copies else None
        if dtype is torch.float32:
            continue
        if dtype is torch.float64:
            wide.append(user)
        elif user.target not in _TAKING:
            return False
        if not _only_cast(user, wide):
            return False
    return True
