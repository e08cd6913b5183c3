"""What a process in a box and whoever started it say to each other, beside the calls of either.

What comes out of the box is a stranger's: :mod:`counterfoil.talk.messages` reads it by the types that are declared
here, and by those of ``tasks`` and ``answers``, or refuses it.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Self

from counterfoil.talk.port import Call
from counterfoil_core.base import errors
from counterfoil_core.base.errors import CounterfoilError, FileRole
from counterfoil_core.base.sentence import say

_ERRORS: dict[str, type[CounterfoilError]] = {
    name: found for name, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, CounterfoilError)
}
KEPT_NAME = "kept"
"""The progress whose capsule lies beside it, in the folder that both sides share."""
CAPSULE_NAME = "dispute.cfoil"
PART_NAME = "segments.part"


@dataclass(frozen=True)
class Failure:
    """An error of ours.

    Attributes:
        name: Its class.
        sentence: What happened.
        remedy: What to do.
        detail: For a report.
        role: Of a :class:`GivenFileError`.
    """

    name: str
    sentence: str
    remedy: str = ""
    detail: str = ""
    role: FileRole = "file"

    @classmethod
    def of(cls, error: CounterfoilError) -> Self:
        """Take an error apart."""
        found = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        return cls(found, error.sentence, error.remedy, error.detail, getattr(error, "role", "file"))

    @property
    def error(self) -> CounterfoilError:
        """The error again."""
        kind = _ERRORS.get(self.name, CounterfoilError)
        given: dict[str, Any] = {"role": self.role} if issubclass(kind, errors.GivenFileError) else {}
        return kind(say("{0}", self.sentence), remedy=say("{0}", self.remedy), detail=self.detail, **given)


@dataclass(frozen=True)
class Enclosure:
    """The first message to the process.

    Attributes:
        reads: Files that it reads, beside the installation.
        scratch: The one folder that it writes to.
    """

    reads: tuple[str, ...]
    scratch: str


@dataclass(frozen=True)
class Begin:
    """The first message behind the box.

    Attributes:
        task: A call of one of :data:`counterfoil.audit.boxed.tasks.TASKS`.
    """

    task: Call


@dataclass(frozen=True)
class Stop:
    """Stop the work, as Ctrl-C does."""


@dataclass(frozen=True)
class Answer:
    """What a call of :data:`counterfoil.audit.boxed.answers.QUESTIONS` brought."""

    body: object


@dataclass(frozen=True)
class Refused:
    """Why it brought nothing."""

    failure: Failure


ToInside = Stop | Answer | Refused
"""What the process is told while it works."""


@dataclass(frozen=True)
class Loaded:
    """The process has closed its box and loaded what it needs."""


@dataclass(frozen=True)
class Said:
    """A value that the task yielded."""

    body: object


@dataclass(frozen=True)
class Failed:
    """The work ended in an error of ours, or of a program's: then it has no name."""

    failure: Failure


@dataclass(frozen=True)
class Done:
    """The work came to its end."""


FromInside = Loaded | Said | Failed | Done | Call
"""What the process says; a call is what it asks for."""
