"""Plots copied, and as files: pictures and the numbers behind them; one way for every plot."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QDateTime, QIODevice, QLocale, QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView

from counterfoil_app.engine.strangers import beside
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme, Tokens
from counterfoil_app.model.divergence_table import DivergenceTable, Floats
from counterfoil_app.model.exports import Exports
from counterfoil_app.model.step_data import StepData, StepState
from counterfoil_app.views import layouts

PICTURE_SCALE = 2
"""Pixels of a picture for each on the screen."""
DOTS_PER_INCH = 96
MARGIN = 6
SMALL = 0.85
"""Size of what stands below the title, as a share of the title's."""
_tr = texts("plots")


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

    def csv(self) -> bytes:
        """Return one line for each step; floating-point numbers can be read back exactly, unknown ones are empty."""
        data, steps, table = self.steps, self.steps.table, self.divergence
        counted, recorded = ("corrections", "contradictions", "omissions"), ("log_entries", "log_bytes")
        losses = (data.trainer_loss, data.replay_loss)
        counts = [*map(steps.counted, counted), *map(steps.column, recorded)]
        nothing = [""] * len(table.names)
        compared = set(table.steps.tolist())
        lines: list[list[object]] = [
            ["step", "state", "trainer_loss", "replay_loss", *counted, *recorded, *table.names]
        ]
        for place in range(data.count):
            found = table.at(place + 1) if place + 1 in compared else None
            lines.append(
                [
                    place + 1,
                    StepState(int(data.states[place])).name.lower(),
                    *(_exact(column[place]) for column in losses),
                    *(_whole(column[place]) for column in counts),
                    *(nothing if found is None else [_exact(value) for value in found]),
                ]
            )
        return written_csv(lines)


def losses_csv(trainer: Floats, replay: Floats) -> bytes:
    """Return one line for each step of a recording with the losses of both sides, as far as they are known."""
    lines: list[list[object]] = [["step", "trainer_loss", "replay_loss"]]
    for place in range(max(len(trainer), len(replay))):
        both = (_exact(column[place]) if place < len(column) else "" for column in (trainer, replay))
        lines.append([place + 1, *both])
    return written_csv(lines)


def written_csv(lines: Sequence[Sequence[object]]) -> bytes:
    """Return lines as CSV."""
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(lines)
    return target.getvalue().encode()


class PlotExport(QObject):
    """Copies a plot, and exports it as a picture, a drawing, or its numbers.

    Args:
        view: What is drawn.
        theme: The theme of the application.
        about: What the plot is of: a line above it, and the run that it is of.
        path: The file beside which it is proposed to lie; None where there is nothing to export.
        numbers: Takes the numbers of this moment, and returns what writes them in any thread.
        exports: Writes.
        drawn: Draws it as it is to be seen by others while the block runs.
    """

    def __init__(
        self,
        view: QGraphicsView,
        theme: Theme,
        about: Callable[[], tuple[str, str]],
        path: Callable[[], Path | None],
        numbers: Callable[[], Callable[[], bytes]],
        exports: Exports,
        drawn: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        super().__init__(view)
        self._view, self._theme, self._about, self._path = view, theme, about, path
        self._numbers, self._exports, self._drawn = numbers, exports, drawn
        self.copy_action = layouts.action(self, _tr("Copy the plot"), "", self.copy)
        self.save_action = layouts.action(self, _tr("Export the plot\u2026"), "Ctrl+Shift+P", self.save)

    @property
    def actions(self) -> list[QAction]:
        """What a menu offers of it."""
        return [self.copy_action, self.save_action]

    def set_enabled(self, enabled: bool) -> None:
        """Offer both, or neither."""
        for action in self.actions:
            action.setEnabled(enabled)

    @property
    def _sheet(self) -> Sheet:
        title, run = self._about()
        now = QLocale().toString(QDateTime.currentDateTime(), QLocale.FormatType.ShortFormat)
        return Sheet(title, "  \u00b7  ".join(filter(None, (run, now))), self._view.font(), self._theme.tokens)

    def copy(self) -> None:
        """Put the picture on the clipboard."""
        with self._drawn():
            QGuiApplication.clipboard().setImage(draw_image(self._view, self._sheet))

    def save(self) -> None:
        """Ask where it goes; the ending of the name says as what."""
        if (path := self._path()) is None:
            return
        kinds = ";;".join([_tr("Picture (*.png)"), _tr("Drawing (*.svg)"), _tr("Numbers (*.csv)")])
        if target := layouts.new_file(self._view, _tr("Export the plot"), beside(path, ".plot.png"), kinds, here=True):
            self.write(target)

    def write(self, target: Path) -> None:
        """Write it as its name ends: ``.svg``, ``.csv``, or else a picture."""
        kind = target.suffix.lower()
        with self._drawn():
            if kind == ".csv":
                write = self._numbers()
            elif kind == ".svg":
                drawing = svg(self._view, self._sheet)
                write = lambda: drawing  # noqa: E731
            else:
                write = partial(png, draw_image(self._view, self._sheet))
        self._exports.contents(target, write)


def _exact(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def _whole(value: float) -> str:
    return "" if math.isnan(value) else str(int(value))
