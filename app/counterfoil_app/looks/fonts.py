"""The window's own fonts, the same on every system and on paper: one for text, one of fixed width for hashes.

``resources/counterfoil_resources/fonts/README.md`` says where they come from. 13 pixels stand on a line of 20.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QApplication

from counterfoil import CounterfoilError
from counterfoil_core.base.sentence import say

TEXT, MONO = "Counterfoil Text", "Counterfoil Mono"
FILES = ("text-regular", "text-semibold", "text-bold", "mono-regular", "mono-bold")
TEXT_PIXELS = 13
_DOTS_PER_INCH = 72 if sys.platform == "darwin" else 96
"""A screen on which nobody asked for larger text."""
TEXT_POINTS = TEXT_PIXELS * 72 / _DOTS_PER_INCH


def install_fonts() -> None:
    """Make the fonts known to Qt, once in a process; needs a QGuiApplication.

    Raises:
        CounterfoilError: A font cannot be loaded.
    """
    if {TEXT, MONO} <= set(QFontDatabase.families()):
        return
    folder = resources.files("counterfoil_resources").joinpath("fonts")
    for name in FILES:
        if QFontDatabase.addApplicationFontFromData(QByteArray(folder.joinpath(f"{name}.ttf").read_bytes())) < 0:
            raise CounterfoilError(
                say("The window cannot show any text, because its font {0} cannot be loaded.", f"{name}.ttf"),
                remedy=say("Install Counterfoil again."),
            )


def text_font() -> QFont:
    """The font of all text, at its size without enlargement."""
    font = QFont(TEXT)
    font.setPointSizeF(TEXT_POINTS)
    return font


def fixed_font() -> QFont:
    """The font of fixed width, as large as the other text."""
    return QFont(_fixed_font(QGuiApplication.font().pointSizeF()))  # a copy: whoever asked may change its size


@cache
def _fixed_font(points: float) -> QFont:
    font = QFont(MONO)
    font.setPointSizeF(points)
    return font


def apply_text_size(application: QApplication, percent: int) -> None:
    """Set all text in the window's font, in a percentage of its size; for windows that are made from now on.

    Raises:
        CounterfoilError: A font cannot be loaded.
    """
    install_fonts()
    font = text_font()
    font.setPointSizeF(TEXT_POINTS * percent / 100)
    application.setFont(font)


def scale(pixels: int) -> int:
    """A length that goes with text of 13 pixels, for instance of an icon, in text as large as it is."""
    return round(pixels * QGuiApplication.font().pointSizeF() / TEXT_POINTS)
