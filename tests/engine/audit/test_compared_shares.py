"""Runs whose steps shares make, side by side: where they part, and who is wrong there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from counterfoil.audit.difference import compare_runs
from counterfoil.cli import main
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.dispute import COMBINE, UPDATE
from counterfoil_core.values.panel import Blame, PanelFinished, PanelOutcome, PanelReport, Standing
from support.jobs import Job, record_job, record_run, recorded_by, records_of
from support.precisions import COARSE
from support.shared import LIE, other_draws, other_gradient, other_rows, other_sum, shared_order

DRAWS = "counterfoil.uniform"


@pytest.fixture(scope="module")
def job(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return record_job(tmp_path_factory.mktemp("shares"), shared_order(), trainer_key)


@pytest.fixture(scope="module")
def lied(job: Job, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Record a run whose trainer lies in this part, once."""
    tampers: dict[str, Any] = {"share 2": other_rows(2), "share 1": other_draws, UPDATE: other_gradient}

    def lie(part: str) -> Path:
        run = tmp_path_factory.mktemp("lies") / "run.cfoil"
        if part == COMBINE:
            with other_sum():
                return record_run(job.order, run, trainer_key)
        return record_run(job.order, run, trainer_key, tamper=tampers[part])

    return cache(lie)


class Forgetful(RecordingRounder):
    """Leaves the last decision of each site out of the log: the values are the same, and the logs are not."""

    def _round(self, node: Any, exponent: int, flat: torch.Tensor) -> int:
        fingerprint = super()._round(node, exponent, flat)
        log = self.logs[-1]
        self.logs[-1] = SiteLog(log.exponent, log.indices[:-1], log.ups[:-1])
        return fingerprint


@pytest.fixture(scope="module")
def beside(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs that differ in the logs of shares and updates, and in nothing else."""
    folder = tmp_path_factory.mktemp("beside")
    job = record_job(folder, shared_order(precision=COARSE), trainer_key)
    with recorded_by(Forgetful):
        return job.run, record_run(job.order, folder / "forgetful.cfoil", trainer_key)


def panel(*runs: Path) -> PanelReport:
    *_, last = run_panel(runs, threads=1)
    assert isinstance(last, PanelFinished)
    return last.report


def test_runs_that_differ_in_their_logs_alone_are_equal(beside: tuple[Path, Path]) -> None:
    found = compare_runs(*beside)
    assert (found.step, found.exit_code, found.part) == (None, 0, "")
    assert found.log_step == 1
    assert panel(*beside).outcome is PanelOutcome.AGREED
    records = [records_of(run)[1] for run in beside]
    assert records[0].shares != records[1].shares, "the control: what the leaves commit to differs"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("part", "inputs", "operator"),
    [("share 2", ("y",), ""), ("share 1", (), DRAWS), (UPDATE, (), "aten"), (COMBINE, (), "")],
)
def test_the_part_at_which_two_runs_part_is_named(
    job: Job,
    lied: Callable[[str], Path],
    part: str,
    inputs: tuple[str, ...],
    operator: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = compare_runs(job.run, lied(part))
    assert (found.step, found.part, found.inputs) == (LIE, part, inputs)
    assert (found.operator is not None) == bool(operator)
    assert found.operator is None or found.operator.name.startswith(operator)
    assert "shares" in found.parts or part == UPDATE
    assert main(["diff", str(job.run), str(lied(part))]) == 1
    assert f"The first part of it that differs is {part}." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("part", ["share 1", UPDATE])
def test_the_part_is_replayed_to_compare_elements(job: Job, lied: Callable[[str], Path], part: str) -> None:
    elements = compare_runs(job.run, lied(part), replay=True, threads=1).elements
    assert elements is not None
    assert elements.reproduced == (True, False), "the liar's own log does not lead to what it signed"


def test_runs_of_two_orders_are_compared_by_their_states(job: Job, trainer_key: SigningKey, tmp_path: Path) -> None:
    other = record_job(tmp_path, shared_order(2), trainer_key)
    found = compare_runs(job.run, other.run)
    assert found.orders
    assert (found.part, "shares" in found.parts) == ("", False)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", ["share 2", UPDATE, COMBINE])
def test_a_referee_rules_on_the_part(
    job: Job, lied: Callable[[str], Path], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = panel(job.run, lied(part))
    assert report.outcome is PanelOutcome.EXPOSED, report.reason
    (parting,) = report.partings
    assert (parting.step, parting.blame) == (LIE, Blame.SECOND)
    right, wrong = parting.rulings
    assert (right.right, right.part, wrong.wrong, wrong.part) == (True, "", True, part)
    assert (wrong.operator is not None) == (part == UPDATE)
    assert main(["referee", str(job.run), str(lied(part))]) == 1
    assert f"first in {part}" in " ".join(capsys.readouterr().out.split())


def test_a_panel_exposes_a_majority_that_lies_in_one_share(
    job: Job, lied: Callable[[str], Path], trainer_key: SigningKey, tmp_path: Path
) -> None:
    again = record_run(job.order, tmp_path / "again.cfoil", trainer_key, tamper=other_rows(2))
    report = panel(lied("share 2"), again, job.run)
    assert report.outcome is PanelOutcome.EXPOSED, report.reason
    assert [member.standing for member in report.members] == [Standing.WRONG, Standing.WRONG, Standing.RIGHT_THERE]
