"""Small parts that several views are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QFont, QFontMetrics, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QFrame,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QToolTip,
    QWidget,
)

from counterfoil import Digest
from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import copy_tip, set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.views import layouts


def caption(text: str = "", role: str = "", *, wrap: bool = True, parent: QWidget | None = None) -> QLabel:
    """A label that names something: its text cannot be selected. ``role`` picks its look in the style sheet."""
    result = QLabel(text, parent)
    result.setTextFormat(Qt.TextFormat.PlainText)  # names come from a stranger's file: never as markup
    result.setWordWrap(wrap)
    result.setIndent(0)
    if role:
        result.setProperty("role", role)
    return result


def label(text: str = "", role: str = "", *, wrap: bool = True, parent: QWidget | None = None) -> QLabel:
    """A label whose text can be selected, for which Qt keeps a document behind it: slower than a caption."""
    result = caption(text, role, wrap=wrap, parent=parent)
    result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return result


SIDES = 16
"""Pixels beside the text of a button: its padding and its border."""


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet looks at, and let it look again."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def hold_width(button: QPushButton) -> None:
    """Give a button the room that it takes when it is marked as the obvious one, so that nothing moves for that.

    The style sheet sets its text bolder then.
    """
    bold = button.font()
    bold.setWeight(QFont.Weight.DemiBold)
    text = button.text().replace("&", "")
    button.setMinimumWidth(QFontMetrics(bold).horizontalAdvance(text) + 2 * SIDES)


def name_after(button: QAbstractButton, action: QAction) -> str:
    """Give a button the name, the tool tip and the state of an action; returns the name, without its letter.

    The letter belongs to the menu; on the button it would stand twice.
    """
    name = action.text().replace("&", "")
    button.setAccessibleName(name)
    copy_tip(button, action)
    button.setEnabled(action.isEnabled())
    return name


def show_icon(mark: QLabel, look: Look, theme: Theme, pixels: int, *, tip: bool = False) -> None:
    """Show the icon of a look in its colour; ``tip`` says its word in the tool tip too."""
    colour = theme.tokens.tone(look.tone)
    mark.setPixmap(icons.pixmap(look.icon, colour, scale(pixels), mark.devicePixelRatioF()))
    mark.setAccessibleName(look.word)
    if tip:
        set_tip(mark, look.word)


def logo(pixels: int) -> QLabel:
    """Counterfoil's own mark."""
    result = QLabel()
    result.setPixmap(icons.pixmap("counterfoil", "#000000", scale(pixels), result.devicePixelRatioF()))
    return result


def enlarge(text: QLabel, factor: float) -> QLabel:
    """Set a label in larger letters."""
    font = text.font()
    font.setPointSizeF(font.pointSizeF() * factor)
    text.setFont(font)
    return text


def tell(notice: QLabel, sentence: str, tone: Tone) -> None:
    """Let a notice say something, in the colour of a tone."""
    notice.setText(sentence)
    restyle(notice, "tone", tone.value)


def open_dialog(dialog: QDialog) -> None:
    """Show a dialog, which is gone when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


class ElidedLabel(QLabel):
    """One line that is shortened in the middle when the space is short: the whole text is in the tool tip.

    Selecting it and copying from its context menu gives the whole text.
    """

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = text
        self.setFont(fixed_font())
        self.setTextFormat(Qt.TextFormat.PlainText)
        set_tip(self, text)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.addAction(self.tr("Copy"), self._copy)

    @property
    def whole(self) -> str:
        """The text without shortening."""
        return self._whole

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for a short beginning and end."""
        return QSize(self.fontMetrics().averageCharWidth() * 10, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for a good part of the text; the layout gives more where there is more."""
        return QSize(self.fontMetrics().averageCharWidth() * 30, self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Shorten to the new width."""
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, event.size().width()))
        super().resizeEvent(event)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._whole)


