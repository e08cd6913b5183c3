"""The table of steps: what the trainer recorded, and what the replay made of it; filtered, searched and copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QLineEdit, QSpinBox, QTableView, QWidget

from counterfoil import Digest, StepMatch, StepRow
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.model.session import Session
from counterfoil_app.model.step_data import StepData, StepFilter, StepState
from counterfoil_app.model.step_search import NotUnderstood, columns, search
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.search_box import KeptSearches, WordCompleter
from counterfoil_app.views.tables import AnyIndex, Column, FrozenColumn, RecordTable, copy_rows, table_view

ICON_CHARACTERS = 5
"""Room of an icon beside a word."""
REFILTER_MILLISECONDS = 250
"""A filtered table follows the replay four times a second."""


@dataclass(frozen=True)
class StepLine:
    """One line: what the trainer recorded of a step, and the replay's result once there is one."""

    step: int
    trainer_loss: float
    log_entries: int
    log_bytes: int
    trainer_leaf: Digest | None
    row: StepRow | None
    state: StepState


_tr = texts("steps")


def _counted(line: StepLine, amount: Callable[[StepRow], int]) -> str:
    """A count over the log: of matching steps alone, as everywhere; the log of any other belongs to other values."""
    if line.row is None:
        return ""
    return text.count(amount(line.row)) if line.row.match is StepMatch.MATCH else "\u2013"


def _suspicious(line: StepLine, amount: Callable[[StepRow], int]) -> Look | None:
    """Mark a count that should be 0: only in a matching step, since the log of any other belongs to other values."""
    row = line.row
    if row is None or row.match is not StepMatch.MATCH or amount(row) == 0:
        return None
    return Look(_tr("should be 0"), "warning", Tone.BAD)


def step_columns() -> list[Column[StepLine]]:
    """The columns of the step table."""
    states = {value: words.step_state(value) for value in StepState}
    matches = {value: words.step_match(value) for value in StepMatch}
    longest = max(len(look.word) for look in (*states.values(), *matches.values()))

    def match_look(line: StepLine) -> Look:
        return states[line.state] if line.row is None else matches[line.row.match]

    return [
        Column(_tr("Step"), lambda line: text.count(line.step), 7, numeric=True),
        Column(_tr("Match"), lambda line: match_look(line).word, longest + ICON_CHARACTERS, look=match_look),
        Column(
            _tr("Trainer's leaf"),
            lambda line: line.trainer_leaf.short if line.trainer_leaf else "",
            12,
            fixed=True,
            tip=lambda line: line.trainer_leaf.hex if line.trainer_leaf else "",
        ),
        Column(
            _tr("Replay's leaf"),
            lambda line: line.row.replay_leaf.short if line.row and line.row.replay_leaf else "",
            12,
            fixed=True,
            tip=lambda line: line.row.replay_leaf.hex if line.row and line.row.replay_leaf else "",
        ),
        Column(_tr("Trainer's loss"), lambda line: text.loss(line.trainer_loss), 10, numeric=True),
        Column(
            _tr("Replay's loss"), lambda line: text.loss(line.row.replay_loss) if line.row else "", 10, numeric=True
        ),
        Column(_tr("Corrections"), lambda line: _counted(line, lambda row: row.corrections), 8, numeric=True),
        Column(
            _tr("Contradictions"),
            lambda line: _counted(line, lambda row: row.contradictions),
            8,
            numeric=True,
            look=lambda line: _suspicious(line, lambda row: row.contradictions),
        ),
        Column(
            _tr("Omissions"),
            lambda line: _counted(line, lambda row: row.omissions),
            8,
            numeric=True,
            look=lambda line: _suspicious(line, lambda row: row.omissions),
        ),
        Column(_tr("Log entries"), lambda line: text.count(line.log_entries), 9, numeric=True),
        Column(_tr("Log bytes"), lambda line: text.count(line.log_bytes), 9, numeric=True),
        Column(
            _tr("Seconds"), lambda line: text.digits(f"{line.row.seconds:.3f}") if line.row else "", 8, numeric=True
        ),
    ]


