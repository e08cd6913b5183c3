"""Asks for the private sealing key that opens a sealed capsule."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Tone
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.parts import caption, label, restyle

WIDTH = 620


class IdentityDialog(QDialog):
    """Asks for a private sealing key and its passphrase; stays open until the capsule is.

    Args:
        sealed: The sealed capsule.
    """

    wanted = Signal()
    """The user wants it opened with :attr:`identity` and :attr:`passphrase`."""

    def __init__(self, sealed: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Open a sealed capsule"))
        self._start = sealed.parent
        self._opening = False
        self._failed = ""
        self.key = layouts.line_edit(name=self.tr("Your private sealing key"))
        self.secret = layouts.line_edit(
            name=self.tr("Passphrase of the sealing key"), hint=self.tr("Passphrase, if it has one")
        )
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        choose = layouts.button(self.tr("Choose\u2026"), self._choose, name=self.tr("Choose your private sealing key"))
        self.hint = label("", "hint")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(self.tr("Open"))
        self.ok.setProperty("primary", True)
        said = self.tr(
            "{0} is sealed: only the judges for whom that was done can open it. It is open as long as its window is, "
            "in a folder that only you can read."
        )
        self._body = Body(self, self.hint, self.buttons)
        layouts.fill(
            self._body,
            label(said.format(name_of(sealed))),
            caption(self.tr("Your private sealing key"), "section"),
            layouts.row((self.key, 1), choose),
            self.secret,
            1,
            spacing=8,
        )
        self._body.fit(scale(WIDTH))
        self.buttons.accepted.connect(self._want)
        self.buttons.rejected.connect(self.reject)
        for line in (self.key, self.secret):
            line.textChanged.connect(self._edited)
        self._refresh()

    @property
    def identity(self) -> Path:
        """The file of the private sealing key."""
        return Path(self.key.text()).expanduser()

    @property
    def passphrase(self) -> str:
        """Its passphrase; empty for none."""
        return self.secret.text()

    def show_opened(self, failure: Failure | None) -> None:
        """Close when it is open; otherwise say why not."""
        self._opening = False
        if failure is None:
            self.accept()
            return
        self._failed = failure_text(failure)
        self._refresh()

    def reject(self) -> None:
        """Close, unless it is being opened."""
        if not self._opening:
            super().reject()

    def _want(self) -> None:
        self._opening, self._failed = True, ""
        self._refresh()
        self.wanted.emit()

    def _edited(self) -> None:
        self._failed = ""
        self._refresh()

    def _refresh(self) -> None:
        self.ok.setEnabled(bool(self.key.text()) and not self._opening)
        self.buttons.button(QDialogButtonBox.StandardButton.Cancel).setEnabled(not self._opening)
        self.hint.setText(self.tr("It is opened\u2026") if self._opening else self._failed)
        restyle(self.hint, "tone", Tone.BAD.value if self._failed else "")

    def _choose(self) -> None:
        title, kinds = self.tr("Your private sealing key"), self.tr("Private sealing keys (*.key);;All files (*)")
        path = layouts.existing_file(self, title, self._start, kinds, here=True)
        if path is not None:
            self.key.setText(str(path))
