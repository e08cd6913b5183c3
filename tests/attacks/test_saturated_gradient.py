"""The gradient behind a saturated sigmoid is negated: the definition there is the library's, so no doubt helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.values.outcome import Outcome
from support.expectations import operator_of
from support.jobs import Job, audited, own_order, record_job
from support.malicious import Trainer


@dataclass
class Negates(Trainer):
    """Negates the result of one operator in one step."""

    operator_name: str = ""

    def operator(self, operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        return -result if self.acting and operation.node.operator == self.operator_name else result


def rows() -> dict[str, np.ndarray]:
    """Some rows are so large that a sigmoid of their sums is 0 or 1."""
    rng = np.random.default_rng(5)
    x = 25 * rng.standard_normal((32, 6)).astype(np.float32)
    x[::3] *= 40
    return {"x": x, "y": rng.integers(0, 2, (32, 1)).astype(np.float32)}


def behind_sigmoid(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.binary_cross_entropy(torch.sigmoid(model(batch["x"])), batch["y"])


def behind_clamp(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Its gradient at 0 and 1 reaches the weights."""
    return functional.binary_cross_entropy(torch.clamp(model(batch["x"]), 0, 1), batch["y"])


def clamped_logit(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.mse_loss(torch.logit(torch.sigmoid(model(batch["x"])), eps=1e-6), batch["y"])


@pytest.fixture
def job(tmp_path: Path, trainer_key: Any, request: pytest.FixtureRequest) -> Job:
    draft = own_order(nn.Linear(6, 1), request.param, rows(), batch_size=16, learning_rate=1e-13)
    folder = tmp_path / "honest"
    folder.mkdir()
    return record_job(folder, draft, trainer_key)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("job", "operator"),
    [
        pytest.param(behind_sigmoid, "aten.binary_cross_entropy_backward.default", id="cross entropy, sigmoid"),
        pytest.param(behind_clamp, "aten.binary_cross_entropy_backward.default", id="cross entropy, clamp"),
        pytest.param(clamped_logit, "aten.logit.default", id="logit"),
        pytest.param(clamped_logit, "aten.logit_backward.default", id="gradient of logit"),
    ],
    indirect=["job"],
)
def test_a_negated_result_is_disputed(simulate: Any, job: Job, operator: str) -> None:
    result = audited(simulate(Negates(step=2, operator_name=operator), job), job.order)
    assert result.report.outcome is Outcome.DISPUTED, result.report.reason
    dispute = result.report.dispute
    assert dispute is not None
    assert (dispute.step, dispute.confirmed) == (2, True)
    found = operator_of(result)
    assert found is not None
    assert found[0] == operator
