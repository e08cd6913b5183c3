"""A run for another order, signed by somebody else, or not signed: refused before anything is replayed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from counterfoil.audit.events import StepReplayed
from counterfoil.audit.outcome import CheckNumber, CheckState, Outcome
from counterfoil.commit.digest import Digest
from counterfoil.signing import generate_key, load_private_key
from support.jobs import audited, digits_order, replace_bytes, sign_again


@pytest.fixture
def run(tmp_path: Path, digits_job) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


@pytest.fixture
def other_key(tmp_path: Path):
    generate_key(tmp_path / "other.pem", None)
    return load_private_key(tmp_path / "other.pem", None)


def refused(run: Path, number: CheckNumber, sentence: str, **settings) -> None:
    result = audited(run, **settings)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(number).state is CheckState.FAILED
    assert sentence in result.check(number).detail
    assert not result.of(StepReplayed)


def test_another_clients_order(tmp_path, run):
    other = tmp_path / "other.cfoil"
    digits_order(learning_rate=0.2).write(other)
    refused(run, CheckNumber.ORDER, "the client's order is", order=other)


def test_the_key_of_another_trainer(run, digits_job, trainer_key, other_key):
    refused(run, CheckNumber.SIGNATURE, "does not hold", order=digits_job.order, trainer_key=other_key.public)
    known = audited(run, digits_job.order, trainer_key=trainer_key.public).report
    assert known.outcome is Outcome.VERIFIED
    assert known.trainer_key == trainer_key.public.key_id


def test_signed_by_somebody_else(run, digits_job, trainer_key, other_key):
    """Whoever has the file can sign it; the auditor who knows the trainer's key notices."""
    sign_again(run, other_key)
    refused(run, CheckNumber.SIGNATURE, "does not hold", order=digits_job.order, trainer_key=trainer_key.public)
    unknown = audited(run, digits_job.order).report
    assert unknown.outcome is Outcome.VERIFIED
    assert unknown.trainer_key == other_key.public.key_id


@pytest.mark.parametrize("junk", [b"", b"{}", b"\x00" * 40, b'{"payload":"","payloadType":"","signatures":[]}'])
def test_not_signed(run, digits_job, junk):
    replace_bytes(run, "/run/claim", junk)
    result = audited(run, digits_job.order)
    assert result.report.outcome is Outcome.REFUSED


def test_signed_for_another_order(run, digits_job, trainer_key):
    sign_again(run, trainer_key, order=Digest.of(b"another"))
    refused(run, CheckNumber.SIGNATURE, "signed a run of the order", order=digits_job.order)


def test_signed_for_another_number_of_steps(run, digits_job, trainer_key):
    sign_again(run, trainer_key, steps=5)
    refused(run, CheckNumber.SIGNATURE, "signed 5 steps, but the order has 6", order=digits_job.order)


def test_signed_with_another_root(run, digits_job, trainer_key):
    sign_again(run, trainer_key, run_root=Digest.of(b"another"))
    refused(run, CheckNumber.COMMITMENTS, "damaged or altered after it was signed", order=digits_job.order)