class CopyButton(QToolButton):
    """A small button that copies a text."""

    def __init__(self, content: str, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content = content
        name = self.tr("Copy: {0}").format(what)
        self.setAccessibleName(name)
        set_tip(self, name)
        self.setAutoRaise(True)
        self.setIconSize(QSize(scale(14), scale(14)))
        self.clicked.connect(self._copy)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        if event.type() is QEvent.Type.PaletteChange:
            self._draw()
        super().changeEvent(event)

    def _draw(self) -> None:
        self.setIcon(icons.icon("copy", self.palette().placeholderText().color().name()))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._content)
        QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), self.tr("Copied"), self)


@dataclass(frozen=True)
class Field:
    """One line of a :class:`FieldGrid`."""

    name: str  #: What the value is.
    value: str  #: The value.
    exact: bool = False  #: Whether it is set in fixed width, on one line, with a button to copy it.
    tone: Tone | None = None  #: In which colour; its words say it too.


def digest_field(name: str, digest: Digest | None, missing: str) -> Field:
    """A line that shows a digest, or says why there is none."""
    return Field(name, missing) if digest is None else Field(name, digest.hex, exact=True)


NAME_CHARACTERS = 36
"""Width of the names in a :class:`FieldGrid` at most, in average characters."""


class FieldGrid(QWidget):
    """Names on the left, values on the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: list[Field] = []
        self._grid = layouts.grid(inside=self, across=12, down=3)
        self._grid.setContentsMargins(0, 2, 0, 2)
        self._grid.setColumnMinimumWidth(0, 120)

    def show_fields(self, fields: Sequence[Field]) -> None:
        """Replace what is shown."""
        if list(fields) == self._shown:
            return  # making and styling the labels anew costs more than all else that a replay's start draws
        self._shown = list(fields)
        widest = NAME_CHARACTERS * self.fontMetrics().averageCharWidth()
        clear_layout(self._grid)
        for row, field in enumerate(fields):
            name = caption(field.name, "muted", wrap=False)
            if name.sizeHint().width() > widest:  # a long name takes several lines, and no value is pushed aside
                name.setWordWrap(True)
                name.setFixedWidth(widest)
            value: QLabel = ElidedLabel(field.value) if field.exact else label(field.value)
            if field.tone is not None:
                restyle(value, "role", "trust")
                restyle(value, "tone", field.tone.value)
            value.setAccessibleDescription(field.name)
            if not field.exact:
                value.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            # A digest has a button beside it, which makes its line higher than the text.
            place = Qt.AlignmentFlag.AlignVCenter if field.exact else Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(name, row, 0, place)
            self._grid.addWidget(value, row, 1)
            if field.exact:
                self._grid.addWidget(CopyButton(field.value, field.name), row, 2)
        self._grid.activate()  # measure the texts now, and not when all views are shown at once


def clear_layout(layout: QLayout) -> None:
    """Remove and delete the widgets of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


class Page(QScrollArea):
    """A column of widgets that scrolls when it is too long."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        inside = QWidget()
        inside.setObjectName("page")
        self.column = layouts.column(inside=inside, margins=(12, 8, 12, 12), spacing=6)
        self.setWidget(inside)

    def colour(self, dialog: QWidget, tone: str) -> None:
        """Give the page, and the dialog that it fills, the colour of a tone; an empty one takes it away."""
        inside = self.widget()
        assert inside is not None
        for part in (dialog, inside):
            restyle(part, "tone", tone)


class Folded(QWidget):
    """A part of a page that is folded until it is wanted.

    Args:
        title: What is folded.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button = QToolButton()
        self.button.setText(title)
        self.button.setCheckable(True)
        self.button.setAutoRaise(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.inside = QWidget()
        self.column = layouts.column(inside=self.inside, margins=layouts.NONE)
        layouts.column((self.button, 0, Qt.AlignmentFlag.AlignLeft), self.inside, inside=self, margins=layouts.NONE)
        self.button.toggled.connect(self._fold)
        self._fold(False)

    def _fold(self, open_: bool) -> None:
        self.button.setArrowType(Qt.ArrowType.DownArrow if open_ else Qt.ArrowType.RightArrow)
        self.inside.setVisible(open_)
