"""A signed log that cannot be read. The trainer answers for what it signed: junk is not a way out of an audit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterfoil.audit.timing import plan_audit
from counterfoil.audit.values.plan import Plan
from counterfoil.cli import main
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.events import StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.panel import PanelFinished, PanelOutcome, Standing
from counterfoil_core.values.steptable import StepMatch
from support.bundles import change
from support.capsules import adjudicated, evidence_of, save
from support.jobs import Job, audited


def junk(run: Path, step: int, place: int = 0, value: int = 99) -> None:
    """Replace one byte of the log of a step; the first one is the version."""
    with BundleReader.open(run) as reader:
        start = int(reader.log_sizes()[: step - 1].sum())
    change(run, "/run/log", lambda log: np.where(np.arange(len(log)) == start + place, value, log))


@pytest.mark.parametrize(("place", "value"), [(0, 99), (1, 255)], ids=["version", "number"])
def test_disputed(forge, digits_job, trainer_key, place, value):
    run = forge(lambda run: junk(run, 3, place, value))
    result = audited(run, digits_job.order)
    report = result.report
    assert report.outcome is Outcome.DISPUTED
    assert "The rounding log of step 3 cannot be read" in report.reason
    dispute = report.dispute
    assert (dispute.step, dispute.parts, dispute.replay_leaf) == (3, ("log",), None)
    assert dispute.finding.right is Right.UNREADABLE
    # The steps after it are judged from the next checkpoint.
    rows = {event.row.step: event.row for event in result.of(StepReplayed)}
    match, mismatch, unjudged = StepMatch.MATCH, StepMatch.MISMATCH, StepMatch.UNJUDGED
    assert [rows[step].match for step in range(1, 7)] == [match, match, mismatch, unjudged, match, match]
    assert rows[3].replay_leaf is rows[4].replay_leaf is None
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert (verdict.outcome, verdict.disputed_step) == (Outcome.DISPUTED, 3)


def test_fraud_after_the_next_checkpoint_is_found_as_well(forge, digits_job):
    def edit(run: Path) -> None:
        junk(run, 1)
        change(run, "/run/losses", lambda losses: np.where(np.arange(len(losses)) == 4, 1.0, losses))

    report = audited(forge(edit), digits_job.order).report
    assert (report.outcome, report.mismatched_steps) == (Outcome.DISPUTED, (1, 5))


def test_two_logs_in_one_segment(forge, digits_job):
    """The second is unreadable from whatever state its step starts."""

    def edit(run: Path) -> None:
        junk(run, 3)
        junk(run, 4)

    assert audited(forge(edit), digits_job.order).report.mismatched_steps == (3, 4)


def test_a_capsule_of_it_is_confirmed(forge, digits_job, tmp_path):
    run = forge(lambda run: junk(run, 3))
    report = adjudicated(save(evidence_of(run), tmp_path / "dispute.cfoil"), order=digits_job.order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    assert "The rounding log of step 3 cannot be read" in report.reason
    assert (report.dispute.parts, report.steps_replayed) == (("log",), 1)


def test_a_panel_exposes_its_signer(forge, digits_job):
    def edit(run: Path) -> None:
        junk(run, 3)
        change(run, "/run/losses", lambda losses: np.where(np.arange(len(losses)) == 2, 1.0, losses))

    *_, finished = run_panel([digits_job.run, forge(edit)], threads=1)
    assert isinstance(finished, PanelFinished)
    assert finished.report.outcome is PanelOutcome.EXPOSED
    assert [member.standing for member in finished.report.members] == [Standing.RIGHT_THERE, Standing.WRONG]
    ruling = finished.report.partings[0].rulings[1]
    assert (ruling.step, ruling.parts, ruling.replay_leaf) == (3, ("log",), None)


def test_an_audit_of_it_can_be_planned(forge):
    *_, plan = plan_audit(forge(lambda run: junk(run, 1)), threads=1)
    assert isinstance(plan, Plan)


def test_a_log_that_is_not_the_signed_one_accuses_nobody(monkeypatch: pytest.MonkeyPatch, digits_job: Job):
    """As when the file changes while it is read."""
    read = BundleReader.log
    monkeypatch.setattr(BundleReader, "log", lambda self, step: b"\x63" + read(self, step)[1:])
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome in (Outcome.REFUSED, Outcome.INCONCLUSIVE)
    assert report.dispute is None


def test_the_command_line_says_so(forge, capsys: pytest.CaptureFixture[str]):
    assert main(["audit", str(forge(lambda run: junk(run, 3)))]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "The rounding log of step 3 cannot be read" in shown
    assert "replay's leaf none: the step could not be replayed" in shown
