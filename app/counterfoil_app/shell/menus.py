"""The menu bar: which actions stand where, and the menus whose entries change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu

from counterfoil_app.engine import strangers
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.shell.actions import ActionTable


class Menus(QObject):
    """Fills the menu bar of a window.

    Args:
        actions: The window's actions.
        session: Knows the devices.
        window: The window.
    """

    recent_chosen = Signal(Path)
    device_chosen = Signal(str)
    theme_chosen = Signal(ThemeChoice)

    def __init__(self, actions: ActionTable, session: Session, window: QMainWindow) -> None:
        super().__init__(window)
        self._actions = actions
        self._session = session
        self._bar = window.menuBar()

    def fill(self, plots: Sequence[QAction], steps: Sequence[QAction], views: Sequence[str]) -> None:
        """Make all menus.

        Args:
            plots: What the plots can be exported as.
            steps: Where one can go in the step table.
            views: The actions that show the views.
        """
        self._fill_file_menu(plots)
        self._fill_replay_menu()
        self._bar.addMenu(self.tr("&Steps")).addActions(list(steps))
        self._fill_view_menu(views)
        help_menu = self._bar.addMenu(self.tr("&Help"))
        self._add(help_menu, "help", "shortcuts", "", "copy_log", "", "about")
        self.show_devices()

    def _add(self, menu: QMenu, *names: str) -> None:
        """Add actions by their names; an empty name is a line between two groups."""
        for name in names:
            if name:
                menu.addAction(self._actions[name])
            else:
                menu.addSeparator()

    def _fill_file_menu(self, plots: Sequence[QAction]) -> None:
        menu = self._bar.addMenu(self.tr("&File"))
        self._add(menu, "open")
        self.recent_menu = menu.addMenu(self.tr("Open &recent"))
        self._add(menu, "honest_sample", "tampered_sample", "compare", "compare_known", "drop_order", "data", "")
        self._add(menu, "verdict", "table", "capsule")
        menu.addActions(list(plots))
        self._add(menu, "read_verdict", "results", "keys", "", "preferences", "quit")

    def _fill_replay_menu(self) -> None:
        menu = self._bar.addMenu(self.tr("&Replay"))
        self._add(menu, "replay", "pause", "go_on", "stop", "conclude", "plan", "")
        self._add(menu.addMenu(self.tr("&Queue")), "add_to_queue", "start_queue", "stop_queue")
        self.device_menu = menu.addMenu(self.tr("&Device"))

    def _fill_view_menu(self, views: Sequence[str]) -> None:
        menu = self._bar.addMenu(self.tr("&View"))
        self._add(menu, *views, "show_queue", "", "next_view", "previous_view", "close_view", "")
        self._add(menu, "layout", "undo_layout", "redo_layout", "")
        themes = menu.addMenu(self.tr("&Theme"))
        group = QActionGroup(self)
        names = {
            ThemeChoice.SYSTEM: self.tr("Like the &system"),
            ThemeChoice.LIGHT: self.tr("&Light"),
            ThemeChoice.DARK: self.tr("&Dark"),
        }
        self.theme_actions = {
            choice: self._choice(themes, group, name, partial(self.theme_chosen.emit, choice))
            for choice, name in names.items()
        }

    def _choice(self, menu: QMenu, group: QActionGroup, text: str, choose: partial[None]) -> QAction:
        """One of several entries of which one is ticked."""
        action = menu.addAction(text)
        action.setCheckable(True)
        action.triggered.connect(lambda _checked=False: choose())
        group.addAction(action)
        return action

    # What changes

    def show_theme(self, choice: ThemeChoice) -> None:
        """Tick the chosen theme."""
        self.theme_actions[choice].setChecked(True)

    def show_recent(self, paths: Sequence[Path]) -> None:
        """List the recent bundles."""
        self.recent_menu.clear()
        for path in paths:
            action = self.recent_menu.addAction(
                strangers.sentence(f"{path.name} \u2013 {path.parent}").replace("&", "&&")
            )
            action.triggered.connect(partial(self._chosen, path))
        self._add(self.recent_menu, "", "clear_recent")

    def _chosen(self, path: Path, _checked: bool = False) -> None:
        self.recent_chosen.emit(path)

    def show_devices(self) -> None:
        """List the devices of this machine."""
        self.device_menu.clear()
        group = QActionGroup(self.device_menu)
        for device in self._session.devices:
            choose = partial(self.device_chosen.emit, device.name)
            action = self._choice(self.device_menu, group, f"{device.name}: {device.title}", choose)
            action.setChecked(device.name == self._session.device)
            action.setToolTip(translated(device.float64_note))
        self.device_menu.setEnabled(bool(self._session.devices))
