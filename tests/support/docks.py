"""Which views a window shows."""

from __future__ import annotations

from PySide6.QtWidgets import QDockWidget

from counterfoil_app.shell.window import MainWindow


def in_front(dock: QDockWidget) -> bool:
    """Whether a dock is seen; Qt keeps those behind another tab visible, somewhere outside."""
    around = dock.parentWidget()
    return dock.isVisible() and (dock.isFloating() or around is None or around.rect().intersects(dock.geometry()))


def views_in_front(window: MainWindow) -> set[str]:
    """The names of the views that are seen."""
    return {name for name, dock in window.docks.items() if in_front(dock)}
