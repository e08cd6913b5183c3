"""A closer look into the disputed step: folded until it is wanted, since the run is read, or replayed, once more."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPixmap
from PySide6.QtWidgets import QProgressBar, QTableWidget, QTableWidgetItem, QWidget

from counterfoil import Dispute, DisputedRows, OperatorLook, OperatorValue, RowKind, RowsRead
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.questions import InputsLook, RowsLook, TensorLook, reads_rows
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.layouts import button, choices
from counterfoil_app.views.look_tensor import TensorView
from counterfoil_app.views.parts import Folded, caption, label, tell
from counterfoil_app.views.tables import LEFT, Column, RecordTable, fit_height, item_table, table_view

# The rows of a disputed step as images, text or numbers: ordered, and read as far as that is known.

IMAGE_PIXELS = 44
LINES = 6
"""Rows that are seen at once; the rest is reached by scrolling."""
MOST_NUMBERS = 12
"""Numbers of a row that are written; the rest is left out."""
CELL_CHARACTERS = 26
Numbers = npt.NDArray[np.float64]


def image_of(values: Numbers, shape: tuple[int, ...], low: float, high: float) -> QImage:
    """Return the picture of a row: ``low`` is black, and ``high`` is white or the full colour.

    Args:
        values: float64 ``[elements]``, in C order.
        shape: ``[height, width]``, or with 1, 3 or 4 channels before or behind these.
        low: The smallest value of all rows that are shown together.
        high: The largest.
    """
    pixels = values.reshape(shape)
    if pixels.ndim == 3 and shape[0] in (1, 3, 4) and shape[2] not in (3, 4):
        pixels = np.moveaxis(pixels, 0, -1)
    spread = high - low if high > low else 1.0
    scaled_to = np.clip(255 * (np.nan_to_num(pixels) - low) / spread, 0, 255).round().astype(np.uint8)
    if scaled_to.ndim == 2:
        scaled_to = scaled_to[:, :, None]
    if scaled_to.shape[2] == 1:
        scaled_to = np.repeat(scaled_to, 3, axis=2)
    opaque = np.full((*scaled_to.shape[:2], 4), 255, np.uint8)
    opaque[:, :, :3] = scaled_to[:, :, :3]
    bytes_ = np.ascontiguousarray(opaque)
    height, width = opaque.shape[:2]
    return QImage(bytes_.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()


def row_words(row: RowsRead, values: Numbers, said: tuple[str, ...], place: int) -> str:
    """Return a row in words: its text, or its numbers, as many as have room."""
    if said:
        return said[place]
    numbers = values[place]
    written = " ".join(text.number(float(value)) for value in numbers[:MOST_NUMBERS])
    return written + (" \u2026" if len(numbers) > MOST_NUMBERS else "")


class RowsTable(QWidget):
    """What is known of each array, and below it the rows beside each other; what differs is bold behind a sign."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._found: DisputedRows | None = None
        self.said = label()
        self.table = item_table([], self.tr("Rows of the disputed step"))
        self.table.setIconSize(QSize(scale(IMAGE_PIXELS), scale(IMAGE_PIXELS)))
        self.table.setAlternatingRowColors(True)
        self.table.setTabKeyNavigation(False)
        self.table.setVerticalScrollMode(QTableWidget.ScrollMode.ScrollPerPixel)
        self.table.horizontalHeader().setDefaultAlignment(LEFT)
        layouts.column(self.said, self.table, inside=self, margins=layouts.NONE)
        theme.changed.connect(self._draw)

    def show_rows(self, found: DisputedRows | None) -> None:
        """Show rows; None shows nothing."""
        if found is not self._found:
            self._found = found
            self._draw()

    def _draw(self) -> None:
        found = self._found
        self.setVisible(found is not None)
        if found is None:
            self.table.setRowCount(0)
            return
        self.said.setText("\n".join(self._say(found)))
        columns = [(row, read) for row in found.arrays for read in (False, True) if not (read and row.same)]
        heads = [self.tr("In the batch"), self.tr("Row of the data")]
        heads += [
            (self.tr("{0}, read") if read else self.tr("{0}, ordered") if not row.same else "{0}").format(row.name)
            for row, read in columns
        ]
        self.table.clear()
        self.table.setColumnCount(len(heads))
        self.table.setHorizontalHeaderLabels(heads)
        self.table.setRowCount(len(found.places))
        pictures = any(row.kind is RowKind.IMAGE for row, _ in columns)
        height = self.fontMetrics().height() + 6
        for place, (number, data) in enumerate(zip(found.places, found.numbers, strict=True)):
            self.table.setItem(place, 0, QTableWidgetItem(text.count(number)))
            self.table.setItem(place, 1, QTableWidgetItem(text.count(data)))
            for position, (row, read) in enumerate(columns, 2):
                self.table.setItem(place, position, self._cell(row, read, place))
            self.table.setRowHeight(place, max(height, scale(IMAGE_PIXELS) + 6) if pictures else height)
        self.table.resizeColumnsToContents()
        most = CELL_CHARACTERS * self.fontMetrics().averageCharWidth() + 24
        for position in range(len(heads)):
            self.table.setColumnWidth(position, min(most, self.table.columnWidth(position) + 12))
        self.table.horizontalHeader().setStretchLastSection(True)
        lines = min(LINES if pictures else 2 * LINES, max(1, len(found.places)))
        self.table.setFixedHeight(
            self.table.horizontalHeader().sizeHint().height() + lines * self.table.rowHeight(0) + 4
        )

    def _cell(self, row: RowsRead, read: bool, place: int) -> QTableWidgetItem:
        values = row.read if read else row.ordered
        if not len(values):
            cell = QTableWidgetItem(self.tr("not known"))
            cell.setForeground(QColor(self._theme.tokens.muted))
            return cell
        if row.kind is RowKind.IMAGE:
            cell = QTableWidgetItem()
            cell.setIcon(QIcon(self._picture(row, values, place)))
            word = self.tr("image of row {0}").format(place)
            cell.setData(Qt.ItemDataRole.AccessibleTextRole, word)
            said = word
        else:
            said = row_words(row, values, row.texts_read if read else row.texts, place)
            cell = QTableWidgetItem(said)
        set_tip(cell, said)
        if read and not np.array_equal(row.ordered[place], row.read[place], equal_nan=True):
            bold = cell.font()
            bold.setBold(True)
            cell.setFont(bold)
            cell.setForeground(QColor(self._theme.tokens.bad))
            if row.kind is not RowKind.IMAGE:
                cell.setText(f"\u2260 {said}")
        return cell

    def _picture(self, row: RowsRead, values: Numbers, place: int) -> QPixmap:
        every = row.ordered if not len(row.read) else np.concatenate([row.ordered, row.read])
        finite = every[np.isfinite(every)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        side = int(scale(IMAGE_PIXELS) * self.devicePixelRatioF())
        picture = QPixmap.fromImage(image_of(values[place], row.shape, low, high))
        enlarged = picture.scaled(
            side, side, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.FastTransformation
        )
        enlarged.setDevicePixelRatio(self.devicePixelRatioF())
        return enlarged

    def _say(self, found: DisputedRows) -> list[str]:
        """What is known of each array, and how it is known."""
        said = []
        for row in found.arrays:
            if row.same:
                said.append(self.tr("{0}: the trainer's fingerprint is that of the ordered rows.").format(row.name))
            elif len(row.read):
                sentence = self.tr("{0}: {1} A batch that is changed so has exactly the trainer's fingerprint.")
                said.append(sentence.format(row.name, translate(row.said)))
            else:
                said.append(f"{row.name}: {translate(row.said)}")
        if len(found.places) < found.rows:
            more = self.tr("{0} of {1} rows are shown, those that differ first.")
            said.append(more.format(text.count(len(found.places)), text.count(found.rows)))
        return said


# The first differing operator: what it was given, and what the replay got.


class OperatorView(QWidget):
    """Hidden until there is an operator."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.where = caption("", "section")
        self.said = label()
        self.model: RecordTable[OperatorValue] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Inputs and output of the operator"))
        layouts.column(self.where, self.said, self.table, inside=self, margins=layouts.NONE)

    def show_operator(self, found: OperatorLook | None) -> None:
        """Show an operator; None hides the view."""
        self.setVisible(found is not None)
        if found is None or found.values is self.model.records:
            return
        self.where.setText(self.tr("Operator {0}: {1}").format(text.count(found.number), found.where))
        self.said.setText(" ".join(map(translate, found.said)))
        self.model.show_records(found.values)
        fit_height(self.table)

    def _columns(self) -> list[Column[OperatorValue]]:
        return [
            Column(self.tr("Argument"), lambda value: value.name or self.tr("output of the replay"), 22),
            Column(self.tr("Shape"), lambda value: text.shape(value.shape) if value.dtype else "", 16),
            Column(self.tr("Type"), lambda value: value.dtype, 9),
            Column(self.tr("Least"), lambda value: _number(value.least), 13, numeric=True),
            Column(self.tr("Mean"), lambda value: _number(value.mean), 13, numeric=True),
            Column(self.tr("Largest"), lambda value: _number(value.largest), 13, numeric=True),
            Column(self.tr("First values"), self._first, 40, tip=self._first),
        ]

    def _first(self, value: OperatorValue) -> str:
        if not value.dtype:
            return value.said
        more = " \u2026" if math.prod(value.shape) > len(value.first) else ""
        return " ".join(map(text.number, value.first.tolist())) + more


def _number(value: float) -> str:
    return "" if math.isnan(value) else text.number(value)


class Waiting(QWidget):
    """How far a look is, with a button to stop it, or why it failed."""

    def __init__(self, look: RowsLook | InputsLook | TensorLook) -> None:
        super().__init__()
        self._look = look
        self.said = label("", "muted")
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(self.tr("Progress of the look"))
        self.stop = button(self.tr("&Stop"), look.stop)
        self.failed = label("", "notice")
        layouts.column(self.said, layouts.row((self.bar, 1), self.stop), self.failed, inside=self, margins=layouts.NONE)
        look.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show where it stands."""
        look = self._look
        for part in (self.said, self.bar, self.stop):
            part.setVisible(look.working)
        progress = look.progress
        self.said.setText("" if progress is None else translate(progress.what))
        self.bar.setValue(0 if progress is None else int(1000 * progress.done / max(1, progress.total)))
        self.failed.setVisible(look.failure is not None)
        if look.failure is not None:
            tell(self.failed, failure_text(look.failure), Tone.WARN)


class LookView(QWidget):
    """Shows what belongs to the open dispute, when a part of it is unfolded.

    Args:
        session: Whose run is looked at.
        theme: The theme of the application.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._dispute: Dispute | None = None
        self._tensor = ""
        self.rows_look = RowsLook(session, self)
        self.tensor_look = TensorLook(session, self)
        self.rows = Folded(self.tr("The rows that the step read, beside the ordered ones"))
        self.table = RowsTable(theme)
        self.rows_waiting = Waiting(self.rows_look)
        layouts.fill(self.rows.column, self.rows_waiting, self.table)
        self.inputs_look = InputsLook(session, self)
        self.inputs = Folded(self.tr("The first operator that differs, with its inputs"))
        self.operator = OperatorView(theme)
        self.inputs_waiting = Waiting(self.inputs_look)
        layouts.fill(self.inputs.column, self.inputs_waiting, self.operator)
        self.tensor = Folded(self.tr("Both sides of a tensor, and what would change"))
        self.not_stored = label()
        self.chosen = choices([], name=self.tr("Tensor that is compared"))
        self.chosen.activated.connect(lambda _row: self.show_tensor(self.chosen.currentText()))
        self._choose = caption(self.tr("Tensor"), "muted", wrap=False)
        choose = layouts.row(self._choose, self.chosen, 1)
        self.sides = TensorView(theme)
        self.tensor_waiting = Waiting(self.tensor_look)
        layouts.fill(self.tensor.column, self.not_stored, choose, self.tensor_waiting, self.sides)
        layouts.column(self.rows, self.inputs, self.tensor, inside=self, margins=layouts.NONE)
        self.rows.button.toggled.connect(self._look)
        self.inputs.button.toggled.connect(self._look)
        self.tensor.button.toggled.connect(self._look)
        session.phase_changed.connect(self._look)
        follow(self.refresh, self.rows_look.changed, self.inputs_look.changed, self.tensor_look.changed)
        self.refresh()

    def show_dispute(self, dispute: Dispute) -> None:
        """Show another dispute, or more of the same."""
        before = self._dispute
        self._dispute = dispute
        if before is None or (before.step, before.part, before.compared_at) != (
            dispute.step,
            dispute.part,
            dispute.compared_at,
        ):
            for look in (self.rows_look, self.inputs_look, self.tensor_look):
                look.forget()
            # Other rows than the ordered ones say more than anything else that can be looked at.
            self.rows.button.setChecked(bool(dispute.inputs))
        names = [tensor.name for tensor in dispute.tensors]
        self.chosen.clear()
        self.chosen.addItems(names)
        self.show_tensor(self._tensor if self._tensor in names else names[0] if names else "")

    def show_tensor(self, name: str) -> None:
        """Look at another tensor; empty for none."""
        if name != self._tensor:
            self._tensor = name
            self.tensor_look.forget()
        self.chosen.setCurrentText(name)
        self._look()

    def _look(self, _wanted: object = None) -> None:
        """Look at what is unfolded and was not looked at yet; a replay has the worker to itself."""
        dispute = self._dispute
        if dispute is not None and not self._session.running:
            if self.rows.button.isChecked() and reads_rows(dispute):
                self.rows_look.look_at(dispute)
            if self.inputs.button.isChecked() and dispute.operator is not None:
                self.inputs_look.look_at(dispute)
            if self.tensor.button.isChecked() and self._tensor:
                self.tensor_look.look_at(dispute, self._tensor)
        self.refresh()

    def refresh(self) -> None:
        """Show what was found."""
        dispute = self._dispute
        self.setVisible(dispute is not None)
        if dispute is None:
            return
        self.rows.setVisible(reads_rows(dispute))
        self.tensor.setVisible(dispute.step > 0)
        self.inputs.setVisible(dispute.operator is not None)
        self.table.show_rows(self.rows_look.found)
        self.operator.show_operator(self.inputs_look.found)
        self.sides.show_tensor(self.tensor_look.found)
        self.not_stored.setVisible(not self._tensor)
        self.not_stored.setText(self._why_no_tensor(dispute))
        for part in (self._choose, self.chosen):
            part.setVisible(bool(self._tensor))
        if self._session.running:
            self.not_stored.setVisible(True)
            self.not_stored.setText(self.tr("It can be looked at when the replay has ended."))

    def _why_no_tensor(self, dispute: Dispute) -> str:
        if dispute.compared_at is None:
            return self.tr(
                "The trainer stored no later state: of the state after this step the run holds a digest alone, so that "
                "no element of the trainer's can be shown."
            )
        return self.tr("At the trainer's next stored state all tensors are equal: there is nothing that would change.")
