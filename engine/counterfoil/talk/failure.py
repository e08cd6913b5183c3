"""Why another process did not do what it was asked: the class of an error of ours, and its sentences."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import dataclass
from typing import Any, Literal, Self

from counterfoil.base import joberrors
from counterfoil_core.base import errors
from counterfoil_core.base.errors import CounterfoilError, FileWriteError
from counterfoil_core.base.sentence import say

_ERRORS: dict[str, type[CounterfoilError]] = {
    name: kind
    for module in (errors, joberrors)
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, CounterfoilError)
}
"""The classes that a failure may name."""


class FaultError(Exception):
    """Another process failed in a way in which it should not: a fault of Counterfoil, and no error of ours.

    Args:
        failure: What it said.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure
        self.add_note(failure.detail)


@dataclass(frozen=True)
class Failure:
    """An error, taken apart for another process."""

    name: str  #: Its class; empty for one that is none of ours.
    sentence: str  #: What happened and why.
    remedy: str = ""  #: What to do next; may be empty.
    detail: str = ""  #: For a report.
    role: Literal["", "file", "order", "data", "heads"] = ""  #: What a file was given as that cannot be used.
    option: str = ""  #: The option of a command that it is about.

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Take an error apart; to be called while it is handled."""
        if isinstance(error, OSError):
            what = ": ".join(str(part) for part in (error.strerror, error.filename) if part)
            error = FileWriteError(say("{0}.", what or error), detail=traceback.format_exc())
        if not isinstance(error, CounterfoilError):
            return cls("", f"{type(error).__name__}: {error}".rstrip(". "), "", traceback.format_exc())
        name = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        role = error.role if isinstance(error, errors.GivenFileError) else ""
        option = error.option if isinstance(error, joberrors.OrderError) else ""
        return cls(name, error.sentence, error.remedy, error.detail, role, option)

    @classmethod
    def told_apart(cls, error: BaseException, otherwise: type[CounterfoilError], sentence: str) -> Self:
        """Take an error apart of which only sentences of ours may be said: what others raise may quote a secret.

        Args:
            error: It.
            otherwise: The class that stands for one of others.
            sentence: What is said of that.
        """
        if isinstance(error, CounterfoilError):
            option = error.option if isinstance(error, joberrors.OrderError) else ""
            return cls(type(error).__name__, error.sentence, error.remedy, option=option)
        return cls(otherwise.__name__, sentence)

    @property
    def error(self) -> Exception:
        """The error again: one of ours, or a :class:`FaultError`."""
        if not self.name:
            return FaultError(self)
        kind = _ERRORS.get(self.name, CounterfoilError)
        given: dict[str, Any] = {"remedy": say("{0}", self.remedy) if self.remedy else "", "detail": self.detail}
        if issubclass(kind, errors.GivenFileError):
            given["role"] = self.role or "file"
        if issubclass(kind, joberrors.OrderError):
            given["option"] = self.option
        return kind(say("{0}", self.sentence), **given)


def refusal() -> CounterfoilError:
    """Return the error for a question that the process in a box, which asks, has no right to."""
    return CounterfoilError(say("The process in the box asked for what it was not given."))
