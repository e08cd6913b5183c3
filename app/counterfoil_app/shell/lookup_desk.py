"""Looks things up: what verdicts say of trainers, and which step of a run holds a hash or weights."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.ledger import LedgerReading
from counterfoil_app.model.location import Locating
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.views.ledger_dialog import LedgerDialog
from counterfoil_app.views.locate_dialog import LocateDialog
from counterfoil_app.views.parts import open_dialog


class LookupDesk(QObject):
    """Opens the dialogs in which something is looked up.

    Args:
        session: Its worker looks, and its open run is the one that is looked through.
        book: The known keys.
        settings: Know the folder where a dialog starts.
        theme: The theme of the application.
        window: The window that the dialogs belong to.
    """

    def __init__(self, session: Session, book: KeyBook, settings: Settings, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._book = book
        self._settings = settings
        self._theme = theme
        self._window = window

    def rows(self) -> list[Row]:
        """The actions."""
        ledger = Face(
            self.tr("&Ledger of verdicts\u2026"),
            "table",
            self.tr("See what a folder of verdicts says of each trainer, and how much of the next run to replay"),
        )
        locate = Face(
            self.tr("Find a &hash or weights\u2026"),
            "compare",
            self.tr("Say which step of the open run holds a hash or a file of weights; nothing is replayed"),
        )
        return [
            Row("ledger", ledger, self.show_ledger, enabled=lambda session: not session.running),
            Row("locate", locate, self._locate_in_open_run, enabled=_has_run),
        ]

    def show_ledger(self) -> LedgerDialog:
        """Show what the verdicts of a folder, which the user chooses, say of trainers."""
        reading = LedgerReading(self._session, self._book)
        folder = Path.home() if self._session.where else self._settings.folder
        dialog = LedgerDialog(reading, folder, self._theme, self._window)
        reading.setParent(dialog)
        open_dialog(dialog)
        return dialog

    def locate(self, run: Path, weights: Path | None = None, over: QWidget | None = None) -> LocateDialog:
        """Show the dialog in which a hash or weights are looked for in a run.

        Args:
            run: The run.
            weights: What is looked for at once; None lets the user say it.
            over: The dialog that it was asked from; the window unless given.
        """
        locating = Locating(self._session, run)
        dialog = LocateDialog(locating, self._theme, over or self._window)
        locating.setParent(dialog)
        open_dialog(dialog)
        if weights is not None:
            locating.look_for(weights)
        return dialog

    def _locate_in_open_run(self) -> None:
        if (run := self._session.run_file) is not None:
            self.locate(run)


def _has_run(session: Session) -> bool:
    return session.run_file is not None and not session.running
