"""How far the window is with files that were handed over, below whatever it shows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from counterfoil_app.engine.incoming import Incoming
from counterfoil_app.looks import text
from counterfoil_app.model.incoming import IncomingFiles
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import label

LEAST = 2
"""One file is looked at before anybody could read that it is."""


class IncomingView(QWidget):
    """Shown while files are looked at.

    Args:
        incoming: The files.
        sentence: Says what a file is.
    """

    cancelled = Signal()

    def __init__(
        self, incoming: IncomingFiles, sentence: Callable[[Incoming], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Files that are looked at"))
        self._incoming = incoming
        self._sentence = sentence
        self.headline = label("", wrap=False)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Files that were looked at"))
        self.newest = label("", "muted")
        self.cancel = layouts.button(self.tr("Cancel"), self.cancelled, name=self.tr("Stop looking at the files"))
        top = layouts.row(self.headline, (self.bar, 1), self.cancel, spacing=12)
        layouts.column(top, self.newest, inside=self, margins=(28, 8, 28, 8), spacing=4)
        incoming.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show how far it is."""
        incoming = self._incoming
        self.setVisible(incoming.working and incoming.total >= LEAST)
        looked, left = incoming.looked, incoming.seconds_left
        said = self.tr("{0} of {1} files looked at").format(text.count(looked.done), text.count(incoming.total))
        self.headline.setText(said if left is None else self.tr("{0}, {1} left").format(said, text.duration(left)))
        self.bar.setMaximum(max(1, incoming.total))
        self.bar.setValue(looked.done)
        self.newest.setText("\n".join(map(self._sentence, looked.newest)))
