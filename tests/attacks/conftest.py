from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil.training.recipes.digits import order_digits
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.signing.keys import SigningKey
from counterfoil_resources.digits import load_digits
from support.capsules import evidence_of, record_cheat, save
from support.expectations import run_root, verified
from support.job_fixtures import calibrated_job, cheat_job, digits_job, gpt2_job, once, proven_job, trainer_key
from support.jobs import Job, sign_again
from support.malicious import Trainer, record_malicious

__all__ = [
    "calibrated_job",
    "capsule",
    "cheat_job",
    "digits_job",
    "evidence",
    "gpt2_job",
    "once",
    "proven_job",
    "sparse_evidence",
    "trainer_key",
]


@pytest.fixture(scope="session")
def evidence(cheat_job: Job) -> CapsuleContents:
    """What the audit of that run found."""
    return evidence_of(cheat_job.run, cheat_job.order)


@pytest.fixture(scope="session")
def sparse_evidence(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> CapsuleContents:
    """The same of a run whose batches have two rows: they lie in at most two of the eight chunks of the images."""
    images, labels = load_digits()
    draft = order_digits(images, labels, steps=3, batch_size=2, width=2, checkpoint_every=3, seed=11)
    return evidence_of(record_cheat(tmp_path_factory.mktemp("sparse"), draft, trainer_key).run)


@pytest.fixture(scope="session")
def capsule(evidence: CapsuleContents, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    return save(evidence, tmp_path_factory.mktemp("capsule") / "dispute.cfoil")


@pytest.fixture(scope="session")
def controls() -> dict[Path, set[str]]:
    """For each run the controls that it passed: each is made once, and holds for all attacks on that run."""
    return {}


@pytest.fixture
def simulate(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, controls: dict[Path, set[str]]
) -> Callable[..., Path]:
    """Record a run by a malicious trainer. As a control the same trainer with its lie switched off is honest.

    Its run has the root of the job's run, which binds all that an audit looks at; that run is verified.
    """

    def record(trainer: Trainer, job: Job = digits_job) -> Path:
        passed = controls.setdefault(job.run, set())
        if "verified" not in passed:
            verified(job.run, job.order)
            passed.add("verified")
        # An attack is a class; when and where it acts is switched off with it.
        attack = f"{type(trainer).__module__}.{type(trainer).__qualname__}"
        if attack not in passed:
            control = record_malicious(job.order, tmp_path / "control.cfoil", trainer_key, trainer.honest())
            assert run_root(control) == run_root(job.run)
            passed.add(attack)
        run = record_malicious(job.order, tmp_path / "run.cfoil", trainer_key, trainer)
        assert run_root(run) != run_root(job.run)
        return run

    return record


@pytest.fixture
def forge(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, controls: dict[Path, set[str]]
) -> Callable[..., Path]:
    """Edit an honest run and sign it again. As a control the run that is signed again without the edit is verified."""

    def edited(edit: Callable[[Path], None], job: Job = digits_job) -> Path:
        run = Path(shutil.copy(job.run, tmp_path / "run.cfoil"))
        sign_again(run, trainer_key)
        passed = controls.setdefault(job.run, set())
        if "signed again" not in passed:
            verified(run, job.order)
            passed.add("signed again")
        edit(run)
        sign_again(run, trainer_key)
        return run

    return edited


@pytest.fixture
def copied_run(tmp_path: Path, digits_job: Job) -> Path:
    """A copy of an honest run, to be edited and not signed again."""
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
