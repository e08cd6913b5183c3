"""The size of all text, for eyes that need it larger."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

_PROPERTY = "counterfoil-system-points"


def apply_text_size(application: QApplication, percent: int) -> None:
    """Set the application's font to a percentage of the system's; for windows that are made from now on."""
    font = application.font()
    stored = application.property(_PROPERTY)
    points = float(stored) if stored is not None else font.pointSizeF()
    application.setProperty(_PROPERTY, points)
    font.setPointSizeF(points * percent / 100)
    application.setFont(font)
