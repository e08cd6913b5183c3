"""The rows of a disputed step as images, text or numbers: ordered, and read as far as that is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPixmap
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QWidget

from counterfoil import DisputedRows, RowKind, RowsRead
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import label
from counterfoil_app.views.tables import LEFT, item_table

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
        self.table.setIconSize(QSize(scaled(IMAGE_PIXELS), scaled(IMAGE_PIXELS)))
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
            self.table.setRowHeight(place, max(height, scaled(IMAGE_PIXELS) + 6) if pictures else height)
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
        side = int(scaled(IMAGE_PIXELS) * self.devicePixelRatioF())
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
                said.append(sentence.format(row.name, translated(row.said)))
            else:
                said.append(f"{row.name}: {translated(row.said)}")
        if len(found.places) < found.rows:
            more = self.tr("{0} of {1} rows are shown, those that differ first.")
            said.append(more.format(text.count(len(found.places)), text.count(found.rows)))
        return said
