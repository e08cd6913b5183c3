"""A file of a case moved: the user chooses it, or a folder in which it is looked for by its digest."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QProgressBar, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import case_words, text
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.theme import Tone
from counterfoil_app.model.file_search import FileSearch
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.layouts import button, existing_file
from counterfoil_app.views.parts import Field, FieldGrid, label, restyle, tell

SIZE = (720, 380)


class FindDialog(QDialog):
    """Looks for a file; closes by itself when it is found.

    Args:
        search: The search.
    """

    found = Signal(object)
    """Where the file is."""

    def __init__(self, search: FileSearch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        file = search.file
        self.search = search
        self.setWindowTitle(self.tr("Find {0}").format(name_of(file.file)))
        self.sentence = label(
            self.tr(
                "{0} is no longer where it was. Choose it, or a folder: a file there is taken only if it holds the "
                "same, by its digest, whatever it is called now."
            ).format(name_of(file.file))
        )
        facts = FieldGrid()
        root = [Field(self.tr("Run root"), file.about.run_root.hex, exact=True)] if file.about else []
        facts.show_fields(
            [
                Field(self.tr("What"), case_words.file_kind(file.kind)),
                Field(self.tr("It was"), strangers.sentence(file.path), exact=True),
                Field(self.tr("Order digest"), search.case.order, exact=True),
                *root,
            ]
        )
        self.notice = label("", "notice")
        self.progress = QProgressBar()
        self.progress.setAccessibleName(self.tr("Progress of the search"))
        self.choose_file = button(self.tr("Choose the &file\u2026"), self._choose_file)
        self.choose_folder = button(self.tr("Look in a f&older\u2026"), self._choose_folder, primary=True)
        self.stop = button(self.tr("&Stop"), search.stop)
        self.close_button = button(self.tr("&Close"), self.reject)
        buttons = QWidget()
        layouts.row(
            self.choose_folder, self.choose_file, 1, self.stop, self.close_button, inside=buttons, margins=layouts.NONE
        )
        layouts.fill(Body(self, self.notice, self.progress, buttons), self.sentence, facts, 1, spacing=12)
        search.changed.connect(self._changed)
        self._refresh()
        fit_to_screen(self, QSize(*SIZE))

    def reject(self) -> None:
        """Stop looking, and close."""
        self.search.stop()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Stop looking."""
        self.search.stop()
        super().closeEvent(event)

    def _changed(self) -> None:
        self._refresh()
        if self.search.found is not None and not self.search.working:
            self.found.emit(self.search.found)
            self.accept()

    def _refresh(self) -> None:
        search, progress = self.search, self.search.progress
        self.progress.setVisible(search.working)
        self.progress.setRange(0, progress.total if progress is not None else 0)
        self.progress.setValue(progress.looked if progress is not None else 0)
        if progress is not None:
            self.progress.setFormat(
                self.tr("{0} of {1} files").format(text.count(progress.looked), text.count(progress.total))
            )
        for each in (self.choose_file, self.choose_folder):
            each.setEnabled(not search.working)
        self.stop.setEnabled(search.working)
        said, tone = self._said()
        tell(self.notice, said, tone)
        self.notice.setVisible(bool(said))
        restyle(self.choose_folder, "primary", not search.working)

    def _said(self) -> tuple[str, Tone]:
        search = self.search
        if search.failure is not None:
            return failure_text(search.failure), Tone.WARN
        if search.place is None or search.working or not search.over or search.found is not None:
            return "", Tone.INFO
        place = strangers.sentence(str(search.place))
        if search.place.is_dir():
            looked = text.count(search.progress.looked if search.progress is not None else 0)
            return self.tr("It is not in {0}: {1} files were looked at.").format(place, looked), Tone.WARN
        return self.tr("{0} is another file: it does not hold the same.").format(place), Tone.WARN

    def _choose_file(self) -> None:
        start = self.search.file.file.parent
        if path := existing_file(self, self.windowTitle(), start, self.tr("All files (*)")):
            self.search.look_in(path)

    def _choose_folder(self) -> None:
        start = str(self.search.file.file.parent)
        if name := QFileDialog.getExistingDirectory(self, self.windowTitle(), start):
            self.search.look_in(Path(name))
