"""Every part, the most valuable first: a machine that is lent for minutes is not to end with the best part undone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from benchmarks.gpu.accusations import ACCUSATIONS
from benchmarks.gpu.crossing import CROSSING, OTHER_PROFILES
from benchmarks.gpu.environment import ENVIRONMENT
from benchmarks.gpu.finetuning import FINE_TUNING
from benchmarks.gpu.gputests import TESTS
from benchmarks.gpu.larger import LARGER
from benchmarks.gpu.settings import Settings
from benchmarks.gpu.steps import STEPS
from benchmarks.gpu.task import Found, Part, Task

PARTS: tuple[Part, ...] = (
    ENVIRONMENT,
    CROSSING,
    STEPS,
    LARGER,
    TESTS,
    ACCUSATIONS,
    FINE_TUNING,
    OTHER_PROFILES,
)
"""In the order in which they are done."""
_PATIENCE = 5
"""On a CPU, where nothing is lent for minutes and other work may slow everything, tasks have so many times longer."""
NAMES = tuple(dict.fromkeys(part.name for part in PARTS))


def tasks(settings: Settings, names: Collection[str] = NAMES) -> list[Task]:
    """Return the tasks of some parts, in order."""
    found = [task for part in PARTS if part.name in names for task in part.tasks(settings)]
    return found if settings.on_gpu else [replace(task, limit=_PATIENCE * task.limit) for task in found]


def do(settings: Settings, part: str, task: str) -> Found:
    """Do a task in this process."""
    return next(one for one in PARTS if one.name == part).do(settings, task)
