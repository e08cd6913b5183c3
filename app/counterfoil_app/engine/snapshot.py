"""Where a replay leaves its events, and what the window takes from there.

The engine publishes as often as it likes; the window takes a snapshot on its timer. Events that only say where the
replay stands are overwritten, so the window's work depends on its own clock and not on the engine's speed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from counterfoil import (
    AuditFinished,
    AuditReport,
    AuditStarted,
    Check,
    CheckChanged,
    Dispute,
    DisputeLocated,
    DivergenceMeasured,
    Event,
    Kept,
    OperatorDone,
    ProgressRestored,
    ResumedFromCheckpoint,
    StepReplayed,
    StepRow,
    WorkersReported,
    WorkerState,
)

Item = TypeVar("Item")


@dataclass(frozen=True)
class Snapshot:
    """What happened since the last snapshot.

    Attributes:
        started: The replay's first event, if it came since.
        checks: Checks that changed, latest state only.
        rows: Replayed steps, oldest first, at most the asked number.
        divergences: Comparisons with checkpoints, oldest first.
        operator: Where the current step stands, if that changed.
        dispute: The dispute, if something about it changed.
        resumed: Step of the checkpoint from which the replay went on, if it did.
        restored: How many of the first steps are those of an earlier replay, once all of them were reported.
        report: The report, once everything before it was taken.
        kept: Beside the report: what another replay can go on from.
        workers: What the workers of the replay do; None where nothing new is known of them.
    """

    started: AuditStarted | None
    checks: tuple[Check, ...]
    rows: tuple[StepRow, ...]
    divergences: tuple[DivergenceMeasured, ...]
    operator: OperatorDone | None
    dispute: Dispute | None
    resumed: int | None
    report: AuditReport | None
    restored: int | None = None
    kept: Kept | None = None
    workers: tuple[WorkerState, ...] | None = None


class Latest(Generic[Item]):
    """Holds the newest of the values that a job reports; its methods may be called from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value: Item | None = None

    def put(self, value: Item) -> None:
        """Note a value; one that nobody took is forgotten."""
        with self._lock:
            self._value = value

    def put_all(self, values: Iterable[Item]) -> None:
        """Note values as they come."""
        for value in values:
            self.put(value)

    def take(self) -> Item | None:
        """Take the newest value; None when there is none since the last look."""
        with self._lock:
            value, self._value = self._value, None
            return value


class ReplaySink:
    """Collects one replay's events; :meth:`publish` and :meth:`take` may be called from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: AuditStarted | None = None
        self._checks: dict[int, Check] = {}
        self._rows: deque[StepRow] = deque()
        self._divergences: deque[DivergenceMeasured] = deque()
        self._operator: OperatorDone | None = None
        self._dispute: Dispute | None = None
        self._resumed: int | None = None
        self._report: AuditReport | None = None
        self._restored: int | None = None
        self._kept: Kept | None = None
        self._workers: tuple[WorkerState, ...] | None = None

    @property
    def drained(self) -> bool:
        """Whether all steps, comparisons and the report have been taken."""
        with self._lock:
            return not self._rows and not self._divergences and self._report is None

    def publish(self, event: Event) -> None:
        """Note an event; never waits for the window."""
        with self._lock:
            match event:
                case OperatorDone():
                    self._operator = event
                case StepReplayed(row=row):
                    self._rows.append(row)
                case DivergenceMeasured():
                    self._divergences.append(event)
                case CheckChanged(check=check):
                    self._checks[check.number] = check
                case DisputeLocated(dispute=dispute):
                    self._dispute = dispute
                case ResumedFromCheckpoint(step=step):
                    self._resumed = step
                case AuditStarted():
                    self._started = event
                case WorkersReported(workers=workers):
                    self._workers = workers
                case ProgressRestored(steps=steps):
                    self._restored = steps
                case AuditFinished(report=report, kept=kept):
                    self._report, self._kept = report, kept
                case _:
                    raise TypeError(f"{type(event).__name__} is not an event of a replay")

    def publish_all(self, events: Iterable[Event]) -> None:
        """Note events as they come."""
        for event in events:
            self.publish(event)

    def take(self, limit: int) -> Snapshot:
        """Take what is there: at most ``limit`` steps, so that one look never holds the window up."""
        with self._lock:
            rows = _take(self._rows, limit)
            divergences = _take(self._divergences, limit)
            report = None
            if not self._rows and not self._divergences:
                report, self._report = self._report, None
            snapshot = Snapshot(
                started=self._started,
                checks=tuple(self._checks.values()),
                rows=rows,
                divergences=divergences,
                operator=self._operator,
                dispute=self._dispute,
                resumed=self._resumed,
                report=report,
                restored=self._restored,
                kept=self._kept,
                workers=self._workers,
            )
            self._started = self._operator = self._dispute = self._resumed = self._restored = self._workers = None
            self._checks = {}
            return snapshot


def _take(items: deque[Item], limit: int) -> tuple[Item, ...]:
    taken = tuple(islice(items, limit))
    for _ in taken:
        items.popleft()
    return taken
