"""Goes on with a replay of an earlier day: its run is opened as it was then, and resumed where it was kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil_app.model.case_file import Replay
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session


class Resumption(QObject):
    """Resumes one replay at a time; whatever else is opened meanwhile ends it.

    Args:
        session: Has the run, and replays it.
    """

    nothing_kept = Signal(Path)
    """Nothing is kept of the replay that was to be resumed: the run is open, and can be replayed from the beginning."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: Path | None = None
        session.phase_changed.connect(self._look)
        session.kept_sought.connect(self._sought)

    def begin(self, replay: Replay) -> None:
        """Go on with a replay of the run that is being opened, as soon as what is kept of it was looked for."""
        session = self._session
        self._run = session.path
        session.device, session.segments = replay.device, replay.segments
        if replay.data and Path(replay.data).is_file():
            session.data = Path(replay.data)

    def _look(self) -> None:
        session = self._session
        if session.path != self._run or session.phase in (Phase.UNREADABLE, Phase.REPLAYING):
            self._run = None

    def _sought(self) -> None:
        session, run = self._session, self._run
        if run is None or session.path != run:
            return
        self._run = None
        if session.can_go_on:
            session.go_on()
        elif session.kept is None:
            self.nothing_kept.emit(run)


def order_of(replay: Replay) -> Path | None:
    """The client's order file that a replay was compared with, if it is still there."""
    return Path(replay.order) if replay.order and Path(replay.order).is_file() else None
