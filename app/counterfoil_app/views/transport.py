"""The steps of the run, the controls of its replay beside them, and how far it is: all in places of their own."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from counterfoil import WorkerState
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import label, name_after
from counterfoil_app.views.strip import StepStrip

CONTROLS = ("replay", "pause", "go_on", "stop")
"""The window's actions that control a replay, in the order of their places."""
ICON_PIXELS = 18
BETWEEN = "   \u00b7   "


class ControlButton(QToolButton):
    """A small button with the icon of one of the window's actions, whose name it is called by.

    Args:
        action: The action.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__()
        self.shown = action
        self.setAutoRaise(True)
        self.setIconSize(QSize(scale(ICON_PIXELS), scale(ICON_PIXELS)))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(lambda _checked=False: self.shown.trigger())
        action.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        self.setIcon(self.shown.icon())
        name_after(self, self.shown)


class Transport(QWidget):
    """The controls of the replay, with the device in the menu of its beginning, and the strip of steps.

    Args:
        session: What is shown.
        theme: The theme of the application.
        actions: The window's actions by their names, those of :data:`CONTROLS` among them.
    """

    def __init__(self, session: Session, theme: Theme, actions: Mapping[str, QAction]) -> None:
        super().__init__()
        self._session = session
        self.strip = StepStrip(session, theme)
        self.buttons = {name: ControlButton(actions[name]) for name in CONTROLS}
        # In the line of the strip's legend: numbers alone, since the strip is the picture of the same progress.
        self.progress = label("", "muted", wrap=False)
        self.progress.setAlignment(Qt.AlignmentFlag.AlignRight)
        controls = layouts.row(*self.buttons.values(), spacing=0, margins=(8, 4, 0, 0))
        grid = layouts.grid(inside=self, across=2, down=0)
        grid.setContentsMargins(*layouts.NONE)
        grid.addLayout(controls, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.strip, 0, 1)
        grid.addWidget(self.progress, 0, 1, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight)
        follow(self._show_progress, session.phase_changed, session.bundle_changed, session.progress_changed)
        self._show_progress()

    def offer_devices(self, menu: QMenu) -> None:
        """Let the device be chosen where a replay is begun."""
        replay = self.buttons["replay"]
        replay.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        replay.setMenu(menu)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Say what there is room for."""
        super().resizeEvent(event)
        self._show_progress()

    def _show_progress(self) -> None:
        session = self._session
        self.progress.setVisible(session.running)
        if not session.running:
            return
        progress = session.progress
        parts = [self.tr("{0} of {1} steps").format(text.count(progress.replayed), text.count(progress.total))]
        if progress.workers:
            at_work = [worker for worker in progress.workers if worker.segment is not None]
            parts.append(self.tr("{0} of {1} workers").format(len(at_work), len(progress.workers)))
        elif progress.done > progress.replayed:
            percent = int(100 * (progress.done - progress.replayed))
            parts.append(self.tr("step {0}: {1} %").format(text.count(progress.step), percent))
        if progress.rate is not None and progress.seconds_left is not None:
            parts.insert(1, self.tr("{0} left").format(text.duration(progress.seconds_left)))
            parts.append(text.rate(progress.rate))
        # Beside the legend: where the room is short, what says least is left out.
        room, metrics = self.strip.width() - self.strip.legend_width, self.progress.fontMetrics()
        while parts and metrics.horizontalAdvance(BETWEEN.join(parts)) > room:
            parts.pop()
        self.progress.setText(BETWEEN.join(parts))
        set_tip(self.progress, "\n".join(map(self._at_work, progress.workers)))

    def _at_work(self, worker: WorkerState) -> str:
        """What a worker does, in a line."""
        if worker.trouble:
            return self.tr("{0}: {1}").format(worker.number, translate(worker.trouble))
        if not worker.machine:
            return self.tr("{0}: opening the run").format(worker.number)
        done = self.tr("{0} segments").format(text.count(worker.segments))
        if worker.rate:
            done += f", {text.rate(worker.rate)}"
        if worker.segment is None:
            return self.tr("{0}: waiting; {1}").format(worker.number, done)
        return self.tr("{0}: segment {1}; {2}").format(worker.number, text.count(worker.segment), done)
