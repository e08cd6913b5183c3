"""How fast a replay goes and how long it will still take."""

from __future__ import annotations

from collections import deque

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
