"""A provider turns 24 of its own logged decisions, chosen so that no fingerprint shows it, where no state is digested.

Alone its run is one that honest hardware could have had. Beside an honest run of the same order it is a trap: their
results are equal, their states are not, and a judge who takes one's state for the other's accuses an honest provider.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from counterfoil.audit.difference import compare_runs
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.order import OrderDraft
from counterfoil.training.schedules import shuffled_epochs
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.panel import Blame, PanelFinished, PanelOutcome, PanelReport, Standing
from support.colliding import record_colliding
from support.expectations import verified
from support.jobs import Job, audited, classify, draw, own_order, record_job, records_of, replace_bytes, sign_again
from support.precisions import COARSE

STEPS, SEED = 4, 3


def sparse_order() -> OrderDraft:
    """States are digested at every second step. The first layer's gradient reaches nothing but the state."""
    inputs = draw((64, 32), 1)
    # One column makes the scale of that gradient in step 1, so that a quarter of the other elements is logged.
    inputs[shuffled_epochs(64, 8, STEPS, SEED)[0], 0] *= 512
    data = {"x": inputs, "labels": (np.arange(64) % 8).astype(np.int64)}
    model = nn.Sequential(nn.Linear(32, 128, bias=False), nn.ReLU(), nn.Linear(128, 8))
    draft = own_order(model, classify, data, steps=STEPS, seed=SEED, learning_rate=4.0, precision=COARSE)
    return replace(draft, manifest=replace(draft.manifest, commit_every=2))


@dataclass
class Runs:
    job: Job
    folder: Path

    def __post_init__(self) -> None:
        self.site = len(sparse_order().program.sites) - 1
        self.made: dict[str, Path] = {}

    def colluding(self, lie: int = 0) -> Path:
        """The colluder's run, which tells a lie in a later step unless that is 0."""
        return self._made(f"colluder-{lie}", lie)

    def _made(self, name: str, lie: int) -> Path:
        if name not in self.made:
            path = self.folder / f"{name}.cfoil"
            generate_key(self.folder / f"{name}.pem", None)
            key = load_private_key(self.folder / f"{name}.pem", None)
            settings = {"tamper": LabelFlip(lie, classes=8)} if lie else {}
            self.made[name] = record_colliding(self.job.order, path, key, self.site, **settings)
        return self.made[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory, trainer_key):
    folder = tmp_path_factory.mktemp("colliding")
    return Runs(record_job(folder, sparse_order(), trainer_key), folder)


def panel(*runs: Path) -> PanelReport:
    *_, last = run_panel(runs, threads=1)
    assert isinstance(last, PanelFinished)
    return last.report


def standings(report: PanelReport) -> list[Standing]:
    return [member.standing for member in report.members]


def test_the_results_of_step_1_are_equal_and_both_runs_are_verified_alone(runs):
    honest, colluder = records_of(runs.job.run), records_of(runs.colluding())
    assert replace(honest[1], log=None) == replace(colluder[1], log=None)
    assert honest[1].log != colluder[1].log
    assert honest[2].state_root != colluder[2].state_root
    verified(runs.job.run, runs.job.order)
    verified(runs.colluding(), runs.job.order)


@pytest.mark.parametrize("swapped", [False, True])
def test_neither_is_exposed(runs, swapped):
    given = (runs.job.run, runs.colluding())
    report = panel(*(given[::-1] if swapped else given))
    (parting,) = report.partings
    assert (parting.step, parting.ruled_step, parting.blame) == (2, STEPS, Blame.NEITHER)
    assert report.outcome is PanelOutcome.UNDECIDED
    assert standings(report) == [Standing.RIGHT_THERE, Standing.RIGHT_THERE]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("lie", [2, 3])
def test_a_colluder_who_lies_after_that_is_found(runs, lie, swapped):
    bad = runs.colluding(lie)
    assert audited(bad, runs.job.order).report.outcome is Outcome.DISPUTED
    given = (runs.job.run, bad)
    report = panel(*(given[::-1] if swapped else given))
    (parting,) = report.partings
    assert (parting.step, parting.ruled_step) == (2, lie)
    assert parting.blame is (Blame.FIRST if swapped else Blame.SECOND)
    expected = [Standing.RIGHT_THERE, Standing.WRONG]
    assert standings(report) == (expected[::-1] if swapped else expected)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_who_signs_an_honest_ones_results_beside_the_colluders_log_accuses_only_itself(tmp_path, runs, first):
    """Its log leads to the results of step 1 that the honest one signed, and to another state."""
    copier = shutil.copy(runs.job.run, tmp_path / "copier.cfoil")
    with BundleReader.open(runs.job.run) as honest, BundleReader.open(runs.colluding()) as colluder:
        logs = [colluder.log(1), *(honest.log(step) for step in range(2, STEPS + 1))]
        assert len(logs[0]) == len(honest.log(1))
    replace_bytes(copier, "/run/log", b"".join(logs))
    generate_key(tmp_path / "copier.pem", None)
    sign_again(copier, load_private_key(tmp_path / "copier.pem", None))
    given = [Path(copier), runs.job.run, runs.colluding()]
    expected = [Standing.WRONG, Standing.RIGHT_THERE, Standing.RIGHT_THERE]
    report = panel(*given[first:], *given[:first])
    assert standings(report) == expected[first:] + expected[:first]


def test_a_comparison_follows_each_run_from_its_own_state(runs):
    """``compare`` judges nobody; it says whether a replay came to what each run recorded."""
    difference = compare_runs(runs.job.run, runs.colluding(), replay=True, threads=1)
    assert difference.step == 2
    assert difference.operator is not None
    assert difference.elements.reproduced == (True, True)
