"""What the user can do with the window: one table, whose rows say what an action is called, does, and when it can.

The menu bar is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.looks import icons
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.session import Session


@dataclass(frozen=True)
class Face:
    """How an action is shown."""

    text: str  #: What it is called, with its mnemonic.
    icon: str = ""  #: Name of its icon; empty for none.
    tip: str = ""  #: What it does, in a sentence; empty when its name says it.


TOOLS = ("merge", "calibrate", "export", "note", "witness_check")
KEY_JOBS = ("sign_order", "withdraw", "reply", "revoke")
"""Jobs of the command line by their names, in the menu of tools and that of keys."""


def without_mnemonic(text: str) -> str:
    """A menu text without its mnemonic and its ellipsis."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("\u2026")


FaceOf = Callable[[Session], Face]
"""How an action is shown where that depends on the session."""
Keys = QKeySequence | QKeySequence.StandardKey | str


def always(_session: Session) -> bool:
    """What can be done whatever is open."""
    return True


@dataclass(frozen=True)
class Row:
    """An action of the window."""

    name: str  #: What the code calls it.
    face: Face | FaceOf  #: How it is shown; a function where that depends on the session.
    slot: Callable[[], object]  #: What it does.
    shortcut: Keys = ""  #: Its keys; empty for none.
    enabled: Callable[[Session], bool] = always  #: Whether it can be done now.
    role: QAction.MenuRole = QAction.MenuRole.TextHeuristicRole  #: Where macOS puts it.

    def face_now(self, session: Session) -> Face:
        """How it is shown now."""
        return self.face if isinstance(self.face, Face) else self.face(session)


class ActionTable(QObject):
    """Makes the actions of a table, and keeps them as the session is.

    Args:
        rows: The table; each name stands in it once.
        session: What is followed.
        theme: Colours the icons.
        window: The window whose keys they take.

    Raises:
        ValueError: Two rows have the same name.
    """

    def __init__(self, rows: Sequence[Row], session: Session, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._theme = theme
        self._rows = {row.name: row for row in rows}
        if len(self._rows) != len(rows):
            raise ValueError("two actions have the same name")
        self._actions = {name: self._make(row, window) for name, row in self._rows.items()}
        self._icons: dict[str, str] = {}
        theme.changed.connect(self._draw_icons)
        for signal in (session.phase_changed, session.bundle_changed, session.rows_changed):
            signal.connect(self.refresh)
        self.refresh()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(self._rows)

    def several(self, *names: str) -> list[QAction]:
        """Some of the actions, in this order."""
        return [self[name] for name in names]

    def refresh(self) -> None:
        """Show every action as it is now; to be called when something changed that no session tells."""
        for name, row in self._rows.items():
            action, face = self[name], row.face_now(self._session)
            action.setText(face.text)
            set_tip(action, face.tip or face.text.replace("&", "").rstrip("\u2026"))
            action.setStatusTip(face.tip)
            action.setEnabled(row.enabled(self._session))
            if self._icons.get(name) != face.icon:
                self._icons[name] = face.icon
                self._draw_icon(name)

    def _make(self, row: Row, window: QWidget) -> QAction:
        action = QAction(window)
        action.setShortcut(QKeySequence(row.shortcut))
        action.setMenuRole(row.role)
        action.triggered.connect(lambda _checked=False: row.slot())
        window.addAction(action)
        return action

    def _draw_icon(self, name: str) -> None:
        tokens = self._theme.tokens
        if self._icons[name]:
            self[name].setIcon(icons.icon(self._icons[name], tokens.text, tokens.muted))

    def _draw_icons(self) -> None:
        for name in self._icons:
            self._draw_icon(name)


class Menus(QObject):
    """Fills the menu bar of a window.

    Args:
        actions: The window's actions.
        session: Knows the devices.
        window: The window.
    """

    recent_chosen = Signal(Path)
    device_chosen = Signal(str)

    def __init__(self, actions: ActionTable, session: Session, window: QMainWindow) -> None:
        super().__init__(window)
        self._actions = actions
        self._session = session
        self._window = window
        self._bar = window.menuBar()
        self.recent_menu = QMenu(self.tr("Open &recent"), window)
        self.device_menu = QMenu(self.tr("&Device"), window)
        self._rare: list[tuple[str, Sequence[QAction]]] = []

    def fill(self, plots: Sequence[QAction], steps: Sequence[QAction], views: Sequence[str]) -> None:
        """Make all menus, and know what stands in none, which the palette finds.

        Args:
            plots: Copy and export the plot.
            steps: Where one can go in the step table.
            views: The actions that show the views.
        """
        menus = (
            (self.tr("&File"), (
                "order_training", "follow_recording", "", "open", "open_address", "connect", "home", "", "verdict",
                "hand_over", "results", "", "preferences", "quit",
            )),
            (self.tr("&Edit"), ("copy", "select_all", "copy_link", "", "find")),
            (self.tr("&View"), (*views, "show_queue")),
            (self.tr("&Tools"), (
                "plan", "compare", "compare_providers", "compare_bundles", "", "facts", "rules", "locate", "ledger", "",
                *TOOLS,
            )),
            (self.tr("&Keys"), ("keys", "name_trainer", "lock_keys", "", *KEY_JOBS)),
            (self.tr("&Help"), ("help", "shortcuts", "machine", "", "about")),
        )  # fmt: skip
        # What stands in no menu of the bar has its keys by this alone.
        self._window.addActions([*steps, *plots])
        for title, names in menus:
            menu = self._bar.addMenu(title)
            self._add(menu, *names)
            if "connect" in names:
                menu.insertMenu(self._actions["open_address"], self.recent_menu)
        named = {name for _, names in menus for name in names}
        queue = ("add_to_queue", "start_queue", "stop_queue", "sign_queue")
        replay = ("replay", "pause", "go_on", "stop", "conclude", "workers", "drop_order", "data", "table", "capsule")
        rest = [name for name in self._actions.names if name not in (*named, *queue, *replay)]
        self._rare = [
            (self.tr("Replay"), self._actions.several(*replay)),
            (self.tr("Queue"), self._actions.several(*queue)),
            (self.tr("Steps"), steps),
            (self.tr("Plots"), plots),
            (self.tr("Window"), self._actions.several(*rest)),
            (self.tr("Replay"), [self.device_menu.menuAction()]),
        ]
        self.show_devices()

    def commands(self) -> list[tuple[str, QAction]]:
        """Every command with the menu, or what else it belongs to."""
        found: list[tuple[str, QAction]] = []

        def walk(actions: Sequence[QAction], where: str) -> None:
            for action in actions:
                menu = action.menu()
                if isinstance(menu, QMenu):
                    walk(menu.actions(), where or without_mnemonic(action.text()))
                elif action.text() and all(action is not other for _, other in found):
                    found.append((where, action))

        walk(self._bar.actions(), "")
        for where, actions in self._rare:
            walk(actions, where)
        return found

    def _add(self, menu: QMenu, *names: str) -> None:
        """Add actions by their names; an empty name is a line between two groups."""
        for name in names:
            if name:
                menu.addAction(self._actions[name])
            else:
                menu.addSeparator()

    def _choice(self, menu: QMenu, group: QActionGroup, text: str, choose: partial[None]) -> QAction:
        """One of several entries of which one is ticked."""
        action = menu.addAction(text)
        action.setCheckable(True)
        action.triggered.connect(lambda _checked=False: choose())
        group.addAction(action)
        return action

    # What changes

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
            set_tip(action, translate(device.float64_note))
        self.device_menu.setEnabled(bool(self._session.devices))
