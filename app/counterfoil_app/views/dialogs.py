"""Message boxes: errors, and questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from counterfoil_app.engine.strangers import name_of
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


def offer_another(parent: QWidget, failure: Failure, choose: Callable[[], None]) -> QMessageBox:
    """Say that a file that was chosen is not the right one, and offer to choose again with ``choose``."""
    box = QMessageBox(
        QMessageBox.Icon.Information,
        _tr("Counterfoil"),
        translated(failure.sentence),
        QMessageBox.StandardButton.NoButton,
        parent,
    )
    box.setObjectName("misnamed")
    nothing = _tr("Nothing was concluded from it.")
    box.setInformativeText(f"{translated(failure.remedy)} {nothing}".strip())
    again = box.addButton(_tr("Choose another file\u2026"), QMessageBox.ButtonRole.AcceptRole)
    leave = box.addButton(_tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(again)
    box.setEscapeButton(leave)
    again.clicked.connect(choose)
    box.open()
    return box


def ask_about_result(
    parent: QWidget, sentence: str, confirm: str, then: Callable[[], None], sign: Callable[[], None]
) -> QMessageBox:
    """Say that a result is not signed, and go on with ``then`` if it is to stay so, or with ``sign``."""
    box = QMessageBox(
        QMessageBox.Icon.Question, _tr("Counterfoil"), sentence, QMessageBox.StandardButton.NoButton, parent
    )
    box.setObjectName("unsigned-question")
    box.setInformativeText(_tr("It stays among the results, and can be signed later."))
    first = box.addButton(_tr("Sign\u2026"), QMessageBox.ButtonRole.AcceptRole)
    leave = box.addButton(confirm, QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(_tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(first)
    box.setEscapeButton(cancel)
    first.clicked.connect(sign)
    leave.clicked.connect(then)
    box.open()
    return box


def ask_to_replace(parent: QWidget, files: Sequence[Path], then: Callable[[], None]) -> QMessageBox:
    """Ask whether files that exist may be replaced, and go on with ``then`` if so."""
    names = ", ".join(name_of(path) for path in files)
    box = QMessageBox(
        QMessageBox.Icon.Question,
        _tr("Counterfoil"),
        _tr("Replace {0}?").format(names),
        QMessageBox.StandardButton.NoButton,
        parent,
    )
    box.setObjectName("replace-question")
    box.setInformativeText(_tr("What is in it now will be lost."))
    replace = box.addButton(_tr("Replace"), QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(_tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    replace.clicked.connect(then)
    box.open()
    return box


def ask_to_remove(parent: QWidget, name: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a result may be removed for good, and go on with ``then`` if so."""
    box = QMessageBox(
        QMessageBox.Icon.Question,
        _tr("Counterfoil"),
        _tr("Remove this result of {0}?").format(name),
        QMessageBox.StandardButton.NoButton,
        parent,
    )
    box.setObjectName("remove-question")
    box.setInformativeText(_tr("A verdict that was signed stays where it is."))
    remove = box.addButton(_tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(_tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    remove.clicked.connect(then)
    box.open()
    return box


def ask_to_forget(parent: QWidget, name: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a key may be forgotten, and go on with ``then`` if so."""
    box = QMessageBox(
        QMessageBox.Icon.Question,
        _tr("Counterfoil"),
        _tr("Remove the key of {0}?").format(name),
        QMessageBox.StandardButton.NoButton,
        parent,
    )
    box.setObjectName("forget-question")
    box.setInformativeText(_tr("What it signed does not count any more, and another key of its owner is not noticed."))
    remove = box.addButton(_tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(_tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    remove.clicked.connect(then)
    box.open()
    return box


def ask_to_sign_with(parent: QWidget, name: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a private key that arrived is the one to sign with, and go on with ``then`` if so."""
    box = QMessageBox(
        QMessageBox.Icon.Question,
        _tr("Counterfoil"),
        _tr("Sign with the private key {0} from now on?").format(name),
        QMessageBox.StandardButton.NoButton,
        parent,
    )
    box.setObjectName("private-key-question")
    box.setInformativeText(_tr("Only if it is your own: whoever else has it signs as you."))
    use = box.addButton(_tr("Sign with it"), QMessageBox.ButtonRole.AcceptRole)
    leave = box.addButton(_tr("Leave it"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(leave)
    box.setEscapeButton(leave)
    use.clicked.connect(then)
    box.open()
    return box


def ask_to_stop(parent: QWidget, sentence: str, confirm: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a running replay may be stopped, and go on with ``then`` if so."""
    box = QMessageBox(
        QMessageBox.Icon.Question, _tr("Counterfoil"), sentence, QMessageBox.StandardButton.NoButton, parent
    )
    box.setObjectName("stop-question")
    box.setInformativeText(_tr("What was found so far stays among the results."))
    stop = box.addButton(confirm, QMessageBox.ButtonRole.DestructiveRole)
    stay = box.addButton(_tr("Keep replaying"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    stop.clicked.connect(then)
    box.open()
    return box
