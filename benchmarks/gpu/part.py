"""What a part of the measurements on a GPU is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.campaign.task import Found, Task
from benchmarks.gpu.settings import Settings


@dataclass(frozen=True)
class Part:
    """A part of the whole.

    Attributes:
        name: Its name.
        title: What it does, in words.
        tasks: Returns its tasks, the most valuable first.
        do: Does the task of a name, in a process of its own.
    """

    name: str
    title: str
    tasks: Callable[[Settings], Sequence[Task]]
    do: Callable[[Settings, str], Found]
