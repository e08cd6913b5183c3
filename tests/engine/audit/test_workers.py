"""An audit with workers ends as one without, whatever they do: in any order, dying, broken or lying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest

from counterfoil.audit.parts.crew import Schedule
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.events import Event, WorkersReported
from counterfoil_core.values.outcome import Outcome
from support.crews import Bent, crewed
from support.exact_jobs import CLASSES, plain_order
from support.jobs import Job, digits_order, record_job, record_run
from support.resuming import ended, request_of, same_end, stopped_after, whole
from support.turns import gan_order


@pytest.fixture(scope="module")
def sparse(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Every third state is digested, every fourth stored; steps 2 and 7 are not what was ordered."""
    flips = (LabelFlip(2), LabelFlip(7))
    return record_job(
        tmp_path_factory.mktemp("sparse"),
        digits_order(steps=9, commit_every=3, checkpoint_every=3),
        trainer_key,
        tamper=lambda inputs: flips[1](flips[0](inputs)),
    )


@pytest.fixture(scope="module")
def alone() -> Callable[[Job], list[Event]]:
    """The events of an audit of a job without workers; each is audited once."""
    return cache(lambda job: whole(request_of(job)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("which", "count", "seed"), [("digits_job", 1, 0), ("digits_job", 3, 1), ("sparse", 2, 2)])
def test_any_number_in_any_order(which, count, seed, tmp_path, request, alone, monkeypatch):
    job = request.getfixturevalue(which)
    with crewed(monkeypatch, lambda workplace: Bent(workplace, count, seed)) as made:
        events = whole(request_of(job))
    same_end(events, alone(job), tmp_path)
    assert sorted(number for _, number in made[0].replayed) == [1, 2, 3]
    assert any(isinstance(event, WorkersReported) for event in events)


@pytest.mark.parametrize("kind", ["exact", "turns", "outside"])
def test_other_kinds_of_orders(kind, tmp_path, trainer_key, monkeypatch):
    """An exact profile keeps no account, programs that take turns have one each, a data file is every worker's own."""
    if kind == "exact":
        job = record_job(tmp_path, plain_order(steps=6), trainer_key, tamper=LabelFlip(3, classes=CLASSES))
    elif kind == "turns":
        job = record_job(tmp_path, gan_order(), trainer_key)
    else:
        job = Job(tmp_path / "job.cfoil", tmp_path / "run.cfoil")
        digits_order().write(job.order, external_data=tmp_path / "big.cfdata", trial=False)
        record_run(job.order, job.run, trainer_key, data=tmp_path / "big.cfdata")
    request = request_of(job, data=tmp_path / "big.cfdata" if kind == "outside" else None)
    expected = whole(request)
    assert ended(expected).report.outcome is (Outcome.DISPUTED if kind == "exact" else Outcome.VERIFIED)
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2)):
        same_end(whole(request), expected, tmp_path)


def test_a_worker_that_dies_has_its_segment_replayed_by_another(digits_job, tmp_path, alone, monkeypatch):
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2, deaths={2: 1})) as made:
        events = whole(request_of(digits_job))
    same_end(events, alone(digits_job), tmp_path)
    assert made[0].starts == 3


def test_a_segment_that_kills_every_worker_ends_in_inconclusive(digits_job, cheat_job, monkeypatch):
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2, deaths={3: 99})) as made:
        report = ended(whole(request_of(digits_job))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "Segment 3 ended 2 workers" in report.reason
    assert report.steps_replayed == 4, "the other segments were judged"
    assert made[0].starts == 4
    # What was found elsewhere stays true.
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2, deaths={1: 99})):
        assert ended(whole(request_of(cheat_job))).report.outcome is Outcome.DISPUTED


def test_no_worker_is_left(digits_job, monkeypatch):
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 1, deaths={1: 99, 2: 99, 3: 99})):
        report = ended(whole(request_of(digits_job))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "No worker is left" in report.reason


def test_a_worker_that_opened_another_file_is_not_asked(digits_job, cheat_job, monkeypatch):
    from counterfoil.audit.parts.task import Task
    from counterfoil.audit.parts.workplace import open_workplace

    with (
        open_workplace(Task(str(cheat_job.run), threads=1)) as elsewhere,
        crewed(monkeypatch, lambda _: Bent(elsewhere)),
    ):
        report = ended(whole(request_of(digits_job))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "It has something else. What differs: the file, the run." in report.reason


def test_stopped_and_resumed(cheat_job, tmp_path, alone, monkeypatch):
    place = tmp_path / "kept"
    place.mkdir()
    token = CancelToken()
    with crewed(monkeypatch, lambda workplace: Bent(workplace, 2, away=True)) as made:
        kept = ended(stopped_after(request_of(cheat_job, place, recheck=0), 2, token)).kept
        assert kept is not None
        assert kept.segments == 1
        events = whole(request_of(cheat_job, place, recheck=0, resume=True))
    assert 1 not in [number for _, number in made[1].replayed], "what is kept is not replayed again"
    report = ended(events).report
    same_end([*events[:-1], replace(ended(events), report=replace(report, replayed_at=()))], alone(cheat_job), tmp_path)
    assert report.replayed_at[0].segments == ((1, 1),)


def test_the_verdict_says_where(digits_job, cheat_job, trainer_key, monkeypatch):
    with crewed(monkeypatch, lambda place: Bent(place, 2, away=True)):
        honest = ended(whole(request_of(digits_job))).report
        accused = ended(whole(request_of(cheat_job))).report
    for report in (honest, accused):
        verdict = verify_verdict(
            sign_verdict(report, trainer_key, datetime(2026, 1, 31, tzinfo=UTC)), trainer_key.public
        )
        assert verdict.statement.replayed_at
    machines = {at.place.machine: at.segments for at in honest.replayed_at}
    assert set(machines) <= {"machine-1", "machine-2"}
    assert sorted(number for spans in machines.values() for one, two in spans for number in range(one, two + 1)) == [
        1,
        2,
        3,
    ]
    # The segment that differs was judged here.
    assert any("machine" not in at.place.machine and at.segments == ((2, 2),) for at in accused.replayed_at)
    # What cannot be is refused.
    first = honest.replayed_at[0]
    for wrong in (((1, 2), (4, 4)), ((1, 1),)):
        bent = replace(honest, replayed_at=(replace(first, segments=wrong),))
        with pytest.raises(SignatureError):
            verify_verdict(sign_verdict(bent, trainer_key), trainer_key.public)
    twice = replace(honest, replayed_at=(replace(first, segments=((1, 3),)), replace(first, segments=((2, 2),))))
    with pytest.raises(SignatureError, match="two machines"):
        verify_verdict(sign_verdict(twice, trainer_key), trainer_key.public)


def test_the_schedule():
    schedule = Schedule([3, 1, 2])
    assert [schedule.next(1), schedule.next(2), schedule.next(1)] == [1, 2, None]
    assert not schedule.done(1, 2), "not its segment"
    assert schedule.died(2), "once is bad luck"
    assert schedule.next(2) == 2
    assert schedule.done(1, 1)
    assert schedule.died(2)
    assert schedule.given_up == {2}
    assert schedule.next(1) == 3
    schedule.unable(1)
    assert schedule.next(2) == 3
    assert schedule.done(2, 3)
    assert not schedule.waiting
    assert schedule.died(2), "before it was ready: once is bad luck"
    assert not schedule.died(2), "it had nothing to do"
