"""A masked score is given a number, a number is masked, or one beside the mask is changed: exact values lie beside
infinities, and an infinity is a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.dispute import Right
from support.bent_recorder import bent, rounding_site
from support.expectations import disputed, verified
from support.jobs import Job, record_job, recorded_by
from support.masked import INF, PATHS, masked_order

KINDS = {"divided": "div", "baddbmm": "baddbmm", "log_softmax": "_log_softmax"}


def a_number(before: np.ndarray, after: np.ndarray, grid: Any) -> dict[int, float]:
    index = int(np.flatnonzero(np.isfinite(after))[5])
    return {index: float(after[index]) * 1.5}


def unmasked(before: np.ndarray, after: np.ndarray, grid: Any) -> dict[int, float]:
    return {int(np.flatnonzero(np.isinf(after))[0]): 0.5}


def masked(before: np.ndarray, after: np.ndarray, grid: Any) -> dict[int, float]:
    return {int(np.flatnonzero(np.isfinite(after))[7]): -INF}


def cheat(folder: Path, path: str, choose: Any, key: SigningKey) -> Job:
    draft = masked_order(PATHS[path])
    changing = bent("Cheat", step=1, site=rounding_site(draft.program, KINDS[path]), choose=choose)
    with recorded_by(changing):
        return record_job(folder, draft, key)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", KINDS)
@pytest.mark.parametrize("choose", [a_number, unmasked, masked])
def test_the_operator_is_named(path: str, choose: Any, tmp_path: Path, trainer_key: SigningKey) -> None:
    job = cheat(tmp_path, path, choose, trainer_key)
    result = disputed(job.run, job.order, 1)
    dispute = result.report.dispute
    assert dispute is not None
    assert dispute.operator is not None
    assert KINDS[path] in dispute.operator.where
    assert dispute.finding is not None
    assert dispute.finding.right is Right.REPLAY


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", KINDS)
def test_control_nothing_changed(path: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    job = record_job(tmp_path, masked_order(PATHS[path]), trainer_key)
    verified(job.run, job.order)
