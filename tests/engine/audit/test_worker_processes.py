"""Workers in processes of their own: they die, they cannot, and they end with the audit."""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime

import pytest

from counterfoil.audit.parts import helpers
from counterfoil.audit.parts.helpers import Processes
from counterfoil.audit.parts.task import Task
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.events import WorkersReported
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.workers import LocalWorkers
from support.jobs import Job
from support.resuming import ended, request_of, same_end, stopped_after, whole

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")


class Killed(Processes):
    """Kills the first process that is given a segment; remembers all of them."""

    ids: list[int]
    killed: int | None = None

    def start(self, worker: int) -> None:
        super().start(worker)
        self.ids = [*getattr(self, "ids", ()), self.process_id(worker)]

    def give(self, worker: int, number: int) -> None:
        super().give(worker, number)
        if self.killed is None:
            self.killed = self.process_id(worker)
            os.kill(self.killed, signal.SIGKILL)


def gone(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Killed]:
    found: list[Killed] = []

    def make(tasks: list[Task]) -> Killed:
        found.append(Killed(tasks))
        return found[-1]

    monkeypatch.setattr(helpers, "Processes", make)
    return found


def test_one_is_killed_and_one_has_no_such_device(
    digits_job: Job, made: list[Killed], tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = whole(request_of(digits_job))
    workers = LocalWorkers(2, ("cpu", "cuda:7"))
    events = whole(request_of(digits_job, workers=workers))
    same_end(events, alone, tmp_path)
    report = ended(events).report
    assert report.outcome is Outcome.VERIFIED
    assert "replayedAt" not in statement_of(verdict_statement(report, datetime(2026, 1, 31, tzinfo=UTC)))["predicate"]
    last = [event for event in events if isinstance(event, WorkersReported)][-1].workers
    assert "CUDA" in last[1].trouble
    assert last[0].segments == 3
    assert last[0].steps >= 6
    assert made[0].killed is not None
    assert len(made[0].ids) == 3, "it was started again"
    assert all(map(gone, made[0].ids))


@pytest.mark.slow
def test_they_end_when_the_audit_is_stopped(
    digits_job: Job, made: list[Killed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Killed, "killed", 0)  # none is
    token = CancelToken()
    report = ended(stopped_after(request_of(digits_job, workers=LocalWorkers(1)), 1, token)).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "stopped" in report.reason
    assert all(map(gone, made[0].ids))


def test_they_end_when_the_audit_is_gone(digits_job: Job) -> None:
    """Even while they compute: nobody reads what they write, and nothing more comes."""
    processes = Processes([Task(str(digits_job.run), threads=1)])
    try:
        processes.start(1)
        one = processes._workers[1]
        begun = time.monotonic()
        one.hang_up()
        assert one.wait() == 0
        assert time.monotonic() - begun < 60
    finally:
        processes.close()
