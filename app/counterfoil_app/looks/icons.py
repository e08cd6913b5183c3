"""Counterfoil's own icons, drawn in the colour of a token."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

_SIZES = (16, 20, 24, 32, 48, 64)


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return resources.files("counterfoil_resources").joinpath("icons", f"{name}.svg").read_text("utf-8")


@lru_cache(maxsize=256)
def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """Draw an icon as a square of ``size`` device-independent pixels."""
    renderer = QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour).encode()))
    image = QPixmap(QSize(size, size) * ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image


@lru_cache(maxsize=256)
def icon(name: str, colour: str, disabled: str | None = None) -> QIcon:
    """An icon in all the sizes that the window uses."""
    result = QIcon()
    for size in _SIZES:
        for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):  # Qt would tint a selected one, and so hide its colour
            result.addPixmap(pixmap(name, colour, size), mode)
        if disabled is not None:
            result.addPixmap(pixmap(name, disabled, size), QIcon.Mode.Disabled)
    return result
