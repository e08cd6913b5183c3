"""The last two pages of the order wizard: the first step is tried, and the order is shown and saved."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QProgressBar, QSizePolicy, QWidget

from counterfoil import CounterfoilError, OrderWritten
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import order_words, text
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.fonts import fixed_font
from counterfoil_app.looks.theme import Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.order_plan import OUT, TRIAL, OrderPlan, Stage
from counterfoil_app.model.orders import Ordering
from counterfoil_app.views import layouts
from counterfoil_app.views.digest_card import Card, CardView
from counterfoil_app.views.layouts import button, line_edit, new_file
from counterfoil_app.views.order_pages import WizardPage
from counterfoil_app.views.parts import Field, FieldGrid, caption, label, tell

YES, NO = "yes", "no"
LINES = 3


class CommandBox(QWidget):
    """The command line that orders the same, to be copied."""

    def __init__(self) -> None:
        super().__init__()
        title = caption(self.tr("The same order by the command line"), "section")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(fixed_font())
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(title.text())
        self.text.setFixedHeight((LINES + 1) * self.text.fontMetrics().lineSpacing())
        self.copy = button(self.tr("Copy the &command"), self._copy)
        head = layouts.row((title, 1), self.copy)
        layouts.column(head, self.text, inside=self, margins=layouts.NONE, spacing=4)

    def show_command(self, plan: OrderPlan, out: Path) -> None:
        """Show the command line for a plan."""
        try:
            command = plan.command(out)
        except CounterfoilError as error:
            command = failure_text(Failure.of(error))
        if command != self.text.toPlainText():
            self.text.setPlainText(command)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())


class TryPage(WizardPage):
    """The first step is tried, and the order written into a folder of the wizard's own."""

    stopped = Signal()

    def __init__(self, plan: OrderPlan, ordering: Ordering) -> None:
        super().__init__(Stage.TRY, plan)
        self._ordering = ordering
        self.trial = QCheckBox(order_words.option(TRIAL))
        set_tip(self.trial, self.tr("Leave it out for jobs that only a larger machine can execute."))
        self.trial.toggled.connect(self._trial_chosen)
        self.command = CommandBox()
        self.said = label("", "muted")
        self.bar = QProgressBar()
        self.bar.setAccessibleName(self.tr("Progress of the order"))
        self.stop = button(self.tr("&Stop"), self.stopped)
        self.warning = label("", "notice")
        self.results = FieldGrid()
        self.notes = label("", "muted")
        working = layouts.row((self.bar, 1), self.stop)
        parts = (self.trial, self.said, working, self.warning, self.results, self.notes, 1, self.command)
        layouts.fill(self.column, *parts)
        ordering.changed.connect(self.refresh)

    @property
    def first(self) -> QWidget | None:
        """Nothing: the keyboard is at the button that begins."""
        return None

    def focus_option(self, name: str) -> bool:
        """Give the keyboard to an option; returns whether it is here."""
        if name == TRIAL:
            self.trial.setFocus()
        return name == TRIAL

    def enter(self) -> None:
        """Show what is chosen."""
        lead = self.tr(
            "The first step is executed on this machine before the order is written, so that it does not fail "
            "at the trainer. It shows what a step takes."
        )
        if self.plan.compares:
            lead += " " + self.tr(
                "The script itself runs here, too, in a copy of its folder: each step of the order is compared with "
                "what the script does, and whatever differs is refused."
            )
        self.lead.setText(lead)
        self.trial.blockSignals(True)
        self.trial.setChecked(self.plan.value(TRIAL) != NO)
        self.trial.blockSignals(False)
        self.refresh()

    def refresh(self) -> None:
        """Show how far it is, and what was found."""
        ordering = self._ordering
        working, written = ordering.working, ordering.written
        self.trial.setEnabled(not working)
        for part in (self.bar, self.stop, self.said):
            part.setVisible(working)
        if working:
            progress = ordering.progress
            self.said.setText(order_words.progress(progress, ordering.seconds_left))
            total = 0 if progress is None else progress.total
            self.bar.setRange(0, total)
            self.bar.setValue(0 if progress is None else min(round(progress.done), total))
        self.results.setVisible(written is not None)
        warnings = "\n".join(written.warnings) if written is not None else ""
        tell(self.warning, warnings, Tone.WARN)
        self.warning.setVisible(bool(warnings))
        self.notes.setText("\n".join(written.notes) if written is not None else "")
        self.notes.setVisible(bool(self.notes.text()))
        if written is not None:
            self.results.show_fields(self._fields(written))

    def _trial_chosen(self, checked: bool) -> None:
        self.plan.set(TRIAL, YES if checked else NO)
        self.changed.emit(TRIAL)

    def _fields(self, written: OrderWritten) -> list[Field]:
        expected = written.expected
        steps = text.count(written.steps)
        fields = [Field(self.tr("A step takes"), text.step(expected.step_bytes, expected.flops))]
        if expected.first_seconds is not None and expected.seconds is not None:
            first = [_seconds(expected.first_seconds)]
            if expected.loss is not None:
                first.append(self.tr("loss {0}").format(text.loss(expected.loss)))
            first += [f"{name} {text.count(count)}" for name, count in expected.scores]
            fields.append(Field(self.tr("First step, on this machine"), ", ".join(first)))
            whole = self.tr("less than {0} at that speed: the first step also prepares what the others use").format(
                text.duration(expected.seconds)
            )
            fields.append(Field(self.tr("All {0} steps, here").format(steps), whole))
        size = self.tr("about {0}").format(text.amount(expected.run_bytes + (expected.log_bytes or 0)))
        if expected.log_bytes is None:
            size = self.tr("{0}, without the rounding log").format(size)
        elif expected.log_bytes:
            size = self.tr("{0}, of that {1} of rounding log").format(size, text.amount(expected.log_bytes))
        fields.append(Field(self.tr("The run of {0} steps").format(steps), size))
        fields.append(Field(self.tr("The order file"), text.amount(written.order_bytes)))
        return fields


