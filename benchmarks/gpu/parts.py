"""Every part, the most valuable first: a machine that is lent for minutes is not to end with the best part undone."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace

from benchmarks.campaign.runner import Say, Summary, run
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Found, Task
from benchmarks.gpu.accusations import ACCUSATIONS
from benchmarks.gpu.crossing import CROSSING, OTHER_PROFILES, campaign
from benchmarks.gpu.environment import ENVIRONMENT
from benchmarks.gpu.finetuning import FINE_TUNING
from benchmarks.gpu.gputests import TESTS
from benchmarks.gpu.larger import LARGER
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.gpu.steps import STEPS
from benchmarks.programs import command
from benchmarks.sessions import key_in
from counterfoil_core.arithmetic.compute.devices import open_device
from counterfoil_core.base.cancel import CancelToken

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
_MOST_WORKERS = 8
"""Unless told otherwise; half the cores beside a GPU, one process on a CPU."""
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


def measure(
    settings: Settings,
    *,
    minutes: float,
    names: Collection[str] = NAMES,
    workers: int | None = None,
    say: Say = print,
    cancel: CancelToken | None = None,
) -> Summary:
    """Do the tasks of some parts that are not done yet, as :func:`benchmarks.campaign.runner.run` does.

    Raises:
        DeviceError: There is no such device.
        DataError: The folder has results of another device or scale.
        FileWriteError: A result cannot be kept.
    """
    open_device(settings.device)
    store = Store(settings.out)
    store.claim(settings.about, same=("device", "title", "scale"))
    key_in(campaign(settings).folder)  # before several processes need it
    least = max(1, min(_MOST_WORKERS, (os.cpu_count() or 1) // 2)) if settings.on_gpu else 1
    child = command("gpu", "--child", settings.to_json())
    wanted = tasks(settings, names)
    return run(wanted, store, child, minutes=minutes, workers=workers or least, say=say, cancel=cancel)
