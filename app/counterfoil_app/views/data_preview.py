"""The first rows of data: as images, as a table, or as text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QPlainTextEdit, QStackedWidget, QTableWidgetItem, QWidget

from counterfoil import DataPreview
from counterfoil_app.engine import strangers
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import Tone
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import label, tell
from counterfoil_app.views.tables import item_table

CELL_PIXELS = 64
GAP_PIXELS = 8
HEIGHT_PIXELS = 230


class ImageGrid(QWidget):
    """Images in rows, each with its label below it; as many as there is room for."""

    def __init__(self) -> None:
        super().__init__()
        self._images: list[QImage] = []
        self._labels: list[str] = []

    def show_images(self, images: npt.NDArray[np.uint8], labels: list[str]) -> None:
        """Show uint8 images ``[n, C, H, W]`` of one channel, or of three: red, green, blue."""
        self._images = [_image(each) for each in images]
        self._labels = labels
        self.setAccessibleName(self.tr("{0} images, with the labels {1}").format(len(labels), ", ".join(labels)))
        self.update()

    @property
    def shown(self) -> int:
        """How many images there are."""
        return len(self._images)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for two rows."""
        return QSize(scale(480), 2 * self._cell().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what fits."""
        cell = self._cell()
        across, down = max(1, self.width() // cell.width()), max(1, self.height() // cell.height())
        painter = QPainter(self)
        side, line = scale(CELL_PIXELS), self.fontMetrics().height()
        for place, image in enumerate(self._images[: across * down]):
            left, top = place % across * cell.width(), place // across * cell.height()
            size = image.size().scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio)
            # Pixels are shown as they are: these are small images, and what is ordered is their pixels.
            painter.drawImage(left + (side - size.width()) // 2, top, image.scaled(size))
            if place < len(self._labels):
                painter.drawText(left, top + side, side, line, Qt.AlignmentFlag.AlignCenter, self._labels[place])
        painter.end()

    def _cell(self) -> QSize:
        gap, side = scale(GAP_PIXELS), scale(CELL_PIXELS)
        return QSize(side + gap, side + self.fontMetrics().height() + gap)


class PreviewView(QWidget):
    """Shows the first rows of data, or why there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = label("", "muted")
        self.problem = label("", "notice")
        self.images = ImageGrid()
        self.table = item_table([], self.tr("First rows of the data"))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(fixed_font())
        self.text.setAccessibleName(self.tr("Beginning of the text"))
        self.text.setTabChangesFocus(True)
        self.stack = QStackedWidget()
        self.nothing = QWidget()
        for page in (self.nothing, self.images, self.table, self.text):
            self.stack.addWidget(page)
        self.stack.setMinimumHeight(HEIGHT_PIXELS)
        layouts.column(self.heading, self.problem, (self.stack, 1), inside=self, margins=layouts.NONE, spacing=6)
        self.say("")

    def say(self, sentence: str) -> None:
        """Show no data, and why."""
        self.heading.setText(sentence)
        self.problem.hide()
        self.stack.setCurrentWidget(self.nothing)

    def show_failure(self, failure: Failure) -> None:
        """Say why the data cannot be looked at."""
        self.say("")
        tell(self.problem, failure_text(failure), Tone.WARN)
        self.problem.show()

    def show_preview(self, found: DataPreview) -> None:
        """Show the first rows."""
        self.problem.hide()
        self.heading.setText(self._heading(found))
        if found.kind == "images":
            self.images.show_images(found.images, [strangers.sentence(row[0]) for row in found.rows])
            self.stack.setCurrentWidget(self.images)
        elif found.kind == "table":
            self._fill(found)
            self.stack.setCurrentWidget(self.table)
        elif found.kind == "text":
            self.text.setPlainText(strangers.lines(found.text))
            self.stack.setCurrentWidget(self.text)
        else:
            self.stack.setCurrentWidget(self.nothing)

    def _heading(self, found: DataPreview) -> str:
        if found.kind == "images":
            _, channels, height, width = found.images.shape
            sentence = (
                self.tr("{0} colour images of {1} \u00d7 {2} pixels; the first ones with their labels:")
                if channels == 3
                else self.tr("{0} grey images of {1} \u00d7 {2} pixels; the first ones with their labels:")
            )
            return sentence.format(text.count(found.count or 0), width, height)
        if found.kind == "table":
            if found.count is None:
                return self.tr("The first {0} rows:").format(len(found.rows))
            return self.tr("{0} rows; the first {1}:").format(text.count(found.count), len(found.rows))
        if found.kind == "text":
            return self.tr("{0} of text, which begins:").format(text.size(found.count or 0))
        return self.tr("Files of this format are not looked into here; they are read when the first step is tried.")

    def _fill(self, found: DataPreview) -> None:
        self.table.setColumnCount(len(found.columns))
        self.table.setHorizontalHeaderLabels([strangers.sentence(name) for name in found.columns])
        self.table.setRowCount(len(found.rows))
        for row, cells in enumerate(found.rows):
            for column, cell in enumerate(cells):
                self.table.setItem(row, column, QTableWidgetItem(strangers.sentence(cell)))
        self.table.resizeColumnsToContents()


def _image(pixels: npt.NDArray[np.uint8]) -> QImage:
    """One image, uint8 ``[C, H, W]``."""
    channels, height, width = pixels.shape
    colour = channels == 3
    data = np.ascontiguousarray(pixels.transpose(1, 2, 0) if colour else pixels[0]).tobytes()
    kind = QImage.Format.Format_RGB888 if colour else QImage.Format.Format_Grayscale8
    return QImage(data, width, height, (3 if colour else 1) * width, kind).copy()
