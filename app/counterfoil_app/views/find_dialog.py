"""A file of a case moved: the user chooses it, or a folder in which it is looked for by its digest."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import case_words, text
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.file_search import FileSearch
from counterfoil_app.views import layouts
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, existing_file
from counterfoil_app.views.parts import Field, FieldGrid, Page, restyle

SIZE = (760, 380)


class FindDialog(InquiryDialog):
    """Looks for a file, also where one or a folder is dropped here; closes by itself when it is found.

    Args:
        search: The search.
        theme: The theme of the application.
    """

    found = Signal(object)
    """Where the file is."""

    def __init__(self, search: FileSearch, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(search, theme, SIZE, parent)
        self.search, file = search, search.file
        self.setWindowTitle(self.tr("Find {0}").format(name_of(file.file)))
        self.take_files(lambda paths: search.look_in(paths[0]))
        self.progress.setAccessibleName(self.tr("Progress of the search"))
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
        page = Page(self.tr("What is looked for"))
        layouts.fill(page.column, facts, 1)
        folder = button(self.tr("Look in a f&older\u2026"), self._choose_folder)
        file_button = button(self.tr("Choose the &file\u2026"), self._choose_file)
        self.arrange(page, folder, file_button, button(self.tr("&Close"), self.close))
        self.notice.hide()
        search.changed.connect(self._end)

    def refresh(self) -> None:
        """Show how far the search is, or what came of it."""
        super().refresh()
        self.top.show_look(*self._headline())
        restyle(self.choose, "primary", not self.search.working)

    def _end(self) -> None:
        if self.search.found is not None and not self.search.working:
            self.found.emit(self.search.found)
            self.accept()

    def _headline(self) -> tuple[Look, str]:
        search, name = self.search, name_of(self.search.file.file)
        looked = search.progress.looked if search.progress is not None else 0
        total = search.progress.total if search.progress is not None else 0
        said = self.tr("{0} of {1} files").format(text.count(looked), text.count(total)) if total else ""
        if unfinished := self.unfinished(self.tr("Being looked for"), said, self.tr("Not looked for")):
            return unfinished
        if search.place is None or not search.over or search.found is not None:
            asked = self.tr(
                "{0} is no longer where it was. Choose it, or a folder: a file there is taken only if it holds the "
                "same, by its digest, whatever it is called now."
            )
            return Look(self.tr("A file that moved"), "waiting", Tone.INFO), asked.format(name)
        place = strangers.sentence(str(search.place))
        said = self.tr("{0} is another file: it does not hold the same.").format(place)
        if search.place.is_dir():
            said = self.tr("It is not in {0}: {1} files were looked at.").format(place, text.count(looked))
        return Look(self.tr("Not found"), "inconclusive", Tone.WARN), said

    def _choose_file(self) -> None:
        start = self.search.file.file.parent
        if path := existing_file(self, self.windowTitle(), start, self.tr("All files (*)")):
            self.search.look_in(path)

    def _choose_folder(self) -> None:
        start = str(self.search.file.file.parent)
        if name := QFileDialog.getExistingDirectory(self, self.windowTitle(), start):
            self.search.look_in(Path(name))
