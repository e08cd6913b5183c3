"""A cheat makes a step look as if hardware had rounded within the margin, since that accuses nobody."""

from __future__ import annotations

from typing import Any

import pytest
from torch import Tensor

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.events import DisputeLocated
from counterfoil_core.values.outcome import Outcome
from support.bent_recorder import bent, nearest_midpoint, rounding_site
from support.jobs import audited, digits_order, record_run, recorded_by

CONVOLUTION = "convolution"
"""Where a calibrated margin is smaller than the error bound asks, so that a conforming recorder may miss a decision."""


@pytest.fixture(scope="module")
def program():
    return digits_order().program


def test_control_a_true_margin_case_accuses_nobody(tmp_path, calibrated_job, trainer_key, program):
    kind = bent("Within", site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    with recorded_by(kind):
        run = record_run(calibrated_job.order, tmp_path / "run.cfoil", trainer_key)
    report = audited(run, calibrated_job.order).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.MARGIN)


def test_a_forged_fingerprint_does_not_turn_fraud_into_rounding(tmp_path, calibrated_job, trainer_key, program):
    """A poisoned step whose first fingerprint is forged to look as if one value had been rounded to the other side."""
    kind = bent("Forger", site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)

    class Forger(kind):  # type: ignore[valid-type, misc]
        def _round(self, node: Any, exponent: int, flat: Tensor) -> int:
            honest = flat.clone()
            fingerprint = super()._round(node, exponent, flat)
            if type(self).steps_begun == self.step and self._site == self.site:
                # The values are the honest ones after all: only the fingerprint says otherwise.
                RecordingRounder._round(self, node, exponent, honest)
                self.logs.pop()
                flat.copy_(honest)
            return fingerprint

    with recorded_by(Forger):
        run = record_run(calibrated_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    report = audited(run, calibrated_job.order).report
    assert Forger.changed
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.step == 3
    assert report.dispute.finding.right is Right.REPLAY


def test_a_true_margin_case_does_not_hide_a_later_fraud(tmp_path, calibrated_job, trainer_key, program):
    kind = bent("Within", step=2, site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    with recorded_by(kind):
        run = record_run(calibrated_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(5))
    result = audited(run, calibrated_job.order)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.report.dispute.step == 5
    assert result.report.mismatched_steps == (2, 5)
    first = result.of(DisputeLocated)[0].dispute
    assert (first.step, first.finding.right, first.accuses) == (2, Right.MARGIN, False)


def test_a_true_margin_case_does_not_hide_fraud_in_the_same_step(tmp_path, calibrated_job, trainer_key, program):
    kind = bent("Within", step=3, site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    with recorded_by(kind):
        run = record_run(calibrated_job.order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(3))
    report = audited(run, calibrated_job.order).report
    assert kind.changed
    assert report.outcome is Outcome.DISPUTED
    assert (report.mismatched_steps, report.dispute.finding.right) == ((3,), Right.REPLAY)
