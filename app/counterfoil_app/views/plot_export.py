"""Plots as files: pictures and the numbers behind them."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QIODevice, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView

from counterfoil_app.model.divergence_table import DivergenceTable
from counterfoil_app.model.step_data import StepData, StepState

PICTURE_SCALE = 2
"""Pixels of a picture for each on the screen."""
DOTS_PER_INCH = 96


def draw_image(view: QGraphicsView, background: str) -> QImage:
    """Draw what a view shows, at twice its size; in the window's thread."""
    size = view.viewport().size() * PICTURE_SCALE
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(QColor(background))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    view.render(painter, QRectF(image.rect()), view.viewport().rect())
    painter.end()
    return image


def png(image: QImage) -> bytes:
    """Return an image as PNG; may run in any thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs know bytes only
    return bytes(buffer.data().data())


def svg(view: QGraphicsView, background: str, title: str) -> bytes:
    """Return what a view shows as SVG; in the window's thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    rectangle = view.viewport().rect()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(rectangle.size())
    generator.setViewBox(rectangle)
    generator.setResolution(DOTS_PER_INCH)
    generator.setTitle(title)
    painter = QPainter(generator)
    painter.fillRect(rectangle, QColor(background))
    view.render(painter, QRectF(rectangle), rectangle)
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
