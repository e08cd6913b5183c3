"""Workers that hang, are stopped, or die before they are ready: their segments go elsewhere, and nobody waits on."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest

from counterfoil.audit.parts import crew as crews
from counterfoil.audit.parts.crew import LEAST_PATIENCE, LONGER, PATIENCE, Crew, patience_for
from counterfoil.audit.parts.helpers import Processes
from counterfoil.audit.parts.partfile import Died, Message, Ready, SegmentDone, StepDone
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import WorkerError
from counterfoil_core.hearing.result import Found, Identity, Missing, SegmentResult
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.workers import LocalWorkers, Place, ReplayedBy
from support.resuming import ended, request_of, whole

IDENTITY = Identity(Digest.of(b"file"), Digest.of(b"order"), Digest.of(b"run"))
HERE = Place("here", (("device", "cpu"),))


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Told:
    """An executor whose workers say what a test makes them say."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.started: list[int] = []
        self.given: list[tuple[int, int]] = []
        self.said: list[Message] = []

    def start(self, worker: int) -> None:
        self.started.append(worker)

    def give(self, worker: int, number: int) -> None:
        self.given.append((worker, number))

    def wait(self, seconds: float) -> list[Message]:
        said, self.said = self.said, []
        return said

    def close(self) -> None:
        pass


def crew_of(told: Told, clock: Clock, numbers: Sequence[int] = (1, 2), **settings: object) -> Crew:
    return Crew(told, list(numbers), IDENTITY, clock=clock, **settings)  # type: ignore[arg-type]


def pass_by(crew: Crew, clock: Clock, seconds: float) -> None:
    """Let time pass as it does while an audit waits: in short looks."""
    end = clock.now + seconds
    while clock.now < end:
        clock.now = min(end, clock.now + 1.0)
        list(crew.pump())


def said(crew: Crew, told: Told, *messages: Message) -> None:
    told.said += messages
    list(crew.pump())


def done(number: int) -> SegmentDone:
    return SegmentDone(2, SegmentResult(number, (), ()))


def result_of(crew: Crew, number: int) -> Found | Missing:
    waiting = crew.result(number)
    while True:
        try:
            next(waiting)
        except StopIteration as end:
            found: Found | Missing = end.value
            return found


def test_a_worker_that_says_nothing_is_ended_and_its_segment_goes_to_another() -> None:
    told, clock = Told(2), Clock()
    crew = crew_of(told, clock, [1])
    said(crew, told, Ready(1, IDENTITY, HERE), Ready(2, IDENTITY, HERE))
    assert told.given == [(1, 1)]
    pass_by(crew, clock, PATIENCE - 1)
    assert told.started == [1, 2]
    pass_by(crew, clock, 3)
    assert told.started == [1, 2, 1]
    assert told.given == [(1, 1), (2, 1)]
    said(crew, told, done(1))
    assert isinstance(result_of(crew, 1), Found)


def test_after_the_first_step_the_limit_is_that_of_these_machines() -> None:
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock)
    said(crew, told, Ready(1, IDENTITY, HERE))
    pass_by(crew, clock, 4)
    said(crew, told, StepDone(1, 1))
    pass_by(crew, clock, LONGER * 4 - 1)
    assert told.started == [1]
    pass_by(crew, clock, 3)
    assert told.started == [1, 1]
    # Short steps leave a minute all the same.
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock)
    said(crew, told, Ready(1, IDENTITY, HERE), StepDone(1, 1))
    pass_by(crew, clock, 0.5)
    said(crew, told, StepDone(1, 2))
    pass_by(crew, clock, LEAST_PATIENCE - 1)
    assert told.started == [1]


def test_a_long_step_is_waited_for() -> None:
    assert patience_for(0) == PATIENCE
    assert patience_for(1e12) == 1e5
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock, patience=5000.0)
    said(crew, told, Ready(1, IDENTITY, HERE))
    pass_by(crew, clock, 4999)
    assert told.started == [1]


def test_a_segment_that_silences_every_worker_is_replayed_by_nobody() -> None:
    told, clock = Told(2), Clock()
    crew = crew_of(told, clock, [1])
    said(crew, told, Ready(1, IDENTITY, HERE), Ready(2, IDENTITY, HERE))
    pass_by(crew, clock, 2 * PATIENCE + 5)
    found = result_of(crew, 1)
    assert isinstance(found, Missing)
    assert found.left_out


def test_a_process_that_was_stopped_itself_blames_no_worker() -> None:
    """Ctrl-Z stops all of them; when they go on, hours have passed for the clock."""
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock)
    said(crew, told, Ready(1, IDENTITY, HERE))
    clock.now += 36_000
    list(crew.pump())
    assert told.started == [1]
    pass_by(crew, clock, PATIENCE + 2)  # the control
    assert told.started == [1, 1]


def test_a_worker_that_never_gets_ready_is_started_once_more_and_then_not_waited_for() -> None:
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock)
    pass_by(crew, clock, PATIENCE + 2)
    assert told.started == [1, 1]
    pass_by(crew, clock, PATIENCE + 2)
    with pytest.raises(WorkerError, match="It said nothing for 600 seconds, and was ended"):
        result_of(crew, 1)


def test_a_worker_that_dies_before_it_is_ready_is_started_once_more() -> None:
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock)
    said(crew, told, Died(1, "SIGKILL"))
    assert told.started == [1, 1]
    said(crew, told, Died(1, "SIGKILL"))
    assert told.started == [1, 1]
    with pytest.raises(WorkerError, match="It ended by itself: SIGKILL"):
        result_of(crew, 1)


def test_actors_of_a_cluster_are_waited_for() -> None:
    told, clock = Told(1), Clock()
    crew = crew_of(told, clock, by=ReplayedBy.CLUSTER)
    pass_by(crew, clock, 10 * PATIENCE)
    assert told.started == [1]


# Real processes.


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Workers are given a few seconds; gives the ids of the processes that were stopped."""
    stopped: list[int] = []
    give = Processes.give

    def stop(self: Processes, worker: int, number: int) -> None:
        if not stopped:
            stopped.append(self.process_id(worker))
            os.kill(stopped[0], signal.SIGSTOP)
        give(self, worker, number)

    monkeypatch.setattr(Processes, "give", stop)
    monkeypatch.setattr(crews, "LEAST_PATIENCE", 6.0)
    monkeypatch.setattr(crews, "LONGER", 1)
    monkeypatch.setattr("counterfoil.audit.outside.patience_for", lambda _flops: 6.0)
    return stopped


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX systems")
def test_a_stopped_process_is_ended_and_the_audit_comes_to_its_end(impatient: list[int], digits_job) -> None:
    report = ended(whole(request_of(digits_job, workers=LocalWorkers(2)))).report
    assert report.outcome is Outcome.VERIFIED
    assert impatient
    with pytest.raises(ProcessLookupError):
        os.kill(impatient[0], 0)
