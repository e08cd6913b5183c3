"""A cheat rounds values to the other side of a midpoint and leaves that out of its log, to look like other hardware.

Once that accuses nobody, and the replay goes on from the cheat's own state. It must not become a way to use up the
audit's patience, and fraud in a later step must not pass for the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from counterfoil.audit import progressfile
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.sampling import SegmentRequest
from support.bent_recorder import bent, nearest_midpoint, rounding_site
from support.capsules import adjudicated, save
from support.jobs import Job, audited, digits_order, record_job, recorded_by
from support.precisions import CALIBRATED, PROVEN
from support.resuming import ended, request_of, same_end, stopped_after, whole

FRAUD = 9


@pytest.fixture
def attack(tmp_path, trainer_key):
    """Audits a run of twelve steps with unlogged flips in some, and poisoned labels in step 9 if it is a fraud."""

    def run(precision: Any, flips: range, *, fraud: bool) -> AuditReport:
        draft = digits_order(precision=precision, steps=12)
        site = rounding_site(draft.program, "convolution")
        settings = {"tamper": LabelFlip(FRAUD)} if fraud else {}
        with recorded_by(bent("Flips", step=flips, site=site, choose=nearest_midpoint)):
            job = record_job(tmp_path, draft, trainer_key, **settings)
        return audited(job.run, job.order).report

    return run


def test_eight_flips_at_margins_too_small_to_log_them_buy_no_immunity(attack):
    report = attack(CALIBRATED, range(1, FRAUD), fraud=True)
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.step == FRAUD
    assert report.dispute.inputs == ("labels",)
    assert report.mismatched_steps == tuple(range(1, FRAUD + 1))


def test_control_the_flips_alone_accuse_nobody_there(attack):
    report = attack(CALIBRATED, range(1, FRAUD), fraud=False)
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.MARGIN)
    assert report.mismatched_steps == tuple(range(1, FRAUD))


def test_where_every_recorder_logs_them_three_steps_accuse(attack):
    report = attack(PROVEN, range(1, FRAUD), fraud=False)
    assert report.outcome is Outcome.DISPUTED
    assert (report.dispute.step, report.dispute.finding.right) == (3, Right.OMISSIONS)
    assert "left out of the log in 3 steps (1, 2 and 3), which no conforming recorder does" in report.reason
    assert "Later steps that differ, judged from the trainer's own checkpoints: 5." in report.reason
    assert report.mismatched_steps == tuple(range(1, FRAUD))


@pytest.fixture(scope="module")
def shielded(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """Unlogged flips in the eight steps before the poisoned one, of twelve steps in six segments."""
    draft = digits_order(precision=PROVEN, steps=12)
    site = rounding_site(draft.program, "convolution")
    flips = bent("Flips", step=range(1, FRAUD), site=site, choose=nearest_midpoint)
    with recorded_by(flips):
        return record_job(tmp_path_factory.mktemp("shielded"), draft, trainer_key, tamper=LabelFlip(FRAUD))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chosen", [(), (1, 2, 5), (3, 4, 5, 6)])
def test_three_steps_that_accuse_together_shield_no_fraud_from_the_capsule(shielded, chosen, tmp_path, trainer_key):
    settings = {"segments": SegmentRequest(numbers=chosen)} if chosen else {}
    for stops in (False, True):
        result = audited(shielded.run, shielded.order, continue_after_dispute=not stops, **settings)
        report, finished = result.report, result.events[-1]
        assert (report.outcome, report.dispute.step) == (Outcome.DISPUTED, FRAUD), report.reason
        assert (report.dispute.inputs, report.dispute.stands_alone) == (("labels",), True)
        earlier = [step for step in report.mismatched_steps if step < FRAUD]
        assert f"Earlier steps that differ: {len(earlier)}." in report.reason or not earlier
        ruling = adjudicated(save(finished.evidence, tmp_path / f"{stops}.cfoil"), order=shielded.order)
        assert (ruling.outcome, ruling.dispute.step) == (AdjudicationOutcome.CONFIRMED, FRAUD), ruling.reason
        verify_signed(sign_verdict(report, trainer_key), trainer_key.public)


@pytest.mark.slow
def test_an_audit_that_was_stopped_behind_the_shield_finds_the_fraud_too(shielded, tmp_path, monkeypatch):
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)
    place = tmp_path / "progress"
    stopped = ended(stopped_after(request_of(shielded, place), 7)).report
    assert stopped.dispute.finding.right is Right.OMISSIONS
    same_end(whole(request_of(shielded, place, resume=True)), whole(request_of(shielded)), tmp_path)


def test_two_steps_do_not_and_hide_no_fraud(attack):
    report = attack(PROVEN, range(1, 3), fraud=True)
    assert (report.outcome, report.dispute.step) == (Outcome.DISPUTED, FRAUD)
    assert report.mismatched_steps == (1, 2, FRAUD)


@pytest.mark.slow
def test_control_two_steps_alone_accuse_nobody(attack):
    report = attack(PROVEN, range(1, 3), fraud=False)
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.OMISSION)
