"""The cases that this user has worked on: each is an order, by its digest, and the files that belong to it.

What a replay found lies in the results (:mod:`counterfoil_app.model.history`), what a key is in the key book; here is
where the files of a case lie, how its parties are called, and which replay of it waits to be gone on with. Nothing is
decided by it: whatever is opened is read and compared again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from counterfoil import CounterfoilError, Digest, SegmentRequest, one_line, write_whole
from counterfoil.base.sentence import say

FILE_NAME = "cases.json"
EARLIER_NAME = "orders.json"
"""What held the digests and the files of orders before there were cases."""
FORMAT_VERSION = 1
MAX_BYTES = 8 * 2**20
MAX_CASES = 500
MAX_FILES = 100
MAX_PATH = 4096
MAX_NAME = 200
MAX_SEGMENTS = 10_000
MAX_RECENT = 10
_DIGEST = re.compile(r"[0-9a-f]{64}")


class FileKind(Enum):
    """What a file is to its case."""

    ORDER = "order"
    RUN = "run"
    VERDICT = "verdict"
    CAPSULE = "capsule"
    WEIGHTS = "weights"


_Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
_Root = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")]
_Path = Annotated[str, Meta(max_length=MAX_PATH)]
_Name = Annotated[str, Meta(max_length=MAX_NAME)]
_Moment = Annotated[str, Meta(pattern=r"^([0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z)?$")]
_Count = Annotated[int, Meta(ge=0, le=2**53)]
_Share = Annotated[float, Meta(gt=0, le=1)]


class Parties(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a case and its parties are called in a report, as the auditor said at the last signing; all may be empty."""

    number: _Name = ""
    client: _Name = ""
    trainer: _Name = ""


