"""The list of known keys, and one that arrived as a proposal: a person compares its fingerprint, or trusts it not."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QLabel, QLineEdit, QWidget

from counterfoil import KnownKey, Role, group_digits, key_id_of, pem_of
from counterfoil.trust.keyfile import MAX_NAME
from counterfoil_app.engine.worker import Failure, attempt
from counterfoil_app.looks import text, words
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_forget
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.layouts import button, choices, line_edit
from counterfoil_app.views.parts import Field, FieldGrid, caption, label, restyle, tell
from counterfoil_app.views.tables import Column, RecordTable, table_view

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
        self.fingerprint = label(self._lines(group_digits(key_id_of(public))), wrap=False)
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


SIZE = (900, 560)
SHORT = 16
"""Digits of a fingerprint in the table; all are below it, in its tool tip, and in what is copied."""


class KeysDialog(QDialog):
    """Shows the keys, and lets the user rename, remove, copy and save them.

    Args:
        book: The keys.
        theme: The theme of the application.
    """

    add_wanted = Signal()
    """The user wants to choose a key file."""
    list_wanted = Signal()
    """The user wants to take in a list of revoked keys."""
    save_wanted = Signal(KnownKey)
    """The user wants a key in a file."""
    failed = Signal(Failure)

    def __init__(self, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keys"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self._book = book
        self._shown = ""
        self.sentence = label("", "muted")
        self.notice = label("", "notice")
        restyle(self.notice, "tone", Tone.BAD.value)
        self.revoked = label("", "muted")
        self.model: RecordTable[KnownKey] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Keys"))
        self.facts = FieldGrid()
        self.name = line_edit(name=self.tr("Name of this key"), most=MAX_NAME)
        self.rename = button(self.tr("&Rename"), self._rename)
        self.add = button(self.tr("&Add a key\u2026"), self.add_wanted)
        self.take_list = button(self.tr("Take in a &list of revoked keys\u2026"), self.list_wanted)
        self.copy = button(self.tr("C&opy public key"), self._copy)
        self.save = button(self.tr("&Save public key\u2026"), self._save)
        self.remove = button(self.tr("Re&move\u2026"), self._remove)
        self.close_button = button(self.tr("&Close"), self.close)
        for one in (self.rename, self.add, self.take_list, self.copy, self.save, self.remove):
            one.setAutoDefault(False)
        title = QLabel(self.tr("&Name"))
        title.setBuddy(self.name)
        named = layouts.row(title, (self.name, 1), self.rename)
        row = layouts.row(self.add, self.copy, self.save, self.remove, 1, self.close_button)
        listed = layouts.row((self.revoked, 1), self.take_list)
        shown = (self.sentence, self.notice, listed, (self.table, 1), self.facts, named, row)
        layouts.column(*shown, inside=self, spacing=10)
        self.table.selectionModel().selectionChanged.connect(self._show_chosen)
        self.name.textChanged.connect(self._refresh_buttons)
        self.name.returnPressed.connect(self._rename)
        layouts.keys_in(self.table, Qt.Key.Key_Delete, self._remove)
        book.changed.connect(self._refresh)
        self._refresh()

    @property
    def chosen(self) -> KnownKey | None:
        """The chosen key; None for none."""
        rows = self.table.selectionModel().selectedRows()
        return self.model.records[rows[0].row()] if rows else None

    def choose(self, key_id: str) -> None:
        """Choose the key with a fingerprint."""
        for row, key in enumerate(self.model.records):
            if key.key_id == key_id:
                flags = QItemSelectionModel.SelectionFlag
                self.table.selectionModel().setCurrentIndex(self.model.index(row, 0), flags.ClearAndSelect | flags.Rows)

    def _columns(self) -> list[Column[KnownKey]]:
        return [
            Column(self.tr("Key of"), lambda key: words.role(key.role), 12),
            Column(self.tr("Name"), lambda key: key.name or self.tr("no name yet"), 22, look=self._look),
            Column(self.tr("Fingerprint"), lambda key: f"{key.key_id[:SHORT]}\u2026", 19, fixed=True, tip=_key_id),
            Column(self.tr("Since"), lambda key: key.since, 12),
            Column(self.tr("Came from"), lambda key: key.source, 12, tip=lambda key: key.source),
        ]

    def _look(self, key: KnownKey) -> words.Look:
        return words.known_key(key, self._book.revoked.of(key.key_id))

    def _revoked_words(self) -> str:
        lists = self._book.revoked.lists
        if not lists:
            return self.tr("No list of revoked keys is known.")
        said = self.tr("List {0} of revoked keys, of {1}, with {2} keys; signed with the key {3}.")
        return "\n".join(
            said.format(
                text.count(each.number),
                text.moment(each.issued_at),
                text.count(len(each.revocations)),
                each.key_id[:12],
            )
            for each in lists
        )

    def _refresh(self) -> None:
        chosen = self._shown
        self.revoked.setText(self._revoked_words())
        keys = self._book.keys
        self.model.show_records(keys)
        counts = {role: sum(key.role is role for key in keys) for role in Role}
        self.sentence.setText(
            self.tr("Trainers: {0}. Auditors: {1}. Clients: {2}. Your own: {3}.").format(
                *(text.count(counts[role]) for role in Role)
            )
            if keys
            else self.tr(
                "No key is known yet. Add the public keys of auditors and trainers here, or drop them on the window; "
                "your own comes in when you first sign."
            )
        )
        problem = self._book.problem or self._book.revoked.problem
        self.notice.setText(problem)
        self.notice.setVisible(bool(problem))
        if keys:
            self.choose(chosen if self._book.find(chosen) is not None else keys[0].key_id)
        self._show_chosen()

    def _show_chosen(self) -> None:
        key = self.chosen
        self._shown = key.key_id if key is not None else ""
        fields = []
        if key is not None:
            revoked = self._book.revoked.of(key.key_id)
            fields = [Field(self.tr("Fingerprint"), key.key_id, exact=True), Field(self.tr("Came from"), key.source)]
            if key.orders:
                fields.append(Field(self.tr("Orders whose runs it signed"), text.count(len(key.orders))))
            if revoked is not None:
                fields.append(Field(self.tr("Does not count"), words.revocation(revoked)))
        self.facts.show_fields(fields)
        self.name.setText("" if key is None else key.name)
        self._refresh_buttons()

    def _refresh_buttons(self) -> None:
        key = self.chosen
        for widget in (self.name, self.copy, self.save, self.remove):
            widget.setEnabled(key is not None)
        self.rename.setEnabled(key is not None and self.name.text().strip() != key.name)

    def _rename(self) -> None:
        key, name = self.chosen, self.name.text()
        if key is not None and self.rename.isEnabled():
            attempt(lambda: self._book.name(key.key_id, name), self.failed)

    def _remove(self) -> None:
        key = self.chosen
        if key is not None:
            remove = partial(self._book.remove, key.key_id)
            ask_to_forget(self, key.name or key.key_id[:12], partial(attempt, remove, self.failed))

    def _copy(self) -> None:
        key = self.chosen
        if key is not None:
            QGuiApplication.clipboard().setText(pem_of(key.public))
            self.sentence.setText(self.tr("The public key of {0} is copied.").format(key.name or key.key_id[:12]))

    def _save(self) -> None:
        key = self.chosen
        if key is not None:
            self.save_wanted.emit(key)


def _key_id(key: KnownKey) -> str:
    return key.key_id
