"""Says what files are that somebody hands over, any number of them: each is looked at by a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import counterfoil
from counterfoil import CancelToken, CounterfoilError, Recognised
from counterfoil.talk.failure import Failure
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil_core.base.sentence import say


@dataclass(frozen=True)
class Incoming:
    """What a file is, or why nobody knows."""

    path: Path  #: The file.
    found: Recognised | None  #: What it is; None where that cannot be said.
    failure: Failure | None = None  #: Why not.


def look_at(path: Path) -> Incoming:
    """Say what a file is."""
    try:
        return Incoming(path, counterfoil.recognise(path))
    except CounterfoilError as error:
        return Incoming(path, None, Failure.of(error))


def look_at_each(paths: Sequence[Path], cancel: CancelToken) -> Iterator[Incoming]:
    """Say what files are, one after the other in this process; raises CancelledError."""
    for path in paths:
        cancel.check()
        yield look_at(path)


def look_apart(paths: Sequence[Path], cancel: CancelToken) -> Iterator[Incoming]:
    """Say what files are, each looked at by a process of its own that is forked from this one; raises CancelledError.

    They come in the order in which their processes end.
    """
    from counterfoil.sandbox.apart import work_apart

    for path, said in work_apart(paths, lambda path: encode(look_at(path)), cancel):
        try:
            if said is None:
                raise FormError
            told: Incoming = decode(said, Incoming)
            # Whatever has taken the process over, it answers for its own file.
            yield replace(told, path=path, found=told.found and replace(told.found, path=path))
        except FormError:
            error = CounterfoilError(
                say("What {0} is cannot be said: the process that looked at it ended, or took too long.", path),
                remedy=say("It may be damaged, or made to do harm. Do not open it with other programs either."),
            )
            yield Incoming(path, None, Failure.of(error))
