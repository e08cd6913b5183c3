"""Asks for the private sealing key that opens a sealed capsule."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLineEdit, QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks.fonts import scale
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.parts import caption, label
from counterfoil_app.views.work_dialog import WorkDialog

WIDTH = 620


class IdentityDialog(WorkDialog):
    """Asks for a private sealing key and its passphrase, with which the capsule is opened.

    Args:
        sealed: The sealed capsule.
    """

    def __init__(self, sealed: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Open a sealed capsule"))
        self._start = sealed.parent
        self.key = layouts.line_edit(name=self.tr("Your private sealing key"))
        self.secret = layouts.line_edit(
            name=self.tr("Passphrase of the sealing key"), hint=self.tr("Passphrase, if it has one")
        )
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        choose = layouts.button(self.tr("Choose\u2026"), self._choose, name=self.tr("Choose your private sealing key"))
        self.ok.setText(self.tr("Open"))
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

    def _refresh(self) -> None:
        self._show_state("", self.tr("It is opened\u2026"))
        self.ok.setEnabled(bool(self.key.text()) and not self.working)

    def _choose(self) -> None:
        title, kinds = self.tr("Your private sealing key"), self.tr("Private sealing keys (*.key);;All files (*)")
        path = layouts.existing_file(self, title, self._start, kinds, here=True)
        if path is not None:
            self.key.setText(str(path))
