from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.signing import SigningKey
from support.expectations import run_root, verified
from support.job_fixtures import digits_job, gpt2_job, trainer_key
from support.jobs import Job, sign_again
from support.malicious import Trainer, record_malicious

__all__ = ["digits_job", "gpt2_job", "trainer_key"]


@pytest.fixture
def simulate(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> Callable[..., Path]:
    """Record a run by a malicious trainer. As a control the same trainer with its lie switched off is verified."""

    def record(trainer: Trainer, job: Job = digits_job) -> Path:
        control = record_malicious(job.order, tmp_path / "control.cfoil", trainer_key, trainer.honest())
        assert run_root(control) == run_root(job.run)
        verified(control, job.order)
        run = record_malicious(job.order, tmp_path / "run.cfoil", trainer_key, trainer)
        assert run_root(run) != run_root(job.run)
        return run

    return record


@pytest.fixture
def forge(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> Callable[..., Path]:
    """Edit an honest run and sign it again. As a control the run that is signed again without the edit is verified."""

    def edited(edit: Callable[[Path], None], job: Job = digits_job) -> Path:
        run = Path(shutil.copy(job.run, tmp_path / "run.cfoil"))
        sign_again(run, trainer_key)
        verified(run, job.order)
        edit(run)
        sign_again(run, trainer_key)
        return run

    return edited


@pytest.fixture
def copied_run(tmp_path: Path, digits_job: Job) -> Path:
    """A copy of an honest run, to be edited and not signed again."""
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
