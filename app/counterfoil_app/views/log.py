"""The log: what happened, line by line, to read and to copy."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QWidget

from counterfoil_app.looks import text
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import single_shot
from counterfoil_app.model.journal import Entry, Journal, Kind
from counterfoil_app.views import layouts
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import label
from counterfoil_app.views.tables import AnyIndex, Column, RecordTable, table_view


class LogTable(RecordTable[Entry]):
    """The journal's entries, oldest first."""

    def __init__(self, journal: Journal, theme: Theme, parent: QWidget | None = None) -> None:
        self._journal = journal
        self._count = len(journal)
        super().__init__([], theme, parent)
        looks = {
            Kind.NOTE: Look(self.tr("note"), "pending", Tone.MUTED),
            Kind.GOOD: Look(self.tr("good"), "passed", Tone.OK),
            Kind.WARNING: Look(self.tr("warning"), "warning", Tone.WARN),
            Kind.ERROR: Look(self.tr("error"), "failed", Tone.BAD),
        }
        self.columns = (
            Column(self.tr("Time"), lambda entry: f"{entry.time:%H:%M:%S}", 10, tip=lambda entry: entry.line),
            Column(
                self.tr("Kind"),
                lambda entry: looks[entry.kind].word,
                11,
                look=lambda entry: looks[entry.kind],
                tip=lambda entry: entry.line,
            ),
            Column(self.tr("What happened"), lambda entry: entry.message, 60, tip=lambda entry: entry.line),
        )
        journal.added.connect(self._add)
        journal.removing_first.connect(lambda: self.beginRemoveRows(QModelIndex(), 0, 0))
        journal.removed_first.connect(self._removed_first)
        journal.cleared.connect(self._clear)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's signature
        """Number of entries."""
        return 0 if parent.isValid() else self._count

    def record(self, row: int) -> Entry | None:
        """The entry of a row."""
        return self._journal[row]

    def _add(self) -> None:
        self.beginInsertRows(QModelIndex(), self._count, self._count)
        self._count += 1
        self.endInsertRows()

    def _removed_first(self) -> None:
        self._count -= 1
        self.endRemoveRows()

    def _clear(self) -> None:
        self.beginResetModel()
        self._count = len(self._journal)
        self.endResetModel()


class LogView(QWidget):
    """The table of the journal. It stays at the end unless the user has scrolled up."""

    def __init__(self, journal: Journal, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._journal = journal
        self._at_end = True
        self.model = LogTable(journal, theme, self)
        self.table = table_view(self.model, self.tr("Log"), self)
        self._to_end = single_shot(self, 0, self.table.scrollToBottom)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.copy_lines = layouts.action(self, self.tr("Copy the chosen lines"), "Ctrl+Alt+L", self.copy_chosen)
        self.copy_lines.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(self.copy_lines)
        layouts.context_menu(self.table, [self.copy_lines])
        self.counts = label(wrap=False)
        copied = self.tr("Copy every line with its details, for a report")
        self.copy_button = button(self.tr("Copy all"), self._copy_all, tip=copied)
        emptied = self.tr("Empty the log; nothing else is forgotten")
        self.clear_button = button(self.tr("Clear"), journal.clear, tip=emptied)
        bar = layouts.row(self.counts, 1, self.copy_button, self.clear_button, margins=(10, 4, 10, 4), spacing=8)
        layouts.column(bar, self.table, inside=self, margins=layouts.NONE, spacing=0)
        journal.added.connect(self._added)
        journal.cleared.connect(self._show_counts)
        self.table.verticalScrollBar().valueChanged.connect(self._look)
        self.table.viewport().installEventFilter(self)
        self._show_counts()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Lines that came while the table was hidden or smaller are at its end, and so is the view."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self._at_end:
            self._to_end.start()
        return False

    def _look(self, value: int) -> None:
        """Note whether the user has scrolled away from the end; lines that come move nothing."""
        if self.table.isVisible():
            self._at_end = value >= self.table.verticalScrollBar().maximum() - 1

    def copy_chosen(self) -> None:
        """Copy the chosen lines with their details."""
        if rows := layouts.chosen_rows(self.table):
            QGuiApplication.clipboard().setText("\n".join(self._journal[row].line for row in rows))

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self._journal.text)

    def _added(self) -> None:
        if self._at_end:
            self._to_end.start()
        self._show_counts()

    def _show_counts(self) -> None:
        count = len(self._journal)
        errors = sum(entry.kind is Kind.ERROR for entry in self._journal)
        lines = self.tr("{0} lines").format(text.count(count))
        self.counts.setText(self.tr("{0}, errors: {1}").format(lines, text.count(errors)) if errors else lines)
        self.copy_button.setEnabled(count > 0)
        self.clear_button.setEnabled(count > 0)
