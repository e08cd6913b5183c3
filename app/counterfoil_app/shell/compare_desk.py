"""Compares runs with each other: providers of one order, and any two bundles."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.bundle_difference import BundleDifference
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.providers import Comparison
from counterfoil_app.model.session import Session
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.shell.files import Files
from counterfoil_app.views.difference import DifferenceDialog
from counterfoil_app.views.parts import open_dialog
from counterfoil_app.views.providers import ProvidersDialog


class CompareDesk(QObject):
    """Opens the pages on which runs are compared.

    Args:
        session: Its worker compares, and its open run is one of them.
        files: Ask for files.
        book: The known keys.
        theme: The theme of the application.
        window: The window that the pages belong to.
    """

    audit_wanted = Signal(object, object)
    """A run that is to be audited by itself, and the order to compare it with or None."""

    def __init__(self, session: Session, files: Files, book: KeyBook, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._files = files
        self._book = book
        self._theme = theme
        self._window = window

    def rows(self) -> list[Row]:
        """The actions of the menu Compare."""

        def idle(session: Session) -> bool:
            return not session.running

        providers = Face(
            self.tr("Compare &providers\u2026"),
            "compare",
            self.tr("Compare the runs of one order that several providers made, and see who is right where they part"),
        )
        bundles = Face(
            self.tr("&Difference of two bundles\u2026"),
            "compare",
            self.tr("Say where two runs first differ: order, step, operator, element; nobody is judged"),
        )
        return [
            Row("compare_providers", providers, self.compare_providers, "Ctrl+Shift+R", idle),
            Row("compare_bundles", bundles, self.compare_bundles, "Ctrl+Shift+D", idle),
        ]

    def compare_bundles(self) -> DifferenceDialog:
        """Show the page on which two bundles are compared; the open run is the first of them."""
        difference = BundleDifference(self._session)
        dialog = DifferenceDialog(difference, self._theme, self._window)
        difference.setParent(dialog)
        dialog.run_wanted.connect(partial(self._choose_side, dialog))
        dialog.data_wanted.connect(partial(self._files.choose_data_of, dialog.use_data))
        if (run := self._session.run_file) is not None:
            difference.choose(run, None)
        open_dialog(dialog)
        return dialog

    def _choose_side(self, dialog: DifferenceDialog, side: int) -> None:
        difference = dialog.difference
        chosen = self._files.choose_runs(self.tr("Runs to be compared"), dialog)
        if len(chosen) > 1:
            difference.choose(chosen[0], chosen[1])
        elif chosen:
            sides = [difference.first, difference.second]
            sides[side] = chosen[0]
            difference.choose(*sides)

    def compare_providers(self) -> ProvidersDialog:
        """Show the page on which providers are compared; the open run is the first of them."""
        session = self._session
        comparison = Comparison(session)
        comparison.order = session.order
        dialog = ProvidersDialog(comparison, self._book, self._theme, self._window)
        comparison.setParent(dialog)
        if (run := self._session.run_file) is not None:
            comparison.add([run])
        dialog.runs_wanted.connect(
            lambda: comparison.add(self._files.choose_runs(self.tr("Runs to be compared"), dialog))
        )
        dialog.order_wanted.connect(partial(self._files.choose_order_of, dialog.use_order))
        dialog.data_wanted.connect(partial(self._files.choose_data_of, dialog.use_data))
        dialog.audit_wanted.connect(lambda path: self.audit_wanted.emit(path, comparison.order))
        open_dialog(dialog)
        return dialog
