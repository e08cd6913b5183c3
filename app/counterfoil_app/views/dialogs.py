"""Message boxes: errors, and questions."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.engine_words import translated


def _tr(text: str) -> str:
    return QCoreApplication.translate("dialogs", text)


def show_failure(parent: QWidget, failure: Failure) -> QMessageBox:
    """Show a failure as a sentence with its remedy; the details can be unfolded and copied."""
    icon = QMessageBox.Icon.Warning if failure.expected else QMessageBox.Icon.Critical
    box = QMessageBox(icon, _tr("Counterfoil"), translated(failure.sentence), QMessageBox.StandardButton.Ok, parent)
    box.setObjectName("failure")
    box.setInformativeText(translated(failure.remedy))
    if failure.detail:
        box.setDetailedText(failure.detail)
        copy = box.addButton(_tr("Copy details"), QMessageBox.ButtonRole.ActionRole)
        copy.clicked.disconnect()  # copying does not close the box
        copy.clicked.connect(
            lambda: QGuiApplication.clipboard().setText(f"{failure.sentence} {failure.remedy}\n\n{failure.detail}")
        )
    box.open()
    return box


def ask_to_stop(parent: QWidget, sentence: str, confirm: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a running replay may be stopped, and go on with ``then`` if so."""
    box = QMessageBox(
        QMessageBox.Icon.Question, _tr("Counterfoil"), sentence, QMessageBox.StandardButton.NoButton, parent
    )
    box.setObjectName("stop-question")
    box.setInformativeText(_tr("What has been replayed so far does not make a verdict."))
    stop = box.addButton(confirm, QMessageBox.ButtonRole.DestructiveRole)
    stay = box.addButton(_tr("Keep replaying"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    stop.clicked.connect(then)
    box.open()
    return box
