"""What the program says of itself: the help pages that come with it, its keyboard shortcuts, and its versions."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from PySide6.QtCore import QLibraryInfo, QSize, QSysInfo, Qt, QUrl
from PySide6.QtGui import (
    QAction,
    QDesktopServices,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextDocument,
)
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QSplitter, QTextBrowser, QWidget

from counterfoil import __version__
from counterfoil_app.looks.language import SOURCE_LANGUAGE
from counterfoil_app.looks.theme import Theme
from counterfoil_app.shell.actions import without_mnemonic
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.parts import Field, FieldGrid, enlarge, label, logo
from counterfoil_app.views.tables import Column, RecordTable, table_view

LOGO_PIXELS = 64
PACKAGES = ("torch", "numpy", "h5py", "numba", "cryptography", "PySide6-Essentials", "pyqtgraph")


def versions() -> tuple[tuple[str, str], ...]:
    """Pairs of name and version: Counterfoil, Python, Qt, the system, and the packages that results depend on.

    They are read without importing the packages.
    """
    found = [
        ("Counterfoil", __version__),
        ("Python", platform.python_version()),
        ("Qt", QLibraryInfo.version().toString()),
        ("System", f"{QSysInfo.prettyProductName()}, {QSysInfo.currentCpuArchitecture()}"),
    ]
    for name in PACKAGES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            found.append((name, "-"))
    return tuple(found)


def versions_text() -> str:
    """The versions, one per line."""
    return "\n".join(f"{name}: {version}" for name, version in versions())


class AboutDialog(QDialog):
    """Name, purpose, licence and versions, which can be copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Counterfoil"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        mark = logo(LOGO_PIXELS)
        mark.setAlignment(Qt.AlignmentFlag.AlignTop)
        title = enlarge(label(f"Counterfoil {__version__}", "title"), 1.5)
        purpose = label(self.tr("Find out whether the training you ordered is the training that happened."))
        licence = label(self.tr("Free software under the Apache License 2.0, without any warranty."), "muted")
        fonts = label(
            self.tr("Fonts: Inter and JetBrains Mono, changed, under the SIL Open Font License 1.1."), "muted"
        )
        self.versions = FieldGrid()
        self.versions.show_fields([Field(name, version) for name, version in versions()])
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = self.buttons.addButton(self.tr("&Copy versions"), QDialogButtonBox.ButtonRole.ActionRole)
        words = layouts.column(title, purpose, licence, fonts, spacing=6)
        head = layouts.row(mark, (words, 1), spacing=16)
        column = layouts.fill(Body(self, self.buttons), head, self.versions, 1, spacing=14)
        self.buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(versions_text()))
        column.fit(self.fontMetrics().averageCharWidth() * 70)


@dataclass(frozen=True)
class Shortcut:
    """One line of the sheet."""

    where: str
    what: str
    keys: str


def keys_of(action: QAction) -> str:
    """The shortcuts of an action as they are written on this platform."""
    form = QKeySequence.SequenceFormat.NativeText
    return ", ".join(sequence.toString(form) for sequence in action.shortcuts() if not sequence.isEmpty())


class ShortcutSheet(QDialog):
    """A table of the shortcuts, with a filter.

    Args:
        commands: Every command with what it belongs to.
        more: Shortcuts of no command, because they belong to a view.
        theme: The theme of the window.
    """

    def __init__(
        self,
        commands: Sequence[tuple[str, QAction]],
        more: Sequence[Shortcut],
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        keys = ((where, action, keys_of(action)) for where, action in commands)
        self._all = [*(Shortcut(where, without_mnemonic(one.text()), key) for where, one, key in keys if key), *more]
        self.filter = layouts.line_edit(name=self.tr("Filter the shortcuts"), hint=self.tr("Filter"), clearable=True)
        columns: list[Column[Shortcut]] = [
            Column(self.tr("Keys"), lambda line: line.keys, 22),
            Column(self.tr("Where"), lambda line: line.where, 16),
            Column(self.tr("What"), lambda line: line.what, 40),
        ]
        self.model: RecordTable[Shortcut] = RecordTable(columns, theme, self)
        self.table = table_view(self.model, self.tr("Keyboard shortcuts"), self)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        layouts.column(self.filter, (self.table, 1), buttons, inside=self)
        buttons.rejected.connect(self.reject)
        self.filter.textChanged.connect(self._show)
        self._show("")
        self.filter.setFocus()
        metrics = self.fontMetrics()
        fit_to_screen(self, QSize(int(metrics.averageCharWidth() * 100), metrics.height() * 30))

    def _show(self, wanted: str) -> None:
        word = wanted.casefold()
        self.model.show_records(
            [line for line in self._all if word in f"{line.keys} {line.where} {line.what}".casefold()]
        )


PAGE_MARGIN = 20
"""Pixels around the text of a page."""


@dataclass(frozen=True)
class HelpPage:
    """One page."""

    name: str  #: Its file name, by which links lead to it: ``30-replay.md``.
    title: str  #: Its first heading.
    markdown: str  #: The whole page.


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
