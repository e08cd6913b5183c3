"""Opens what is counted of the open run without a replay: its facts, and rules that are checked on it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from counterfoil_app.engine.worker import JobResult
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.run_facts import FactsCount, RulesCheck
from counterfoil_app.model.session import Session
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.views.facts_dialog import FactsDialog
from counterfoil_app.views.parts import open_dialog
from counterfoil_app.views.rules_dialog import RulesDialog


class FactsDesk(QObject):
    """Opens the dialogs about the open run.

    Args:
        session: Its worker counts, and its open run is counted.
        book: The known keys, with which verdicts are checked.
        theme: The theme of the application.
        window: The window that the dialogs belong to.
    """

    def __init__(self, session: Session, book: KeyBook, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._book = book
        self._theme = theme
        self._window = window

    def rows(self) -> list[Row]:
        """The actions."""

        def has_run(session: Session) -> bool:
            return session.run_file is not None and not session.running

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
        return [Row("facts", facts, self.show_facts, "", has_run), Row("rules", rules, self.show_rules, "", has_run)]

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
