"""Arguments at which functions of the library leave their tensors are refused before anything is computed."""

from __future__ import annotations

from typing import Any

import pytest

from counterfoil_core.base import canonical
from counterfoil_core.values.outcome import Outcome
from support.random_programs import outcome


def program(operator: str, shapes: list[list[int]], *rest: Any, gives: list[list[int]]) -> bytes:
    """One operator of some state tensors."""
    inputs = [{"dtype": "float32", "kind": "state", "name": f"x{n}", "shape": s} for n, s in enumerate(shapes)]
    node = {
        "args": [*({"value": number} for number in range(len(shapes))), *rest],
        "kwargs": {},
        "module": "m",
        "op": operator,
        "outputs": [{"dtype": "float32", "shape": shape} for shape in gives],
        "pass": "forward",
    }
    loss = {"dtype": "float32", "kind": "state", "name": "loss", "shape": []}
    whole = {"format": 1, "inputs": [*inputs, loss], "loss": len(shapes), "nodes": [node], "updates": {}}
    return canonical.encode(whole)


UNFOLDED = "aten.unfold_backward.default"
REFLECTED = "aten.reflection_pad2d_backward.default"
REPEATED = "aten.replication_pad2d_backward.default"
POOLED = "aten._adaptive_avg_pool3d_backward.default"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (program(REFLECTED, [[2, 1, 2], [2, 1, 2]], [1, -1, 2, -2], gives=[[2, 1, 2]]), Outcome.REFUSED),
        (program(REFLECTED, [[2, 6, 4], [2, 2, 4]], [0, 0, 2, 2], gives=[[2, 2, 4]]), Outcome.REFUSED),
        (program(REFLECTED, [[2, 7, 6], [2, 3, 4]], [1, 1, 2, 2], gives=[[2, 3, 4]]), None),
        (program(REPEATED, [[2, 1, 2], [2, 1, 2]], [1, -1, 2, -2], gives=[[2, 1, 2]]), Outcome.REFUSED),
        (program(REPEATED, [[2, 7, 6], [2, 3, 4]], [1, 1, 2, 2], gives=[[2, 3, 4]]), None),
        (program(POOLED, [[3, 3, 4, 3], [3, 3, 4, 0]], gives=[[3, 3, 4, 0]]), Outcome.REFUSED),
        (program(POOLED, [[3, 3, 2, 3], [3, 3, 4, 6]], gives=[[3, 3, 4, 6]]), None),
        (program(UNFOLDED, [[3, 6, 1]], [1, 1], -2, 0, 1, gives=[[1, 1]]), Outcome.REFUSED),
        (program(POOLED, [[8, 3, 2, 3], [3, 3, 4, 6]], gives=[[3, 3, 4, 6]]), Outcome.REFUSED),
        (program(POOLED, [[1, 3, 3, 2, 3], [3, 3, 4, 6]], gives=[[3, 3, 4, 6]]), Outcome.REFUSED),
        (program(REFLECTED, [[2, 7, 5], [2, 3, 4]], [1, 1, 2, 2], gives=[[2, 3, 4]]), Outcome.REFUSED),
    ],
)
def test_what_an_honest_model_never_has_is_refused(data: bytes, expected: Outcome | None) -> None:
    assert outcome(data) is expected
