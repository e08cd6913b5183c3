"""Rows, columns and controls, each made in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QDir, QObject, QPoint, Qt, SignalInstance
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from counterfoil_app.looks.tips import set_tip

Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
"""What stands in a row or a column: a widget or a layout, with its stretch and its alignment, or a stretch alone."""
Margins = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels."""
NONE: Margins = (0, 0, 0, 0)
Filled = TypeVar("Filled", bound=QBoxLayout)
Slot = Callable[..., object] | SignalInstance


def fill(box: Filled, *parts: Part, margins: Margins | None = None, spacing: int | None = None) -> Filled:
    """Put parts into a row or a column, behind what is there; what is not said stays as the style has it."""
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            box.addStretch(part)
            continue
        content, *how = part if isinstance(part, tuple) else (part,)
        add: Callable[..., None] = box.addWidget if isinstance(content, QWidget) else box.addLayout
        add(content, *how)
    return box


def row(*parts: Part, inside: QWidget | None = None, **room: Any) -> QHBoxLayout:
    """Parts beside each other, as :func:`fill`; ``inside`` is the widget that they fill."""
    return fill(QHBoxLayout() if inside is None else QHBoxLayout(inside), *parts, **room)


def column(*parts: Part, inside: QWidget | None = None, **room: Any) -> QVBoxLayout:
    """Parts below each other, as :func:`fill`; ``inside`` is the widget that they fill."""
    return fill(QVBoxLayout() if inside is None else QVBoxLayout(inside), *parts, **room)


def grid(*, inside: QWidget | None = None, across: int = -1, down: int = -1, stretch: int | None = 1) -> QGridLayout:
    """A grid with so many pixels between its columns and rows, one column of which takes the room that is left."""
    result = QGridLayout() if inside is None else QGridLayout(inside)
    result.setHorizontalSpacing(across)
    result.setVerticalSpacing(down)
    if stretch is not None:
        result.setColumnStretch(stretch, 1)
    return result


def button(text: str, do: Slot | None = None, *, tip: str = "", name: str = "", primary: bool = False) -> QPushButton:
    """A button.

    Args:
        text: What stands on it.
        do: What a click does.
        tip: What its tool tip says; empty for none.
        name: What it is called where its text does not say enough; empty where it does.
        primary: Whether it is the obvious one.
    """
    result = QPushButton(text)
    if do is not None:
        result.clicked.connect(do)
    if tip:
        set_tip(result, tip)
    if name:
        result.setAccessibleName(name)
    if primary:
        result.setProperty("primary", True)
    return result


def line_edit(text: str = "", *, name: str = "", hint: str = "", most: int = 0, clearable: bool = False) -> QLineEdit:
    """A line to type in; ``hint`` stands in an empty one, and ``most`` is how many characters it takes."""
    result = QLineEdit(text)
    result.setClearButtonEnabled(clearable)
    result.setPlaceholderText(hint)
    result.setAccessibleName(name)
    if most:
        result.setMaxLength(most)
    return result


def choices(entries: Iterable[tuple[str, object]], chosen: object = None, *, name: str = "") -> QComboBox:
    """A box in which one of several named values is chosen; the first, where ``chosen`` is none of them."""
    result = QComboBox()
    values = []
    for title, value in entries:
        result.addItem(title, value)
        values.append(value)
    result.setCurrentIndex(values.index(chosen) if chosen in values else 0)
    result.setAccessibleName(name)
    return result


def action(owner: QObject, text: str, keys: str, do: Callable[[], object]) -> QAction:
    """An action with its keys."""
    result = QAction(text, owner)
    result.setShortcut(QKeySequence(keys))
    result.triggered.connect(lambda _checked=False: do())
    return result


def choice_action(owner: QObject, text: str, do: Callable[[], object], *, checked: bool = False) -> QAction:
    """An action that is ticked or not, and tells of a change."""
    result = QAction(text, owner)
    result.setCheckable(True)
    result.setChecked(checked)
    result.toggled.connect(lambda _checked: do())
    return result


