"""Shown over the whole window while files are dragged over it: that they are taken, and what for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from counterfoil_app.looks import text
from counterfoil_app.views.parts import caption

MARGIN = 24


class DropHint(QFrame):
    """A frame over the window; hidden unless files are dragged."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("drop-hint")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.headline = caption("", "title")
        self.kinds = caption(
            self.tr(
                "A run is opened, several are queued. An order is compared with the run, a verdict is read, a dispute "
                "capsule is adjudicated, weights are compared with the run; data, tree heads and keys are used with "
                "what is open."
            )
        )
        column = QVBoxLayout(self)
        column.addStretch(1)
        for line in (self.headline, self.kinds):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(line)
        column.addStretch(1)
        self.hide()

    def show_for(self, files: int) -> None:
        """Show it for so many files."""
        one = self.tr("Drop the file here")
        self.headline.setText(one if files == 1 else self.tr("Drop the {0} files here").format(text.count(files)))
        self.setGeometry(self._window.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        self.raise_()
        self.show()
