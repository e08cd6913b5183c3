"""Goes on with a replay of an earlier day: opens its run as it was then, and resumes where it was kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil_app.model.case_file import Replay
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session


class Resumption(QObject):
    """Resumes one replay at a time; whatever else is opened meanwhile ends it.

    Args:
        session: Opens the run and replays it.
    """

    nothing_kept = Signal(Path)
    """Nothing is kept of the replay that was to be resumed: the run is open, and can be replayed from the beginning."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: Path | None = None
        session.kept_sought.connect(self._sought)
        follow(self._look, session.phase_changed)

    def begin(self, run: Path, replay: Replay, opening: Callable[[Path, Path | None], None]) -> None:
        """Open a run, and go on with its replay as soon as what is kept of it is found.

        Args:
            run: The run.
            replay: How it was replayed.
            opening: Opens a run and compares it with an order; it may be left open until the user has answered.
        """
        self._run, self._replay, self._set = run, replay, False
        order = Path(replay.order) if replay.order and Path(replay.order).is_file() else None
        opening(run, order)

    def _look(self) -> None:
        session = self._session
        if self._run is None:
            return
        if session.path != self._run or session.phase in (Phase.UNREADABLE, Phase.FAILED):
            # The path changes with the answer to a question: until then another run is open, and stays so.
            if session.phase in (Phase.LOADING, Phase.REPLAYING, Phase.UNREADABLE):
                self._run = None
        elif session.phase is Phase.LOADING and not self._set:
            self._set = True
            session.device = self._replay.device
            session.segments = self._replay.segments
            if self._replay.data and Path(self._replay.data).is_file():
                session.data = Path(self._replay.data)

    def _sought(self) -> None:
        session = self._session
        if self._run is None or session.path != self._run or not self._set:
            return
        run, self._run = self._run, None
        if session.can_go_on:
            session.go_on()
        elif session.kept is None:
            self.nothing_kept.emit(run)
