"""Answers the window's question whether a key is trusted, as a person does: by mouse and keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from counterfoil_app.views.keys import KeyProposalDialog

LEFT = Qt.MouseButton.LeftButton


def asked() -> KeyProposalDialog | None:
    """The question that is open; None when none is."""
    return next(
        (each for each in QApplication.topLevelWidgets() if isinstance(each, KeyProposalDialog) and each.isVisible()),
        None,
    )


def proposal(qtbot: QtBot) -> KeyProposalDialog:
    """Wait for the question."""
    qtbot.waitUntil(lambda: asked() is not None)
    dialog = asked()
    assert dialog is not None
    return dialog


def confirm(qtbot: QtBot, name: str = "Ada") -> None:
    """Say whose key it is, that its fingerprint was compared, and that it is trusted."""
    dialog = proposal(qtbot)
    assert not dialog.trust.isEnabled()
    QTest.keyClicks(dialog.name, name)
    qtbot.mouseClick(dialog.compared, LEFT, pos=QPoint(8, dialog.compared.height() // 2))
    assert dialog.compared.isChecked()
    qtbot.mouseClick(dialog.trust, LEFT)
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible())


def decline(qtbot: QtBot) -> None:
    """Answer as Enter and Escape do."""
    dialog = proposal(qtbot)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible())
