"""The cases that this user has worked on: each is an order, by its digest, and the files that belong to it.

What a replay found lies in the results (:mod:`counterfoil_app.model.history`), what a key is in the key book; here is
where the files of a case lie, how its parties are called, and which replay of it waits to be gone on with. Nothing is
decided by it: whatever is opened is read and compared again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from counterfoil import CounterfoilError, Digest, one_line, write_whole
from counterfoil_app.model.case_file import (
    MAX_BYTES,
    MAX_CASES,
    MAX_FILES,
    MAX_NAME,
    MAX_PATH,
    MAX_SEGMENTS,
    Case,
    CaseFile,
    FileKind,
    Parties,
    Replay,
    absolute,
    read_cases,
    write_cases,
)
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.subject import Subject

MAX_RECENT = 10


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
        self._blocked: CounterfoilError | None = None
        """Why nothing is written: what could not be read is worth more than a fresh start."""
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
        about: Subject | None = None,
        outcome: str = "",
        title: str = "",
        trainer: str = "",
    ) -> None:
        """Know that a file belongs to the case of an order.

        A file of the case that holds the same and is no longer where it was has moved here.

        Args:
            order: The order's digest.
            kind: What the file is.
            path: Where it lies.
            about: The run that it holds or is about.
            outcome: As in :class:`CaseFile`.
            title: What the client calls the job.
            trainer: Who made a run.
        """
        new = CaseFile(kind, absolute(path), about, outcome, one_line(trainer, MAX_NAME), _now())
        if len(new.path) > MAX_PATH:
            return

        def noted(case: Case) -> Case:
            before = next((file for file in case.files if _is_same(file, new)), None)
            kept = new if before is None else replace(
                new, about=new.about or before.about, outcome=outcome or before.outcome, replay=before.replay,
                trainer=new.trainer or before.trainer,
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

    def name_parties(self, order: Digest, run: Subject | None, number: str, client: str, trainer: str) -> None:
        """Remember how a case and its client are called, and who made a run of it."""
        parties, maker = Parties(one_line(number, MAX_NAME), one_line(client, MAX_NAME)), one_line(trainer, MAX_NAME)

        def named(case: Case) -> Case:
            made = _each_file(case, lambda file: replace(file, trainer=maker) if _is_run(file, run) else file)
            return replace(made, parties=parties)

        self._change(self._with(order.hex, named))

    def parties(self, order: Digest | None, run: Subject | None) -> tuple[str, str, str]:
        """How a case and its client were called at the last signing, and who made a run of it; empty if not known."""
        case = self.find(order)
        if case is None:
            return "", "", ""
        maker = next((file.trainer for file in case.files if _is_run(file, run)), "")
        return case.parties.number, case.parties.client, maker

    def wait(self, order: Digest, run: Path, replay: Replay | None) -> None:
        """Remember a replay of a run that is to be gone on with; None when there is none any more."""
        if replay is not None and len(replay.numbers) > MAX_SEGMENTS:
            return
        path = absolute(run)

        def waiting(file: CaseFile) -> CaseFile:
            here = file.kind is FileKind.RUN and file.path == path
            return replace(file, replay=replay) if here else file

        self._change_files(order.hex, waiting)

    def move(self, case: Case, file: CaseFile, path: Path) -> None:
        """Know where a file of a case lies now."""
        same = (file.kind, file.path)

        def moved(each: CaseFile) -> CaseFile:
            return replace(each, path=absolute(path), used=_now()) if (each.kind, each.path) == same else each

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
        if self._blocked is not None:
            raise self._blocked
        cases = tuple(change(before))[:MAX_CASES]
        if cases == before == self.cases:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CounterfoilError(
                say("The folder {0} cannot be made: {1}.", self._path.parent, error.strerror or error),
                remedy=say("Make room there; until then no case is remembered."),
            ) from error
        write_whole(self._path, write_cases(cases), what=say("the list of cases"))
        self.cases = cases
        self.changed.emit()

    def _read(self) -> tuple[Case, ...]:
        self._blocked = None
        try:
            with open_plain(self._path) as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return ()
        except OSError as error:
            self.problem = self._blocked = CounterfoilError(
                say("The list of cases {0} cannot be read: {1}.", self._path, error.strerror or error),
                remedy=say("Until then no case is shown."),
            )
            return ()
        try:
            return read_cases(data)
        except (ValueError, RecursionError) as error:
            self.problem = self._put_aside(error)
            return ()

    def _put_aside(self, error: Exception) -> CounterfoilError:
        names = (self._path.with_suffix(f".damaged-{number}.json") for number in count(1))
        aside = next(name for name in names if not name.exists())
        try:
            self._path.replace(aside)
        except OSError as obstacle:
            self._blocked = CounterfoilError(
                say("The list of cases {0} is damaged: {1}.", self._path, obstacle.strerror or obstacle),
                remedy=say("Repair the file, or move it away to begin a new one."),
                detail=f"{type(error).__name__}: {error}",
            )
            return self._blocked
        return CounterfoilError(
            say(
                "The list of cases was damaged, or of another version; a new one was begun, and the old one is {0}.",
                aside,
            ),
            remedy=say("Results and verdicts are not touched: open a run to see its case again."),
            detail=f"{type(error).__name__}: {error}",
        )


def _each_file(case: Case, change: Callable[[CaseFile], CaseFile]) -> Case:
    return replace(case, files=tuple(map(change, case.files)))


def _is_run(file: CaseFile, run: Subject | None) -> bool:
    return file.kind is FileKind.RUN and file.about == run is not None


def _is_same(old: CaseFile, new: CaseFile) -> bool:
    """Whether a file of the case is the new one: at its place, or of the same content and no longer at its own."""
    if old.kind is not new.kind:
        return False
    if old.path == new.path:
        return old.about is None or new.about is None or old.about == new.about
    # An order is what its digest says, which is that of the case.
    alike = new.kind is FileKind.ORDER or (new.kind is FileKind.RUN and old.about == new.about is not None)
    return alike and not old.is_there


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
