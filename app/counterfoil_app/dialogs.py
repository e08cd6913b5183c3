"""Dialogs: signing a verdict, errors, and questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from counterfoil import AuditReport
from counterfoil_app.engine_words import translated
from counterfoil_app.session import SigningRequest
from counterfoil_app.views.parts import label
from counterfoil_app.worker import Failure


def _tr(text: str) -> str:
    return QCoreApplication.translate("dialogs", text)


class SigningDialog(QDialog):
    """Asks with which key a verdict is signed and where it goes.

    Args:
        report: What will be signed.
        key: A private key file to offer; None offers to create one.
        folder: Folder for new files.
        target: Where the verdict goes unless the user says otherwise.
    """

    def __init__(
        self, report: AuditReport, key: Path | None, folder: Path, target: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Export signed verdict"))
        self.setMinimumWidth(560)
        self._folder = folder
        what = label(
            self.tr("You sign that you replayed {0} and found: {1}. {2}").format(
                report.bundle_name, report.outcome.value, report.reason
            )
        )
        self.use_existing = QRadioButton(self.tr("Sign with my &key"))
        self.create_new = QRadioButton(self.tr("Create a &new key"))
        self.key = QLineEdit(str(key if key is not None else folder / "auditor.pem"))
        self.key.setAccessibleName(self.tr("Private key file"))
        self.browse_key = QPushButton(self.tr("Choose\u2026"))
        self.browse_key.setAccessibleName(self.tr("Choose the private key file"))
        self.passphrase = self._secret(self.tr("Passphrase"))
        self.repeat = self._secret(self.tr("Passphrase again"))
        self._repeat_label = label(self.tr("Passphrase again"), wrap=False)
        self.target = QLineEdit(str(target))
        self.target.setAccessibleName(self.tr("Verdict file"))
        self.browse_target = QPushButton(self.tr("Choose\u2026"))
        self.browse_target.setAccessibleName(self.tr("Choose the verdict file"))
        self.hint = label("", "muted")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(self.tr("Sign and save"))
        self.ok.setProperty("primary", True)
        choice = QHBoxLayout()
        choice.setSpacing(24)
        choice.addWidget(self.use_existing)
        choice.addWidget(self.create_new)
        choice.addStretch(1)
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        grid.setVerticalSpacing(8)
        grid.addLayout(choice, 0, 0, 1, 3)
        grid.addWidget(label(self.tr("Private key"), wrap=False), 1, 0)
        grid.addWidget(self.key, 1, 1)
        grid.addWidget(self.browse_key, 1, 2)
        grid.addWidget(label(self.tr("Passphrase"), wrap=False), 2, 0)
        grid.addWidget(self.passphrase, 2, 1, 1, 2)
        grid.addWidget(self._repeat_label, 3, 0)
        grid.addWidget(self.repeat, 3, 1, 1, 2)
        grid.addWidget(label(self.tr("Verdict"), wrap=False), 4, 0)
        grid.addWidget(self.target, 4, 1)
        grid.addWidget(self.browse_target, 4, 2)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addWidget(what)
        column.addLayout(grid)
        column.addWidget(self.hint)
        column.addWidget(self.buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.browse_key.clicked.connect(self._choose_key)
        self.browse_target.clicked.connect(self._choose_target)
        self.use_existing.toggled.connect(self._refresh)
        for line in (self.key, self.passphrase, self.repeat, self.target):
            line.textChanged.connect(self._refresh)
        (self.create_new if key is None else self.use_existing).setChecked(True)
        self._refresh()
        self.passphrase.setFocus()

    def request(self) -> SigningRequest:
        """What the user asked for."""
        return SigningRequest(
            private_key=Path(self.key.text()).expanduser(),
            passphrase=self.passphrase.text() or None,
            create=self.create_new.isChecked(),
            target=Path(self.target.text()).expanduser(),
        )

    def _secret(self, name: str) -> QLineEdit:
        line = QLineEdit()
        line.setEchoMode(QLineEdit.EchoMode.Password)
        line.setAccessibleName(name)
        return line

    def _refresh(self) -> None:
        create = self.create_new.isChecked()
        self.repeat.setVisible(create)
        self._repeat_label.setVisible(create)
        self.passphrase.setPlaceholderText(
            self.tr("recommended; protects the key file") if create else self.tr("empty if the key has none")
        )
        problem = self._problem()
        self.ok.setEnabled(not problem)
        self.hint.setText(problem or self._advice())

    def _problem(self) -> str:
        key = Path(self.key.text()).expanduser()
        if not self.key.text() or not self.target.text():
            return self.tr("Say where the key is and where the verdict goes.")
        if self.create_new.isChecked():
            if key.exists():
                return self.tr("There is a file of this name already; a key is never overwritten.")
            if self.passphrase.text() != self.repeat.text():
                return self.tr("The two passphrases differ.")
        elif not key.is_file():
            return self.tr("There is no such key file.")
        return ""

    def _advice(self) -> str:
        key = Path(self.key.text()).expanduser()
        if self.create_new.isChecked():
            return self.tr(
                "The public key is written beside it as {0}. Give it to whoever checks your verdicts."
            ).format(f"{key.stem}.pub.pem")
        return self.tr("Whoever checks the verdict needs the public key that belongs to this private key.")

    def _choose_key(self) -> None:
        if self.create_new.isChecked():
            name, _ = QFileDialog.getSaveFileName(self, self.tr("New private key"), self.key.text(), "*.pem")
        else:
            name, _ = QFileDialog.getOpenFileName(self, self.tr("Private key"), self.key.text(), "*.pem")
        if name:
            self.key.setText(name)

    def _choose_target(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Verdict"), self.target.text(), "*.json")
        if name:
            self.target.setText(name)


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
