"""The trainer signs a tree whose first leaf commits to another state than the initial one that was ordered."""

from __future__ import annotations

import shutil

import numpy as np

from counterfoil.audit.outcome import CheckNumber, CheckState, Outcome
from support.jobs import audited, set_row, sign_again


def test_another_state_in_the_first_leaf(tmp_path, digits_job, trainer_key):
    run = shutil.copy(digits_job.run, tmp_path / "run.cfoil")
    set_row(run, "/run/state_roots", 0, np.arange(32))
    sign_again(run, trainer_key)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(CheckNumber.COMMITMENTS).state is CheckState.FAILED
    assert "another state before its first step" in result.report.reason


def test_control_signing_again_changes_nothing(tmp_path, digits_job, trainer_key):
    run = shutil.copy(digits_job.run, tmp_path / "run.cfoil")
    sign_again(run, trainer_key)
    assert audited(run, digits_job.order).report.outcome is Outcome.VERIFIED
