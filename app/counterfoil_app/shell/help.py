"""The help pages that come with the program."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QKeyEvent, QKeySequence, QShortcut, QTextDocument
from PySide6.QtWidgets import QListWidget, QSplitter, QTextBrowser, QWidget

from counterfoil_app.looks.language import SOURCE_LANGUAGE
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import fit_to_screen

PAGE_MARGIN = 20
"""Pixels around the text of a page."""


@dataclass(frozen=True)
class HelpPage:
    """One page.

    Attributes:
        name: Its file name, by which links lead to it: ``30-replay.md``.
        title: Its first heading.
        markdown: The whole page.
    """

    name: str
    title: str
    markdown: str


def help_folder(language: str) -> Traversable:
    """Where the pages of a language and their pictures lie; the English ones where it has none."""
    root = resources.files("counterfoil_resources").joinpath("help")
    folder = root.joinpath(language)
    return folder if folder.is_dir() else root.joinpath(SOURCE_LANGUAGE)


def help_pages(language: str) -> tuple[HelpPage, ...]:
    """The pages of a language in their order; English where it has none."""
    found = []
    for item in sorted(help_folder(language).iterdir(), key=lambda entry: entry.name):
        if item.name.endswith(".md"):
            text = item.read_text("utf-8")
            found.append(HelpPage(item.name, text.splitlines()[0].removeprefix("#").strip(), text))
    return tuple(found)


class HelpBrowser(QTextBrowser):
    """Shows a page with its pictures, which lie beside it.

    Args:
        language: Whose pictures are shown.
    """

    def __init__(self, language: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = help_folder(language)

    def loadResource(self, kind: int, name: QUrl | str) -> object:  # noqa: N802 - Qt's name
        """Read a picture of the page; nothing else is ever loaded."""
        if kind == QTextDocument.ResourceType.ImageResource.value:
            file = self._folder.joinpath(QUrl(name).fileName())
            if file.is_file():
                image = QImage.fromData(file.read_bytes())
                room = self.viewport().width() - 2 * PAGE_MARGIN
                if image.width() > room:
                    return image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
                return image
        return None


class HelpWindow(QWidget):
    """A list of pages beside the page that is read; a window of its own, so that it can stay open beside the desk.

    Args:
        language: Whose pages are shown.
    """

    def __init__(self, language: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(self.tr("Counterfoil help"))
        self.pages = help_pages(language)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Help pages"))
        self.list.addItems([page.title for page in self.pages])
        self.browser = HelpBrowser(language)
        self.browser.setOpenLinks(False)
        self.browser.setAccessibleName(self.tr("Help page"))
        self.browser.document().setDocumentMargin(PAGE_MARGIN)
        search = self.tr("Search all pages")
        self.search = layouts.line_edit(name=search, hint=search, clearable=True)
        self.close_button = layouts.button(self.tr("Close"), self.close)
        left = QWidget()
        layouts.column(self.search, (self.list, 1), inside=left, margins=layouts.NONE)
        self.splitter = QSplitter()
        self.splitter.addWidget(left)
        self.splitter.addWidget(self.browser)
        self.splitter.setStretchFactor(1, 1)
        layouts.column((self.splitter, 1), layouts.row(1, self.close_button), inside=self)
        self.list.currentRowChanged.connect(self._show_row)
        self.browser.anchorClicked.connect(self._follow)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._find_next)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self.search.setFocus)
        metrics = self.fontMetrics()
        fit_to_screen(self, QSize(int(metrics.averageCharWidth() * 160), metrics.height() * 44))
        self.splitter.setSizes([metrics.averageCharWidth() * 34, metrics.averageCharWidth() * 126])
        self.list.setCurrentRow(0)

    def open_page(self, name: str) -> None:
        """Show a page by its file name, and the window."""
        self.search.clear()
        row = next((i for i, page in enumerate(self.pages) if page.name == name), 0)
        self.list.setCurrentRow(row)
        self.show()
        self.raise_()
        self.activateWindow()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Close on Escape, as a dialog does."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _show_row(self, row: int) -> None:
        if 0 <= row < len(self.pages):
            # Headings and paragraphs only; what is written in a page is no HTML.
            feature = QTextDocument.MarkdownFeature
            features = feature.MarkdownNoHTML | feature.MarkdownDialectGitHub
            self.browser.document().setMarkdown(self.pages[row].markdown, features)
            self.browser.verticalScrollBar().setValue(0)

    def _follow(self, link: QUrl) -> None:
        if link.isRelative():
            self.open_page(link.path())
        else:
            QDesktopServices.openUrl(link)

    def _filter(self, wanted: str) -> None:
        matching = [wanted.casefold() in page.markdown.casefold() for page in self.pages]
        for row, matches in enumerate(matching):
            self.list.item(row).setHidden(not matches)
        if wanted and any(matching) and not matching[self.list.currentRow()]:
            self.list.setCurrentRow(matching.index(True))

    def _find_next(self) -> None:
        if not self.browser.find(self.search.text()):
            self.browser.moveCursor(self.browser.textCursor().MoveOperation.Start)
            self.browser.find(self.search.text())
