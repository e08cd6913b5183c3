"""What is remembered of a case, and how the list of cases is read: strictly, each field of its type and in bounds."""

from __future__ import annotations

import json
import os
from enum import Enum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from counterfoil import CounterfoilError, SegmentRequest, one_line
from counterfoil_core.signing.kinds import read_value
from counterfoil_core.signing.subject import Subject

FILE_NAME = "cases.json"
FORMAT_VERSION = 3
MAX_BYTES = 8 * 2**20
MAX_CASES = 500
MAX_FILES = 100
MAX_PATH = 4096
MAX_NAME = 200
MAX_SEGMENTS = 10_000


class FileKind(Enum):
    """What a file is to its case."""

    ORDER = "order"
    RUN = "run"
    VERDICT = "verdict"
    CAPSULE = "capsule"
    WEIGHTS = "weights"


_Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
_Path = Annotated[str, Meta(max_length=MAX_PATH)]
_Name = Annotated[str, Meta(max_length=MAX_NAME)]
_Moment = Annotated[str, Meta(pattern=r"^([0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z)?$")]
_Count = Annotated[int, Meta(ge=0, le=2**53)]
_Share = Annotated[float, Meta(gt=0, le=1)]


class Parties(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a case and its client are called in a report, as the auditor said at the last signing; both may be empty."""

    number: _Name = ""
    client: _Name = ""


class Replay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A replay that was begun here and has not come to its end: how it goes on."""

    device: _Name  #: Where it computes.
    numbers: Annotated[tuple[_Count, ...], Meta(max_length=MAX_SEGMENTS)]  #: As in :class:`SegmentRequest`.
    count: _Count | None  #: As there.
    confidence: _Share | None  #: As there.
    bad_fraction: _Share  #: As there.
    order: _Path  #: The client's order file; empty for none.
    data: _Path  #: The data file; empty for none.
    step: _Count  #: The last step that is judged and kept; 0 while that is not known.
    steps: _Count  #: Number of steps of the run.

    @classmethod
    def of(cls, device: str, asked: SegmentRequest, order: Path | None, data: Path | None, steps: int) -> Replay:
        """A replay that begins."""
        chosen = (asked.numbers, asked.count, asked.confidence, asked.bad_fraction)
        return cls(device, *chosen, absolute(order), absolute(data), 0, steps)

    @property
    def segments(self) -> SegmentRequest:
        """The segments that it was asked for; raises CounterfoilError for what nobody can ask for."""
        return SegmentRequest(self.numbers, self.count, self.confidence, self.bad_fraction)


class CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a case."""

    kind: FileKind  #: What it is.
    path: _Path  #: Where it was when it was last seen; absolute.
    about: Subject | None = None  #: The run that it holds or is about; None where that is not known.
    #: What a verdict, an adjudication or a comparison of weights came to, in the engine's word; empty for a run, whose
    #: results are kept, and where it is not known.
    outcome: Annotated[str, Meta(max_length=20)] = ""
    trainer: _Name = ""  #: Who made a run, as the auditor said or the book of keys; empty where that is not known.
    used: _Moment = ""  #: When it was last used here, UTC; empty once it was forgotten.
    replay: Replay | None = None  #: The replay of a run that waits to be gone on with.

    @property
    def file(self) -> Path:
        """Where it was."""
        return Path(self.path)

    @property
    def is_there(self) -> bool:
        """Whether something lies there still."""
        return os.path.exists(self.path)


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An order and what belongs to it."""

    order: _Hex  #: The order's digest.
    #: What the client calls the job, as one line of visible characters; empty where no file of it was read.
    title: _Name
    parties: Parties  #: How the case and its client are called.
    files: Annotated[tuple[CaseFile, ...], Meta(max_length=MAX_FILES)]  #: Its files, the one that was used last first.

    def of_kind(self, kind: FileKind) -> tuple[CaseFile, ...]:
        """Its files of a kind."""
        return tuple(file for file in self.files if file.kind is kind)


class ListOfCases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    format: int
    cases: Annotated[tuple[Case, ...], Meta(max_length=MAX_CASES)]


def absolute(path: Path | None) -> str:
    """A path as it is kept; empty for none."""
    return "" if path is None else os.path.abspath(path)


def read_cases(data: bytes) -> tuple[Case, ...]:
    """Return the cases in a list; raises ValueError for what would not have been written, and RecursionError."""
    if len(data) > MAX_BYTES:
        raise ValueError("it is too large")
    held = msgspec.convert(json.loads(data.decode("utf-8")), ListOfCases, dec_hook=read_value)
    _check(held)
    return held.cases


def write_cases(cases: tuple[Case, ...]) -> bytes:
    """Return the list of cases."""
    built = msgspec.to_builtins(ListOfCases(FORMAT_VERSION, cases), enc_hook=str)
    # Plain JSON, since names of files may hold bytes that are no text: these stand as lone surrogates.
    return json.dumps(built, indent=1).encode()


def _check(held: ListOfCases) -> None:
    """Raise ValueError for what would not have been written."""
    if held.format != FORMAT_VERSION:
        raise ValueError(f"format {held.format!r}")
    if len({case.order for case in held.cases}) < len(held.cases):
        raise ValueError("two cases have the same order")
    for case in held.cases:
        parties = case.parties
        texts = (case.title, parties.number, parties.client, *(file.trainer for file in case.files))
        if any(one_line(text, MAX_NAME) != text for text in texts):
            raise ValueError("a case has a text that cannot be seen")
        for file in case.files:
            paths = (file.path, *((file.replay.order, file.replay.data) if file.replay is not None else ()))
            if not file.path or any(path and ("\0" in path or not os.path.isabs(path)) for path in paths):
                raise ValueError("a file has a path that is none")
            if file.replay is not None:
                _asked(file.replay)


def _asked(replay: Replay) -> None:
    try:
        assert replay.segments is not None
    except CounterfoilError as error:
        raise ValueError(str(error)) from error
