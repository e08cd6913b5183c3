"""What a part of the measurements on a GPU is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.campaign.task import Found, Task
from benchmarks.gpu.settings import Settings


@dataclass(frozen=True)
class Part:
    """A part of the whole."""

    name: str  #: Its name.
    title: str  #: What it does, in words.
    tasks: Callable[[Settings], Sequence[Task]]  #: Returns its tasks, the most valuable first.
    do: Callable[[Settings, str], Found]  #: Does the task of a name, in a process of its own.
