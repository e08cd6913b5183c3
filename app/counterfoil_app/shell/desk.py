"""The desk: the views of a run as docks, laid out for the size of the window or as the user left them.

Changes of the layout can be undone and redone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from itertools import pairwise

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabBar, QTabWidget, QWidget

from counterfoil_app.looks.fonts import scale
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.views.frame import Frame

LAYOUT_VERSION = 5
"""Number of the set of views: a layout that was kept with another set is not restored."""
BESIDE_PIXELS, ABOVE_PIXELS = 1900, 1280
"""Width of a window from which the plots lie beside the other views at first, and height from which they lie above."""


def make_dock(name: str, title: str, view: QWidget) -> QDockWidget:
    """A dock with a view; the name is its own for all time, the title is for people."""
    dock = QDockWidget(title)
    dock.setObjectName(name)
    dock.setAccessibleName(title)
    dock.setWidget(Frame(view))
    return dock


class Plots(Enum):
    """Where the plots lie at first: behind the other views, above them, or beside them."""

    BEHIND = "behind"
    ABOVE = "above"
    BESIDE = "beside"


class Desk(QMainWindow):
    """A window in the window, which holds the docks.

    Args:
        views: The views by the names of their docks, with the titles of these; ``steps`` and ``divergence`` are among
            them.
        window: The window around it, whose size decides on the layout.
    """

    def __init__(self, views: Mapping[str, tuple[str, QWidget]], window: QWidget) -> None:
        super().__init__()
        self._window = window
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        # A tab that is dragged out of its bar takes its view along.
        self.setDockOptions(self.dockOptions() | QMainWindow.DockOption.GroupedDragging)
        self.docks = {name: make_dock(name, title, view) for name, (title, view) in views.items()}
        self._untitled = {dock: QWidget(dock) for dock in self.docks.values()}
        self._dress_later = single_shot(self, 0, self._dress)
        for dock in self.docks.values():
            follow(self._dress_soon, dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged)
        self._arrange()
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Give the views their titles."""
        super().showEvent(event)
        self._dress_soon()

    def save(self) -> QByteArray:
        """The layout as it is now, for :meth:`lay_out_as_left`."""
        return self.saveState(LAYOUT_VERSION)

    def lay_out_as_left(self, size: QSize, layout: QByteArray) -> None:
        """Lay the docks out as they were left; sizes hold only once the desk has its own."""
        self.resize(size)
        if layout.isEmpty() or not self.restoreState(layout, LAYOUT_VERSION):
            self.lay_out()

    def lay_out(self) -> None:
        """Arrange the docks for the size of the window."""
        self._arrange()
        plots = [self.docks["steps"], self.docks["divergence"]]
        if self._plots is Plots.BESIDE:
            self.resizeDocks(plots, [1, 1], Qt.Orientation.Horizontal)
        elif self._plots is Plots.ABOVE:
            self.resizeDocks(plots, [1, 1], Qt.Orientation.Vertical)
        self.docks["steps"].raise_()

    def restore(self) -> None:
        """Show all docks again, laid out as at first."""
        for dock in self.docks.values():
            dock.setFloating(False)
            dock.show()
        self.lay_out()

    @property
    def screen_class(self) -> str:
        """Which of the arrangements the window has room for; a layout is remembered for each."""
        return self._plots.value

    @property
    def shown_view(self) -> str:
        """The name of the view that has the keyboard, or else of the first that is in front; empty for none."""
        shown = (name for name, dock in self.docks.items() if dock.isVisible() and not dock.visibleRegion().isEmpty())
        return self._current() or next(shown, "")

    @property
    def _plots(self) -> Plots:
        """Where the plots lie at first."""
        if self._window.width() >= scale(BESIDE_PIXELS):
            return Plots.BESIDE
        return Plots.ABOVE if self._window.height() >= scale(ABOVE_PIXELS) else Plots.BEHIND

    def _arrange(self) -> None:
        """All views behind each other, each with the whole width; where there is room, the plots beside the rest."""
        # On their way to their tabs the docks lie below each other: a small window must not grow for that.
        layout = self.layout()
        assert layout is not None
        layout.setEnabled(False)
        for dock in self.docks.values():
            self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        others, divergence = list(self.docks.values()), self.docks["divergence"]
        if self._plots is not Plots.BEHIND:
            others.remove(divergence)
        if self._plots is Plots.BESIDE:
            self.splitDockWidget(others[0], divergence, Qt.Orientation.Horizontal)
        elif self._plots is Plots.ABOVE:
            self.splitDockWidget(divergence, others[0], Qt.Orientation.Vertical)
        for one, other in pairwise(others):
            self.tabifyDockWidget(one, other)
        layout.setEnabled(True)

    # The views by keyboard

    def show_view(self, name: str) -> None:
        """Bring a view to the front, opened if it was closed, and give it the keyboard; it is never hidden by this."""
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        focus_dock(dock)

    def turn(self, direction: int) -> None:
        """Bring the next (1) or the previous (-1) of the open views to the front, and give it the keyboard."""
        names = [name for name, dock in self.docks.items() if not _is_closed(dock)]
        if names:
            now = self._current()
            place = names.index(now) if now in names else -1 if direction > 0 else 0
            self.show_view(names[(place + direction) % len(names)])

    def close_view(self) -> None:
        """Close the view that has the keyboard."""
        name = self._current()
        if name is not None:
            self.docks[name].close()

    def _current(self) -> str | None:
        """The view that has the keyboard, or whose tab has it."""
        around = QApplication.focusWidget()
        while around is not None and not isinstance(around, QDockWidget):
            if isinstance(around, QTabBar):
                title = around.tabText(around.currentIndex())
                return next((name for name, dock in self.docks.items() if dock.windowTitle() == title), None)
            around = around.parentWidget()
        return around.objectName() if around is not None and around.objectName() in self.docks else None

    # Titles and tabs

    def _dress_soon(self) -> None:
        if self.isVisible():  # a window that closes hides its docks
            self._dress_later.start()

    def _dress(self) -> None:
        """A view behind tabs has its title on its tab alone; and a row of tabs can be reached by the Tab key."""
        for dock, nothing in self._untitled.items():
            others = [other for other in self.tabifiedDockWidgets(dock) if not _is_closed(other)]
            wanted = nothing if others and not dock.isFloating() else None
            if dock.titleBarWidget() is not wanted:
                dock.setTitleBarWidget(wanted)  # type: ignore[arg-type]  # the stubs know no None, which is Qt's own title
        for bar in self.findChildren(QTabBar):
            bar.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            bar.setAccessibleName(self.tr("Views"))
            bar.setUsesScrollButtons(True)


def _is_closed(dock: QDockWidget) -> bool:
    return not dock.toggleViewAction().isChecked()


def focus_dock(dock: QDockWidget) -> None:
    """Give the keyboard to the first control of a dock that takes it by the Tab key."""
    inside = dock.widget()
    for part in (inside, *inside.findChildren(QWidget)):
        takes = bool(part.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if takes and part.isVisibleTo(dock) and part.isEnabled():
            part.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return


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
