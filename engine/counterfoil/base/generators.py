"""Running a generator that reports its progress: to its end, or inside another that reports in other words."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Generic, TypeVar

Report = TypeVar("Report")
Event = TypeVar("Event")
Result = TypeVar("Result")


def finish(generator: Generator[object, None, Result]) -> Result:
    """Run a generator to its end without looking at what it yields, and return what it returns."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            result: Result = end.value
            return result


def relay(
    generator: Generator[Report, None, Result], event: Callable[[Report], Event | None]
) -> Generator[Event, None, Result]:
    """Run a generator to its end, turn what it yields into events, and return what it returns.

    Args:
        generator: What reports.
        event: The event for a report, or None where nothing is to be said.
    """
    while True:
        try:
            report = next(generator)
        except StopIteration as end:
            result: Result = end.value
            return result
        if (said := event(report)) is not None:
            yield said


class ByPercent(Generic[Event]):
    """For :func:`relay`: turns reports of bytes done and their total into an event for each percent.

    Args:
        event: The event for a percentage, 0 to 100.
        above: Says nothing where the total is not above so many bytes.
    """

    def __init__(self, event: Callable[[int], Event], *, above: int = 0) -> None:
        self._event = event
        self._above = above
        self._shown = -1

    def __call__(self, report: tuple[int, int]) -> Event | None:
        """Return the event for a report, or None while it is of the same percent."""
        done, total = report
        percent = 100 * done // total if total else 100
        if total <= self._above or percent <= self._shown:
            return None
        self._shown = percent
        return self._event(percent)
