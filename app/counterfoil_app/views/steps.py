"""The table of steps: what the trainer recorded, and what the replay made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QModelIndex
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QTableView, QVBoxLayout, QWidget

from counterfoil import StepMatch, StepRow
from counterfoil_app import text
from counterfoil_app.session import Session
from counterfoil_app.theme import Theme, Tone
from counterfoil_app.views import words
from counterfoil_app.views.parts import label
from counterfoil_app.views.tables import AnyIndex, Column, RecordTable, table_view
from counterfoil_app.views.words import Look


@dataclass(frozen=True)
class StepLine:
    """One line: what the trainer recorded of a step, and the replay's result once there is one."""

    step: int
    trainer_loss: float
    log_entries: int
    log_bytes: int
    row: StepRow | None


def _tr(source: str) -> str:
    return QCoreApplication.translate("steps", source)


def _match_text(line: StepLine) -> str:
    return _tr("not replayed") if line.row is None else words.step_match(line.row.match).word


def _match_look(line: StepLine) -> Look | None:
    return None if line.row is None else words.step_match(line.row.match)


def _suspicious(line: StepLine, amount: Callable[[StepRow], int]) -> Look | None:
    """Mark a count that should be 0: only in a matching step, since the log of any other belongs to other values."""
    row = line.row
    if row is None or row.match is not StepMatch.MATCH or amount(row) == 0:
        return None
    return Look(_tr("should be 0"), "warning", Tone.BAD)


def step_columns() -> list[Column[StepLine]]:
    """The columns of the step table."""
    return [
        Column(_tr("Step"), lambda line: text.count(line.step), 7, numeric=True),
        Column(_tr("Match"), _match_text, 13, look=_match_look),
        Column(
            _tr("Trainer's leaf"),
            lambda line: line.row.trainer_leaf.short if line.row else "",
            12,
            fixed=True,
            tip=lambda line: line.row.trainer_leaf.hex if line.row else "",
        ),
        Column(
            _tr("Replay's leaf"),
            lambda line: line.row.replay_leaf.short if line.row else "",
            12,
            fixed=True,
            tip=lambda line: line.row.replay_leaf.hex if line.row else "",
        ),
        Column(_tr("Trainer's loss"), lambda line: text.loss(line.trainer_loss), 10, numeric=True),
        Column(
            _tr("Replay's loss"), lambda line: text.loss(line.row.replay_loss) if line.row else "", 10, numeric=True
        ),
        Column(_tr("Corrections"), lambda line: text.count(line.row.corrections) if line.row else "", 8, numeric=True),
        Column(
            _tr("Contradictions"),
            lambda line: text.count(line.row.contradictions) if line.row else "",
            8,
            numeric=True,
            look=lambda line: _suspicious(line, lambda row: row.contradictions),
        ),
        Column(
            _tr("Omissions"),
            lambda line: text.count(line.row.omissions) if line.row else "",
            8,
            numeric=True,
            look=lambda line: _suspicious(line, lambda row: row.omissions),
        ),
        Column(_tr("Log entries"), lambda line: text.count(line.log_entries), 9, numeric=True),
        Column(_tr("Log bytes"), lambda line: text.count(line.log_bytes), 9, numeric=True),
        Column(_tr("Seconds"), lambda line: f"{line.row.seconds:.3f}" if line.row else "", 8, numeric=True),
    ]


class StepTable(RecordTable[StepLine]):
    """The steps of the session's run. Lines are made when they are painted, so their number costs nothing."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(step_columns(), theme, parent)
        self._session = session
        self._rows: dict[int, StepRow] = {}
        self._count = 0
        session.bundle_changed.connect(self._reset)
        session.rows_changed.connect(self._add)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Number of recorded steps."""
        return 0 if parent.isValid() else self._count

    def record(self, row: int) -> StepLine | None:
        """The line of a row; row 0 is step 1."""
        summary = self._session.summary
        if summary is None or summary.run is None:
            return None
        run = summary.run
        return StepLine(row + 1, run.losses[row], run.log_entries[row], run.log_bytes[row], self._rows.get(row + 1))

    def _reset(self) -> None:
        self.beginResetModel()
        summary = self._session.summary
        self._count = summary.run.steps if summary is not None and summary.run is not None else 0
        self._rows = {row.step: row for row in self._session.rows}
        self.endResetModel()

    def _add(self, first: int, last: int) -> None:
        rows = [row for row in self._session.rows[first : last + 1] if 1 <= row.step <= self._count]
        if not rows:
            return
        self._rows.update((row.step, row) for row in rows)
        low, high = min(row.step for row in rows), max(row.step for row in rows)
        self.dataChanged.emit(self.index(low - 1, 0), self.index(high - 1, len(self.columns) - 1))


class StepsView(QWidget):
    """The step table, which can follow the replay."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.model = StepTable(session, theme, self)
        self.table: QTableView = table_view(self.model, self.tr("Steps"), self)
        self.follow = QCheckBox(self.tr("Follow the replay"))
        self.follow.setChecked(True)
        self.counts = label(wrap=False)
        bar = QHBoxLayout()
        bar.setContentsMargins(10, 4, 10, 4)
        bar.addWidget(self.counts)
        bar.addStretch(1)
        bar.addWidget(self.follow)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.table)
        self.table.selectionModel().currentRowChanged.connect(self._chosen)
        session.rows_changed.connect(self._grown)
        session.bundle_changed.connect(self._show_counts)
        session.dispute_changed.connect(self._show_dispute)
        self._show_counts()

    def show_step(self, step: int) -> None:
        """Select a step and bring it into view."""
        index = self.model.index(step - 1, 0)
        if index.isValid():
            self.table.selectRow(step - 1)
            self.table.scrollTo(index, QTableView.ScrollHint.PositionAtCenter)

    def _grown(self, _first: int, last: int) -> None:
        self._show_counts()
        if self.follow.isChecked() and self._session.dispute is None:
            self.table.scrollTo(self.model.index(self._session.rows[last].step - 1, 0))

    def _show_counts(self) -> None:
        replayed, wrong = len(self._session.rows), self._session.mismatches
        self.counts.setText(
            self.tr("Replayed: {0} of {1}   \u00b7   mismatches: {2}").format(
                text.count(replayed), text.count(self.model.rowCount()), text.count(wrong)
            )
            if self.model.rowCount()
            else self.tr("There is no recorded step to show.")
        )

    def _show_dispute(self) -> None:
        if self._session.dispute is not None and self._session.selected_step is None:
            self.show_step(self._session.dispute.step)

    def _chosen(self, current: QModelIndex) -> None:
        if current.isValid():
            self._session.select_step(current.row() + 1)
