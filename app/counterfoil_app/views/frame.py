"""Room that is too small: what is in a frame scrolls, dialogs are held to their screen, and a row has more lines."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QDialog, QFrame, QLayout, QLayoutItem, QScrollArea, QVBoxLayout, QWidget


class FlowLayout(QLayout):
    """Lays out its widgets in lines, in their order; what comes later never moves what came before.

    Args:
        parent: The widget that it fills.
        spacing: Pixels between widgets, and between lines.
    """

    def __init__(self, parent: QWidget, spacing: int) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(QMargins())
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        """Put a widget behind the others."""
        self._items.append(item)

    def count(self) -> int:
        """Number of widgets."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """The widget at a place."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Take the widget at a place out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """None."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """A narrow row has more lines."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Height of all lines."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, place: QRect) -> None:  # noqa: N802 - Qt's name
        """Put the widgets into their places."""
        super().setGeometry(place)
        self._arrange(place, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """All in one line."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """One in each line."""
        least = QSize()
        for item in self._items:
            if not item.isEmpty():
                least = least.expandedTo(item.minimumSize())
        return least

    def _arrange(self, place: QRect, *, move: bool) -> int:
        x, y, line = place.x(), place.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(max(place.width(), item.minimumSize().width()), 10_000))
            if x > place.x() and x + size.width() > place.x() + place.width():
                x, y, line = place.x(), y + line + self.spacing(), 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self.spacing()
            line = max(line, size.height())
        return y + line - place.y()


class BesideOrBelow(QWidget):
    """Two parts side by side where there is room for both, and else one below the other.

    Args:
        first: Stands on the left, or above.
        second: Stands on the right, or below.
        least: Characters of a line that each has at the least beside the other.
    """

    def __init__(self, first: QWidget, second: QWidget, least: int = 52) -> None:
        super().__init__()
        self._least = 2 * least * self.fontMetrics().averageCharWidth()
        self._box = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._box.setContentsMargins(QMargins())
        self._box.setSpacing(24)
        for part in (first, second):
            self._box.addWidget(part, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Lay both out for the width."""
        beside = event.size().width() >= self._least
        wanted = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if wanted is not self._box.direction():
            self._box.setDirection(wanted)
        super().resizeEvent(event)


SMALLEST = QSize(160, 90)
"""Room for a frame below which it does not shrink; what is in it scrolls."""
WINDOW_FRAME = QSize(16, 40)
"""Room for the frame and the title that a desktop puts around a window, before it is known."""


class Holder(QWidget):
    """Gives a view all its own room.

    A scroll area asks a view with wrapped text for the height that it likes best; of this one it learns the least.
    """

    def __init__(self, view: QWidget) -> None:
        super().__init__()
        self._view = view
        view.setParent(self)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """What the view needs; wrapped text needs more height where it has less width."""
        least, layout = self._view.minimumSizeHint(), self._view.layout()
        if layout is not None and layout.hasHeightForWidth():
            width = max(self.width(), least.width())
            least.setHeight(max(self._view.minimumHeight(), layout.totalMinimumHeightForWidth(width)))
        return least

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """What the view wants."""
        return self._view.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Hand the room on."""
        super().resizeEvent(event)
        self._view.setGeometry(self.rect())
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        """Tell when the view needs more or less."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().event(event)


class Frame(QScrollArea):
    """What is around a view: room too small for the view scrolls it, and is not held open by it."""

    def __init__(self, view: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._holder = Holder(view)
        self.setWidget(self._holder)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Little."""
        return SMALLEST

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """What the view wants."""
        return self._holder.sizeHint()


def room_for(window: QWidget) -> QSize:
    """How large a window may be so that its screen holds it with its frame."""
    return window.screen().availableSize() - WINDOW_FRAME


def fit_to_screen(window: QWidget, wanted: QSize) -> None:
    """Give a window the size that it wants, or what its screen has for it."""
    window.resize(wanted.boundedTo(room_for(window)))


class Head(Frame):
    """What stands at the top of a dialog and is never cut: it wraps to the width, and scrolls where it is very high.

    Args:
        content: A widget that can be as narrow as the dialog.
        share: Of the dialog's height it takes at most one part in so many.
    """

    def __init__(self, content: QWidget, share: int = 3) -> None:
        super().__init__(content)
        self._content = content
        self._share = share
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Be as high as the content is at this width."""
        super().resizeEvent(event)
        layout = self._content.layout()
        wanted = layout.totalMinimumHeightForWidth(self.width()) if layout is not None else 0
        self.setFixedHeight(min(wanted, self.window().height() // self._share))


class Body(QVBoxLayout):
    """The column of a dialog, which scrolls where the screen is too small.

    Args:
        dialog: Has no layout yet.
        below: Stands below the column and is never scrolled: the buttons.
        above: Stands above it, and is not scrolled with it; None for nothing.
    """

    def __init__(self, dialog: QDialog, *below: QWidget, above: QWidget | None = None) -> None:
        inside = QWidget()
        super().__init__(inside)
        self.setContentsMargins(0, 0, 0, 0)
        self._dialog = dialog
        self._frame = Frame(inside)
        outer = QVBoxLayout(dialog)
        outer.setSpacing(12)
        if above is not None:
            outer.addWidget(above)
        outer.addWidget(self._frame, 1)
        for part in below:
            outer.addWidget(part)

    def reveal(self, part: QWidget) -> None:
        """Scroll to a part of the column."""
        self._frame.ensureWidgetVisible(part, 0, 0)

    def fit(self, width: int) -> None:
        """Make the dialog as wide as this, and as high as its texts then are; or what the screen has."""
        dialog = self._dialog
        outer = dialog.layout()
        assert outer is not None
        margins = outer.contentsMargins()
        inside = width - margins.left() - margins.right()
        # Each part is asked anew: what the layout remembers of the frame is from before a part in it was shown.
        items = [item for place in range(outer.count()) if (item := outer.itemAt(place)) is not None]
        others = [item for item in items if item.widget() is not self._frame and not item.isEmpty()]
        around = sum(_height(item, inside) for item in others) + outer.spacing() * len(others)
        height = self.totalHeightForWidth(inside) if self.hasHeightForWidth() else self.sizeHint().height()
        fit_to_screen(dialog, QSize(width, height + around + margins.top() + margins.bottom()))


def _height(item: QLayoutItem, width: int) -> int:
    return item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
