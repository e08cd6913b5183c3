"""Masks of minus infinity, through every operator that attention brings them to: ordered, recorded, verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.jobs import Job, audited, classify, record_job, replaced
from support.masked import INF, MASKED_DATA, PATHS, TIME, WIDTH, masked_order

INFINITE: set[str] = set()
"""Kinds of operators that rounded an output with an infinity, while the runs below were recorded."""


def noting(self: RecordingRounder, node: Any, flat: Tensor, *rest: Any) -> Any:
    if bool(torch.isinf(flat).any()):
        INFINITE.add(node.entry.kind)
    return CHECKED(self, node, flat, *rest)


CHECKED = RecordingRounder._checked


@pytest.fixture(scope="module")
def recorded(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Job]:
    """A run of a path in a profile, each recorded once; the step is captured once, whatever its profile."""
    drafts = cache(lambda path: masked_order(PATHS[path]))

    @cache
    def job(path: str, profile: str) -> Job:
        draft = drafts(path)
        draft = replace(draft, manifest=replace(draft.manifest, precision=PROFILES[profile]))
        with replaced(RecordingRounder, "_checked", noting):
            return record_job(tmp_path_factory.mktemp("masked"), draft, trainer_key)

    return job


@pytest.mark.sampled(4)
@pytest.mark.parametrize("profile", ["float64-24", "float32-bfloat16"])
@pytest.mark.parametrize("path", PATHS)
def test_masks_of_minus_infinity_pass(path: str, profile: str, recorded: Callable[[str, str], Job]) -> None:
    job = recorded(path, profile)
    found = audited(job.run, job.order)
    assert found.report.outcome is Outcome.VERIFIED
    assert all(found.check(CheckNumber(n)).state is not CheckState.FAILED for n in range(1, 11))
    assert audited(job.run, job.order, perturbation="reversed+jitter").report.outcome is Outcome.VERIFIED
    with BundleReader.open(job.run) as reader:
        assert np.isfinite(reader.losses()).all()


def test_the_paths_bring_infinities_to_rounded_operators(recorded: Callable[[str, str], Job]) -> None:
    """The tests above are about something: each path but softmax itself rounds an output that holds infinities."""
    for path in PATHS:
        recorded(path, "float64-24")
    assert {"div", "baddbmm", "add", "_log_softmax", "addcmul", "sqrt"} <= INFINITE


def test_control_an_overflow_of_its_own_is_refused_by_name(tmp_path: Path, trainer_key: SigningKey) -> None:
    def overflowing(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        return torch.softmax(torch.exp(q @ k.transpose(1, 2) * 1e6), -1)

    with pytest.raises(NonFiniteError, match=r"aten\.exp\.default .* no argument of it is infinite|beyond float32"):
        record_job(tmp_path, masked_order(overflowing), trainer_key)
    assert not (tmp_path / "run.cfoil").exists()


def test_control_a_row_that_is_masked_as_a_whole_is_not_a_number(tmp_path: Path, trainer_key: SigningKey) -> None:
    def everything(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        return torch.softmax((q @ k.transpose(1, 2) + torch.full((TIME, TIME), -INF)) / 2, -1)

    with pytest.raises(NonFiniteError, match=r"_softmax.* not a number") as caught:
        record_job(tmp_path, masked_order(everything), trainer_key)
    assert "masked as a whole" in caught.value.remedy


def test_an_infinite_loss_is_refused(tmp_path: Path, trainer_key: SigningKey) -> None:
    class Impossible(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(TIME * WIDTH, 5)

        def forward(self, x: Tensor) -> Tensor:
            forbidden = torch.zeros(5).masked_fill(torch.arange(5) == 0, -INF)
            return self.head(x.flatten(1)) + forbidden

    job = CustomJob("Impossible", Impossible(), classify, Sgd(), MASKED_DATA, 1, 8, 0.1)
    with pytest.raises(NonFiniteError, match="loss is infinite"):
        record_job(tmp_path, order_custom(job), trainer_key)
