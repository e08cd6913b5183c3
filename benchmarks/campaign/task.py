"""The smallest piece of work whose result is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from counterfoil_core.base.errors import CounterfoilError


def slug(name: str) -> str:
    """Return a name as a part of a file name."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


class LeftOutError(CounterfoilError):
    """A task cannot be done here; the sentence says why."""


@dataclass(frozen=True)
class Task:
    """One piece of work."""

    part: str  #: Name of its part.
    name: str  #: Its name, unique in the part; a part of a file name.
    seconds: float  #: How long it is expected to take.
    limit: float  #: Seconds after which its process is ended.
    alone: bool = False  #: Whether nothing else may run beside it, because it is timed.
    #: What its process has in its environment beside what this one has.
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.part, self.name


@dataclass(frozen=True)
class Found:
    """What a task found."""

    said: str  #: One line for who watches.
    values: dict[str, Any]  #: The figures, as JSON takes them.
    strange: tuple[str, ...] = ()  #: A sentence for each thing that should not be so.


class Ended(StrEnum):
    """How a task ended."""

    DONE = "done"
    LEFT_OUT = "left out"
    FAILED = "failed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Result:
    """A task that ended."""

    part: str  #: Name of the part.
    task: str  #: Name of the task.
    outcome: Ended  #: How it ended.
    said: str  #: One line for who watches; of a failure what went wrong.
    seconds: float  #: How long it took.
    values: dict[str, Any] = field(default_factory=dict)  #: The figures.
    strange: list[str] = field(default_factory=list)  #: A sentence for each thing that should not be so.
    detail: str = ""  #: The end of a traceback.
    counterfoil: str = ""  #: Version that did it.
    torch: str = ""  #: Version of torch.
    date: str = ""  #: Day on which it ended.

    @property
    def key(self) -> tuple[str, str]:
        """The task's."""
        return self.part, self.task
