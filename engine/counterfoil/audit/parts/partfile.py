"""Parts of an audit in files, and what workers say of theirs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from counterfoil.base.joberrors import PartError
from counterfoil.base.wholefiles import write_whole
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import Sentence, joined, say
from counterfoil_core.hearing.result import Identity, SegmentResult
from counterfoil_core.values.workers import Place

MARK = b"counterfoil part of an audit 2\n"


MAX_BYTES = 2**31


_ANEW = say("Make it again: counterfoil audit run.cfoil --segments ... --partial FILE")


_NAMED = {
    "file": say("the file"),
    "order": say("the order"),
    "run_root": say("the run"),
    "counterfoil": say("the version of Counterfoil"),
}


LONGEST_TEXT = 1000
"""Characters of a name or a value of a place; more is a worker's nonsense."""


MOST_TEXTS = 100
"""How many values a place has at most."""


def differences(one: Identity, other: Identity) -> Sentence:
    """Say in words what two identities do not have in common; empty when they are equal."""
    return joined(*(_NAMED[name] for name in _NAMED if getattr(one, name) != getattr(other, name)), between=", ")


def place_fault(place: Place) -> str:
    """Return why what a worker says of its place cannot stand in a verdict, in a few words; empty when it can."""
    texts = [place.machine, *(text for pair in place.environment for text in pair)]
    if len(place.environment) > MOST_TEXTS or any(len(text) > LONGEST_TEXT for text in texts):
        return say("It says too much of its machine.")
    if any(not text.isprintable() for text in texts):
        return say("It names its machine by characters that cannot be shown.")
    names = [name for name, _ in place.environment]
    return "" if names == sorted(set(names)) else say("It says what it is twice, or out of order.")


@dataclass(frozen=True)
class Part:
    """A part of an audit: some segments, replayed somewhere."""

    identity: Identity  #: What was replayed.
    place: Place  #: Where.
    segments: tuple[SegmentResult, ...]  #: What came out.


def write_part(part: Part, path: Path) -> None:
    """Write a part into a file, whole; raises FileWriteError."""
    body = encode(part)
    write_whole(path, MARK + hashlib.sha256(body).digest() + body, what=say("the part of an audit"))


def read_part(path: Path) -> Part:
    """Read what :func:`write_part` wrote.

    Raises:
        PartError: It is no part of an audit, torn or altered, or of another version.
    """
    data = read_input(path, say("a part of an audit"), PartError, most=MAX_BYTES)
    start = len(MARK) + DIGEST_BYTES
    if not data.startswith(MARK):
        raise PartError(say("{0} is no part of an audit.", path.name), remedy=_ANEW)
    if hashlib.sha256(data[start:]).digest() != data[len(MARK) : start]:
        raise PartError(say("{0} is damaged.", path.name), remedy=_ANEW)
    try:
        part: Part = decode(data[start:], Part)
    except FormError as error:
        raise PartError(
            say("{0} was written by another version of Counterfoil.", path.name), remedy=_ANEW, detail=str(error)
        ) from error
    return part


@dataclass(frozen=True)
class Ready:
    """A worker has opened the run, and waits for segments."""

    worker: int  #: Its number, from 1.
    identity: Identity  #: What it opened.
    place: Place  #: Where it is.


@dataclass(frozen=True)
class StepDone:
    """A worker has replayed a step of its segment."""

    worker: int
    step: int


@dataclass(frozen=True)
class SegmentDone:
    """A worker has replayed its segment."""

    worker: int
    result: SegmentResult


@dataclass(frozen=True)
class Unable:
    """A worker lives and can do no more: its machine has no such file or device, or too little memory."""

    worker: int  #: Its number.
    reason: str  #: Why, as a sentence.


@dataclass(frozen=True)
class Died:
    """A worker is gone; whoever runs it says so, and no worker does."""

    worker: int  #: Its number.
    how: str  #: In a few words, for instance ``signal 9``.


Message = Ready | StepDone | SegmentDone | Unable | Died
"""What is heard of workers."""
