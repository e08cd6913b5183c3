"""A cheat takes one logged direction the other way in step 1, so that a panel finds nobody wrong there."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.panel import Blame, PanelFinished, PanelOutcome, PanelReport, Standing
from support.expectations import verified
from support.jobs import audited
from support.other_direction import record_other_direction


def panel(*runs: Path) -> PanelReport:
    *_, last = run_panel(runs, threads=1)
    assert isinstance(last, PanelFinished)
    return last.report


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", [2, 5])
def test_the_panel_goes_on_to_the_fraud(tmp_path, digits_job, trainer_key, step):
    bad = record_other_direction(digits_job.order, tmp_path / "bad.cfoil", trainer_key, tamper=LabelFlip(step))
    assert audited(bad, digits_job.order).report.outcome is Outcome.DISPUTED
    for runs, blame, wrong in (((digits_job.run, bad), Blame.SECOND, 1), ((bad, digits_job.run), Blame.FIRST, 0)):
        report = panel(*runs)
        (parting,) = report.partings
        assert (parting.step, parting.ruled_step, parting.blame) == (1, step, blame)
        assert report.outcome is PanelOutcome.EXPOSED
        assert report.members[wrong].standing is Standing.WRONG
        assert report.members[1 - wrong].standing is Standing.RIGHT_THERE


def test_control_without_the_fraud_nobody_is_wrong(tmp_path, digits_job, trainer_key):
    other = record_other_direction(digits_job.order, tmp_path / "other.cfoil", trainer_key)
    verified(other, digits_job.order)
    assert panel(digits_job.run, other).outcome is PanelOutcome.UNDECIDED
