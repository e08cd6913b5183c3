"""What may be said between ranks: bytes and numbers in tensors."""

from __future__ import annotations

import ast

from support.packages import ENGINE, sources

PICKLE = {"all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list", "send_object_list",
          "recv_object_list", "init_rpc", "rpc_sync", "rpc_async"}  # fmt: skip


def names(code: str) -> set[str]:
    """All names and attributes that code uses."""
    nodes = list(ast.walk(ast.parse(code)))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {
        node.id for node in nodes if isinstance(node, ast.Name)
    }


def test_no_collective_pickles() -> None:
    texts = {path: path.read_text(encoding="utf-8") for _, path in sources()}
    assert not {path for path, text in texts.items() if any(word in text for word in PICKLE) and names(text) & PICKLE}
    assert "all_reduce" in names((ENGINE / "distributed" / "direct.py").read_text(encoding="utf-8")), "it looks"


def test_one_that_does_would_be_seen() -> None:
    assert names("import torch.distributed as dist\ndist.all_gather_object([], 1)") & PICKLE
