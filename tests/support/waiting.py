"""What tests of the window wait for."""

from __future__ import annotations

from collections.abc import Callable

from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow


def reached(window: MainWindow, *phases: Phase) -> Callable[[], bool]:
    """Whether the session is in one of the phases, and all views have drawn it."""
    return lambda: window.session.phase in phases and not window.session.drawing.waiting


def drawn(window: MainWindow) -> Callable[[], bool]:
    """Whether all views have drawn what the session holds."""
    return lambda: not window.session.drawing.waiting