class Replay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A replay that was begun here and has not come to its end: how it goes on.

    Attributes:
        device: Where it computes.
        numbers: As in :class:`SegmentRequest`.
        count: As there.
        confidence: As there.
        bad_fraction: As there.
        order: The client's order file; empty for none.
        data: The data file; empty for none.
        step: The last step that is judged and kept; 0 while that is not known.
        steps: Number of steps of the run.
    """

    device: _Name
    numbers: Annotated[tuple[_Count, ...], Meta(max_length=MAX_SEGMENTS)]
    count: _Count | None
    confidence: _Share | None
    bad_fraction: _Share
    order: _Path
    data: _Path
    step: _Count
    steps: _Count

    @classmethod
    def of(cls, device: str, asked: SegmentRequest, order: Path | None, data: Path | None, steps: int) -> Replay:
        """A replay that begins."""
        chosen = (asked.numbers, asked.count, asked.confidence, asked.bad_fraction)
        return cls(device, *chosen, _text(order), _text(data), 0, steps)

    @property
    def segments(self) -> SegmentRequest:
        """The segments that it was asked for; raises CounterfoilError for what nobody can ask for."""
        return SegmentRequest(self.numbers, self.count, self.confidence, self.bad_fraction)


class CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a case.

    Attributes:
        kind: What it is.
        path: Where it was when it was last seen; absolute.
        root: The run root that it holds or is about; empty where that is not known.
        outcome: What a verdict, an adjudication or a comparison of weights came to, in the engine's word; empty for a
            run, whose results are kept, and where it is not known.
        used: When it was last used here, UTC; empty once it was forgotten.
        replay: The replay of a run that waits to be gone on with.
    """

    kind: FileKind
    path: _Path
    root: _Root = ""
    outcome: Annotated[str, Meta(max_length=20)] = ""
    used: _Moment = ""
    replay: Replay | None = None

    @property
    def file(self) -> Path:
        """Where it was."""
        return Path(self.path)

    @property
    def is_there(self) -> bool:
        """Whether something lies there still."""
        return os.path.exists(self.path)


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An order and what belongs to it.

    Attributes:
        order: The order's digest.
        title: What the client calls the job, as one line of visible characters; empty where no file of it was read.
        parties: How the case and its parties are called.
        files: Its files, the one that was used last first.
    """

    order: _Hex
    title: _Name
    parties: Parties
    files: Annotated[tuple[CaseFile, ...], Meta(max_length=MAX_FILES)]

    def of_kind(self, kind: FileKind) -> tuple[CaseFile, ...]:
        """Its files of a kind."""
        return tuple(file for file in self.files if file.kind is kind)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    cases: Annotated[tuple[Case, ...], Meta(max_length=MAX_CASES)]


class Cases(QObject):
    """The cases, newest first, with a file behind them.

    The file is read anew before each change, so that two windows do not take each other's cases away. One that is
    damaged is put aside under another name, and :attr:`problem` says so.

    Args:
        path: The file; it need not exist.
    """

    changed = Signal()

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.problem: CounterfoilError | None = None
        """Why the file was put aside, or cannot be read; None when all is well."""
        self.cases: tuple[Case, ...] = ()
        self.refresh()

    def refresh(self) -> None:
        """Read the file, which another window may have changed."""
        cases = self._read()
        if cases != self.cases:
            self.cases = cases
            self.changed.emit()

    def find(self, order: Digest | None) -> Case | None:
        """The case of an order."""
        return next((case for case in self.cases if order is not None and case.order == order.hex), None)

    def order_file(self, order: Digest | None) -> Path | None:
        """The file that held an order when the user last gave it, if it is still there."""
        case = self.find(order)
        orders = () if case is None else case.of_kind(FileKind.ORDER)
        return next((Path(file.path) for file in orders if os.path.isfile(file.path)), None)

    @property
    def recent(self) -> tuple[Path, ...]:
        """Runs and orders that were opened last, newest first; only those that still exist."""
        opened = (FileKind.RUN, FileKind.ORDER)
        files = [file for case in self.cases for file in case.files if file.used and file.kind in opened]
        newest = sorted(files, key=lambda file: file.used, reverse=True)
        there = (file.file for file in newest if os.path.isfile(file.path))
        return tuple(dict.fromkeys(there))[:MAX_RECENT]

    # Changes; each raises CounterfoilError when the file cannot be written

    def note(
        self,
        order: Digest,
        kind: FileKind,
        path: Path,
        *,
        root: Digest | None = None,
        outcome: str = "",
        title: str = "",
    ) -> None:
        """Know that a file belongs to the case of an order.

        A file of the case that holds the same and is no longer where it was has moved here.

        Args:
            order: The order's digest.
            kind: What the file is.
            path: Where it lies.
            root: The run root that it holds or is about.
            outcome: As in :class:`CaseFile`.
            title: What the client calls the job.
        """
        new = CaseFile(kind, _text(path), root.hex if root is not None else "", outcome, _now())
        if len(new.path) > MAX_PATH:
            return

        def noted(case: Case) -> Case:
            before = next((file for file in case.files if _is_same(file, new)), None)
            kept = new if before is None else replace(
                new, root=new.root or before.root, outcome=outcome or before.outcome, replay=before.replay
            )  # fmt: skip
            others = (file for file in case.files if file is not before and (file.kind, file.path) != (kind, new.path))
            named = one_line(title, MAX_NAME) if title else case.title
            return replace(case, title=named, files=(kept, *others)[:MAX_FILES])

        def change(cases: Iterable[Case]) -> Iterable[Case]:
            for case in self._with(order.hex, noted)(cases):
                # Where another case had a file there is now this one.
                gone = [file for file in case.files if case.order != order.hex and file.path == new.path]
                yield case if not gone else replace(case, files=tuple(f for f in case.files if f not in gone))

        self._change(change)

    def name_parties(self, order: Digest, parties: Parties) -> None:
        """Remember how a case and its parties are called."""
        self._change(self._with(order.hex, lambda case: replace(case, parties=parties)))

    def parties(self, order: Digest | None) -> Parties:
        """How a case and its parties were called at the last signing."""
        case = self.find(order)
        return Parties() if case is None else case.parties

    def wait(self, order: Digest, run: Path, replay: Replay | None) -> None:
        """Remember a replay of a run that is to be gone on with; None when there is none any more."""
        if replay is not None and len(replay.numbers) > MAX_SEGMENTS:
            return
        path = _text(run)

        def waiting(file: CaseFile) -> CaseFile:
            here = file.kind is FileKind.RUN and file.path == path
            return replace(file, replay=replay) if here else file

        self._change_files(order.hex, waiting)

    def move(self, case: Case, file: CaseFile, path: Path) -> None:
        """Know where a file of a case lies now."""
        same = (file.kind, file.path)

        def moved(each: CaseFile) -> CaseFile:
            return replace(each, path=_text(path), used=_now()) if (each.kind, each.path) == same else each

        self._change_files(case.order, moved)

    def remove(self, case: Case) -> None:
        """Forget a case; its files and results stay where they are."""
        self._change(lambda cases: [each for each in cases if each.order != case.order])

    def forget_recent(self) -> None:
        """Forget when files were used; the cases stay."""
        self._change(lambda cases: [_each_file(case, lambda file: replace(file, used="")) for case in cases])

    # The file

    def _with(self, order: str, change: Callable[[Case], Case]) -> Callable[[Iterable[Case]], Iterator[Case]]:
        """What changes the case of an order, or begins it, and puts it first."""

        def changed(cases: Iterable[Case]) -> Iterator[Case]:
            held = list(cases)
            yield change(next((case for case in held if case.order == order), Case(order, "", Parties(), ())))
            yield from (case for case in held if case.order != order)

        return changed

    def _change_files(self, order: str, change: Callable[[CaseFile], CaseFile]) -> None:
        self._change(lambda cases: [_each_file(case, change) if case.order == order else case for case in cases])

    def _change(self, change: Callable[[tuple[Case, ...]], Iterable[Case]]) -> None:
        before = self._read()
        cases = tuple(change(before))[:MAX_CASES]
        if cases == before == self.cases:
            return
        built = msgspec.to_builtins(_File(FORMAT_VERSION, cases))
        # Plain JSON, since names of files may hold bytes that are no text: these stand as lone surrogates.
        text = json.dumps(built, indent=1)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CounterfoilError(
                say("The folder {0} cannot be made: {1}.", self._path.parent, error.strerror or error),
                remedy=say("Make room there; until then no case is remembered."),
            ) from error
        write_whole(self._path, text.encode(), what=say("the list of cases"))
        self.cases = cases
        self.changed.emit()

    def _read(self) -> tuple[Case, ...]:
        try:
            with self._path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return _earlier(self._path.with_name(EARLIER_NAME))
        except OSError as error:
            self.problem = CounterfoilError(
                say("The list of cases {0} cannot be read: {1}.", self._path, error.strerror or error),
                remedy=say("Until then no case is shown."),
            )
            return ()
        try:
            held = msgspec.convert(_parse(data), _File)
            _check(held)
        except (ValueError, RecursionError) as error:
            self.problem = self._put_aside(error)
            return ()
        return held.cases

    def _put_aside(self, error: Exception) -> CounterfoilError:
        names = (self._path.with_suffix(f".damaged-{number}.json") for number in count(1))
        aside = next(name for name in names if not name.exists())
        try:
            self._path.replace(aside)
        except OSError as obstacle:
            return CounterfoilError(
                say("The list of cases {0} is damaged: {1}.", self._path, obstacle.strerror or obstacle),
                remedy=say("Repair the file, or move it away to begin a new one."),
                detail=f"{type(error).__name__}: {error}",
            )
        return CounterfoilError(
            say("The list of cases was damaged, and a new one was begun; the old one is {0}.", aside),
            remedy=say("Results and verdicts are not touched: open a run to see its case again."),
            detail=f"{type(error).__name__}: {error}",
        )


def _each_file(case: Case, change: Callable[[CaseFile], CaseFile]) -> Case:
    return replace(case, files=tuple(map(change, case.files)))


def _is_same(old: CaseFile, new: CaseFile) -> bool:
    """Whether a file of the case is the new one: at its place, or of the same content and no longer at its own."""
    if old.kind is not new.kind:
        return False
    if old.path == new.path:
        return not old.root or not new.root or old.root == new.root
    # An order is what its digest says, which is that of the case; so is a run with the same root.
    alike = new.kind is FileKind.ORDER or (new.kind is FileKind.RUN and old.root == new.root != "")
    return alike and not old.is_there


def _text(path: Path | None) -> str:
    return "" if path is None else os.path.abspath(path)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse(data: bytes) -> object:
    if len(data) > MAX_BYTES:
        raise ValueError("it is too large")
    return json.loads(data.decode("utf-8"))


def _check(held: _File) -> None:
    """Raise ValueError for what would not have been written."""
    if held.format != FORMAT_VERSION:
        raise ValueError(f"format {held.format!r}")
    if len({case.order for case in held.cases}) < len(held.cases):
        raise ValueError("two cases have the same order")
    for case in held.cases:
        parties = case.parties
        texts = (case.title, parties.number, parties.client, parties.trainer)
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


def _earlier(path: Path) -> tuple[Case, ...]:
    """The orders that were known before there were cases; what is none of them is left out."""
    try:
        with path.open("rb") as file:
            held = json.loads(file.read(2**20).decode(errors="surrogateescape"))
    except (OSError, ValueError, RecursionError):
        return ()
    pairs = list(held.items()) if isinstance(held, dict) else []
    known = [
        (digest, os.path.abspath(name))
        for digest, name in pairs[:MAX_CASES]
        if _DIGEST.fullmatch(digest) and isinstance(name, str) and name and "\0" not in name and len(name) < MAX_PATH
    ]
    return tuple(Case(digest, "", Parties(), (CaseFile(FileKind.ORDER, name),)) for digest, name in known)
