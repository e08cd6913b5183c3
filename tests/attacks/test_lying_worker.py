"""A worker of an audit that is broken, or in the trainer's pay: it accuses an honest trainer, or hides a fraud."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import msgspec
import pytest

from counterfoil.audit.parts.result import SegmentResult, StepResult
from counterfoil.audit.values.events import Event
from counterfoil.audit.values.outcome import Outcome
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import run_tree
from counterfoil.signing import SigningKey
from counterfoil.training.tamper import LabelFlip
from support.crews import Bent, crewed
from support.jobs import Job, record_run
from support.resuming import ended, request_of, same_end, whole


@pytest.fixture(scope="module")
def cheat(digits_job: Job, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Step 3 of 6 is not what was ordered, in the second of three segments."""
    folder = tmp_path_factory.mktemp("cheat")
    return Job(digits_job.order, record_run(digits_job.order, folder / "run.cfoil", trainer_key, tamper=LabelFlip(3)))


@pytest.fixture(scope="module")
def alone() -> Callable[[Job], list[Event]]:
    """The events of an audit of a job without workers; each is audited once."""
    return cache(lambda job: whole(request_of(job)))


def _with_step(result: SegmentResult, **changed: object) -> SegmentResult:
    *steps, last = result.steps
    return msgspec.structs.replace(result, steps=(*steps, msgspec.structs.replace(last, **changed)))


def _counting(result: SegmentResult, place: int) -> SegmentResult:
    counts = list(result.steps[-1].counts)
    counts[place] += 1
    return _with_step(result, counts=tuple(counts))


LIES: dict[str, Callable[[SegmentResult], SegmentResult]] = {
    "a step differs": lambda result: _with_step(result, leaf=bytes(32)),
    "a step could not be replayed": lambda result: msgspec.structs.replace(result, trouble="Step 1 diverged."),
    "a step is missing": lambda result: msgspec.structs.replace(result, steps=result.steps[:-1]),
    "a contradiction": lambda result: _counting(result, 2),
    "an omission": lambda result: _counting(result, 3),
    "a steered entry": lambda result: _counting(result, 5),
    "entries that there are not": lambda result: _counting(result, 0),
    "an account of another program": lambda result: msgspec.structs.replace(result, sums=result.sums[1:]),
    "counts below zero": lambda result: _with_step(result, counts=(-1,) * 8),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_accusation_of_a_worker_counts_for_nothing(lie, digits_job, tmp_path, alone, monkeypatch):
    """The audit replays the segment itself, and finds it right."""
    assert ended(alone(digits_job)).report.outcome is Outcome.VERIFIED
    bent = LIES[lie]
    with crewed(monkeypatch, lambda place: Bent(place, 2, lie=lambda _, r: bent(r) if r.number == 2 else r)):
        same_end(whole(request_of(digits_job)), alone(digits_job), tmp_path)


def test_a_worker_that_hides_a_step_is_found_by_the_second_replay(cheat, monkeypatch, tmp_path, alone):
    """It says that all came out right, with the leaves that the trainer signed."""
    with BundleReader.open(cheat.run) as reader:
        tree = run_tree(tuple(reader.step_records()))

    def hide(worker: int, result: SegmentResult) -> SegmentResult:
        if result.number != 2:
            return result
        steps = tuple(StepResult(step, tree.leaf(step).value, 0.0, (0,) * 8, 0.0) for step in (3, 4))
        return SegmentResult(2, steps, tuple((0,) * 6 for _ in result.sums))

    with crewed(monkeypatch, lambda place: Bent(place, 2, lie=hide, away=True)):
        drawn = ended(whole(request_of(cheat, recheck=3))).report
        missed = ended(whole(request_of(cheat, recheck=0))).report
    assert drawn.outcome is Outcome.DISPUTED, "the audit has seen it itself"
    assert drawn.dispute == ended(alone(cheat)).report.dispute
    # The control: this is what trusting workers means.
    assert missed.outcome is Outcome.VERIFIED


def test_a_worker_with_another_loss_is_not_relied_on(digits_job, monkeypatch):
    with crewed(monkeypatch, lambda place: Bent(place, 2, lie=lambda _, r: _with_step(r, loss=1.0), away=True)):
        report = ended(whole(request_of(digits_job))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "cannot be relied on" in report.reason
