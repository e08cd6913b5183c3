"""A tensor filled like a state that only chains read: recorded, replayed, and a poisoned step of it is disputed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.program.chains import schedule
from counterfoil_core.values.outcome import Outcome
from support.expectations import verified
from support.jobs import audited, classify, draw, own_order, record_job, record_run

WIDTH = 48


class Filled(nn.Module):
    """Its weight is put through a chain that holds a rounding site and a tensor filled like the buffer."""

    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(WIDTH, WIDTH))
        self.register_buffer("seen", torch.ones(WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        weight = torch.sqrt(self.weight.abs() + torch.ones_like(self.seen))
        self.seen.copy_((self.seen * 0.5 + 1.0).abs())
        return x @ weight


@pytest.fixture(scope="module")
def job(tmp_path_factory, trainer_key):
    data = {"x": draw((32, WIDTH), 1), "labels": (np.arange(32) % WIDTH).astype(np.int64)}
    draft = own_order(Filled(), classify, data)
    program = draft.program
    filled = next(n for n, node in enumerate(program.nodes) if node.operator == "aten.ones_like.default")
    (chain,) = [chain for chain in schedule(program).chains.values() if filled in chain.nodes]
    assert chain.sites
    return record_job(tmp_path_factory.mktemp("filled"), draft, trainer_key)


def test_it_is_recorded_and_verified(job):
    verified(job.run, job.order)


def test_a_poisoned_step_is_disputed(tmp_path, job, trainer_key):
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3, classes=WIDTH))
    report = audited(run, job.order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute.step == 3
