"""Looks things up: facts of a run, rules on it, what verdicts say of trainers, which step holds a hash or weights."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil_app.engine.worker import JobResult
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.bundle_difference import BundleDifference
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.providers import Comparison
from counterfoil_app.model.questions import FactsCount, LedgerReading, Locating, RulesCheck
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.shell.files import Files
from counterfoil_app.views.difference import DifferenceDialog
from counterfoil_app.views.facts_dialog import FactsDialog
from counterfoil_app.views.ledger_dialog import LedgerDialog
from counterfoil_app.views.locate_dialog import LocateDialog
from counterfoil_app.views.parts import open_dialog
from counterfoil_app.views.providers import ProvidersDialog
from counterfoil_app.views.rules_dialog import RulesDialog


class LookupDesk(QObject):
    """Opens the dialogs in which something is looked up or counted; nothing is replayed for it.

    Args:
        session: Its worker looks, and its open run is the one that is looked through.
        book: The known keys, with which verdicts are checked.
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
            self.tr("Led&ger of verdicts\u2026"),
            "table",
            self.tr("See what a folder of verdicts says of each trainer, and how much of the next run to replay"),
        )
        locate = Face(
            self.tr("Find a &hash or weights\u2026"),
            "compare",
            self.tr("Say which step of the open run holds a hash or a file of weights; nothing is replayed"),
        )
        facts = Face(
            self.tr("&Facts of the run\u2026"),
            "table",
            self.tr("Count what the run shows of itself: operations, rows, parameters, settings; nothing is replayed"),
        )
        rules = Face(
            self.tr("Check r&ules\u2026"),
            "compare",
            self.tr("See which rules the run holds, which it breaks, and which cannot be told"),
        )
        return [
            Row("facts", facts, self.show_facts, "", _has_run),
            Row("rules", rules, self.show_rules, "", _has_run),
            Row("ledger", ledger, self.show_ledger, enabled=lambda session: not session.running),
            Row("locate", locate, self._locate_in_open_run, enabled=_has_run),
        ]

    def show_facts(self) -> FactsDialog | None:
        """Count the open run, and show what it shows of itself; None where no run is open."""
        session = self._session
        if (run := session.run_file) is None:
            return None
        count = FactsCount(session, run, session.order)
        dialog = FactsDialog(count, session.near(run), self._theme, self._window)
        count.setParent(dialog)
        dialog.save_wanted.connect(partial(self._save, count))
        open_dialog(dialog)
        count.start()
        return dialog

    def _save(self, count: FactsCount, target: Path) -> None:
        facts = count.said  # as the engine said it: what is shown has only visible characters
        if facts is not None:
            self._session.ask(lambda engine: engine.facts_as_json(facts), partial(self._write, target))

    def _write(self, target: Path, result: JobResult) -> None:
        exports, contents = self._session.exports, result.value
        if isinstance(contents, bytes):
            exports.contents(target, lambda: contents)
        elif result.failure is not None:
            exports.failed.emit(result.failure)

    def show_rules(self) -> RulesDialog | None:
        """Ask for rules, and check them on the open run; None where no run is open."""
        session, book = self._session, self._book
        if (run := session.run_file) is None:
            return None
        check = RulesCheck(session, run, session.order)
        check.store = book.store
        if session.verdict_file is not None and not session.where:
            check.verdicts = (session.verdict_file,)
        dialog = RulesDialog(check, self._theme, self._window)
        check.setParent(dialog)

        def again() -> None:
            """Other keys count now."""
            check.store = book.store
            check.recheck()

        dialog.rules_chosen.connect(check.check)
        dialog.verdict_chosen.connect(check.add)
        book.changed.connect(again)
        dialog.finished.connect(lambda _result: book.changed.disconnect(again))
        open_dialog(dialog)
        return dialog

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


# Compares runs with each other: providers of one order, and any two bundles.


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
