from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.bundle.capsule import CapsuleContents
from counterfoil.signing import SigningKey
from counterfoil.training.recipes.digits import order_digits
from counterfoil_resources.digits import load_digits
from support.capsules import evidence_of, record_cheat, save
from support.job_fixtures import digits_job, gpt2_job, trainer_key
from support.jobs import Job, digits_order

__all__ = ["capsule", "cheat_job", "digits_job", "evidence", "gpt2_job", "sparse_evidence", "trainer_key"]


@pytest.fixture(scope="session")
def cheat_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """A run of the same order as ``digits_job``, whose trainer flipped the labels of one batch."""
    return record_cheat(tmp_path_factory.mktemp("cheat"), digits_order(), trainer_key)


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
