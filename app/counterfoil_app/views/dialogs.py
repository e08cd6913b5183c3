"""Message boxes: errors, and questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from counterfoil import RevocationList, group_digits
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.tips import plain

_Answer = tuple[str, QMessageBox.ButtonRole, Callable[[], None] | None]
"""What a button says, what it is, and what it does."""
ACCEPT, DESTROY, REJECT = (
    QMessageBox.ButtonRole.AcceptRole,
    QMessageBox.ButtonRole.DestructiveRole,
    QMessageBox.ButtonRole.RejectRole,
)

_tr = texts("dialogs")


def show_failure(parent: QWidget, failure: Failure) -> QMessageBox:
    """Show a failure as a sentence with its remedy; the details can be unfolded and copied."""
    icon = QMessageBox.Icon.Warning if failure.expected else QMessageBox.Icon.Critical
    box = QMessageBox(icon, _tr("Counterfoil"), translate(failure.sentence), QMessageBox.StandardButton.Ok, parent)
    box.setObjectName("failure")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(plain(translate(failure.remedy)))
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
    more = f"{translate(failure.remedy)} {_tr('Nothing was concluded from it.')}".strip()
    again = (_tr("Choose another file\u2026"), ACCEPT, choose)
    information = QMessageBox.Icon.Information
    return _ask(parent, "misnamed", translate(failure.sentence), more, again, icon=information, default=0)


def ask_about_result(
    parent: QWidget, sentence: str, confirm: str, then: Callable[[], None], sign: Callable[[], None]
) -> QMessageBox:
    """Say that a result is not signed, and go on with ``then`` if it is to stay so, or with ``sign``."""
    more = _tr("It stays among the results, and can be signed later.")
    answers = ((_tr("Sign\u2026"), ACCEPT, sign), (confirm, DESTROY, then))
    return _ask(parent, "unsigned-question", sentence, more, *answers, default=0)


def ask_to_replace(parent: QWidget, files: Sequence[Path], then: Callable[[], None]) -> QMessageBox:
    """Ask whether files that exist may be replaced, and go on with ``then`` if so."""
    question = _tr("Replace {0}?").format(", ".join(name_of(path) for path in files))
    more = _tr("What is in it now will be lost.")
    return _ask(parent, "replace-question", question, more, (_tr("Replace"), DESTROY, then))


def ask_to_remove(parent: QWidget, name: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a result may be removed for good, and go on with ``then`` if so."""
    question, more = _tr("Remove this result of {0}?"), _tr("A verdict that was signed stays where it is.")
    return _ask(parent, "remove-question", question.format(name), more, (_tr("Remove"), DESTROY, then))


def ask_to_forget(parent: QWidget, name: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a key may be forgotten, and go on with ``then`` if so."""
    more = _tr("What it signed does not count any more, and another key of its owner is not noticed.")
    question = _tr("Remove the key of {0}?").format(name)
    return _ask(parent, "forget-question", question, more, (_tr("Remove"), DESTROY, then))


def ask_to_take_list(parent: QWidget, found: RevocationList, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a list of revoked keys is taken in, and go on with ``then`` if so.

    Args:
        parent: The window that is asked on.
        found: The list; its signature holds.
        then: What is done on yes.
    """
    question = _tr("Take in list {0} of revoked keys, of {1}?").format(
        text.count(found.number), text.moment(found.issued_at)
    )
    lines = [
        _tr("Keys in it: {0}").format(text.count(len(found.revocations))),
        _tr("It is signed with the key {0}. Compare these digits with those of whoever answers for the list.").format(
            group_digits(found.key_id)
        ),
    ]
    take = (_tr("Take it in"), ACCEPT, then)
    return _ask(parent, "revoked-question", question, "\n\n".join(lines), take, leave=_tr("Leave it"))


def ask_to_sign_with(parent: QWidget, name: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a private key that arrived is the one to sign with, and go on with ``then`` if so."""
    question = _tr("Sign with the private key {0} from now on?").format(name)
    more = _tr("Only if it is your own: whoever else has it signs as you.")
    use = (_tr("Sign with it"), ACCEPT, then)
    return _ask(parent, "private-key-question", question, more, use, leave=_tr("Leave it"))


def ask_to_leave_order(parent: QWidget, then: Callable[[], None]) -> QMessageBox:
    """Ask whether an order that was written and not saved may be left, and go on with ``then`` if so."""
    more = _tr("The settings are remembered; the same order can be written again.")
    leave = (_tr("Close without saving"), DESTROY, then)
    return _ask(parent, "leave-order-question", _tr("The order is not saved."), more, leave, leave=_tr("Go back"))


def ask_to_stop(parent: QWidget, sentence: str, confirm: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether a running replay may be stopped, and go on with ``then`` if so."""
    more = _tr("What was found so far stays among the results.")
    return _ask(parent, "stop-question", sentence, more, (confirm, DESTROY, then), leave=_tr("Keep replaying"))


def ask_to_leave_recording(parent: QWidget, sentence: str, then: Callable[[], None]) -> QMessageBox:
    """Ask whether what is recorded or followed may be stopped, and go on with ``then`` if so."""
    more = _tr("Steps that are recorded are kept, and can be gone on with; what was only replayed is not.")
    stop = (_tr("Stop it and close"), DESTROY, then)
    return _ask(parent, "recording-question", sentence, more, stop, leave=_tr("Keep the window"))


def _ask(
    parent: QWidget,
    name: str,
    sentence: str,
    more: str,
    *answers: _Answer,
    leave: str = "",
    icon: QMessageBox.Icon = QMessageBox.Icon.Question,
    default: int = -1,
) -> QMessageBox:
    """Ask, and do what is answered; Escape leaves all as it is.

    Args:
        parent: The window that is asked on.
        name: What the code calls the box.
        sentence: The question.
        more: What stands below it.
        answers: The buttons that do something.
        leave: What the last button says, which does nothing.
        icon: Stands beside the question.
        default: Which button Enter presses, of all: by itself that which does nothing.
    """
    box = QMessageBox(icon, _tr("Counterfoil"), sentence, QMessageBox.StandardButton.NoButton, parent)
    box.setObjectName(name)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(plain(more))
    buttons = []
    for said, role, do in (*answers, (leave or _tr("Cancel"), REJECT, None)):
        buttons.append(box.addButton(said, role))
        if do is not None:
            buttons[-1].clicked.connect(do)
    box.setDefaultButton(buttons[default])
    box.setEscapeButton(buttons[-1])
    box.open()
    return box
