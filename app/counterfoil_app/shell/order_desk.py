"""Orders a training: opens the wizard, saves what it wrote, and prints its card."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QDialog, QWidget

from counterfoil import OrderWritten, copy_whole, write_whole
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil_app.engine import strangers
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.order_plan import OrderPlan
from counterfoil_app.model.orders import Aside, Ordering
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.views.dialogs import ask_to_replace
from counterfoil_app.views.digest_card import Card, print_card
from counterfoil_app.views.layouts import new_file
from counterfoil_app.views.order_wizard import OrderWizard
from counterfoil_app.views.parts import open_dialog
from counterfoil_core.base.sentence import say

CARD_NAME = "order-card.txt"


class OrderDesk(QObject):
    """Opens the order wizard, and does with files what it asks for.

    Args:
        engine: Writes orders, in a process of their own.
        session: Lets the engine look at data.
        settings: Remember what was chosen last, and know the folder where orders go.
        theme: The theme of the application.
        window: The window that the wizard belongs to.
    """

    ordered = Signal(Path, OrderWritten)
    """An order was saved, and what it is."""
    record_wanted = Signal(Path)
    """An order that was saved is to be recorded here."""
    placed = Signal(str)
    """What was saved, as a sentence."""
    failed = Signal(Failure)

    def __init__(self, engine: Engine, session: Session, settings: Settings, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._engine = engine
        self._session = session
        self._settings = settings
        self._theme = theme
        self._window = window
        self.wizard: OrderWizard | None = None

    def rows(self) -> list[Row]:
        """The rows of the window's action table."""
        face = Face(
            self.tr("Order a &training\u2026"),
            "order",
            self.tr("Say what is to be trained, try the first step, and save the order"),
        )
        return [Row("order_training", face, self.show, "Ctrl+N")]

    def show(self) -> None:
        """Open the wizard with what was chosen last."""
        if self.wizard is not None:
            self.wizard.raise_()
            return
        aside = Aside(self._engine, self)
        ordering = Ordering(aside.ask, self)
        plan = OrderPlan(self._settings.store)
        wizard = self.wizard = OrderWizard(plan, ordering, self._session, self._theme, self._proposal, self._window)
        wizard.save_wanted.connect(self._save)
        wizard.record_wanted.connect(self.record_wanted)
        wizard.card_wanted.connect(self._save_card)
        wizard.print_wanted.connect(self._print)
        wizard.finished.connect(partial(self._closed, aside, ordering))
        open_dialog(wizard)

    def close(self) -> None:
        """Stop what is being written; for the end of the window."""
        if self.wizard is not None:
            self.wizard.ordering.stop()
            self.wizard.done(QDialog.DialogCode.Rejected.value)

    def _closed(self, aside: Aside, ordering: Ordering, _result: int) -> None:
        self.wizard = None
        ordering.stop()
        aside.close()
        ordering.deleteLater()
        aside.deleteLater()

    def _proposal(self, name: str) -> Path:
        """A name for an order that no file has yet."""
        return strangers.beside(self._settings.folder / f"{name}-order.cfoil", ".cfoil")

    # Files

    def _save(self, source: Path, target: Path) -> None:
        there = [path for path in (target, comparison_path(target)) if path.exists()]
        if there and self.wizard is not None:
            ask_to_replace(self.wizard, there, partial(self._copy, source, target))
        else:
            self._copy(source, target)

    def _copy(self, source: Path, target: Path) -> None:
        written = self.wizard.ordering.written if self.wizard is not None else None
        if written is not None:
            work = partial(_copy_order, source, target)
            self._session.submit(work, partial(self._copied, target, written))

    def _copied(self, target: Path, written: OrderWritten, result: JobResult) -> None:
        wizard = self.wizard
        if result.failure is not None:
            if wizard is not None:
                wizard.show_save_failure(result.failure)
            else:
                self.failed.emit(result.failure)
            return
        self._settings.folder = target.parent
        self.ordered.emit(target, written)
        self.placed.emit(self.tr("The order is saved: {0}").format(target))
        if wizard is not None:
            wizard.show_saved(target)

    def _save_card(self, card: Card) -> None:
        parent = self.wizard or self._window
        proposal = self._settings.folder / CARD_NAME
        title, kinds = self.tr("Save the card"), self.tr("Texts (*.txt)")
        if path := new_file(parent, title, proposal, kinds):
            work = partial(write_whole, path, card.as_text().encode(), what=say("the card"), replace=True)
            self._session.submit(work, partial(self._card_saved, path))

    def _card_saved(self, path: Path, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        else:
            self.placed.emit(self.tr("The card is saved: {0}").format(path))

    def _print(self, card: Card) -> None:
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        dialog = QPrintDialog(printer, self.wizard or self._window)
        dialog.setWindowTitle(self.tr("Print the card"))
        dialog.accepted.connect(lambda: print_card(card, printer))
        open_dialog(dialog)


def _copy_order(source: Path, target: Path) -> None:
    """Copy an order, and the comparison with its script where it has one; in the worker thread.

    Raises:
        CounterfoilError: A file cannot be read or written.
    """
    beside = comparison_path(target)
    # What lies there is of the order that is replaced: without it none of the two speaks of the other.
    with suppress(OSError):
        beside.unlink(missing_ok=True)
    copy_whole(source, target, what=say("the order"))
    if comparison_path(source).exists():
        copy_whole(comparison_path(source), beside, what=say("comparison with the script"))
