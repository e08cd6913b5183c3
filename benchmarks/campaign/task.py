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
    """One piece of work.

    Attributes:
        part: Name of its part.
        name: Its name, unique in the part; a part of a file name.
        seconds: How long it is expected to take.
        limit: Seconds after which its process is ended.
        alone: Whether nothing else may run beside it, because it is timed.
        variables: What its process has in its environment beside what this one has.
    """

    part: str
    name: str
    seconds: float
    limit: float
    alone: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.part, self.name


@dataclass(frozen=True)
class Found:
    """What a task found.

    Attributes:
        said: One line for who watches.
        values: The figures, as JSON takes them.
        strange: A sentence for each thing that should not be so.
    """

    said: str
    values: dict[str, Any]
    strange: tuple[str, ...] = ()


class Ended(StrEnum):
    """How a task ended."""

    DONE = "done"
    LEFT_OUT = "left out"
    FAILED = "failed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Result:
    """A task that ended.

    Attributes:
        part: Name of the part.
        task: Name of the task.
        outcome: How it ended.
        said: One line for who watches; of a failure what went wrong.
        seconds: How long it took.
        values: The figures.
        strange: A sentence for each thing that should not be so.
        detail: The end of a traceback.
        counterfoil: Version that did it.
        torch: Version of torch.
        date: Day on which it ended.
    """

    part: str
    task: str
    outcome: Ended
    said: str
    seconds: float
    values: dict[str, Any] = field(default_factory=dict)
    strange: list[str] = field(default_factory=list)
    detail: str = ""
    counterfoil: str = ""
    torch: str = ""
    date: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The task's."""
        return self.part, self.task
