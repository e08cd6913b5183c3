"""Plots as files: pictures and the numbers behind them."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView

from counterfoil_app.looks.theme import Tokens
from counterfoil_app.model.divergence_table import DivergenceTable
from counterfoil_app.model.step_data import StepData, StepState

PICTURE_SCALE = 2
"""Pixels of a picture for each on the screen."""
DOTS_PER_INCH = 96
MARGIN = 6
SMALL = 0.85
"""Size of what stands below the title, as a share of the title's."""


@dataclass(frozen=True)
class Sheet:
    """What a plot is drawn on."""

    title: str  #: Stands above it.
    below: str  #: Stands below the title, in smaller letters.
    font: QFont  #: Of the title.
    tokens: Tokens  #: The colours.

    @property
    def band(self) -> int:
        """Height of the title, with what stands below it, in pixels."""
        return QFontMetrics(self._bold).height() + QFontMetrics(self._small).height() + 2 * MARGIN

    @property
    def _bold(self) -> QFont:
        bold = QFont(self.font)
        bold.setBold(True)
        return bold

    @property
    def _small(self) -> QFont:
        small = QFont(self.font)
        small.setPointSizeF(SMALL * small.pointSizeF())
        return small

    def size(self, view: QGraphicsView) -> QSize:
        """Room for the title and what a view shows, in pixels of the screen."""
        return view.viewport().size() + QSize(0, self.band)

    def draw(self, painter: QPainter, view: QGraphicsView) -> None:
        """Draw the title, and below it what a view shows; in the window's thread."""
        seen = view.viewport().rect()
        painter.fillRect(QRectF(0, 0, seen.width(), seen.height() + self.band), QColor(self.tokens.surface))
        top = float(MARGIN)
        for written, font, colour in (
            (self.title, self._bold, self.tokens.text),
            (self.below, self._small, self.tokens.muted),
        ):
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(QColor(colour))
            where = QRectF(2 * MARGIN, top, seen.width() - 4 * MARGIN, metrics.height())
            shown = metrics.elidedText(written, Qt.TextElideMode.ElideMiddle, int(where.width()))
            painter.drawText(where, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
            top += metrics.height()
        view.render(painter, QRectF(0, self.band, seen.width(), seen.height()), seen)


def draw_image(view: QGraphicsView, sheet: Sheet) -> QImage:
    """Draw what a view shows under its title, at twice its size; in the window's thread."""
    image = QImage(sheet.size(view) * PICTURE_SCALE, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(PICTURE_SCALE, PICTURE_SCALE)
    sheet.draw(painter, view)
    painter.end()
    return image


def png(image: QImage) -> bytes:
    """Return an image as PNG; may run in any thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs know bytes only
    return bytes(buffer.data().data())


def svg(view: QGraphicsView, sheet: Sheet) -> bytes:
    """Return what a view shows under its title as SVG; in the window's thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    size = sheet.size(view)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(0, 0), size))
    generator.setResolution(DOTS_PER_INCH)
    generator.setTitle(sheet.title)
    painter = QPainter(generator)
    sheet.draw(painter, view)
    painter.end()
    return bytes(buffer.data().data())


@dataclass(frozen=True)
class PlotNumbers:
    """The numbers behind the plots, taken at one moment."""

    steps: StepData
    divergence: DivergenceTable


def numbers_csv(numbers: PlotNumbers) -> bytes:
    """Return one line for each step; floating-point numbers can be read back exactly, unknown ones are left empty."""
    data, steps, table = numbers.steps, numbers.steps.table, numbers.divergence
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    counted, recorded = ("corrections", "contradictions", "omissions"), ("log_entries", "log_bytes")
    writer.writerow(["step", "state", "trainer_loss", "replay_loss", *counted, *recorded, *table.names])
    losses = (data.trainer_loss, data.replay_loss)
    counts = [*map(steps.counted, counted), *map(steps.column, recorded)]
    nothing = [""] * len(table.names)
    compared = set(table.steps.tolist())
    for place in range(data.count):
        found = table.at(place + 1) if place + 1 in compared else None
        writer.writerow(
            [
                place + 1,
                StepState(int(data.states[place])).name.lower(),
                *(_exact(column[place]) for column in losses),
                *(_whole(column[place]) for column in counts),
                *(nothing if found is None else [_exact(value) for value in found]),
            ]
        )
    return target.getvalue().encode()


def _exact(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def _whole(value: float) -> str:
    return "" if math.isnan(value) else str(int(value))
