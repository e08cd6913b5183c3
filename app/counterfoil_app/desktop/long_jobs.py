"""What a long replay does outside its window: keeps the computer awake, shows progress, and says when it has ended."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from counterfoil_app.desktop.services import Notifier, SleepInhibitor, TaskBar
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.model.open_bundle import RUNNING, Phase
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings


class LongJobs(QObject):
    """Follows the session's replays.

    The computer is kept awake while a replay computes, and may sleep while it is paused. A notification is shown only
    when the window is not in front: who looks at it sees the outcome already.

    Args:
        session: What is followed.
        settings: Whether to notify and to keep awake.
        window: The window, also the parent.
        notifier: Shows notifications.
        inhibitor: Keeps the computer awake.
        task_bar: Shows progress.
    """

    def __init__(
        self,
        session: Session,
        settings: Settings,
        window: QWidget,
        notifier: Notifier,
        inhibitor: SleepInhibitor,
        task_bar: TaskBar,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._settings = settings
        self._window = window
        self._notifier = notifier
        self._inhibitor = inhibitor
        self._task_bar = task_bar
        self._was_running = False
        session.phase_changed.connect(self.refresh)
        session.progress_changed.connect(self._show_progress)

    def refresh(self) -> None:
        """Do what the session's phase and the settings ask for."""
        session = self._session
        if session.phase in (Phase.REPLAYING, Phase.STOPPING) and self._settings.stay_awake:
            name = name_of(session.path)
            self._inhibitor.hold(self.tr("Replaying {0}").format(name))
        else:
            self._inhibitor.release()
        ended = self._was_running and session.phase in (Phase.CONCLUDED, Phase.FAILED)
        self._was_running = session.running
        if not session.running:
            self._task_bar.clear()
        if ended:
            self._tell()

    def close(self) -> None:
        """Leave nothing behind on the desktop."""
        self._inhibitor.close()
        self._task_bar.clear()
        self._notifier.close()

    def _show_progress(self) -> None:
        progress = self._session.progress
        if self._session.phase in RUNNING and progress.total:
            self._task_bar.show_progress(progress.done / progress.total)

    def _tell(self) -> None:
        if self._window.isActiveWindow() or not self._window.isVisible():
            return
        QApplication.alert(self._window)
        if not self._settings.notify:
            return
        report, failure = self._session.report, self._session.failure
        name = name_of(self._session.path)
        if report is not None:
            self._notifier.tell(f"{report.outcome.value}: {name}", translated(report.reason))
        elif failure is not None:
            self._notifier.tell(
                self.tr("The replay of {0} ended without a verdict").format(name), translated(failure.sentence)
            )
