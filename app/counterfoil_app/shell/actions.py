"""What the user can do with the window: one table, whose rows say what an action is called, does, and when it can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from counterfoil_app.looks import icons
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.session import Session


@dataclass(frozen=True)
class Face:
    """How an action is shown.

    Attributes:
        text: What it is called, with its mnemonic.
        icon: Name of its icon; empty for none.
        tip: What it does, in a sentence; empty when its name says it.
    """

    text: str
    icon: str = ""
    tip: str = ""


FaceOf = Callable[[Session], Face]
"""How an action is shown where that depends on the session."""
Keys = QKeySequence | QKeySequence.StandardKey | str


def always(_session: Session) -> bool:
    """What can be done whatever is open."""
    return True


@dataclass(frozen=True)
class Row:
    """An action of the window.

    Attributes:
        name: What the code calls it.
        face: How it is shown; a function where that depends on the session.
        slot: What it does.
        shortcut: Its keys; empty for none.
        enabled: Whether it can be done now.
        role: Where macOS puts it.
    """

    name: str
    face: Face | FaceOf
    slot: Callable[[], object]
    shortcut: Keys = ""
    enabled: Callable[[Session], bool] = always
    role: QAction.MenuRole = QAction.MenuRole.TextHeuristicRole

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

    def several(self, *names: str) -> list[QAction]:
        """Some of the actions, in this order."""
        return [self[name] for name in names]

    def refresh(self) -> None:
        """Show every action as it is now; to be called when something changed that no session tells."""
        for name, row in self._rows.items():
            action, face = self[name], row.face_now(self._session)
            action.setText(face.text)
            action.setToolTip(face.tip or face.text.replace("&", "").rstrip("\u2026"))
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
