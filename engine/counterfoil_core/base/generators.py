"""Running a generator that reports its progress: to its end, or inside another that reports in other words."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Generic, TypeVar

_Report = TypeVar("_Report")
_Event = TypeVar("_Event")
_Result = TypeVar("_Result")


def finish(generator: Generator[object, None, _Result]) -> _Result:
    """Run a generator to its end without looking at what it yields, and return what it returns."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            result: _Result = end.value
            return result


def relay(
    generator: Generator[_Report, None, _Result], event: Callable[[_Report], _Event | None]
) -> Generator[_Event, None, _Result]:
    """Run a generator to its end, turn what it yields into events, and return what it returns.

    Args:
        generator: What reports.
        event: The event for a report, or None where nothing is to be said.
    """
    while True:
        try:
            report = next(generator)
        except StopIteration as end:
            result: _Result = end.value
            return result
        if (said := event(report)) is not None:
            yield said


class ByPercent(Generic[_Event]):
    """For :func:`relay`: turns reports of bytes done and their total into an event for each percent.

    Args:
        event: The event for a percentage, 0 to 100.
        above: Says nothing where the total is not above so many bytes.
    """

    def __init__(self, event: Callable[[int], _Event], *, above: int = 0) -> None:
        self._event = event
        self._above = above
        self._shown = -1

    def __call__(self, report: tuple[int, int]) -> _Event | None:
        """Return the event for a report, or None while it is of the same percent."""
        done, total = report
        percent = 100 * done // total if total else 100
        if total <= self._above or percent <= self._shown:
            return None
        self._shown = percent
        return self._event(percent)