def _leaf_key(data: StepData, name: str) -> npt.NDArray[np.float64]:
    leaves = np.ascontiguousarray(data.table.column(name)[:, :8]).view(">u8").reshape(-1)
    places = np.unique(leaves, return_inverse=True)[1].astype(np.float64)
    return np.where(data.table.has_row, places, np.nan)


SORT_KEYS = (
    "step",
    "state",
    "trainer_leaf",
    "replay_leaf",
    "loss",
    "replay_loss",
    "corrections",
    "contradictions",
    "omissions",
    "entries",
    "bytes",
    "seconds",
)
"""What each column is sorted by: its place in :func:`sort_key`."""


def sort_key(data: StepData, name: str) -> npt.NDArray[np.float64]:
    """What steps are sorted by: float64 ``[steps]``, not a number where nothing is known."""
    if name == "state":
        return data.states.astype(np.float64)
    return _leaf_key(data, name) if name.endswith("leaf") else columns(data)[name].astype(np.float64)


class StepsModel(RecordTable[StepLine]):
    """The steps of the session's run that a filter lets through.

    Lines are made when they are painted, so their number costs nothing.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(step_columns(), theme, parent)
        self._session = session
        self._filter = StepFilter.ALL
        self._count = 0
        self._wanted = ""
        self._sorted = (-1, Qt.SortOrder.AscendingOrder)
        self._shown: npt.NDArray[np.intp] | None = None
        """Positions of the shown steps; None while all are shown."""
        self._later = single_shot(self, REFILTER_MILLISECONDS, self.refilter)
        session.bundle_changed.connect(self._replace)
        session.rows_changed.connect(self._add)
        session.sample_chosen.connect(self._sample_chosen)

    @property
    def filter(self) -> StepFilter:
        """Which steps are shown."""
        return self._filter

    def show_only(self, wanted: StepFilter) -> None:
        """Show other steps."""
        if wanted is not self._filter:
            self._filter = wanted
            self._replace()

    def search(self, wanted: str) -> None:
        """Show those steps only that are meant.

        Raises:
            NotUnderstood: Nothing is meant; all stays as it is.
        """
        search(self._session.step_data, wanted)
        if wanted.strip() != self._wanted:
            self._wanted = wanted.strip()
            self._replace()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 is the order of the steps."""
        if (column, order) != self._sorted:
            self._sorted = (column, order)
            self._replace()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Number of shown steps."""
        return 0 if parent.isValid() else self._count if self._shown is None else len(self._shown)

    def step_of(self, row: int) -> int:
        """The step in a row."""
        return row + 1 if self._shown is None else int(self._shown[row]) + 1

    def row_of(self, step: int) -> int | None:
        """The row of a step; None when it is not shown."""
        if self._shown is None:
            return step - 1 if 1 <= step <= self._count else None
        found = np.flatnonzero(self._shown == step - 1)
        return int(found[0]) if len(found) else None

    def record(self, row: int) -> StepLine | None:
        """The line of a row."""
        step = self.step_of(row)
        state, table = self._session.step_data.state(step), self._session.steps
        if state is None:
            return None
        return StepLine(
            step,
            float(table.column("trainer_loss")[step - 1]),
            int(table.column("log_entries")[step - 1]),
            int(table.column("log_bytes")[step - 1]),
            table.trainer_leaf(step),
            table.row(step),
            state,
        )

    def refilter(self) -> None:
        """Let the filter look again; steps that only came on at the end keep the selection and the place."""
        self._later.stop()
        if self._shown is None:
            return
        found = self._select()
        old = len(self._shown)
        if len(found) == old and np.array_equal(found, self._shown):
            return
        if old and len(found) > old and np.array_equal(found[:old], self._shown):
            self.beginInsertRows(QModelIndex(), old, len(found) - 1)
            self._shown = found
            self.endInsertRows()
        else:
            self._replace()

    def _replace(self) -> None:
        self.beginResetModel()
        self._count = self._session.step_data.count
        plain = self._filter is StepFilter.ALL and not self._wanted and self._sorted[0] < 0
        self._shown = None if plain else self._select()
        self.endResetModel()

    def _select(self) -> npt.NDArray[np.intp]:
        """The positions of the steps to show, in their order."""
        data = self._session.step_data
        shown = data.select(self._filter)
        shown = shown[search(data, self._wanted)[shown]]
        column, order = self._sorted
        if column < 0:
            return shown
        keys = sort_key(data, SORT_KEYS[column])[shown]
        down = order is Qt.SortOrder.DescendingOrder
        # What is not known stands at the end either way.
        return shown[np.argsort(-keys if down else keys, kind="stable")]

    def _sample_chosen(self) -> None:
        self.forget_lines()
        if self._shown is None:
            self._repaint()
        else:
            self.refilter()

    def _add(self, first: int, last: int) -> None:
        if self._shown is not None:
            self.forget_lines()
            if not self._later.isActive():
                self._later.start()
            return
        self.dataChanged.emit(self.index(first - 1, 0), self.index(last - 1, len(self.columns) - 1))


class StepsView(QWidget):
    """The step table with its filter and search, a box to jump to a step, and actions for the menu."""

    copied = Signal(str)
    """What was copied, as a sentence."""
    view_wanted = Signal(str)
    """The name of the view that is to show the chosen step."""
    dispute_wanted = Signal()
    """Enter was pressed, or a double click made, on a mismatch."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.model = StepsModel(session, theme, self)
        self.table = table_view(self.model, self.tr("Steps"), self)
        self.table.setSelectionMode(QTableView.SelectionMode.ExtendedSelection)
        header = self.table.horizontalHeader()
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.table.setSortingEnabled(True)
        self.frozen = FrozenColumn(self.table)
        self.table.activated.connect(self._activated)
        names = (
            self.tr("All steps"),
            self.tr("Mismatches"),
            self.tr("With corrections"),
            self.tr("Suspicious logs"),
            self.tr("Not judged"),
        )
        shown = zip(names, StepFilter, strict=True)
        self.show_only = layouts.choices(shown, name=self.tr("Which steps are shown"))
        self.show_only.currentIndexChanged.connect(self._filter_chosen)
        self.wanted = layouts.line_edit(
            name=self.tr("Search steps by number, hash or condition"),
            hint=self.tr("Search: 10-20, hash, loss > 1"),
            clearable=True,
        )
        set_tip(
            self.wanted,
            self.tr(
                "Steps (10-20, 37), the beginning of a hash (#3eeb), or a condition (loss > 1 and corrections == 0)"
            ),
        )
        self.wanted.setMinimumWidth(self.fontMetrics().averageCharWidth() * 14)
        self.wanted.textChanged.connect(self._search)
        words_known = [*columns(StepData()), "and", "or", "not", "abs"]
        self.completer = WordCompleter(words_known, self.wanted)
        self.keep_search = layouts.action(self, self.tr("&Keep this search as a button"), "", self._keep_search)
        self.keep_search.setEnabled(False)
        self.wanted.addAction(self.keep_search, QLineEdit.ActionPosition.TrailingPosition)
        follow(self._draw_icons, theme.changed)
        self._theme = theme
        self._draw_icons()
        self.searches = KeptSearches()
        self.searches.chosen.connect(self.wanted.setText)
        self.jump = QSpinBox()
        self.jump.setAccessibleName(self.tr("Go to step"))
        set_tip(self.jump, self.tr("Go to this step (Enter)"))
        self.jump.setPrefix(self.tr("Step") + " ")
        self.jump.setGroupSeparatorShown(True)
        self.jump.setKeyboardTracking(False)
        self.jump.setMinimumWidth(self.fontMetrics().averageCharWidth() * 17)
        self.jump.valueChanged.connect(self._jumped)
        self.follow = QCheckBox(self.tr("Follow the replay"))
        self.follow.setChecked(True)
        self.problem = label("", "notice")
        restyle(self.problem, "tone", Tone.WARN.value)
        self.empty = label("", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._said = QWidget()
        layouts.row(self.problem, inside=self._said, margins=(10, 0, 10, 4))
        self._said.hide()
        controls = (self.show_only, (self.wanted, 2), self.jump, 1, self.follow)
        bar = layouts.row(*controls, margins=(10, 4, 10, 4), spacing=10)
        kept = layouts.row((self.searches, 1), margins=(10, 0, 10, 0))
        below = (bar, kept, self._said, (self.table, 1), (self.empty, 1))
        layouts.column(*below, inside=self, margins=layouts.NONE, spacing=0)
        self._make_actions()
        self.table.selectionModel().currentRowChanged.connect(self._chosen)
        follow(self._show_rows, self.model.modelReset, self.model.rowsInserted, session.sample_chosen)
        self.model.modelReset.connect(self._select_again)
        session.rows_changed.connect(self._grown)
        session.bundle_changed.connect(self._reset)
        session.dispute_changed.connect(self._show_dispute)
        session.step_selected.connect(self.show_step)
        self._reset()

    def _make_actions(self) -> None:
        copies = (self.tr("Copy the &trainer's hash"), self.tr("Copy the &replay's hash"))
        action = partial(layouts.action, self)
        self.go_action = action(self.tr("&Go to step\u2026"), "Ctrl+G", lambda: self._focus(self.jump))
        self.next_action = action(self.tr("&Next mismatch"), "F8", lambda: self._next(1))
        self.previous_action = action(self.tr("&Previous mismatch"), "Shift+F8", lambda: self._next(-1))
        self.copy_trainer_action = action(copies[0], "Ctrl+Alt+C", lambda: self._copy(trainer=True))
        self.search_action = action(self.tr("&Search\u2026"), "Ctrl+F", lambda: self._focus(self.wanted))
        self.copy_rows_action = action(self.tr("Copy the chosen &lines"), "Ctrl+Alt+R", lambda: copy_rows(self.table))
        self.copy_replay_action = action(copies[1], "Ctrl+Alt+Shift+C", lambda: self._copy(trainer=False))
        shown = {
            "dispute": self.tr("Show in &Dispute"),
            "merkle": self.tr("Show in &Merkle"),
            "divergence": self.tr("Show in Di&vergence"),
        }
        self.show_actions = {
            name: layouts.action(self, title, "", partial(self.view_wanted.emit, name)) for name, title in shown.items()
        }
        layouts.context_menu(
            self.table,
            list(self.show_actions.values()),
            [self.copy_trainer_action, self.copy_replay_action, self.copy_rows_action],
            [self.next_action, self.previous_action],
        )

    def actions_for_menu(self) -> list[QAction]:
        """What the window's menu offers of this view."""
        return [
            self.go_action,
            self.search_action,
            self.keep_search,
            self.next_action,
            self.previous_action,
            self.copy_trainer_action,
            self.copy_replay_action,
            self.copy_rows_action,
        ]

    def show_step(self, step: int) -> None:
        """Select a step and bring it into view; a filter that hides it stays as it is."""
        self.jump.blockSignals(True)
        self.jump.setValue(step)
        self.jump.blockSignals(False)
        row = self.model.row_of(step)
        if row is None:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())
        elif row != self.table.currentIndex().row():
            self.table.selectRow(row)
            self.table.scrollTo(self.model.index(row, 0), QTableView.ScrollHint.PositionAtCenter)
        self._refresh_actions()

    def _reset(self) -> None:
        count = self._session.step_data.count
        self.jump.blockSignals(True)
        self.jump.setRange(min(1, count), count)
        self.jump.blockSignals(False)
        for widget in (self.jump, self.show_only, self.wanted, self.go_action, self.search_action):
            widget.setEnabled(count > 0)
        self._show_rows()
        self._refresh_actions()

    def _grown(self, _first: int, last: int) -> None:
        self._show_rows()
        if self.follow.isChecked() and self._session.dispute is None and self.model.filter is StepFilter.ALL:
            self.table.scrollTo(self.model.index(last - 1, 0))

    def _show_rows(self) -> None:
        nothing = self.model.rowCount() == 0
        self.table.setVisible(not nothing)
        self.empty.setVisible(nothing)
        if nothing:
            self.empty.setText(self._why_empty())
        self._refresh_actions()

    def _why_empty(self) -> str:
        if not self._session.step_data.count:
            return self.tr("There is no recorded step to show.")
        if self.wanted.text().strip():
            return self.tr("No step is meant by this search.")
        return {
            StepFilter.MISMATCHES: self.tr("No replayed step differs."),
            StepFilter.CORRECTIONS: self.tr("No replayed step needed a correction from the log."),
            StepFilter.SUSPICIOUS: self.tr("No log of a replayed step holds contradictions or omissions."),
            StepFilter.NOT_JUDGED: self.tr("Every step was judged."),
        }.get(self.model.filter, "")

    def _show_dispute(self) -> None:
        if self._session.dispute is not None and self._session.selected_step is None:
            self._session.select_step(self._session.dispute.step)

    def _chosen(self, current: QModelIndex) -> None:
        if current.isValid():
            self._session.select_step(self.model.step_of(current.row()))

    def _filter_chosen(self, position: int) -> None:
        self.model.show_only(StepFilter(position))
        if self._session.selected_step is not None:
            self.show_step(self._session.selected_step)

    def _search(self, wanted: str) -> None:
        """Show what is meant; what is not understood is said, and changes nothing."""
        problem = ""
        try:
            self.model.search(wanted)
        except NotUnderstood as error:
            problem = translate(error.sentence)
        restyle(self.wanted, "tone", "bad" if problem else "")
        self.keep_search.setEnabled(bool(wanted.strip()) and not problem)
        self.problem.setText(problem)
        self._said.setVisible(bool(problem))

    def _draw_icons(self) -> None:
        tokens = self._theme.tokens
        self.keep_search.setIcon(icons.icon("keep", tokens.text, tokens.muted))

    def _keep_search(self) -> None:
        self.searches.keep(self.wanted.text())

    def _select_again(self) -> None:
        if self._session.selected_step is not None:
            self.show_step(self._session.selected_step)

    def _activated(self, index: QModelIndex) -> None:
        """Enter on a mismatch: the dispute says more."""
        state = self._session.step_data.state(self.model.step_of(index.row()))
        if state is StepState.MISMATCH and self._session.dispute is not None:
            self.dispute_wanted.emit()

    def _focus(self, control: QLineEdit | QSpinBox) -> None:
        control.setFocus(Qt.FocusReason.ShortcutFocusReason)
        control.selectAll()

    def _jumped(self, step: int) -> None:
        if self.model.row_of(step) is None:
            self.wanted.clear()
            self.show_only.setCurrentIndex(StepFilter.ALL)  # asked for by number: a filter may not hide it
        self._session.select_step(step)
        self.show_step(step)

    def _next(self, direction: int) -> None:
        now = self._session.selected_step
        start = now if now is not None else 0 if direction > 0 else self._session.step_data.count + 1
        found = self._session.step_data.next_mismatch(start, direction)
        if found is not None:
            self._session.select_step(found)

    def _copy(self, *, trainer: bool) -> None:
        step, row = self._session.selected_step, self._result()
        theirs = None if step is None else self._session.steps.trainer_leaf(step)
        leaf = theirs if trainer else None if row is None else row.replay_leaf
        if leaf is not None:
            QGuiApplication.clipboard().setText(leaf.hex)
            said = self.tr("Copied: the trainer's hash of step {0}, {1}.")
            if not trainer:
                said = self.tr("Copied: the replay's hash of step {0}, {1}.")
            self.copied.emit(said.format(text.count(self._session.selected_step or 0), leaf.short))

    def _result(self) -> StepRow | None:
        step = self._session.selected_step
        return None if step is None else self._session.step_data.result(step)

    def _refresh_actions(self) -> None:
        wrong = self._session.steps.mismatches > 0
        self.next_action.setEnabled(wrong)
        self.previous_action.setEnabled(wrong)
        self.copy_replay_action.setEnabled(self._result() is not None)
        step = self._session.selected_step
        self.copy_trainer_action.setEnabled(step is not None and self._session.steps.trainer_leaf(step) is not None)
        chosen = self._session.selected_step is not None
        dispute = self._session.dispute
        self.show_actions["dispute"].setEnabled(dispute is not None and dispute.step == self._session.selected_step)
        for name in ("merkle", "divergence"):
            self.show_actions[name].setEnabled(chosen)
