"""The desk: the views of a run as docks, laid out for the size of the window or as the user left them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget

LAYOUT_VERSION = 3
"""Number of the set of views: a layout that was kept with another set is not restored."""
OVERVIEW_CHARACTERS = 66
OVERVIEW_SHARE = 0.31
"""Share of the window's width that the overview has at first, unless its text needs more."""
LARGEST_OVERVIEW_SHARE = 0.42
ROOM_FOR_TWO = 64
"""Height of a window, in lines of text, from which two views lie above each other at first."""


def make_dock(name: str, title: str, view: QWidget) -> QDockWidget:
    """A dock with a view; the name is its own for all time, the title is for people."""
    dock = QDockWidget(title)
    dock.setObjectName(name)
    dock.setAccessibleName(title)
    dock.setWidget(view)
    return dock


class Desk(QMainWindow):
    """A window in the window, which holds the docks.

    Args:
        views: The views by the names of their docks, with the titles of these; ``overview``, ``steps`` and
            ``divergence`` are among them.
        window: The window around it, whose size decides on the layout.
    """

    def __init__(self, views: Mapping[str, tuple[str, QWidget]], window: QWidget) -> None:
        super().__init__()
        self._window = window
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        self.docks = {name: make_dock(name, title, view) for name, (title, view) in views.items()}
        self._arrange()
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)

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
        docks, width = self.docks, self._window.width()
        # Larger text needs a wider overview, but never more than its part of the window.
        wanted = max(int(OVERVIEW_SHARE * width), self._window.fontMetrics().averageCharWidth() * OVERVIEW_CHARACTERS)
        overview = min(wanted, int(LARGEST_OVERVIEW_SHARE * width))
        widths = [overview, width - overview]
        self.resizeDocks([docks["overview"], docks["steps"]], widths, Qt.Orientation.Horizontal)
        if self._has_room_for_two:
            self.resizeDocks([docks["divergence"], docks["steps"]], [1, 1], Qt.Orientation.Vertical)
        docks["steps"].raise_()

    def restore(self) -> None:
        """Show all docks again, laid out as at first."""
        for dock in self.docks.values():
            dock.setFloating(False)
            dock.show()
        self.lay_out()

    @property
    def _has_room_for_two(self) -> bool:
        return self._window.height() >= ROOM_FOR_TWO * self._window.fontMetrics().height()

    def _arrange(self) -> None:
        """The overview beside all other views: behind each other, or where there is room, plots above the rest."""
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        for name, dock in self.docks.items():
            self.addDockWidget(left if name == "overview" else right, dock)
        others = [dock for name, dock in self.docks.items() if name != "overview"]
        if self._has_room_for_two:
            others.remove(self.docks["divergence"])
            self.splitDockWidget(self.docks["divergence"], others[0], Qt.Orientation.Vertical)
        for one, other in pairwise(others):
            self.tabifyDockWidget(one, other)
