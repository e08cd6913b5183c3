"""Where a replay leaves its events, and what the window takes from there.

The engine publishes as often as it likes; the window takes a snapshot on its timer. Events that only say where the
replay stands are overwritten, so the window's work depends on its own clock and not on the engine's speed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
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
    """What happened since the last snapshot."""

    started: AuditStarted | None = None  #: The replay's first event, if it came since.
    checks: tuple[Check, ...] = ()  #: Checks that changed, latest state only.
    rows: tuple[StepRow, ...] = ()  #: Replayed steps, oldest first, at most the asked number.
    divergences: tuple[DivergenceMeasured, ...] = ()  #: Comparisons with checkpoints, oldest first.
    operator: OperatorDone | None = None  #: Where the current step stands, if that changed.
    dispute: Dispute | None = None  #: The dispute, if something about it changed.
    resumed: int | None = None  #: Step of the checkpoint from which the replay went on, if it did.
    #: How many of the first steps are those of an earlier replay, once all of them were reported.
    restored: int | None = None
    report: AuditReport | None = None  #: The report, once everything before it was taken.
    kept: Kept | None = None  #: Beside the report: what another replay can go on from.
    #: What the workers of the replay do; None where nothing new is known of them.
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


class Gathered(Generic[Item]):
    """Holds all values that a job reports, in their order; its methods may be called from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: deque[Item] = deque()

    @property
    def drained(self) -> bool:
        """Whether all were taken."""
        with self._lock:
            return not self._values

    def put(self, value: Item) -> None:
        """Note a value."""
        with self._lock:
            self._values.append(value)

    def put_all(self, values: Iterable[Item]) -> None:
        """Note values as they come."""
        for value in values:
            self.put(value)

    def take(self, limit: int) -> tuple[Item, ...]:
        """Take the oldest that were not taken: at most ``limit``, so that one look never holds the window up."""
        with self._lock:
            return _take(self._values, limit)


class ReplaySink:
    """Collects one replay's events; :meth:`publish` and :meth:`take` may be called from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._news = Snapshot()
        """What is there but checks, steps and comparisons, of which there are several."""
        self._checks: dict[int, Check] = {}
        self._rows: deque[StepRow] = deque()
        self._divergences: deque[DivergenceMeasured] = deque()

    @property
    def drained(self) -> bool:
        """Whether all steps, comparisons and the report have been taken."""
        with self._lock:
            return not self._rows and not self._divergences and self._news.report is None

    def publish(self, event: Event) -> None:
        """Note an event; never waits for the window."""
        with self._lock:
            match event:
                case StepReplayed(row=row):
                    self._rows.append(row)
                case DivergenceMeasured():
                    self._divergences.append(event)
                case CheckChanged(check=check):
                    self._checks[check.number] = check
                case OperatorDone():
                    self._note(operator=event)
                case DisputeLocated(dispute=dispute):
                    self._note(dispute=dispute)
                case ResumedFromCheckpoint(step=step):
                    self._note(resumed=step)
                case AuditStarted():
                    self._note(started=event)
                case WorkersReported(workers=workers):
                    self._note(workers=workers)
                case ProgressRestored(steps=steps):
                    self._note(restored=steps)
                case AuditFinished(report=report, kept=kept):
                    self._note(report=report, kept=kept)
                case _:
                    raise TypeError(f"{type(event).__name__} is not an event of a replay")

    def publish_all(self, events: Iterable[Event]) -> None:
        """Note events as they come."""
        for event in events:
            self.publish(event)

    def take(self, limit: int) -> Snapshot:
        """Take what is there: at most ``limit`` steps, so that one look never holds the window up."""
        with self._lock:
            rows, divergences = _take(self._rows, limit), _take(self._divergences, limit)
            ready = replace(self._news, rows=rows, divergences=divergences, checks=tuple(self._checks.values()))
            self._news, self._checks = Snapshot(), {}
            if self._rows or self._divergences:  # the report comes last
                self._note(report=ready.report, kept=ready.kept)
                ready = replace(ready, report=None, kept=None)
            return ready

    def _note(self, **news: object) -> None:
        self._news = replace(self._news, **news)  # type: ignore[arg-type]  # its own fields


def _take(items: deque[Item], limit: int) -> tuple[Item, ...]:
    taken = tuple(islice(items, limit))
    for _ in taken:
        items.popleft()
    return taken
