"""The run is signed by somebody else, or not at all."""

from __future__ import annotations

import pytest

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.values.outcome import CheckNumber, Outcome
from support.expectations import refused, verified
from support.jobs import audited, replace_bytes, sign_again


@pytest.fixture
def other_key(tmp_path):
    generate_key(tmp_path / "other.pem", None)
    return load_private_key(tmp_path / "other.pem", None)


def test_the_key_of_another_trainer(copied_run, digits_job, trainer_key, other_key):
    refused(copied_run, digits_job.order, CheckNumber.SIGNATURE, "does not hold", trainer_key=other_key.public)
    known = verified(copied_run, digits_job.order, trainer_key=trainer_key.public)
    assert known.trainer_key == trainer_key.public.key_id


def test_signed_by_somebody_else(copied_run, digits_job, trainer_key, other_key):
    """Whoever has the file can sign it; the auditor who knows the trainer's key notices."""
    sign_again(copied_run, other_key)
    refused(copied_run, digits_job.order, CheckNumber.SIGNATURE, "does not hold", trainer_key=trainer_key.public)
    unknown = verified(copied_run, digits_job.order)
    assert unknown.trainer_key == other_key.public.key_id


@pytest.mark.parametrize("junk", [b"", b"{}", b"\x00" * 40, b'{"payload":"","payloadType":"","signatures":[]}'])
def test_not_signed(copied_run, digits_job, junk):
    replace_bytes(copied_run, "/run/claim", junk)
    assert audited(copied_run, digits_job.order).report.outcome is Outcome.REFUSED
