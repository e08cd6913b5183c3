"""Names a file of the engine's machine, where that is another one: this machine's own dialogs cannot look there."""

from __future__ import annotations

from enum import Enum
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QSize, QStringListModel, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCompleter, QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.recordings import Listing
from counterfoil_app.engine.worker import JobResult
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.fonts import scale
from counterfoil_app.model.bench import Bench
from counterfoil_app.model.eventloop import single_shot
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.parts import caption, label

SIZE = QSize(640, 480)
PAUSE_MILLISECONDS = 200
"""How long nothing was typed before a folder is looked into."""
NAME, IS_FOLDER = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class Kind(Enum):
    """What is to be named."""

    FILE = "file"
    NEW = "new"
    FOLDER = "folder"


class FarFileDialog(QDialog):
    """A line for a path, and the names in its folder.

    Args:
        bench: Asks the engine, on a connection of its own.
        where: What that machine is called.
        title: What is asked for.
        start: Where it begins: a folder, or a proposal for a new file.
        kind: What is to be named.
    """

    def __init__(self, bench: Bench, where: str, title: str, start: str, kind: Kind, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("{0} \u2013 on {1}").format(title, where))
        self._bench, self._kind = bench, kind
        self._asked = ""
        self._listing: Listing | None = None
        self.path = layouts.line_edit(start, name=self.tr("Path on {0}").format(where), hint="~/runs/run.cfoil")
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseSensitive)
        self.path.setCompleter(completer)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Names in the folder"))
        self.hint = label("", "hint")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setProperty("primary", True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        name = caption(self.tr("&Path on {0}").format(where))
        name.setBuddy(self.path)
        layouts.fill(Body(self, self.hint, self.buttons), name, self.path, (self.list, 1), spacing=8)
        self._later = single_shot(self, PAUSE_MILLISECONDS, self._look)
        self._deselect = single_shot(self, 0, self.path.deselect)
        self.path.textChanged.connect(self._changed)
        self.list.itemActivated.connect(self._enter)
        self.list.itemClicked.connect(self._name)
        fit_to_screen(self, QSize(scale(SIZE.width()), scale(SIZE.height())))
        self._changed()
        self.path.setFocus()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Let what is typed come behind the folder, and not in its place."""
        super().showEvent(event)
        self._deselect.start()

    def chosen(self) -> Path | None:
        """The path that was named; None where none was."""
        text = self.path.text().strip()
        if not text:
            return None
        if self._listing is not None and text.startswith("~"):  # the home of that machine
            return self._listing.folder / PurePosixPath(text).name if self._folder() == self._asked else Path(text)
        return Path(text)

    def _folder(self) -> str:
        """The folder that the line is in."""
        text = self.path.text().strip()
        if not text or text == "~":
            return "~"
        return text if text.endswith("/") else str(PurePosixPath(text).parent)

    def _changed(self) -> None:
        named = bool(self.path.text().strip())
        # A path with ~ is known as soon as its folder was looked into.
        known = not self.path.text().startswith("~") or self._listing is not None
        self.ok.setEnabled(named and known and (self._kind is Kind.FOLDER or not self.path.text().endswith("/")))
        self._later.start()

    def _look(self) -> None:
        folder = self._folder()
        if folder != self._asked:
            self._asked, self._listing = folder, None
            self.hint.setText(self.tr("Looking\u2026"))
            self._bench.ask(lambda engine: engine.list_folder(Path(folder)), self._looked)

    def _looked(self, result: JobResult) -> None:
        if result.failure is not None:
            self.hint.setText(failure_text(result.failure))
            self.list.clear()
        elif isinstance(result.value, Listing):
            self._show(result.value)

    def _show(self, listing: Listing) -> None:
        if self._folder() != self._asked:
            return  # typed on meanwhile
        self._listing = listing
        base = self._asked if self._asked.endswith("/") else f"{self._asked}/"
        self._names.setStringList([f"{base}{name}" for name in (*listing.folders, *listing.files)])
        self.list.clear()
        entries = [("..", True), *((name, True) for name in listing.folders)]
        if self._kind is not Kind.FOLDER:
            entries += [(name, False) for name in listing.files]
        for name, is_folder in entries:
            item = QListWidgetItem(strangers.sentence(f"{name}/" if is_folder else name))
            item.setData(NAME, name)
            item.setData(IS_FOLDER, is_folder)
            self.list.addItem(item)
        self.hint.setText(self.tr("There are more names; type on.") if listing.more else str(listing.folder))
        self._changed()

    def _named(self, item: QListWidgetItem) -> str:
        assert self._listing is not None
        name = str(item.data(NAME))
        path = self._listing.folder.parent if name == ".." else self._listing.folder / name
        return str(path)

    def _name(self, item: QListWidgetItem) -> None:
        if self._listing is not None and (self._kind is Kind.FOLDER or not item.data(IS_FOLDER)):
            self.path.setText(self._named(item))

    def _enter(self, item: QListWidgetItem) -> None:
        if self._listing is None:
            return
        named = self._named(item)
        if item.data(IS_FOLDER):
            self.path.setText(named if named.endswith("/") else f"{named}/")
        else:
            self.path.setText(named)
            self.accept()


class FarFiles:
    """Lets the user name files of the engine's machine.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._bench = Bench(engine, keep=True)
        self._last = "~/"

    def existing(self, parent: QWidget, title: str, start: Path | str) -> Path | None:
        """Ask for a file; None where none was named."""
        return self._ask(parent, title, start, Kind.FILE)

    def new(self, parent: QWidget, title: str, start: Path | str) -> Path | None:
        """Ask where a file goes; None where nothing was said."""
        return self._ask(parent, title, start, Kind.NEW)

    def folder(self, parent: QWidget, title: str, start: Path | str) -> Path | None:
        """Ask for a folder; None where none was named."""
        return self._ask(parent, title, start, Kind.FOLDER)

    def _ask(self, parent: QWidget, title: str, start: Path | str, kind: Kind) -> Path | None:
        dialog = self.dialog(parent, title, start, kind)
        try:
            found = dialog.chosen() if dialog.exec() == QDialog.DialogCode.Accepted else None
        finally:
            dialog.deleteLater()
        if found is not None:
            self._last = f"{found.parent}/"
            self._engine.note_file(found)
        return found

    def dialog(self, parent: QWidget | None, title: str, start: Path | str, kind: Kind) -> FarFileDialog:
        """The dialog that asks."""
        proposal = PurePosixPath(start).name if kind is Kind.NEW else ""
        return FarFileDialog(self._bench, self._engine.where, title, f"{self._last}{proposal}", kind, parent)

    def shut_down(self) -> None:
        """Let go of the connection."""
        self._bench.shut_down()
