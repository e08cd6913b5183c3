"""Controls for the options of an order: one for each kind, in a grid, made from what the engine says of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QLabel, QLineEdit, QPushButton, QWidget

from counterfoil import CommandOption
from counterfoil_app.looks import order_words
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.order_plan import fits
from counterfoil_app.views import layouts
from counterfoil_app.views.layouts import button, choices, existing_file, line_edit
from counterfoil_app.views.parts import restyle

YES, NO = "yes", "no"
MOST_CHARACTERS = 4096
ACROSS = 10
SHORT = 10
"""Characters for which a choice has room at the least."""
PATHS = ("arguments", "file", "files", "folder", "function", "key", "target", "texts")
"""Kinds whose values are long: each has a line of its own."""


class Values(Protocol):
    """What was chosen."""

    def value(self, name: str) -> str:
        """What an option is: what was typed, or its default."""

    def set(self, name: str, text: str) -> None:
        """Take what was typed."""


class OptionFields(QWidget):
    """The options of a page.

    Args:
        options: They, in their order.
        plan: Knows the values, and takes what is typed.
        pairs: Whether short ones stand two in a line.
        name_of: Says what an option is called.
    """

    changed = Signal(str)
    """The option of this name was changed."""
    explained = Signal(str)
    """The keyboard is in an option, which is for this."""

    def __init__(
        self,
        options: Sequence[CommandOption],
        plan: Values,
        *,
        pairs: bool = False,
        name_of: Callable[[str], str] = order_words.option,
    ) -> None:
        super().__init__()
        self._name_of = name_of
        self._plan = plan
        self._options = {option.name: option for option in options}
        self.controls: dict[str, QWidget] = {}
        self._grid = layouts.grid(inside=self, across=ACROSS, down=7)
        self._grid.setContentsMargins(0, 0, 0, 0)
        if pairs:
            self._grid.setColumnStretch(4, 1)
            self._grid.setColumnMinimumWidth(2, 14)
        row, column = 0, 0
        for option in options:
            wide = option.kind in PATHS or not pairs
            if wide and column:
                row, column = row + 1, 0
            self._add(option, row, column, wide=wide, pairs=pairs)
            row, column = (row + 1, 0) if wide or column else (row, 3)

    def align(self, *names: QLabel) -> None:
        """Let the controls begin where those beside other names do."""
        titles = [self._grid.itemAtPosition(row, 0) for row in range(self._grid.rowCount())]
        own = [item.widget() for item in titles if item is not None]
        wide = max(each.sizeHint().width() for each in (*names, *own) if isinstance(each, QLabel))
        self._grid.setColumnMinimumWidth(0, wide)
        for name in names:
            name.setMinimumWidth(wide)

    def focus(self, name: str) -> bool:
        """Give the keyboard to an option; returns whether it is here."""
        control = self.controls.get(name)
        if control is not None:
            control.setFocus()
        return control is not None

    def refresh(self) -> None:
        """Mark what cannot be a value."""
        for name, control in self.controls.items():
            if isinstance(control, QLineEdit) and name in self._options:
                wrong = not fits(self._options[name], self._plan.value(name))
                restyle(control, "tone", "bad" if wrong else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Explain the option that gets the keyboard."""
        if event.type() is QEvent.Type.FocusIn:
            option = self._options.get(watched.objectName())
            if option is not None:
                self.explained.emit(order_words.option_help(option))
        return super().eventFilter(watched, event)

    # Making

    def _add(self, option: CommandOption, row: int, column: int, *, wide: bool, pairs: bool) -> None:
        control = self._control(option)
        name = self._name_of(option.name)
        control.setObjectName(option.name)
        control.setAccessibleName(name)
        control.setAccessibleDescription(order_words.option_help(option))
        set_tip(control, order_words.option_help(option))
        control.installEventFilter(self)
        self.controls[option.name] = control
        span = 4 if wide and pairs else 1
        if isinstance(control, QCheckBox):
            self._grid.addWidget(control, row, column, 1, 1 + span)
            return
        title = QLabel(name)
        title.setBuddy(control)
        self._grid.addWidget(title, row, column)
        if option.kind in ("file", "files", "folder", "key", "target"):
            self._grid.addLayout(
                layouts.row(control, self._browse(option, control), spacing=6), row, column + 1, 1, span
            )
        else:
            self._grid.addWidget(control, row, column + 1, 1, span)

    def _control(self, option: CommandOption) -> QLineEdit | QComboBox | QCheckBox:
        value = self._plan.value(option.name)
        if option.kind == "switch":
            box = QCheckBox(self._name_of(option.name))
            box.setChecked(value == YES)
            box.toggled.connect(lambda checked: self._take(option.name, YES if checked else NO))
            return box
        if option.kind == "choice":
            unsaid = order_words.option_default(option) or self.tr("as the command decides")
            entries = [(choice, choice) for choice in option.choices]
            combo = choices(entries if option.default else [(unsaid, ""), *entries], value)
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(SHORT)
            combo.currentIndexChanged.connect(lambda _place: self._take(option.name, str(combo.currentData())))
            return combo
        line = line_edit(value, hint=self._hint(option), most=MOST_CHARACTERS)
        line.textChanged.connect(partial(self._take, option.name))
        return line

    def _hint(self, option: CommandOption) -> str:
        if option.kind == "function":
            return self.tr("module:function")
        if option.required:
            return self.tr("needed")
        return order_words.option_default(option) or option.default

    def _browse(self, option: CommandOption, line: QWidget) -> QPushButton:
        name = self.tr("Choose: {0}").format(self._name_of(option.name))
        return button(self.tr("Choose\u2026"), partial(self._choose, option, line), name=name)

    def _choose(self, option: CommandOption, line: QWidget) -> None:
        assert isinstance(line, QLineEdit)
        title = self._name_of(option.name)
        start = line.text() or str(Path.home())
        if option.kind == "folder":
            name = QFileDialog.getExistingDirectory(self, title, start)
        elif option.kind == "target":
            name = str(layouts.new_file(self, title, start, "", here=True) or "")
        elif option.kind == "files":
            names, _ = QFileDialog.getOpenFileNames(self, title, str(Path(start).parent))
            name = shlex.join(names)
        else:
            name = str(existing_file(self, title, start, "", here=True) or "")
        if name:
            line.setText(name)

    def _take(self, name: str, value: str) -> None:
        self._plan.set(name, value)
        self.refresh()
        self.changed.emit(name)
