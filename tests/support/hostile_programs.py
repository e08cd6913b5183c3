"""Orders whose program a stranger has written: everything else about them is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterfoil.bundle.writer import BundleWriter
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.turns import Turns
from support.jobs import digits_order


def order_of(program: bytes, path: Path) -> Path:
    """Write an order of some other job with this program."""
    draft = digits_order()
    manifest = replace(draft.manifest, programs=Turns.alone(Digest.of(program)))
    with BundleWriter.create(path) as writer:
        writer.write_order(manifest, Turns.alone(program), draft.schedule, draft.scalars, draft.data, draft.initial)
    return path


def single(operator: str, args: Sequence[Any], outputs: Sequence[Any], *inputs: Any, **kwargs: Any) -> bytes:
    """A program of one operator; inputs and outputs are pairs of dtype and shape, or None."""
    given = [*inputs, ("float32", [])]
    value = {
        "format": 1,
        "inputs": [
            {"name": f"x{number}", "kind": "state", "dtype": dtype, "shape": shape}
            for number, (dtype, shape) in enumerate(given)
        ],
        "nodes": [
            {
                "op": operator,
                "args": list(args),
                "kwargs": kwargs,
                "outputs": [None if out is None else {"dtype": out[0], "shape": out[1]} for out in outputs],
                "module": "layer",
                "pass": "forward",
            }
        ],
        "updates": {},
        "loss": len(given) - 1,
    }
    return canonical.encode(value)


def chain(operators: int) -> bytes:
    """A program of so many operators, each of the one before, and a loss."""
    tensor = {"dtype": "float32", "shape": [4]}
    nodes = [
        {
            "op": "aten.neg.default",
            "args": [{"value": at}],
            "kwargs": {},
            "outputs": [tensor],
            "module": "",
            "pass": "forward",
        }
        for at in range(operators - 1)
    ]
    last = {"op": "aten.sum.default", "args": [{"value": operators - 1}], "kwargs": {}, "module": "", "pass": "forward"}
    nodes.append({**last, "outputs": [{"dtype": "float32", "shape": []}]})
    inputs = [{"name": "x", "kind": "state", **tensor}]
    return canonical.encode({"format": 1, "inputs": inputs, "nodes": nodes, "updates": {}, "loss": operators})
