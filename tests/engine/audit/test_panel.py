"""Referee and panel: who is wrong where runs of one order part."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, DataError, DeviceError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.judge.judgement import SecondLook
from counterfoil_core.panel import referee
from counterfoil_core.panel.panel import distinct_names, run_panel
from counterfoil_core.replay import replayer as steps
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.panel import (
    Blame,
    PanelAdmitted,
    PanelCompared,
    PanelFinished,
    PanelOutcome,
    PanelReport,
    Standing,
    StepJudged,
)
from support.bent_recorder import bent, nearest_midpoint, rounding_site
from support.bundles import flip_bit
from support.jobs import audited, digits_order, record_run, recorded_by, replace_bytes, sign_again
from support.other_direction import record_other_direction

# The job has six steps and stores a checkpoint after every second one.


@pytest.fixture(scope="module")
def flipped(tmp_path_factory) -> dict[tuple[str, LabelFlip], Path]:
    """Runs whose provider flipped labels, by name and lie; each is recorded once."""
    return {}


@pytest.fixture
def provider(tmp_path, tmp_path_factory, digits_job, flipped):
    """Records a run of the job under a key of its own."""

    def record(name: str, **settings: Any) -> Path:
        lie = settings.get("tamper")
        if isinstance(lie, LabelFlip) and (name, lie) in flipped:
            return Path(shutil.copy(flipped[name, lie], tmp_path / f"{name}.cfoil"))
        key = load_private_key(generate_key(tmp_path / f"{name}.pem", None).with_name(f"{name}.pem"), None)
        run = record_run(digits_job.order, tmp_path / f"{name}.cfoil", key, **settings)
        if isinstance(lie, LabelFlip):
            flipped[name, lie] = Path(shutil.copy(run, tmp_path_factory.mktemp("flipped") / "run.cfoil"))
        return run

    return record


def panel(*runs: Path, **settings: Any) -> PanelReport:
    *_, last = run_panel(runs, **({"threads": 1} | settings))
    assert isinstance(last, PanelFinished)
    return last.report


def standings(report: PanelReport) -> list[Standing]:
    return [member.standing for member in report.members]


RIGHT, WRONG, UNTESTED, REFUSED = Standing.RIGHT_THERE, Standing.WRONG, Standing.UNTESTED, Standing.REFUSED


# Two providers.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("step", [1, 2, 3, 6])
def test_the_one_who_departed_is_found(digits_job, provider, step):
    bad = provider("bad", tamper=LabelFlip(step))
    for runs, blame in (((digits_job.run, bad), Blame.SECOND), ((bad, digits_job.run), Blame.FIRST)):
        report = panel(*runs, order=digits_job.order)
        (parting,) = report.partings
        assert (parting.step, parting.ruled_step, parting.blame) == (step, step, blame)
        assert parting.agreed_step == (step - 1) // 2 * 2
        assert report.outcome is PanelOutcome.EXPOSED
        assert "Not what was ordered: bad.cfoil." in report.reason
        ruling = next(ruling for ruling in parting.rulings if not ruling.right)
        assert ruling.parts == ("state", "loss", "fingerprints")
        assert ruling.operator is None
        assert "the rows of 'labels'" in ruling.finding.sentence
        assert ruling.confirmed


def test_the_search_takes_about_log2_comparisons(digits_job, provider):
    report = panel(digits_job.run, provider("bad", tamper=LabelFlip(5)))
    levels = math.ceil(math.log2(7))
    assert levels <= len(report.partings[0].path) <= 2 * levels + 1


def test_both_can_be_wrong(provider):
    report = panel(provider("one", tamper=LabelFlip(4)), provider("two", tamper=LabelFlip(4, classes=9)))
    assert report.partings[0].blame is Blame.BOTH
    assert standings(report) == [WRONG, WRONG]


def test_a_lie_that_both_tell_just_before_they_part_is_found(provider):
    def twice(inputs):
        return LabelFlip(3)(LabelFlip(4)(inputs))

    report = panel(provider("one", tamper=LabelFlip(3)), provider("two", tamper=twice))
    (parting,) = report.partings
    assert (parting.step, parting.ruled_step, parting.blame) == (4, 3, Blame.BOTH)


def test_agreement_is_no_proof(provider):
    """Two who depart in the same way agree; the panel says so and does not call it verified."""
    one, two = provider("one", tamper=LabelFlip(4)), provider("two", tamper=LabelFlip(4))
    report = panel(one, two)
    assert report.outcome is PanelOutcome.AGREED
    assert standings(report) == [UNTESTED, UNTESTED]
    assert "If one of their providers is honest" in report.reason
    assert audited(one).report.outcome is Outcome.DISPUTED


class ShorterLog(RecordingRounder):
    """Logs what lies within three quarters of the margin, as hardware does for which the rest lies just outside it."""

    def _checked(self, node: Any, flat: torch.Tensor, grid: Any, tau: float) -> Any:
        return super()._checked(node, flat, grid, 0.75 * tau)


def test_honest_runs_on_other_hardware_agree_although_their_logs_differ(digits_job, provider):
    with recorded_by(ShorterLog):
        other = provider("other")
    with BundleReader.open(digits_job.run) as one, BundleReader.open(other) as two:
        assert any(one.log(step) != two.log(step) for step in range(1, 7))
    assert audited(other, digits_job.order).report.outcome is Outcome.VERIFIED
    assert panel(digits_job.run, other).outcome is PanelOutcome.AGREED


def test_nobody_is_wrong_where_rounding_differed_within_the_margin(tmp_path, digits_job, trainer_key):
    other = record_other_direction(digits_job.order, tmp_path / "other.cfoil", trainer_key)
    assert audited(other, digits_job.order).report.outcome is Outcome.VERIFIED
    events = list(run_panel([digits_job.run, other], threads=1))
    report = events[-1].report
    (parting,) = report.partings
    assert parting.blame is Blame.NEITHER
    assert [(ruling.step, ruling.corrections) for ruling in parting.rulings] == [(1, 0), (1, 1)]
    assert report.outcome is PanelOutcome.UNDECIDED
    assert standings(report) == [RIGHT, RIGHT]
    assert "audit each of them" in report.reason
    # Both were replayed to the end, each from its own state.
    assert parting.ruled_step == 6
    assert [event.step for event in events if isinstance(event, StepJudged)] == [1, 2, 3, 4, 5, 6]


def test_decisions_left_out_of_the_log_in_step_after_step_expose_their_trainer(tmp_path, proven_job, trainer_key):
    site = rounding_site(digits_order().program, "convolution")
    kind = bent("Omits", step=range(1, 7), site=site, choose=nearest_midpoint)
    with recorded_by(kind):
        bad = record_run(proven_job.order, tmp_path / "bad.cfoil", trainer_key)
    report = panel(proven_job.run, bad)
    (parting,) = report.partings
    assert (parting.step, parting.ruled_step, parting.blame) == (1, 3, Blame.SECOND)
    assert parting.rulings[1].finding.right is Right.OMISSIONS


# Several providers.


def test_one_honest_member_exposes_the_majority(digits_job, provider):
    liars = [provider(f"liar{i}", tamper=LabelFlip(5)) for i in range(3)]
    report = panel(*liars, digits_job.run)
    assert report.groups == ((0, 1, 2), (3,))
    assert standings(report) == [WRONG, WRONG, WRONG, RIGHT]
    assert report.outcome is PanelOutcome.EXPOSED
    assert "a majority proves nothing" in report.reason


def test_every_outlier_is_located_against_the_largest_group(digits_job, provider):
    early, late = provider("early", tamper=LabelFlip(1)), provider("late", tamper=LabelFlip(6))
    report = panel(early, digits_job.run, provider("same", perturbation="split"), late)
    assert report.groups == ((1, 2), (0,), (3,))
    assert [(parting.second, parting.step) for parting in report.partings] == [((0,), 1), ((3,), 6)]
    assert standings(report) == [WRONG, RIGHT, RIGHT, WRONG]


def test_a_forged_log_beside_copied_results_accuses_nobody_else(tmp_path, digits_job, provider):
    """A member who copies an honest one's results and signs a log of rubbish is wrong; the honest one is not."""
    copier = shutil.copy(digits_job.run, tmp_path / "copier.cfoil")
    generate_key(tmp_path / "copier.pem", None)
    with BundleReader.open(copier) as reader:
        length = int(reader.log_sizes().sum())
    replace_bytes(copier, "/run/log", b"\xff" * length)
    sign_again(copier, load_private_key(tmp_path / "copier.pem", None))
    report = panel(copier, digits_job.run, provider("bad", tamper=LabelFlip(5)))
    assert report.groups == ((0, 1), (2,))
    assert standings(report) == [WRONG, RIGHT, WRONG]
    rulings = {ruling.provider: ruling for ruling in report.partings[0].rulings}
    assert (rulings[0].parts, rulings[0].replay_leaf) == (("log",), None)


