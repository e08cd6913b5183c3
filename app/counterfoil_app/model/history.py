"""Results that survive the window: every replay that came to a report is kept in a folder, signed or not.

Each lies in a file of its own, written whole: first what a list shows, then all that the window shows of it. It is
sealed with a secret of this user, since a result that is opened again can be signed. A dispute capsule lies beside it,
since its evidence is otherwise in memory alone.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from counterfoil import (
    AuditReport,
    BundleSummary,
    CounterfoilError,
    Dispute,
    Outcome,
    Sample,
    StepTable,
    Trust,
    write_whole,
)
from counterfoil.base.joberrors import SealError
from counterfoil.base.seal import SEAL_BYTES, check_seal, seal
from counterfoil.talk.messages import decode, encode
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import Failure, JobResult, Submit
from counterfoil_app.model.divergence_table import DivergenceColumns, DivergenceTable
from counterfoil_app.model.replayresult import Finished
from counterfoil_app.model.session import Session
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.subject import Subject

MARK = b"counterfoil result 7\n"
SUFFIX = ".result"
_LENGTH_BYTES = 8
MAX_BYTES = 2**31
"""Most bytes of a result."""


@dataclass(frozen=True)
class _Held:
    """What a file holds of a result, as :class:`Finished`; the tables are columns."""

    path: Path
    order: Path | None
    data: Path | None
    summary: BundleSummary | None
    client: BundleSummary | None
    dispute: Dispute | None
    resumed_from: int | None
    sample: Sample | None
    report: AuditReport | None
    stopped: bool
    steps: dict[str, npt.NDArray[Any]]
    last: int
    divergence: DivergenceColumns


_SAME = tuple(item.name for item in fields(_Held) if item.name not in ("steps", "last", "divergence"))
"""Those of the fields that a result has as well."""


@dataclass(frozen=True)
class Past:
    """What a list shows of a result."""

    file: Path  #: Where it lies.
    when: datetime  #: When the replay ended, UTC.
    path: Path  #: The run.
    order: Path | None  #: The client's order file, if one was given.
    outcome: Outcome  #: What was found.
    headline: str  #: The same in words: of a clean one it says for how much of the run and the order it holds.
    judged: int  #: Number of steps that were judged.
    ordered: int  #: Number of steps of the run, which are those of the order unless it ended early.
    verdict: Path | None  #: The signed verdict that says all of it; None when there is none.
    trust: Trust  #: What it rests on.
    about: Subject | None  #: Which run it is about; None where that is not known.
    stopped: bool  #: Whether the user stopped it.
    earlier: Path | None = None  #: The signed verdict from before more was compared, where that is the last.

    @property
    def signed(self) -> Path | None:
        """The last verdict that was signed on it; None for none."""
        return self.verdict or self.earlier

    @property
    def signable(self) -> bool:
        """Whether a verdict is still to be signed: one on a replay that was stopped only where it found something."""
        return self.signed is None and (not self.stopped or self.outcome is Outcome.DISPUTED)


class History(QObject):
    """The kept results. Files are read and written in the worker thread.

    Args:
        engine: Has the evidence of the last replay's dispute.
        submit: Lets the worker run something.
        folder: Where the results lie; made when the first is kept.
    """

    changed = Signal()
    """:attr:`pasts` is another list."""
    failed = Signal(Failure)

    def __init__(self, engine: Engine, submit: Submit, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._submit = submit
        self.folder = folder
        self.pasts: tuple[Past, ...] = ()
        self.is_known = False
        """Whether it was looked at what lies in the folder."""

    def refresh(self) -> None:
        """Read what lies in the folder; :attr:`changed` follows."""
        self._submit(partial(_list, self.folder), self._listed)

    def follow(self, session: Session) -> None:
        """Keep what a session finds, from now on."""
        session.concluded.connect(partial(self._keep, session))
        session.exports.signed.connect(partial(self._note_verdict, session))

    def note_signed(self, finished: Finished, verdict: Path) -> None:
        """Know of a result that is not open where its signed verdict lies."""
        if finished.file is not None:
            self._submit(partial(_note_verdict, finished.file, verdict), self._changed)

    def _keep(self, session: Session) -> None:
        if not session.steps.done and session.was_stopped:  # nothing was found
            return
        new = session.result_file is None
        if session.result_file is None:
            session.result_file = self.folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}-{secrets.token_hex(4)}{SUFFIX}"
        finished = session.keep()
        if finished is not None and finished.report is not None:
            self._submit(partial(_keep, self._engine, session.result_file, finished, new), self._changed)

    def _note_verdict(self, session: Session, report: AuditReport, verdict: Path) -> None:
        if report is session.report and session.result_file is not None:
            self._submit(partial(_note_verdict, session.result_file, verdict), self._changed)

    def read(self, past: Past, then: Callable[[Finished], None]) -> None:
        """Read a result and hand it over; :attr:`failed` tells when it cannot be read."""
        self._submit(partial(_read, past.file), partial(self._was_read, then))

    def remove(self, past: Past) -> None:
        """Remove a result for good; the verdict that was signed stays where it is."""
        self._submit(partial(_remove, past.file), self._changed)

    # What comes back

    def _changed(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        self.refresh()

    def _was_read(self, then: Callable[[Finished], None], result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        elif isinstance(result.value, Finished):
            then(result.value)

    def _listed(self, result: JobResult) -> None:
        first, self.is_known = not self.is_known, True
        if result.failure is not None:
            self.failed.emit(result.failure)
        elif isinstance(result.value, tuple) and (first or result.value != self.pasts):
            self.pasts = result.value
            self.changed.emit()


def capsule_of(file: Path) -> Path:
    """Where the dispute capsule of a result lies, if it has one."""
    return file.with_suffix(".capsule.cfoil")


def kept_capsule(result: Path | None) -> Path | None:
    """Where the dispute capsule of what is shown lies, if it has one; None for what is kept nowhere."""
    return None if result is None else capsule_of(result)


# In the worker thread


def _list(folder: Path) -> tuple[Past, ...]:
    """The results in a folder, newest first; a file that is none is left out."""
    found = []
    with suppress(OSError):
        for path in folder.glob(f"*{SUFFIX}"):
            with suppress(OSError, CounterfoilError, ValueError):
                found.append(_past(path, _parts(path)[0]))
    return tuple(sorted(found, key=lambda past: (past.when, past.file.name), reverse=True))


def _past(path: Path, head: bytes) -> Past:
    past: Past = decode(head, Past)
    return replace(past, file=path)  # which may have been moved


def _parts(path: Path) -> tuple[bytes, bytes]:
    """What a list shows, and all of it."""
    with open_plain(path) as file:
        data = file.read()
    mark = data[: len(MARK)]
    sealed = len(MARK) + SEAL_BYTES
    start = sealed + _LENGTH_BYTES
    length = int.from_bytes(data[sealed:start], "little")
    if mark != MARK or len(data) <= start + length:
        raise CounterfoilError(
            say("{0} is no result of a replay, or one of another version.", path),
            remedy=say("Replay the run again."),
        )
    # Before anything in it is read.
    try:
        check_seal(mark + data[sealed:], data[len(MARK) : sealed])
    except SealError as error:
        raise CounterfoilError(
            say("The result {0} is not used. {1}", path, error.sentence), remedy=say("Replay the run again.")
        ) from error
    return data[start : start + length], data[start + length :]


def _write(path: Path, head: bytes, body: bytes) -> None:
    held = len(head).to_bytes(_LENGTH_BYTES, "little") + head + body
    write_whole(path, MARK + seal(MARK + held) + held, what=say("the result"))


def _keep(engine: Engine, file: Path, finished: Finished, new: bool) -> None:
    report = finished.report
    assert report is not None, "only results with a report are kept"
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CounterfoilError(
            say("The folder {0} for results cannot be made: {1}.", file.parent, error.strerror or error),
            remedy=say("Sign the verdict before you close the window."),
        ) from error
    ended = datetime.now(UTC).replace(microsecond=0)
    if new:
        _keep_capsule(engine, report, file)
    elif file.is_file():  # more was compared since, or signed
        ended = _past(file, _parts(file)[0]).when
    summary = finished.summary
    run = summary.run if summary is not None else None
    past = Past(
        file,
        ended,
        finished.path,
        finished.order,
        report.outcome,
        report.headline,
        report.steps_replayed,
        report.steps_recorded,
        finished.verdict_file,
        report.trust,
        report.about or (run.about if run is not None else None),  # a refused run is not read so far
        finished.stopped,
        finished.earlier_verdict,
    )
    _write(file, encode(past), zlib.compress(encode(_held(finished)), 1))


def _keep_capsule(engine: Engine, report: AuditReport, file: Path) -> None:
    with suppress(CounterfoilError):  # evidence that makes no capsule, or a disk that is full: the result is kept
        if report.dispute is not None and report.dispute.stands_alone:
            engine.write_capsule(report, capsule_of(file))
        engine.release()


def _held(finished: Finished) -> _Held:
    return _Held(
        **{name: getattr(finished, name) for name in _SAME},
        steps=finished.steps.columns(),
        last=finished.steps.last,
        divergence=finished.divergence.columns(),
    )


def _read(file: Path) -> Finished:
    try:
        head, body = _parts(file)
        past = _past(file, head)
        held: _Held = decode(zlib.decompressobj().decompress(body, MAX_BYTES), _Held)
        return Finished(
            **{name: getattr(held, name) for name in _SAME},
            verdict_file=past.verdict,
            earlier_verdict=past.earlier,
            steps=StepTable.of_columns(held.steps, held.last),
            divergence=DivergenceTable.of_columns(held.divergence),
            failure=None,
            kept=None,
            file=file,
        )
    except (OSError, zlib.error, ValueError) as error:
        raise CounterfoilError(
            say("The result {0} cannot be read.", file), remedy=say("Replay the run again."), detail=repr(error)
        ) from error


def _note_verdict(file: Path, verdict: Path) -> None:
    head, body = _parts(file)
    _write(file, encode(replace(_past(file, head), verdict=verdict, earlier=None)), body)


def _remove(file: Path) -> None:
    try:
        for path in (file, capsule_of(file)):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise CounterfoilError(say("{0} cannot be removed: {1}.", file, error.strerror or error)) from error
