"""A trainer who cheats in one segment only, and hopes that the sample misses it."""

from __future__ import annotations

import pytest

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest, draw_segments
from support.expectations import verified
from support.jobs import audited, digits_order, record_job


@pytest.fixture(scope="module")
def job(tmp_path_factory, trainer_key):
    """Twelve steps in six segments; the fourth segment is poisoned."""
    draft = digits_order(steps=12, checkpoint_every=2)
    return record_job(tmp_path_factory.mktemp("segments"), draft, trainer_key, tamper=LabelFlip(8))


def test_a_sample_finds_it_exactly_when_it_draws_it(job):
    with BundleReader.open(job.run) as reader:
        root = open_said(RunClaim, reader.claim()).run_root
    found = []
    for number in range(8):
        nonce = number.to_bytes(32, "little").hex()
        drawn = draw_segments(6, 2, nonce, root)
        report = audited(job.run, job.order, segments=SegmentRequest(count=2, nonce=nonce)).report
        assert report.outcome is (Outcome.DISPUTED if 4 in drawn else Outcome.VERIFIED)
        found.append(4 in drawn)
        if report.outcome is Outcome.VERIFIED:
            assert report.headline == "VERIFIED for 2 of 6 segments"
            assert "a run with at least 1 bad segment would have passed with probability 0.667" in report.reason
    assert {True, False} == set(found)


def test_the_whole_run_always_finds_it(job):
    report = audited(job.run, job.order).report
    assert (report.outcome, report.dispute.step) == (Outcome.DISPUTED, 8)


def test_control_without_the_poison(tmp_path, trainer_key):
    honest = record_job(tmp_path, digits_order(steps=12, checkpoint_every=2), trainer_key)
    verified(honest.run, honest.order, segments=SegmentRequest(count=2))
