"""Answers the window's questions as a user does: with the mouse."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget


def shown_box(window: QWidget, name: str) -> QMessageBox:
    """The message box of a name that is shown."""
    found = [box for box in window.findChildren(QMessageBox, name) if box.isVisible()]
    assert len(found) == 1, f"{len(found)} boxes {name}"
    return found[0]


def no_box(window: QWidget) -> bool:
    """Whether no message box is shown."""
    return not any(box.isVisible() for box in window.findChildren(QMessageBox))


def click_in_box(window: QWidget, name: str, button: str) -> None:
    """Click a button of a message box, which then closes."""
    box = shown_box(window, name)
    wanted = [each for each in box.buttons() if each.text().replace("&", "") == button]
    assert len(wanted) == 1, [each.text() for each in box.buttons()]
    QTest.mouseClick(wanted[0], Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert not box.isVisible()
