"""A program of a stranger uses integers as indices that point outside of what they are indices of.

The library's own function writes there: the auditor's process dies, or something else of it changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute import plan
from counterfoil_core.arithmetic.compute.indices import check_indices
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.expectations import verified
from support.jobs import audited, draw, own_order, record_job, record_run, replaced

STRAY = 16


class Pooled(nn.Module):
    """Scatters what it computes to places that the data name, as maximum pooling's gradient does."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        y = self.linear(x).reshape(-1, 1, 2, 2)
        image = torch.zeros(x.shape[0], 1, 4, 4)
        # Both passes use the places; the forward pass is a function without a gradient of its own.
        spread = torch.ops.aten.max_pool2d_with_indices_backward(
            y.detach(), image, [2, 2], [2, 2], [0, 0], [1, 1], False, places.reshape(-1, 1, 2, 2)
        )
        return spread.sum() * y.square().mean() + y.mean()


def drafted(places: Any) -> OrderDraft:
    return own_order(
        Pooled(),
        lambda model, batch: model(batch["x"], batch["places"]),
        {"x": draw((16, 4), 1), "places": places},
        steps=2,
    )


def test_places_outside_are_refused(tmp_path: Path, trainer_key: SigningKey) -> None:
    inside = np.tile(np.array([0, 5, 10, 15]), (16, 1))
    honest = record_job(tmp_path, drafted(inside), trainer_key)
    verified(honest.run, honest.order)
    # Just outside: no page fault gives it away.
    outside = drafted(np.where(inside == 15, STRAY, inside))
    order, run = tmp_path / "stray.cfoil", tmp_path / "stray-run.cfoil"
    outside.write(order, trial=False)
    with pytest.raises(ProgramError, match="max_pool2d_with_indices_backward") as caught:
        record_run(order, run, trainer_key)
    assert f"an index is {STRAY}, outside of 0 to 15" in caught.value.detail
    with replaced(plan, "check_indices", lambda *_: None):
        record_run(order, run, trainer_key)
    assert audited(run, order).report.outcome is Outcome.REFUSED


X = torch.zeros(5, 3)
ENTRIES = {entry.kind: entry for entry in map(classify, allowed_names())}
INDEXED: list[tuple[str, dict[str, Any], str]] = [
    ("gather", {"self": X, "dim": 1}, "index"),
    ("scatter", {"self": X, "dim": -1}, "index"),
    ("scatter_add", {"self": X, "dim": 1}, "index"),
    ("scatter_reduce", {"self": X, "dim": 1}, "index"),
    ("index_select", {"self": X, "dim": 1}, "index"),
    ("index_add", {"self": X, "dim": 1}, "index"),
    ("embedding", {"weight": X.T}, "indices"),
    ("embedding_dense_backward", {"num_weights": 3}, "indices"),
    ("nll_loss_forward", {"self": X, "ignore_index": -100}, "target"),
    ("nll_loss2d_backward", {"self": X[:, :, None, None], "ignore_index": -100}, "target"),
    ("adaptive_max_pool2d_backward", {"self": torch.zeros(2, 1, 3)}, "indices"),
    ("max_pool3d_with_indices_backward", {"self": torch.zeros(2, 1, 3, 1)}, "indices"),
]


@pytest.mark.parametrize(("kind", "arguments", "name"), INDEXED, ids=[case[0] for case in INDEXED])
def test_each_operator_with_indices(kind: str, arguments: dict[str, Any], name: str) -> None:
    check_indices(ENTRIES[kind], {**arguments, name: torch.tensor([0, 2, 1])})
    check_indices(ENTRIES[kind], {**arguments, name: torch.zeros(0, dtype=torch.int64)})
    for stray in (3, -1, 2**62):
        with pytest.raises(IndexError, match=f"an index is {stray}, outside of 0 to 2"):
            check_indices(ENTRIES[kind], {**arguments, name: torch.tensor([0, stray, 1])})


@pytest.mark.parametrize("kind", ["index", "index_put"])
def test_indices_of_several_axes_may_count_from_the_end(kind: str) -> None:
    low, high, mask = torch.tensor([-5, 0]), torch.tensor([2, 1]), torch.ones(5, dtype=torch.bool)
    check_indices(ENTRIES[kind], {"self": X, "indices": [low, high]})
    check_indices(ENTRIES[kind], {"self": X, "indices": [None, high]})
    check_indices(ENTRIES[kind], {"self": X, "indices": [mask, high]})
    for stray in ([low - 1, high], [low, high + 1], [None, high + 1], [mask, high - 5]):
        with pytest.raises(IndexError, match="an index is"):
            check_indices(ENTRIES[kind], {"self": X, "indices": stray})


def test_control_a_label_that_is_ignored_may_be_any() -> None:
    loss = functional.nll_loss(X, torch.tensor([-100, 1, 2, 0, 1]))
    assert torch.isfinite(loss)
    check_indices(ENTRIES["nll_loss_forward"], {"self": X, "ignore_index": -100, "target": torch.tensor([-100, 1, 2])})
