"""Several bundles, replayed one after the other by the one session of the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QObject, Signal

from counterfoil import AuditReport, SegmentRequest
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.eventloop import single_shot
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.replayresult import Finished
from counterfoil_app.model.session import Session


class EntryState(Enum):
    """Where a bundle of the queue stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    """The replay came to a report."""
    FAILED = "failed"
    """There is no report; :attr:`QueuedBundle.sentence` says why."""


@dataclass
class QueuedBundle:
    """One bundle of the queue."""

    path: Path  #: The bundle.
    state: EntryState = EntryState.WAITING  #: Where it stands.
    sentence: str = ""  #: What was found, or why nothing was.
    finished: Finished | None = None  #: What the replay left, once it ended.
    order: Path | None = None  #: The client's order to compare it with, if it is known.


class BundleQueue(QObject):
    """The queue. It uses the session as a user would: opens a bundle, replays it, keeps what was found, goes on.

    When the user stops a replay or opens something else, the queue halts; :meth:`start` goes on with what waits.
    """

    changed = Signal()
    finished = Signal()
    """The last waiting bundle is done."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._current: QueuedBundle | None = None
        self._replayed = False
        self._segments = SegmentRequest()
        self.entries: list[QueuedBundle] = []
        self._later = single_shot(self, 0, self._go_on)
        self._problem = ""
        """Why the bundle in work cannot be opened."""
        session.exports.signed.connect(self._note_signed)
        session.phase_changed.connect(self._look)
        session.misnamed.connect(self._misnamed)

    @property
    def running(self) -> bool:
        """Whether the queue works on a bundle."""
        return self._current is not None

    @property
    def segments(self) -> SegmentRequest:
        """What is replayed of each bundle."""
        return self._segments

    @property
    def unsigned(self) -> tuple[Finished, ...]:
        """What was found and can be signed, and is not."""
        found = (entry.finished for entry in self.entries if entry is not self._current)
        return tuple(
            one for one in found if one is not None and one.verdict_file is None and one.report and one.report.is_about
        )

    @property
    def waiting(self) -> int:
        """How many bundles wait."""
        return sum(entry.state is EntryState.WAITING for entry in self.entries)

    def add(self, paths: Sequence[Path], orders: Mapping[Path, Path] = MappingProxyType({})) -> None:
        """Add bundles at the end; one that waits already is not added again.

        Args:
            paths: The bundles.
            orders: The client's order of each, where it is known.
        """
        known = {entry.path.resolve() for entry in self.entries if entry.state is EntryState.WAITING}
        for path in paths:
            if path.resolve() not in known:
                known.add(path.resolve())
                self.entries.append(QueuedBundle(path, order=orders.get(path)))
        self.changed.emit()

    def remove(self, entry: QueuedBundle) -> None:
        """Take a bundle out of the queue, unless it is being worked on."""
        if entry is not self._current and entry in self.entries:
            self.entries.remove(entry)
            self.changed.emit()

    def start(self) -> None:
        """Begin with the first waiting bundle; a sample that is planned for the open run is used for all."""
        if not self.running and not self._session.running:
            planned = self._session.segments
            # Listed segments are those of one run; a confidence or a count makes sense for every run.
            self._segments = planned if not planned.numbers else SegmentRequest()
            self._next()

    def stop(self) -> None:
        """Stop the replay that runs, and halt."""
        self._session.stop()

    def open(self, entry: QueuedBundle) -> None:
        """Show what was found in a bundle, or open it when it waits; not while the queue runs."""
        if self.running:
            return
        if entry.finished is not None:
            self._session.show(entry.finished)
        else:
            self._session.open(entry.path, entry.order)

    def _note_signed(self, report: AuditReport, verdict: Path) -> None:
        """Know of a result that it is signed, whoever had it signed."""
        for entry in self.entries:
            if entry.finished is not None and entry.finished.report is report:
                entry.finished = replace(entry.finished, verdict_file=verdict)
        self.changed.emit()

    def _next(self) -> None:
        self._current = next((entry for entry in self.entries if entry.state is EntryState.WAITING), None)
        self._replayed, self._problem = False, ""
        if self._current is None:
            self.changed.emit()
            self.finished.emit()
            return
        self._current.state = EntryState.RUNNING
        self.changed.emit()
        self._session.open(self._current.path, self._current.order)

    def _look(self) -> None:
        """Something about the session changed; act on it once its own announcements are over."""
        if self._current is None or self._problem:
            return
        if self._session.path != self._current.path:  # the user opened something else
            self._halt(EntryState.WAITING, "")
        elif self._session.phase is not Phase.LOADING and not self._session.running:
            self._later.start()
        self.changed.emit()

    def _misnamed(self, failure: Failure) -> None:
        if self._current is not None and failure.role == "file":
            self._problem = failure.sentence
            self._later.start()

    def _go_on(self) -> None:
        session, entry = self._session, self._current
        if entry is not None and self._problem:
            self._give_up(entry, self._problem)
            return
        if entry is None or session.running or session.phase is Phase.LOADING:
            return
        if session.phase in (Phase.READY, Phase.UNREADABLE) and not self._replayed:
            self._replay(entry)
            return
        if session.phase is Phase.READY:  # the bundle was opened again, for instance with the client's order
            return
        report = session.report
        stopped = session.was_stopped
        sentence = report.reason if report is not None else session.failure.sentence if session.failure else ""
        entry.finished = session.keep()
        state = EntryState.DONE if report is not None else EntryState.FAILED
        if stopped:
            self._halt(state, sentence)
            return
        entry.state, entry.sentence = state, sentence
        self._next()

    def _replay(self, entry: QueuedBundle) -> None:
        session = self._session
        if session.phase is Phase.READY and session.summary is not None:
            if session.summary.run is None:
                self._give_up(entry, self.tr("This is an order that nobody has run."))
                return
            if session.lacks_data:
                self._give_up(entry, self.tr("It needs the data file {0}: open it alone.").format(session.data_file))
                return
        self._replayed = True
        session.use_segments(self._segments)
        session.replay()

    def _give_up(self, entry: QueuedBundle, sentence: str) -> None:
        entry.state, entry.sentence = EntryState.FAILED, sentence
        self._next()

    def _halt(self, state: EntryState, sentence: str) -> None:
        assert self._current is not None
        self._current.state, self._current.sentence = state, sentence
        self._current = None
        self._later.stop()
        self.changed.emit()