def keys_in(widget: QWidget, keys: Qt.Key | QKeySequence.StandardKey, do: Callable[[], object]) -> None:
    """Let keys do something while the keyboard is in a widget itself."""
    shortcut = QShortcut(QKeySequence(keys), widget)
    shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
    shortcut.activated.connect(do)


def menu_of(owner: QWidget, groups: Iterable[Iterable[QAction]]) -> QMenu:
    """A menu of groups of actions with a line between them."""
    menu = QMenu(owner)
    for number, group in enumerate(groups):
        if number:
            menu.addSeparator()
        menu.addActions(list(group))
    return menu


def menu_button(text: str, *groups: Iterable[QAction]) -> QPushButton:
    """A button that opens a menu."""
    result = QPushButton(text)
    result.setMenu(menu_of(result, groups))
    return result


def context_menu(view: QAbstractItemView, *groups: Iterable[QAction]) -> None:
    """Give a table a menu of its own, of groups of actions with a line between them."""

    def show(place: QPoint) -> None:
        menu = menu_of(view, groups)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(view.viewport().mapToGlobal(place))

    view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    view.customContextMenuRequested.connect(show)


class AsksElsewhere(Protocol):
    """Lets the user name files of another machine."""

    def existing(self, parent: QWidget, title: str, start: Path | str) -> Path | None:
        """Ask for a file; None where none was named."""

    def new(self, parent: QWidget, title: str, start: Path | str) -> Path | None:
        """Ask where a file goes; None where nothing was said."""

    def folder(self, parent: QWidget, title: str, start: Path | str) -> Path | None:
        """Ask for a folder; None where none was named."""


_elsewhere: list[AsksElsewhere] = []


def ask_elsewhere(asks: AsksElsewhere | None) -> None:
    """Let files of the engine be named by this from now on; None lets this machine's own dialogs do it again."""
    _elsewhere[:] = [] if asks is None else [asks]


def is_elsewhere() -> bool:
    """Whether files of the engine are those of another machine."""
    return bool(_elsewhere)


def existing_file(parent: QWidget, title: str, start: Path | str, kinds: str, *, here: bool = False) -> Path | None:
    """Let the user choose a file; None where none was chosen.

    Args:
        parent: The window that is asked on.
        title: What is asked for.
        start: The folder where it begins.
        kinds: Which files are shown.
        here: Whether it is one of this machine also where the engine is on another one.
    """
    if _elsewhere and not here:
        return _elsewhere[0].existing(parent, title, start)
    name, _ = QFileDialog.getOpenFileName(parent, title, str(start), kinds)
    return Path(name) if name else None


def new_file(parent: QWidget, title: str, proposal: Path | str, kinds: str, *, here: bool = False) -> Path | None:
    """Let the user say where a file goes; None where nothing was said; the arguments are as above."""
    if _elsewhere and not here:
        return _elsewhere[0].new(parent, title, proposal)
    name, _ = QFileDialog.getSaveFileName(parent, title, str(proposal), kinds)
    return Path(name) if name else None


def existing_folder(parent: QWidget, title: str, start: Path | str) -> Path | None:
    """Let the user choose a folder; None where none was chosen."""
    if _elsewhere:
        return _elsewhere[0].folder(parent, title, start)
    # Those of recordings begin with a dot, which the dialogs of systems do not show.
    dialog = QFileDialog(parent, title, str(start))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.setFilter(dialog.filter() | QDir.Filter.Hidden)
    try:
        return Path(dialog.selectedFiles()[0]) if dialog.exec() else None
    finally:
        dialog.deleteLater()


def existing_files(parent: QWidget, title: str, start: Path | str, kinds: str) -> list[Path]:
    """Let the user choose several files; one where they are those of another machine."""
    if _elsewhere:
        found = _elsewhere[0].existing(parent, title, start)
        return [] if found is None else [found]
    names, _ = QFileDialog.getOpenFileNames(parent, title, str(start), kinds)
    return [Path(name) for name in names]


def chosen_rows(view: QAbstractItemView) -> list[int]:
    """The chosen lines of a table, from above."""
    return sorted({index.row() for index in view.selectionModel().selectedRows()})
