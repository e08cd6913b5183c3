"""Room that is too small: what is in a frame scrolls, and a dialog is never larger than its screen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QVBoxLayout, QWidget

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


class Body(QVBoxLayout):
    """The column of a dialog, which scrolls where the screen is too small.

    Args:
        dialog: Has no layout yet.
        below: Stands below the column and is never scrolled: the buttons.
    """

    def __init__(self, dialog: QDialog, *below: QWidget) -> None:
        inside = QWidget()
        super().__init__(inside)
        self.setContentsMargins(0, 0, 0, 0)
        self._dialog = dialog
        self._frame = Frame(inside)
        outer = QVBoxLayout(dialog)
        outer.setSpacing(12)
        outer.addWidget(self._frame, 1)
        for part in below:
            outer.addWidget(part)

    def fit(self, width: int) -> None:
        """Make the dialog as wide as this, and as high as its texts then are; or what the screen has."""
        dialog, frame = self._dialog, self._frame
        outer = dialog.layout()
        assert outer is not None
        margins = outer.contentsMargins()
        around = outer.sizeHint().height() - frame.sizeHint().height()
        inside = width - margins.left() - margins.right()
        height = self.totalHeightForWidth(inside) if self.hasHeightForWidth() else self.sizeHint().height()
        fit_to_screen(dialog, QSize(width, height + around))
