"""A public key that arrived, as a proposal: a person compares its fingerprint, or it is not trusted."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QLabel, QLineEdit, QWidget

from counterfoil import grouped, key_id_of
from counterfoil_app.looks import words
from counterfoil_app.looks.fonts import fixed_font
from counterfoil_app.looks.theme import Tone
from counterfoil_app.model.key_book import MAX_NAME, Role
from counterfoil_app.model.turns import follow
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.layouts import choices, line_edit
from counterfoil_app.views.parts import caption, label, restyle, tell

GROUPS_IN_A_LINE = 8
WIDTH = 76
"""Of the dialog, in average characters."""


class KeyProposalDialog(QDialog):
    """Asks whether a key is trusted, and as whose; the answer that needs no thought is no.

    Args:
        public: The key.
        source: Where it came from, in a line.
        role: What it is proposed for.
        signed_the_run: Whether it signed the run that is open, so that it cannot be an auditor's.
    """

    trusted = Signal(Role, str)
    """The user trusts it for this, and calls its owner this."""

    def __init__(
        self, public: str, source: str, role: Role, *, signed_the_run: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("A key that you do not know"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.public = public
        self._signed_the_run = signed_the_run
        self.sentence = label(
            self.tr(
                "Anybody can make a key and call it somebody's. Compare the fingerprint with the owner's by another "
                "way than the one this file came, for instance on the telephone. Until you trust it, nothing that it "
                "signed counts."
            )
        )
        self.fingerprint = label(self._lines(grouped(key_id_of(public))), wrap=False)
        self.fingerprint.setFont(fixed_font())
        self.fingerprint.setAccessibleName(self.tr("Fingerprint"))
        roles = (Role.AUDITOR, Role.TRAINER, Role.CLIENT)
        self.role = choices([(words.role(each), each) for each in roles], role)
        self.name = line_edit(hint=self.tr("whose key it is"), most=MAX_NAME)
        self.compared = QCheckBox(self.tr("I have &compared the fingerprint with its owner's"))
        self.notice = label("", "notice")
        self.buttons = QDialogButtonBox()
        self.trust = self.buttons.addButton(self.tr("&Trust this key"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.leave = self.buttons.addButton(self.tr("&Do not trust it"), QDialogButtonBox.ButtonRole.RejectRole)
        self.trust.setAutoDefault(False)
        self.leave.setDefault(True)
        restyle(self.leave, "primary", True)
        form = layouts.grid(across=12, down=8)
        rows = (
            (self.tr("Fingerprint"), self.fingerprint),
            (self.tr("Came from"), label(source)),
            (self.tr("&Key of"), self.role),
            (self.tr("&Name"), self.name),
        )
        for row, (title, widget) in enumerate(rows):
            name = QLabel(title)
            if isinstance(widget, (QComboBox, QLineEdit)):
                name.setBuddy(widget)
                widget.setAccessibleName(title.replace("&", ""))
            form.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            form.addWidget(widget, row, 1)
        form.addWidget(self.compared, len(rows), 1)
        question = caption(self.tr("Do you trust this key?"), "title")
        column = layouts.fill(Body(self, self.buttons), question, self.sentence, form, self.notice, 1, spacing=12)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        follow(self._refresh, self.role.currentIndexChanged, self.name.textChanged, self.compared.toggled)
        self._refresh()
        column.fit(self.fontMetrics().averageCharWidth() * WIDTH)
        self.name.setFocus()

    def show_problem(self, sentence: str) -> None:
        """Say why the key was not taken in."""
        tell(self.notice, sentence, Tone.BAD)

    def _lines(self, digits: str) -> str:
        groups = digits.split(" ")
        rows = [groups[place : place + GROUPS_IN_A_LINE] for place in range(0, len(groups), GROUPS_IN_A_LINE)]
        return "\n".join(" ".join(row) for row in rows)

    def _refresh(self) -> None:
        own = self._signed_the_run and self.role.currentData() is Role.AUDITOR
        self.trust.setEnabled(bool(self.name.text().strip()) and self.compared.isChecked() and not own)
        if own:
            sentence = self.tr(
                "This key signed the run itself. A trainer cannot audit itself: what it says of its own run shows "
                "nothing."
            )
        else:
            sentence = {
                Role.AUDITOR: self.tr("Verdicts that this key signed will count, whoever brings them."),
                Role.TRAINER: self.tr("Runs that this key signed will be this trainer's."),
                Role.CLIENT: self.tr("Orders that this key signed will be this client's."),
            }[self.role.currentData()]
        tell(self.notice, sentence, Tone.BAD if own else Tone.INFO)

    def _accept(self) -> None:
        if self.trust.isEnabled():
            self.trusted.emit(self.role.currentData(), self.name.text())