def test_a_damaged_checkpoint_of_one_is_taken_from_another(tmp_path, digits_job, provider):
    damaged = shutil.copy(digits_job.run, tmp_path / "damaged.cfoil")
    flip_bit(damaged, "/run/checkpoints/0000000004/head.weight")
    report = panel(damaged, provider("bad", tamper=LabelFlip(5)))
    assert report.partings[0].blame is Blame.SECOND


def test_a_run_that_cannot_be_read_takes_no_part(tmp_path, digits_job, provider):
    junk = tmp_path / "junk.cfoil"
    junk.write_bytes(b"junk")
    report = panel(junk, digits_job.run, provider("bad", tamper=LabelFlip(2)))
    assert standings(report) == [REFUSED, RIGHT, WRONG]
    assert report.outcome is PanelOutcome.EXPOSED
    assert panel(junk, digits_job.run).outcome is PanelOutcome.REFUSED
    assert panel(junk, digits_job.order).order_digest is None


def test_runs_of_other_orders_take_no_part(tmp_path, digits_job, trainer_key):
    other = tmp_path / "other.cfoil"
    digits_order(seed=12).write(other)
    run = record_run(other, tmp_path / "other-run.cfoil", trainer_key)
    report = panel(digits_job.run, run)
    assert standings(report) == [UNTESTED, REFUSED]
    assert "another order" in report.reason
    assert standings(panel(digits_job.run, run, order=other)) == [REFUSED, UNTESTED]


