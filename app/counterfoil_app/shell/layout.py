"""Changes of the layout of the docks, which can be undone and redone."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray, QObject, QTimer, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow

from counterfoil_app.model.turns import follow, single_shot

DEPTH = 50


class LayoutHistory(QObject):
    """Remembers the layouts of the docks of a window.

    A change is a dock closed, opened, floated, docked elsewhere or put on other tabs. Which tab is in front, and how
    wide the docks are, is no change of its own: it is remembered with the next.

    Args:
        desk: The window that holds the docks.
        docks: The docks by their names.
    """

    changed = Signal()

    def __init__(self, desk: QMainWindow, docks: Mapping[str, QDockWidget], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._docks = docks
        self._past: list[QByteArray] = []
        self._future: list[QByteArray] = []
        self._started = False
        self._shape = self._look()
        self._state = desk.saveState()
        # One action of the user sends several signals, and some of them before the docks have moved.
        self._timer = single_shot(self, 0, self.note)
        for dock in docks.values():
            follow(self._soon, dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged)
            dock.toggleViewAction().toggled.connect(self._soon)

    @property
    def changes(self) -> int:
        """How many changes can be undone."""
        return len(self._past)

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier layout."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a layout that was undone."""
        return bool(self._future)

    def start(self) -> None:
        """Look from now on: the docks are laid out as the user will first see them."""
        self._started = True
        QTimer.singleShot(0, self, self._remember)

    def stop(self) -> None:
        """Look no more: a window that closes hides its docks, and that is no change of the user's."""
        self._started = False
        self._timer.stop()

    def note(self) -> None:
        """Compare the layout with the last one, and remember that one if they differ."""
        if not self._started:
            return
        if self._look() != self._shape:
            self._past.append(self._state)
            del self._past[:-DEPTH]
            self._future.clear()
            self._remember()
        else:
            self._state = self._desk.saveState()

    def undo(self) -> None:
        """Bring the layout before the last change back."""
        self.note()
        if self._past:
            self._future.append(self._state)
            self._restore(self._past.pop())

    def redo(self) -> None:
        """Make the change that was undone once more."""
        self.note()
        if self._future:
            self._past.append(self._state)
            self._restore(self._future.pop())

    def _soon(self) -> None:
        if self._started:
            self._timer.start()

    def _restore(self, state: QByteArray) -> None:
        self._desk.restoreState(state)
        self._remember()

    def _remember(self) -> None:
        self._shape, self._state = self._look(), self._desk.saveState()
        self.changed.emit()

    def _look(self) -> tuple[tuple[object, ...], ...]:
        """Where each dock is: open or not, floating or not, its area, and with which others it shares tabs."""
        return tuple(
            (
                name,
                dock.toggleViewAction().isChecked(),
                dock.isFloating(),
                self._desk.dockWidgetArea(dock),
                tuple(sorted(other.objectName() for other in self._desk.tabifiedDockWidgets(dock))),
            )
            for name, dock in self._docks.items()
        )
