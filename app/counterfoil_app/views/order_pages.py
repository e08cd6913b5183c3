"""The pages of the order wizard up to the settings; each shows a part of the plan, and takes what is typed."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidgetItem,
    QWidget,
)

from counterfoil import PROFILE_COSTS, CommandOption, ProfileCost
from counterfoil.base.profilecosts import LEARNT, TIMED
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import order_words, text
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Tone
from counterfoil_app.model.order_plan import FIRST, FOLDER, PRECISION, OrderPlan, Stage
from counterfoil_app.views import layouts
from counterfoil_app.views.data_preview import PreviewView
from counterfoil_app.views.layouts import choices
from counterfoil_app.views.option_fields import OptionFields
from counterfoil_app.views.parts import Folded, Page, caption, clear_layout, enlarge, label, tell
from counterfoil_app.views.tables import item_table

TABLE_PIXELS = 215
SIDE = 8
"""Pixels around the text of a form."""


class WizardPage(Page):
    """A page: a heading, a notice of what is wrong, and below them its own.

    Args:
        stage: Which page it is.
        plan: What is being ordered.
    """

    changed = Signal(str)
    """The option of this name was changed; empty where it is another choice."""

    def __init__(self, stage: Stage, plan: OrderPlan) -> None:
        super().__init__(order_words.stage(stage))
        self.stage = stage
        self.plan = plan
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.heading = enlarge(caption(order_words.stage(stage), "title"), 1.25)
        self.lead = label("", "muted")
        self.notice = label("", "notice")
        self.notice.hide()
        layouts.fill(self.column, self.heading, self.lead, self.notice, spacing=8)

    def show_failure(self, failure: Failure) -> None:
        """Say what is wrong on this page, and lead to it."""
        self.say(failure_text(failure), Tone.BAD)
        self.focus_option(failure.role)

    def say(self, sentence: str, tone: Tone) -> None:
        """Say something above all else; nothing for an empty sentence."""
        tell(self.notice, sentence, tone)
        self.notice.setVisible(bool(sentence))
        if sentence:
            self.ensureWidgetVisible(self.notice)

    def focus_option(self, name: str) -> bool:
        """Give the keyboard to an option; returns whether it is here."""
        return False

    def enter(self) -> None:
        """Show what is chosen now, and give the keyboard to the first control."""

    @property
    def first(self) -> QWidget | None:
        """What has the keyboard when the page is entered."""
        return None


class _TitledDelegate(QStyledItemDelegate):
    """Draws a text of two lines with its first line bold."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw an item."""
        self.initStyleOption(option, index)
        title, _, about = str(index.data()).partition("\n")  # in the option a line end is another character
        option.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        role = option.palette.ColorRole.HighlightedText if chosen else option.palette.ColorRole.Text
        painter.save()
        painter.setPen(option.palette.color(role))
        inside = option.rect.adjusted(SIDE, SIDE // 2, -SIDE, -SIDE // 2)
        plain = QFont(painter.font())
        bold = QFont(plain)
        bold.setWeight(QFont.Weight.DemiBold)
        below = inside.adjusted(0, option.fontMetrics.lineSpacing(), 0, 0)
        painter.drawText(below, Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, about)
        painter.setFont(bold)
        painter.drawText(inside, Qt.AlignmentFlag.AlignTop, title)
        painter.restore()

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Room for the text at the width of the list."""
        about = str(index.data()).partition("\n")[2]
        view = option.widget
        width = view.viewport().width() if isinstance(view, QListWidget) else option.rect.width()
        room = QRect(0, 0, max(width - 2 * SIDE, 1), 1000)
        lines = option.fontMetrics.boundingRect(room, Qt.TextFlag.TextWordWrap, about)
        return QSize(0, option.fontMetrics.lineSpacing() + lines.height() + 2 * SIDE)


class WhatPage(WizardPage):
    """What is trained."""

    def __init__(self, plan: OrderPlan) -> None:
        super().__init__(Stage.WHAT, plan)
        self.lead.setText(self.tr("Choose what is trained; everything else follows from it."))
        self.forms = QListWidget()
        self.forms.setAccessibleName(self.heading.text())
        self.forms.setWordWrap(True)
        self.forms.setItemDelegate(_TitledDelegate(self.forms))
        self.forms.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.forms.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for form in plan.forms:
            title = order_words.form_title(form.name, form.about)
            item = QListWidgetItem(f"{title}\n{order_words.form_about(form.name, form.about)}")
            item.setData(Qt.ItemDataRole.UserRole, form.name)
            self.forms.addItem(item)
            if form is plan.form:
                self.forms.setCurrentItem(item)
        self.forms.currentItemChanged.connect(self._choose)
        layouts.fill(self.column, (self.forms, 1))

    @property
    def first(self) -> QWidget:
        """The list."""
        return self.forms

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.plan.choose(str(item.data(Qt.ItemDataRole.UserRole)))
            self.changed.emit("")


class FieldsPage(WizardPage):
    """A page with options, made anew for each form."""

    def __init__(self, stage: Stage, plan: OrderPlan) -> None:
        super().__init__(stage, plan)
        self.fields: list[OptionFields] = []
        self.help = label("", "muted")
        self._shown = ""

    @property
    def first(self) -> QWidget | None:
        """The first option."""
        return next((control for fields in self.fields for control in fields.controls.values()), None)

    def focus_option(self, name: str) -> bool:
        """Give the keyboard to an option; returns whether it is here."""
        return any(fields.focus(name) for fields in self.fields)

    def _made(self, options: tuple[CommandOption, ...], *, pairs: bool = False) -> OptionFields:
        fields = OptionFields(options, self.plan, pairs=pairs)
        fields.changed.connect(self._changed)
        fields.explained.connect(self._explain)
        self.fields.append(fields)
        return fields

    def _explain(self, sentence: str) -> None:
        self.help.setText(sentence)
        self.help.setVisible(bool(sentence))

    def _changed(self, name: str) -> None:
        self.say("", Tone.BAD)
        self.changed.emit(name)


class DataPage(FieldsPage):
    """What the model learns from, or the client's own code."""

    preview_wanted = Signal()

    def __init__(self, plan: OrderPlan) -> None:
        super().__init__(Stage.DATA, plan)
        place = QWidget()
        self._place = layouts.column(inside=place, margins=layouts.NONE)
        self.preview = PreviewView()
        layouts.fill(self.column, place, self.help, (self.preview, 1))

    def enter(self) -> None:
        """Show the options of what is trained."""
        if self._shown != self.plan.form.name:
            self._shown = self.plan.form.name
            clear_layout(self._place)
            self.fields.clear()
            self._explain("")
            options = self.plan.options(Stage.DATA)
            if self.plan.form.own_code:
                options = (
                    *options,
                    _own_folder(self.tr("The folder in which the code runs; empty for that of the script.")),
                )
            self._place.addWidget(self._made(options))
            self.heading.setText(order_words.stage(Stage.DATA, own_code=self.plan.form.own_code))
            self._lead()
        self.preview_wanted.emit()

    def _lead(self) -> None:
        sentence = self.tr("The data become part of the order: nobody can train on others unseen.")
        if self.plan.form.own_code:
            sentence = self.tr(
                "The code runs on this machine, as you, in a process of its own; never at the trainer's."
            )
        elif self.plan.brings_data:
            sentence = self.tr("The data come with this recipe; there is nothing to choose.")
        self.lead.setText(sentence)


def _own_folder(about: str) -> CommandOption:
    return CommandOption(FOLDER, "", "", "folder", "", "", (), None, None, False, about)


class SettingsPage(FieldsPage):
    """Steps, batch, seed, checkpoints, profile, and what the form has beside these."""

    def __init__(self, plan: OrderPlan) -> None:
        super().__init__(Stage.SETTINGS, plan)
        self.lead.setText(self.tr("What is left empty is as the grey text says."))
        place = QWidget()
        self._place = layouts.column(inside=place, margins=layouts.NONE, spacing=8)
        self.profile = QComboBox()
        self.costs = item_table([], self.tr("What precision profiles cost"))
        self.costs.setMinimumHeight(scale(TABLE_PIXELS))
        self.costs.itemSelectionChanged.connect(self._row_chosen)
        self.source = label(
            self.tr(
                "Time: a recorded step over one of float32 training, {0} and {1}, one thread. Loss: against float32 on "
                "held-out data, {2}, mean of five seeds. docs/profiles.md and docs/accuracy.md have all figures."
            ).format(*TIMED, LEARNT),
            "muted",
        )
        self.more = Folded(self.tr("More settings"))
        layouts.fill(self.column, place, self.help, 1)

    def enter(self) -> None:
        """Show the options of what is trained."""
        if self._shown == self.plan.form.name:
            return
        self._shown = self.plan.form.name
        for kept in (self.costs, self.source):
            kept.setParent(None)
        clear_layout(self._place)
        self.fields.clear()
        self._explain("")
        options = self.plan.options(Stage.SETTINGS)
        self._place.addWidget(self._made(tuple(each for each in options if each.name in FIRST), pairs=True))
        self._place.addWidget(self._profiles())
        self._place.addWidget(self.costs)
        self._place.addWidget(self.source)
        self.more = Folded(self.tr("More settings"))
        self.more.column.addWidget(self._made(tuple(each for each in options if each.name not in FIRST), pairs=True))
        self._place.addWidget(self.more)

    def focus_option(self, name: str) -> bool:
        """Give the keyboard to an option; returns whether it is here."""
        if name == PRECISION:
            self.profile.setFocus()
            return True
        if name in self.fields[-1].controls:
            self.more.button.setChecked(True)
        return super().focus_option(name)

    # The profile

    def _profiles(self) -> QWidget:
        title = QLabel(order_words.option(PRECISION))
        option = self.plan.form.option(PRECISION)
        assert option is not None
        names = [(name, name) for name in self.plan.profiles]
        own = [] if option.default else [(order_words.option_default(option), "")]
        self.profile = choices([*own, *names], self.plan.value(PRECISION), name=title.text())
        self.profile.currentIndexChanged.connect(self._profile_chosen)
        title.setBuddy(self.profile)
        self._fill()
        box = QWidget()
        layouts.row(title, self.profile, 1, inside=box, margins=layouts.NONE, spacing=10)
        return box

    def _fill(self) -> None:
        heads = [self.tr("Profile"), *(self.tr("Time: {0}").format(name.partition(",")[0]) for name in TIMED)]
        heads += [self.tr("Rounding log"), self.tr("Loss against float32")]
        measured = [name for name in self.plan.profiles if name in PROFILE_COSTS]
        self.costs.blockSignals(True)
        self.costs.setColumnCount(len(heads))
        self.costs.setHorizontalHeaderLabels(heads)
        self.costs.setRowCount(len(measured))
        for row, name in enumerate(measured):
            for column, cell in enumerate((name, *self._cells(PROFILE_COSTS[name]))):
                self.costs.setItem(row, column, QTableWidgetItem(cell))
        header = self.costs.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.costs.resizeColumnsToContents()
        header.setStretchLastSection(True)
        self.costs.blockSignals(False)
        self._mark()

    def _cells(self, cost: ProfileCost) -> list[str]:
        unmeasured = self.tr("not measured")
        times = [self.tr("{0} times").format(text.number(each)) for each in cost.times] or [unmeasured] * len(TIMED)
        log = self.tr("yes") if cost.log else self.tr("no")
        if cost.loss_difference is None:
            return [*times, log, unmeasured]
        sign = "+" if cost.loss_difference > 0 else ""
        loss = f"{sign}{text.number(cost.loss_difference)}"
        if cost.beyond_spread:
            loss = self.tr("{0}, beyond the spread of seeds").format(loss)
        return [*times, log, loss]

    def _profile_chosen(self, _place: int) -> None:
        self.plan.set(PRECISION, str(self.profile.currentData()))
        self._mark()
        self._changed(PRECISION)

    def _row_chosen(self) -> None:
        rows = layouts.chosen_rows(self.costs)
        item = self.costs.item(rows[0], 0) if rows else None
        if item is not None:
            self.profile.setCurrentIndex(self.profile.findData(item.text()))

    def _mark(self) -> None:
        chosen = self.plan.value(PRECISION)
        rows = [
            row for row in range(self.costs.rowCount()) if (item := self.costs.item(row, 0)) and item.text() == chosen
        ]
        self.costs.blockSignals(True)
        if rows:
            self.costs.selectRow(rows[0])
        else:
            self.costs.clearSelection()
        self.costs.blockSignals(False)