class SavePage(WizardPage):
    """The digest card, and where the order goes."""

    save_wanted = Signal()
    card_wanted = Signal()
    print_wanted = Signal()
    target_changed = Signal()

    def __init__(self, plan: OrderPlan) -> None:
        super().__init__(Stage.SAVE, plan)
        self.lead.setText(
            self.tr(
                "The order is ready. Its digest names it: note it, so that nobody can give you another order for it."
            )
        )
        self.card = CardView()
        self.card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)  # its lines are not cut
        self.copy = button(self.tr("Copy the &digest"), self._copy)
        self.keep = button(self.tr("Save the card as &text\u2026"), self.card_wanted)
        self.print = button(self.tr("&Print the card\u2026"), self.print_wanted)
        self.target = line_edit(name=self.tr("Order file"))
        self.target.textChanged.connect(self.target_changed)
        self.browse = button(self.tr("Choose\u2026"), self._choose, name=self.tr("Choose where the order goes"))
        self.save = button(self.tr("&Save order"), self.save_wanted, primary=True)
        self.command = CommandBox()
        title = caption(self.tr("Order file"), wrap=False)
        title.setBuddy(self.target)
        parts = (
            self.card,
            layouts.row(self.copy, self.keep, self.print, 1),
            layouts.row(title, (self.target, 1), self.browse, self.save),
            1,
            self.command,
        )
        layouts.fill(self.column, *parts)

    @property
    def first(self) -> QWidget:
        """The button that saves."""
        return self.save

    @property
    def path(self) -> Path:
        """Where the order goes."""
        return Path(self.target.text().strip() or "order.cfoil").expanduser().absolute()

    def focus_option(self, name: str) -> bool:
        """Give the keyboard to an option; returns whether it is here."""
        if name == OUT:
            self.target.setFocus()
        return name == OUT

    def show_card(self, card: Card) -> None:
        """Show the card of an order."""
        self.card.show_card(card)

    def show_saved(self, path: Path) -> None:
        """Say that the order lies there, and what comes next."""
        self.say(
            self.tr(
                "Saved: {0}. Keep it, and give the trainer a copy. It is unsigned: 'counterfoil sign-order' "
                "signs it with your key."
            ).format(path),
            Tone.OK,
        )

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.card.digest.text().replace("\n", " ").replace(" ", ""))

    def _choose(self) -> None:
        if path := new_file(self, self.tr("Save the order"), self.path, self.tr("Orders (*.cfoil)")):
            self.target.setText(str(path if path.suffix else path.with_suffix(".cfoil")))


def _seconds(seconds: float) -> str:
    return text.duration(seconds) if seconds >= 10 else f"{text.number(round(seconds, 2))} s"
