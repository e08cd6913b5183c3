"""The process that asks Qt for a display: Qt ends the process that asks where there is none."""

from __future__ import annotations

import os

from counterfoil import CounterfoilError
from counterfoil.base.foreignerrors import describe_error
from counterfoil.doctor.observations import LOOKS, Broken, Display
from counterfoil.talk.line import Line
from counterfoil.talk.table import LOOK_AT_DISPLAY
from counterfoil_app.desktop.startup import check_display


def main() -> None:
    """Say what the window would be shown on."""
    Line(LOOK_AT_DISPLAY, LOOKS).serve(lambda: iter((look_at_display(),)))


def look_at_display() -> Display | Broken:
    """Return what Qt says of its display; ends the process where Qt does."""
    try:
        check_display(os.environ)
        from PySide6.QtCore import qVersion
        from PySide6.QtGui import QGuiApplication

        application = QGuiApplication.instance() or QGuiApplication(["counterfoil"])
        assert isinstance(application, QGuiApplication)
    except CounterfoilError as error:
        return Broken("display", error.sentence, error.remedy)
    except ImportError as error:  # of Qt's, which also a system library that it needs may be missing for
        return Broken("display", describe_error(error), missing=isinstance(error, ModuleNotFoundError))
    screens = []
    for screen in application.screens():
        size, ratio = screen.size(), screen.devicePixelRatio()
        screens.append(
            f"{screen.name()}: {size.width()} x {size.height()}, {screen.logicalDotsPerInch():.0f} dpi, x {ratio:g}"
        )
    return Display(qVersion(), application.platformName(), tuple(screens))
