"""Where a replay stands, how fast it goes, and how long it will still take."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from counterfoil import OperatorDone, WorkerState
from counterfoil_app.engine.snapshot import Snapshot

_WINDOW_SECONDS = 15.0
_LEAST_SECONDS = 0.5
_ASLEEP_SECONDS = 10.0


class AwakeClock:
    """Counts seconds while somebody looks at it often; a long gap, as when the computer slept, does not count."""

    def __init__(self) -> None:
        self._last: float | None = None
        self.seconds = 0.0

    def look(self, now: float) -> None:
        """Take note of the time, in monotonic seconds."""
        if self._last is not None and 0 <= now - self._last < _ASLEEP_SECONDS:
            self.seconds += now - self._last
        self._last = now


class RateMeter:
    """Steps per second over the last seconds, so that the time left follows a change of speed."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque()

    def restart(self) -> None:
        """Forget the past, for instance after a pause."""
        self._points.clear()

    def note(self, now: float, done: float) -> None:
        """Note that ``done`` steps (fractions count) were finished at ``now`` seconds."""
        self._points.append((now, done))
        while len(self._points) > 2 and now - self._points[1][0] >= _WINDOW_SECONDS:
            self._points.popleft()

    @property
    def steps_per_second(self) -> float | None:
        """The rate; None while too little is known."""
        if len(self._points) < 2:
            return None
        (start, before), (end, after) = self._points[0], self._points[-1]
        if end - start < _LEAST_SECONDS or after <= before:
            return None
        return (after - before) / (end - start)

    def seconds_left(self, total: int) -> float | None:
        """The time until ``total`` steps are done; None while too little is known."""
        rate = self.steps_per_second
        return None if rate is None else max(0.0, total - self._points[-1][1]) / rate


@dataclass(frozen=True)
class Progress:
    """Where a replay stands."""

    done: float  #: Steps done; the fraction is the current step's operators.
    replayed: int  #: Whole steps done.
    total: int  #: Steps to do.
    step: int  #: The step in work.
    rate: float | None  #: Steps per second; None while unknown.
    seconds_left: float | None  #: None while unknown.
    workers: tuple[WorkerState, ...] = ()  #: Who replays; empty where the engine replays by itself.


class ProgressMeter:
    """Follows a replay."""

    def __init__(self) -> None:
        self._rate = RateMeter()
        self._awake = AwakeClock()
        self._total = 0
        self._operator: OperatorDone | None = None
        self._workers: tuple[WorkerState, ...] = ()
        self._restoring = False
        """Whether the steps that come in are those of an earlier replay."""
        self._restored: int | None = None

    def forget(self) -> None:
        """No replay is followed."""
        self._total, self._operator, self._workers = 0, None, ()

    def begin(self, total: int, *, resume: bool) -> None:
        """Follow a replay of so many steps; with ``resume`` it first tells the steps of an earlier one."""
        self._total, self._operator, self._workers = total, None, ()
        self._restoring, self._restored = resume, None
        self._rate.restart()

    def go_on(self) -> None:
        """The replay goes on after a pause, which says nothing of how fast it is."""
        self._rate.restart()

    def look(self, now: float) -> None:
        """Take note of the time, in monotonic seconds; to be called often."""
        self._awake.look(now)

    def note(self, snapshot: Snapshot, replayed: int, last: int, *, moving: bool) -> bool:
        """Note what happened; steps of an earlier replay say nothing of how fast this one goes.

        Args:
            snapshot: What happened.
            replayed: Steps replayed so far, those of the snapshot among them.
            last: The last of them.
            moving: Whether the replay runs, and does not wait or stop.

        Returns:
            Whether the progress has changed.
        """
        if snapshot.started is not None:
            self._total = snapshot.started.planned_steps or snapshot.started.steps
        if snapshot.operator is not None:
            self._operator = snapshot.operator
        if snapshot.workers is not None:
            self._workers = snapshot.workers
        if not snapshot.rows and snapshot.operator is None and snapshot.started is None and snapshot.workers is None:
            return False
        if snapshot.restored is not None:
            self._restored = snapshot.restored
        if self._restoring and self._restored is not None and replayed >= self._restored:
            self._restoring = False
            self._rate.restart()
        if moving and not self._restoring:
            self._rate.note(self._awake.seconds, self.progress(replayed, last).done)
        return True

    def progress(self, replayed: int, last: int) -> Progress:
        """Where the replay stands after so many steps, the last of which is ``last``."""
        inside = 0.0
        operator = self._operator
        step = last + 1 if operator is None else max(last + 1, operator.step)
        if operator is not None and operator.step == step and operator.total > 0:
            inside = min(1.0, operator.done / operator.total)
        # Of what workers replay the rows come segment by segment; they say how far they are in between.
        ahead = (self._restored or 0) + sum(worker.steps for worker in self._workers) if self._workers else 0
        return Progress(
            done=min(max(replayed + inside, float(ahead)), float(self._total)),
            replayed=replayed,
            total=self._total,
            step=step,
            rate=self._rate.steps_per_second,
            seconds_left=self._rate.seconds_left(self._total),
            workers=self._workers,
        )
