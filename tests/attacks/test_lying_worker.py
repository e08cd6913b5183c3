"""A worker of an audit that is broken, or in the trainer's pay: it accuses an honest trainer, or hides a fraud."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest

from counterfoil.audit.parts.partfile import Died, SegmentDone, StepDone
from counterfoil.talk.messages import encode
from counterfoil.talk.port import Item
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.hearing.result import SegmentResult
from counterfoil_core.values.events import Event
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.workers import Place
from support.crews import Bent, crewed, flattered
from support.forgery import rewrite_log
from support.jobs import Job
from support.resuming import ended, request_of, same_end, whole


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
    "more entries than there can be": lambda result: _inflated(result, 2**63 - 10),
    "other sites have the entries": lambda result: msgspec.structs.replace(result, sums=_moved(result.sums)),
    "more corrections than entries": lambda result: _with_step(
        result, counts=(result.steps[-1].counts[0], 2**60, *result.steps[-1].counts[2:])
    ),
    "another loss": lambda result: _with_step(result, loss=1.0),
    "a time that is none": lambda result: _with_step(result, seconds=float("nan")),
}


def _inflated(result: SegmentResult, more: int) -> SegmentResult:
    """Entries that there are not, in steps and account alike."""
    first, *others = result.sums
    counts = list(result.steps[-1].counts)
    counts[0] += more
    return msgspec.structs.replace(
        _with_step(result, counts=tuple(counts)), sums=((first[0] + more, *first[1:]), *others)
    )


def _moved(sums: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The account of another site, with the same sums."""
    logged = next(site for site, row in enumerate(sums) if row[0])
    rows = [list(row) for row in sums]
    rows[logged], rows[logged - 1] = rows[logged - 1], rows[logged]
    return tuple(map(tuple, rows))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("lie", LIES)
def test_an_accusation_of_a_worker_counts_for_nothing(lie, digits_job, tmp_path, alone, monkeypatch):
    """The audit replays the segment itself, and finds it right."""
    assert ended(alone(digits_job)).report.outcome is Outcome.VERIFIED
    bent = LIES[lie]
    with crewed(monkeypatch, lambda place: Bent(place, 2, lie=lambda _, r: bent(r) if r.number == 2 else r)):
        same_end(whole(request_of(digits_job)), alone(digits_job), tmp_path)


def test_a_worker_that_hides_a_step_is_found_by_the_second_replay(cheat_job, monkeypatch, tmp_path, alone):
    """It says that all came out right, with the leaves, losses and counts that the trainer signed."""
    (lie,) = flattered(cheat_job.run, [2])

    def hide(worker: int, result: SegmentResult) -> SegmentResult:
        return lie if result.number == 2 else result

    with crewed(monkeypatch, lambda place: Bent(place, 2, lie=hide, away=True)):
        drawn = ended(whole(request_of(cheat_job, recheck=3))).report
        missed = ended(whole(request_of(cheat_job, recheck=0))).report
    assert drawn.outcome is Outcome.DISPUTED, "the audit has seen it itself"
    assert drawn.dispute == ended(alone(cheat_job)).report.dispute
    # The control: this is what trusting workers means.
    assert missed.outcome is Outcome.VERIFIED


def test_a_worker_that_hides_faults_of_the_log_is_not_relied_on(digits_job, forge, monkeypatch):
    """Every leaf is the trainer's, so that the step itself does not give it away."""

    def invent(sites, elements):
        number = next(i for i, site in enumerate(sites) if not len(site.indices) and elements[i] > 50)
        sites[number] = SiteLog(sites[number].exponent, np.array([7, 20]), np.array([True, False]))
        return sites

    job = Job(digits_job.order, forge(lambda run: rewrite_log(run, 5, invent)))
    assert ended(whole(request_of(job))).report.contradictions

    def hide(worker: int, result: SegmentResult) -> SegmentResult:
        steps = tuple(msgspec.structs.replace(step, counts=(step.counts[0], *(0,) * 7)) for step in result.steps)
        return msgspec.structs.replace(result, steps=steps, sums=tuple((row[0], *(0,) * 5) for row in result.sums))

    with crewed(monkeypatch, lambda place: Bent(place, 2, lie=hide, away=True)):
        report = ended(whole(request_of(job, recheck=3))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "cannot be relied on" in report.reason
    # The control: what an honest worker finds is what the audit finds alone.
    with crewed(monkeypatch, lambda place: Bent(place, 2, away=True)):
        assert "contradictions" in ended(whole(request_of(job, recheck=1))).report.reason


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "place",
    [
        Place("a\nVERIFIED", ()),
        Place("m", (("device", "cpu\x1b[2J"),)),
        Place("m" * 10_000, ()),
        Place("m", (("device", "cpu"), ("device", "cuda:0"))),
    ],
)
def test_a_worker_that_says_what_cannot_be_of_its_machine_is_not_asked(place, digits_job, monkeypatch):
    class Boasting(Bent):
        def start(self, worker: int) -> None:
            super().start(worker)
            ready = self._said.pop()
            self._said.append(replace(ready, place=place) if worker == 1 else ready)

    with crewed(monkeypatch, lambda workplace: Boasting(workplace, 2)) as made:
        report = ended(whole(request_of(digits_job))).report
    assert report.outcome is Outcome.VERIFIED
    assert {worker for worker, _ in made[0].replayed} == {2}


@pytest.mark.parametrize("answer", [b"", b"\xc1", b"\x91" * 5000, 7, "of another", "not asked"])
def test_an_answer_of_an_actor_that_is_none_ends_the_actor(answer):
    from counterfoil.audit.parts.rayexec import read_answer

    result = SegmentResult(1, (), ())
    if answer == "of another":
        answer = encode([Item(1, SegmentDone(2, result))])
    elif answer == "not asked":
        answer = encode([Item(1, StepDone(1, 1))])
    assert isinstance(read_answer(answer, 1), Died)
    assert read_answer(encode([Item(1, SegmentDone(1, result))]), 1) == SegmentDone(1, result)