def test_one_provider_under_two_names_is_told(tmp_path, digits_job):
    copy = shutil.copy(digits_job.run, tmp_path / "copy.cfoil")
    assert "same key" in panel(digits_job.run, copy).reason


# This machine.


def noisy() -> Any:
    """An executor whose sums differ by 2^-30 from one time to the next."""
    generator = torch.Generator()

    def compute(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        if operation.node.entry.kind not in ("mm", "addmm", "convolution"):
            return result
        return result * (1 + 2.0**-30 * torch.randn(result.shape, dtype=torch.float64, generator=generator))

    return compute


def test_unsound_hardware_accuses_nobody(monkeypatch, digits_job, provider):
    bad = provider("bad", tamper=LabelFlip(3))
    monkeypatch.setattr(machine, "native", noisy())
    monkeypatch.setattr("counterfoil_core.panel.panel.run_selftest", lambda *_: "not asked")
    report = panel(digits_job.run, bad)
    assert report.partings[0].blame is Blame.UNCLEAR
    assert report.outcome is PanelOutcome.UNDECIDED
    assert standings(report) == [UNTESTED, UNTESTED]
    assert "Nobody is accused" in report.reason


def test_who_matches_bit_for_bit_is_right_though_the_other_cannot_be_judged(monkeypatch, digits_job, provider):
    """The other's step is not confirmed; it is judged again from its next checkpoint."""
    bad = provider("bad", tamper=LabelFlip(3))

    def never(*_: Any) -> Any:
        yield from ()
        return False

    monkeypatch.setattr(steps.StepReplayer, "confirm", never)
    report = panel(digits_job.run, bad)
    (parting,) = report.partings
    assert (parting.blame, parting.ruled_step) == (Blame.UNCLEAR, 6)
    assert standings(report) == [RIGHT, UNTESTED]
    assert "Step 3 of bad.cfoil cannot be decided" in report.reason
    assert [(ruling.step, ruling.right, ruling.confirmed) for ruling in parting.rulings] == [
        (3, True, True),
        (3, False, False),
    ]


def test_fraud_after_a_step_that_cannot_be_decided_is_found(monkeypatch, digits_job, provider):
    def tamper(inputs: Any) -> Any:
        return LabelFlip(3)(LabelFlip(6)(inputs))

    bad, judge = provider("bad", tamper=tamper), referee.judge

    def doubtful(steps: Any, claimed: Any, *others: Any) -> Any:
        judgement = yield from judge(steps, claimed, *others)
        if claimed.step == 3 and judgement.look is not None:
            return replace(judgement, look=SecondLook(True, replace(judgement.look.finding, right=Right.UNKNOWN)))
        return judgement

    monkeypatch.setattr(referee, "judge", doubtful)
    report = panel(digits_job.run, bad)
    (parting,) = report.partings
    assert (parting.step, parting.ruled_step, parting.blame) == (3, 6, Blame.SECOND)
    assert standings(report) == [RIGHT, WRONG]


def test_progress_and_cancelling(digits_job, provider):
    bad = provider("bad", tamper=LabelFlip(4))
    events = list(run_panel([digits_job.run, bad], threads=1))
    compared = next(event for event in events if isinstance(event, PanelCompared))
    assert compared.steps == 2
    assert [event.step for event in events if isinstance(event, StepJudged)] == [3]
    token = CancelToken()
    running = run_panel([digits_job.run, bad], threads=1, cancel=token)
    assert [type(next(running)) for _ in range(3)] == [PanelAdmitted, PanelAdmitted, PanelCompared]
    token.cancel()
    with pytest.raises(CancelledError):
        list(running)


def test_where_runs_part_is_known_without_a_replay_and_nobody_is_judged(digits_job, provider):
    bad, broken = provider("bad", tamper=LabelFlip(4)), provider("broken")
    flip_bit(broken, "run/losses", 2)
    *admitted, compared = run_panel([digits_job.run, bad, broken, digits_job.run], threads=1, replay=False)
    assert [event.number for event in admitted] == [0, 1, 2, 3]
    assert isinstance(compared, PanelCompared)
    assert [member.standing for member in compared.members] == [UNTESTED, UNTESTED, REFUSED, UNTESTED]
    (parting,) = compared.partings
    assert (parting.step, parting.blame, parting.rulings) == (4, Blame.UNCLEAR, ())
    same, other = bytes(7), bytes([0, 0, 0, 0, 1, 1, 1])
    assert compared.results == (same, other, b"", same)


def test_runs_of_one_name_are_told_apart_by_their_folders():
    paths = [Path("/a/x/run.cfoil"), Path("/b/x/run.cfoil"), Path("/b/y/run.cfoil"), Path("/c/other.cfoil")]
    assert distinct_names(paths) == ("a/x/run.cfoil", "b/x/run.cfoil", "y/run.cfoil", "other.cfoil")
    assert distinct_names([Path("/a/run.cfoil")] * 2) == ("run.cfoil", "run.cfoil")


def test_equal_runs_are_concluded_without_a_replay(digits_job):
    *_, last = run_panel([digits_job.run, digits_job.run], replay=False)
    assert isinstance(last, PanelFinished)
    assert last.report.outcome is PanelOutcome.AGREED


def test_what_cannot_be_asked(digits_job, provider):
    with pytest.raises(DataError, match="nothing to compare"):
        panel(digits_job.run)
    with pytest.raises(DeviceError):
        panel(digits_job.run, provider("bad", tamper=LabelFlip(4)), device="cuda:77")
