"""The order wizard: pages beside a list of them. Back and forward lose nothing, nor does closing it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, QTemporaryDir, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QStackedWidget, QWidget

from counterfoil import CounterfoilError, DataPreview
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.looks import icons, order_words
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.order_plan import OUT, TRIAL, OrderPlan, Stage
from counterfoil_app.model.orders import Ordering
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_leave_order
from counterfoil_app.views.digest_card import Card
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.layouts import button
from counterfoil_app.views.order_ending import SavePage, TryPage
from counterfoil_app.views.order_pages import DataPage, SettingsPage, WhatPage, WizardPage

SIZE = QSize(1020, 680)
LIST_PIXELS = 40
"""Pixels beside the names of the pages."""
ICON_PIXELS = 16


class OrderWizard(QDialog):
    """Asks what is ordered, lets it be tried, and shows what was written.

    Args:
        plan: What is being ordered.
        ordering: Writes the order.
        session: Lets the engine look at data.
        theme: Colours the icons.
        proposal: Where an order of a name is best saved.
    """

    save_wanted = Signal(Path, Path)
    """The order that was written, and where it goes."""
    record_wanted = Signal(Path)
    """The order that was saved is to be recorded here; the wizard is closed."""
    card_wanted = Signal(object)
    """A card, to be saved as a text."""
    print_wanted = Signal(object)
    """A card, to be printed."""

    def __init__(
        self,
        plan: OrderPlan,
        ordering: Ordering,
        session: Session,
        theme: Theme,
        proposal: Callable[[str], Path],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Order a training"))
        self.plan = plan
        self.ordering = ordering
        self._session = session
        self._theme = theme
        self._proposal = proposal
        self._proposed = Path()
        self._scratch = QTemporaryDir()
        self._tried = 0
        self._looked = 0
        self.saved: Path | None = None
        self.card: Card | None = None
        self.what, self.data, self.settings = WhatPage(plan), DataPage(plan), SettingsPage(plan)
        self.trying, self.saving = TryPage(plan, ordering), SavePage(plan)
        self.pages: tuple[WizardPage, ...] = (self.what, self.data, self.settings, self.trying, self.saving)
        self.stages = QListWidget()
        self.stack = QStackedWidget()
        self.back = button(self.tr("&Back"), lambda: self.go(self.stage.value - 1))
        self.next = button(self.tr("&Next"), self.forward, primary=True)
        self.record = button(self.tr("&Record it here\u2026"), self._record)
        set_tip(self.record, self.tr("If you are the trainer as well: the order goes on to the recording"))
        self.leave = button(self.tr("Close"), self.reject)
        self.next.setDefault(True)
        self.leave.setAutoDefault(False)
        self.back.setAutoDefault(False)
        self.record.setAutoDefault(False)
        self._put_together()
        self._connect()
        self.go(0)

    # Making

    def _put_together(self) -> None:
        self.stages.setAccessibleName(self.tr("Pages"))
        self.stages.setIconSize(QSize(scale(ICON_PIXELS), scale(ICON_PIXELS)))
        self.stages.setFrameShape(QListWidget.Shape.NoFrame)
        self.stages.setWordWrap(True)
        for page in self.pages:
            self.stages.addItem(QListWidgetItem(order_words.stage(page.stage)))
            self.stack.addWidget(page)
        self.stages.setFixedWidth(self.stages.sizeHintForColumn(0) + scale(LIST_PIXELS))
        middle = layouts.row(self.stages, (self.stack, 1), spacing=10)
        below = layouts.row(1, self.back, self.next, self.record, self.leave, spacing=8)
        layouts.column((middle, 1), below, inside=self, spacing=10)
        fit_to_screen(self, QSize(scale(SIZE.width()), scale(SIZE.height())))

    def _connect(self) -> None:
        for page in self.pages:
            page.changed.connect(partial(self._changed, page))
        self.stages.currentRowChanged.connect(self.go)
        self.data.preview_wanted.connect(self._look_at_data)
        self.trying.stopped.connect(self.ordering.stop)
        self.ordering.changed.connect(self._ordered)
        self.saving.save_wanted.connect(self._save)
        self.saving.target_changed.connect(self._show_command)
        self.saving.card_wanted.connect(lambda: self.card_wanted.emit(self.card))
        self.saving.print_wanted.connect(lambda: self.print_wanted.emit(self.card))
        self._theme.changed.connect(self._refresh)
        for keys, do in ((QKeySequence.StandardKey.Forward, self.forward), ("Ctrl+Return", self.forward)):
            QShortcut(QKeySequence(keys), self).activated.connect(do)

    # Where one is

    @property
    def stage(self) -> Stage:
        """The page that is shown."""
        return Stage(max(self.stack.currentIndex(), 0))

    def forward(self) -> None:
        """Do what the obvious button does: go on, or write the order."""
        if not self.next.isEnabled():
            return
        if self.stage is Stage.TRY and self.ordering.written is None:
            self._begin()
        else:
            self.go(self.stage.value + 1)

    def go(self, place: int) -> None:
        """Show a page, or the first before it on which something is lacking."""
        wanted = Stage(min(max(place, 0), len(self.pages) - 1))
        for page in self.pages[: wanted.value]:
            if problem := self._problem(page):
                sentence, option = problem
                self._show(page)
                page.say(sentence, Tone.WARN)
                page.focus_option(option)
                return
        self._show(self.pages[wanted.value])

    def _show(self, page: WizardPage) -> None:
        self.stack.setCurrentWidget(page)
        self.next.setDefault(True)
        page.enter()
        if page.stage in (Stage.TRY, Stage.SAVE):
            proposed = self._proposal(self.plan.form.name)
            if self.saving.target.text() in ("", str(self._proposed)):
                self._proposed = proposed
                self.saving.target.setText(str(proposed))
            self._show_command()
        self._refresh()
        first = page.first or self.next
        first.setFocus()

    def _problem(self, page: WizardPage) -> tuple[str, str] | None:
        """What is lacking on a page, as a sentence, and the option that it is about."""
        missing = self.plan.missing(page.stage)
        if missing is not None:
            return self.tr("Needed: {0}.").format(order_words.option(missing.name)), missing.name
        for option in self.plan.wrong(page.stage):
            return self._why_wrong(option.name), option.name
        if page.stage is Stage.TRY and self.ordering.written is None:
            return self.tr("Try the first step first; then the order can be saved."), TRIAL
        return None

    def _why_wrong(self, name: str) -> str:
        option = self.plan.form.option(name)
        assert option is not None
        kind = self.tr("a whole number") if option.kind == "integer" else self.tr("a number")
        if option.least is None:
            return self.tr("{0} takes {1}.").format(order_words.option(name), kind)
        if option.most is None:
            return self.tr("{0} takes {1}, {2} or more.").format(order_words.option(name), kind, f"{option.least:g}")
        return self.tr("{0} takes {1}, {2} to {3}.").format(
            order_words.option(name), kind, f"{option.least:g}", f"{option.most:g}"
        )

    def _changed(self, page: WizardPage, name: str) -> None:
        """What was written is of another plan now."""
        self.saved = None
        if self.ordering.written is not None or self.ordering.working or self.ordering.failure is not None:
            self.ordering.forget()
            self.saving.say("", Tone.OK)
        if page is self.data and name in ("data", "text", "script"):
            self._look_at_data()
        self._show_command()
        self._refresh()

    # The data

    def _look_at_data(self) -> None:
        self._looked += 1
        view, path = self.data.preview, self.plan.previewed
        if path is None and not self.plan.brings_data:
            view.say("")
        elif path is not None and not path.exists():
            view.say(self.tr("There is no file or folder of this name."))
        elif self._session.running:
            view.say(self.tr("A replay is running; the data can be looked at when it is over."))
        else:
            form = self.plan.form.name
            self._session.ask(lambda engine: engine.preview_data(form, path), partial(self._seen, self._looked))

    def _seen(self, number: int, result: JobResult) -> None:
        if number != self._looked:
            return  # of what was named before
        if result.failure is not None:
            self.data.preview.show_failure(result.failure)
        elif isinstance(result.value, DataPreview):
            self.data.preview.show_preview(result.value)

    # The order

    @property
    def written_to(self) -> Path:
        """Where the order lies until it is saved."""
        return Path(self._scratch.path()) / f"order-{self._tried}.cfoil"

    def _begin(self) -> None:
        self.trying.say("", Tone.BAD)
        self._tried += 1
        try:
            arguments = self.plan.arguments(self.written_to)
        except CounterfoilError as error:
            self.trying.show_failure(Failure.of(error))
            return
        self.plan.remember()
        self.ordering.order(arguments, self.plan.folder)

    def _ordered(self) -> None:
        ordering = self.ordering
        if ordering.failure is not None and not ordering.working:
            self._show_failure(ordering.failure)
        elif ordering.written is not None:
            self.card = Card(ordering.written, self.plan.command(self.saving.path), date.today())
            self.saving.show_card(self.card)
        self._refresh()
        if self.stage is Stage.TRY and not ordering.working:
            self.next.setFocus()

    def _show_failure(self, failure: Failure) -> None:
        """Show why nothing was written on the page that this is about."""
        page = self.pages[self.plan.stage_of(failure.role).value]
        if page is self.saving:
            page = self.trying
        self._show(page)
        page.show_failure(failure)

    def _save(self) -> None:
        if self.ordering.written is not None:
            self.save_wanted.emit(self.written_to, self.saving.path)

    def _record(self) -> None:
        if (saved := self.saved) is not None:
            self.reject()
            self.record_wanted.emit(saved)

    def show_saved(self, path: Path) -> None:
        """Know that the order was saved."""
        self.saved = path
        self.saving.show_saved(path)
        self._refresh()
        self.leave.setDefault(True)  # so that Enter presses it
        self.leave.setFocus()

    def show_save_failure(self, failure: Failure) -> None:
        """Say why it was not."""
        self.saving.show_failure(failure)
        self.saving.focus_option(OUT)

    def _show_command(self) -> None:
        for page in (self.trying, self.saving):
            page.command.show_command(self.plan, self.saving.path)
        if self.ordering.written is not None:
            self.card = Card(self.ordering.written, self.plan.command(self.saving.path), date.today())

    # Showing

    def _refresh(self) -> None:
        stage, ordering = self.stage, self.ordering
        self.back.setEnabled(stage is not Stage.WHAT and not ordering.working)
        writes = stage is Stage.TRY and ordering.written is None
        tries = self.plan.value(TRIAL) != "no"
        self.next.setText(
            self.tr("&Next") if not writes else self.tr("&Try the first step") if tries else self.tr("&Write the order")
        )
        self.next.setVisible(stage is not Stage.SAVE)
        self.next.setEnabled(not ordering.working)
        self.record.setVisible(stage is Stage.SAVE and self.saved is not None)
        self.stages.setEnabled(not ordering.working)
        tokens = self._theme.tokens
        self.stages.blockSignals(True)
        self.stages.setCurrentRow(stage.value)
        for place, page in enumerate(self.pages):
            done = place < stage.value or (page is self.saving and self.saved is not None)
            look = ("passed", tokens.tone(Tone.OK)) if done else ("pending", tokens.muted)
            item = self.stages.item(place)
            item.setText(order_words.stage(page.stage, own_code=self.plan.form.own_code))
            item.setIcon(icons.icon(*(("running", tokens.accent) if place == stage.value and not done else look)))
        self.stages.blockSignals(False)

    # Closing

    def reject(self) -> None:
        """Close; asks where an order was written and not saved."""
        if self.ordering.written is not None and self.saved is None:
            ask_to_leave_order(self, self._leave)
        else:
            self._leave()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Close as the button does."""
        event.ignore()
        self.reject()

    def _leave(self) -> None:
        self.ordering.stop()
        self.plan.remember()
        self._looked += 1
        self.done(QDialog.DialogCode.Accepted.value if self.saved is not None else QDialog.DialogCode.Rejected.value)
        self._scratch.remove()
