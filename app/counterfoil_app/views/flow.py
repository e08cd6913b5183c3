"""Widgets in a row that goes on in the next line where the room ends; each line begins on the left."""

from __future__ import annotations

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


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
