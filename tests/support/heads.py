"""Runs with published tree heads, and heads that lie."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import structs

from counterfoil_core.parties.treeheads import read_tree_heads
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.statements import sign_said
from support.jobs import record_run


def record_with_heads(order: Path, folder: Path, key: SigningKey, **settings: Any) -> tuple[Path, Path]:
    """Record a run with a tree head after every second step; returns the run and the file of heads."""
    run, heads = folder / "published.cfoil", folder / "heads.jsonl"
    record_run(order, run, key, **({"heads": heads, "heads_every": 2} | settings))
    return run, heads


def heads_of(path: Path, key: PublicKey) -> list[TreeHead]:
    """The heads in a file."""
    return list(read_tree_heads(path, key))


def write_heads(path: Path, heads: Iterable[TreeHead], key: SigningKey, **changes: Any) -> Path:
    """Write heads anew, each with ``changes``, signed with ``key``."""
    lines = (sign_said(structs.replace(head, **({"public_key": key.public.pem} | changes)), key) for head in heads)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
