"""A cheat rounds values to the other side of a midpoint and leaves that out of its log, to look like other hardware.

Once that accuses nobody, and the replay goes on from the cheat's own state. It must not become a way to use up the
audit's patience, and fraud in a later step must not pass for the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from counterfoil.audit.values.dispute import Right
from counterfoil.audit.values.outcome import Outcome
from counterfoil.audit.values.report import AuditReport
from counterfoil.training import recorder
from counterfoil.training.tamper import LabelFlip
from support.bent_recorder import bent, nearest_midpoint, rounding_site
from support.jobs import audited, digits_order, record_job, replaced
from support.precisions import CALIBRATED, PROVEN

FRAUD = 9


@pytest.fixture
def attack(tmp_path, trainer_key):
    """Audits a run of twelve steps with unlogged flips in some, and poisoned labels in step 9 if it is a fraud."""

    def run(precision: Any, flips: range, *, fraud: bool) -> AuditReport:
        draft = digits_order(precision=precision, steps=12)
        site = rounding_site(draft.program, "convolution")
        settings = {"tamper": LabelFlip(FRAUD)} if fraud else {}
        with replaced(recorder, "recording_rounder", bent("Flips", step=flips, site=site, choose=nearest_midpoint)):
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


@pytest.mark.parametrize("fraud", [True, False])
def test_where_every_recorder_logs_them_three_steps_accuse(attack, fraud):
    report = attack(PROVEN, range(1, FRAUD), fraud=fraud)
    assert report.outcome is Outcome.DISPUTED
    assert (report.dispute.step, report.dispute.finding.right) == (3, Right.OMISSIONS)
    assert "left out of the log in 3 steps (1, 2 and 3), which no conforming recorder does" in report.reason
    assert (FRAUD in report.mismatched_steps) == fraud


def test_two_steps_do_not_and_hide_no_fraud(attack):
    report = attack(PROVEN, range(1, 3), fraud=True)
    assert (report.outcome, report.dispute.step) == (Outcome.DISPUTED, FRAUD)
    assert report.mismatched_steps == (1, 2, FRAUD)


def test_control_two_steps_alone_accuse_nobody(attack):
    report = attack(PROVEN, range(1, 3), fraud=False)
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.OMISSION)
