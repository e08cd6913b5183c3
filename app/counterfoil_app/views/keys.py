"""The list of known keys: trainers', auditors', clients' and the auditor's own."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLabel, QWidget

from counterfoil import pem_of
from counterfoil_app.engine.worker import Failure, attempt
from counterfoil_app.looks import text, words
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.model.key_book import MAX_NAME, KeyBook, KnownKey, Role
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_forget
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.layouts import button, line_edit
from counterfoil_app.views.parts import Field, FieldGrid, label, restyle
from counterfoil_app.views.tables import Column, RecordTable, table_view

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
    save_wanted = Signal(KnownKey)
    """The user wants a key in a file."""
    failed = Signal(Failure)

    def __init__(self, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keys"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fit_to_screen(self, QSize(*SIZE))
        self._book = book
        self._shown = ""
        self.sentence = label("", "muted")
        self.notice = label("", "notice")
        restyle(self.notice, "tone", Tone.BAD.value)
        self.model: RecordTable[KnownKey] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Keys"))
        self.facts = FieldGrid()
        self.name = line_edit(name=self.tr("Name of this key"), most=MAX_NAME)
        self.rename = button(self.tr("&Rename"), self._rename)
        self.add = button(self.tr("&Add a key\u2026"), self.add_wanted)
        self.copy = button(self.tr("C&opy public key"), self._copy)
        self.save = button(self.tr("&Save public key\u2026"), self._save)
        self.remove = button(self.tr("Re&move\u2026"), self._remove)
        self.close_button = button(self.tr("&Close"), self.close)
        for one in (self.rename, self.add, self.copy, self.save, self.remove):
            one.setAutoDefault(False)
        title = QLabel(self.tr("&Name"))
        title.setBuddy(self.name)
        named = layouts.row(title, (self.name, 1), self.rename)
        row = layouts.row(self.add, self.copy, self.save, self.remove, 1, self.close_button)
        shown = (self.sentence, self.notice, (self.table, 1), self.facts, named, row)
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
            Column(self.tr("Name"), lambda key: key.name or self.tr("no name yet"), 22, look=words.known_key),
            Column(self.tr("Fingerprint"), lambda key: f"{key.key_id[:SHORT]}\u2026", 19, fixed=True, tip=_key_id),
            Column(self.tr("Since"), lambda key: key.since, 12),
            Column(self.tr("Came from"), lambda key: key.source, 12, tip=lambda key: key.source),
        ]

    def _refresh(self) -> None:
        chosen = self._shown
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
        self.notice.setText(self._book.problem)
        self.notice.setVisible(bool(self._book.problem))
        if keys:
            self.choose(chosen if self._book.find(chosen) is not None else keys[0].key_id)
        self._show_chosen()

    def _show_chosen(self) -> None:
        key = self.chosen
        self._shown = key.key_id if key is not None else ""
        self.facts.show_fields(
            []
            if key is None
            else [
                Field(self.tr("Fingerprint"), key.key_id, exact=True),
                Field(self.tr("Came from"), key.source),
                Field(self.tr("Orders whose runs it signed"), text.count(len(key.orders))),
            ][: 3 if key.orders else 2]
        )
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
