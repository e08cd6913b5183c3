"""Times calls side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def rounds_of(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    warm_up: int = 2,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time calls; in each round every one runs once, so that all see the same machine.

    Args:
        calls: By name.
        rounds: Rounds that are timed.
        warm_up: Rounds before these.
        clock: Gives seconds; ``time.process_time`` shows less of what else the machine does.

    Returns:
        The seconds of each call, round by round.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(warm_up + rounds):
        for name, call in calls.items():
            begun = clock()
            call()
            if number >= warm_up:
                times[name].append(clock() - begun)
    return times


def seconds_of(call: Callable[[], object], rounds: int) -> list[float]:
    """Time one call, after a first time that warms up."""
    return rounds_of({"": call}, rounds, warm_up=1)[""]
