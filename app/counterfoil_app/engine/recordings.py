"""Recordings: what the window asks for where it records a run or follows one, and what is said meanwhile.

The events of a recorder know torch; these are what the window shows of them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from counterfoil import CounterfoilError, Digest, FollowEvent, FollowRequest, Limits
from counterfoil.training.recordingfolder import HEADER, HEADS
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say

HEADS_EVERY = 10
"""Steps between two tree heads."""
MOST_HEADS_BYTES = 2**26
"""Of the file of tree heads in a recording, more is not counted."""
MOST_NAMES = 2000
"""Of a folder that is looked into; more are not sent."""

Sign = Callable[[bytes], bytes]
"""Has a statement signed with the trainer's key, and returns the envelope; raises CounterfoilError."""


@dataclass(frozen=True)
class RecordRequest:
    """What the window asks a recorder to do."""

    order: Path  #: The order.
    run: Path  #: Where the run goes; the recording lies beside it.
    public: str  #: The trainer's public key as 64 hexadecimal digits; the private one stays with the signer.
    data: Path | None = None  #: The data file, for an order that keeps data outside.
    heads: Path | None = None  #: Where signed tree heads go; None publishes none.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.
    limits: Limits = field(default_factory=Limits)  #: How large the program may be.
    resume: bool = False  #: Go on with the recording that lies there, if one does.


@dataclass(frozen=True)
class KnownFollow(FollowRequest):
    """What the window asks to be followed: it holds the keys of others by their content."""

    trainer: str = ""  #: The trainer's public key as 64 hexadecimal digits, where the user knows it; else empty.


@dataclass(frozen=True)
class RecordingBegun:
    """A recorder has accepted the order."""

    steps: int  #: Number of ordered steps.
    device: str  #: The device.
    client_key: str  #: Key id of who signed the order as its client; empty for an unsigned one.
    public: str  #: The trainer's public key.


@dataclass(frozen=True)
class RecordingWork:
    """What a recorder does beside new steps."""

    what: str  #: It, as a sentence.
    done: int  #: So much of it.
    total: int  #: All of it.


@dataclass(frozen=True)
class RecordingResumed:
    """A recording is gone on with."""

    steps: int  #: So many finished steps are kept.
    state: int  #: Those after this one are computed again.


@dataclass(frozen=True)
class InsideStep:
    """How far a step is: operators done, of how many."""

    step: int
    done: int
    total: int


@dataclass(frozen=True)
class StepMade:
    """A step was executed and recorded."""

    step: int  #: The step.
    steps: int  #: Number of steps that the run will have, as far as is known.
    loss: float  #: Its loss.


@dataclass(frozen=True)
class RecordingSize:
    """How much lies in the folder of a recording."""

    written: int  #: Bytes of all its files.
    heads: int  #: Tree heads that were published.


@dataclass(frozen=True)
class RunMade:
    """The run is made."""

    run: Path  #: Where it lies.
    run_root: Digest  #: Its run root.
    steps: int  #: Number of its steps.
    ordered: int  #: Number of ordered steps.


RecordingEvent = RecordingBegun | RecordingWork | RecordingResumed | InsideStep | StepMade | RecordingSize | RunMade
"""What a recorder says."""
FollowingEvent = FollowEvent | RecordingSize
"""What is said while a recording is followed."""


@dataclass(frozen=True)
class Listing:
    """The names in a folder."""

    folder: Path  #: The folder, as an absolute path.
    folders: tuple[str, ...]  #: Names of the folders in it, sorted.
    files: tuple[str, ...]  #: Names of the files in it, sorted.
    more: bool = False  #: Whether there are more than these.


def list_folder(folder: Path) -> Listing:
    """Return the names in a folder; ``~`` stands for the home of whoever runs the engine.

    Raises:
        CounterfoilError: It is none, or cannot be read.
    """
    place = Path(os.path.abspath(os.path.expanduser(folder)))
    folders: list[str] = []
    files: list[str] = []
    more = False
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if len(folders) + len(files) == MOST_NAMES:
                    more = True
                    break
                (folders if entry.is_dir() else files).append(entry.name)
    except OSError as error:
        raise CounterfoilError(
            say("The folder {0} cannot be read: {1}.", place, error.strerror or error),
            remedy=say("Choose another one."),
        ) from error
    return Listing(place, tuple(sorted(folders)), tuple(sorted(files)), more)


def has_begun(folder: Path, run: Path) -> bool:
    """Whether a recording lies in a folder, or the run that it comes to.

    Raises:
        CounterfoilError: The folder in which both would lie is not there.
    """
    if not run.parent.is_dir():
        raise CounterfoilError(
            say("There is no folder {0}.", run.parent),
            remedy=say("Give the folder of a recording, .NAME.recording beside its run NAME."),
        )
    return (folder / HEADER).is_file() or run.is_file()


def size_of(folder: Path) -> RecordingSize:
    """Return how much lies in the folder of a recording; what is not there, or is no regular file, counts nothing."""
    written = lines = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    written += found.st_size
                    if entry.name == HEADS:
                        lines = _lines(Path(entry.path))
    except OSError:  # it is removed when the run is made
        return RecordingSize(written, lines)
    return RecordingSize(written, lines)


def _lines(path: Path) -> int:
    with open_plain(path) as file:
        return (file.read(MOST_HEADS_BYTES) or b"").count(b"\n")
