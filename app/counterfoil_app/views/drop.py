"""Files that are dropped on a window or a dialog, and what is shown while they are dragged over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QFrame, QWidget

from counterfoil_app.looks import text
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption

MARGIN = 24


def dropped_files(data: QMimeData) -> list[Path]:
    """The files of this machine in what is dragged."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]


class DropDialog(QDialog):
    """A dialog that may take files: what is dropped on a dialog does not reach the window below."""

    _take: Callable[[list[Path]], object]
    _fits: Callable[[Path], bool]

    def take_files(
        self, take: Callable[[list[Path]], object], fits: Callable[[Path], bool] = lambda _path: True
    ) -> None:
        """Take files that are dropped here.

        Args:
            take: Does something with them.
            fits: Says of each whether it can be taken now.
        """
        self._take, self._fits = take, fits
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Say whether something is taken."""
        event.setAccepted(any(map(self._fits, dropped_files(event.mimeData()))))

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Take what fits."""
        if paths := list(filter(self._fits, dropped_files(event.mimeData()))):
            event.acceptProposedAction()
            self._take(paths)


class DropHint(QFrame):
    """A frame over the window; hidden unless files are dragged."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("drop-hint")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.headline = caption("", "title")
        self._any = self.tr(
            "A run is opened, several are queued. An order is compared with the run, a verdict is read, a dispute "
            "capsule is adjudicated, weights are compared with the run; data, tree heads and keys are used with "
            "what is open."
        )
        self.kinds = caption(self._any)
        for line in (self.headline, self.kinds):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layouts.column(1, self.headline, self.kinds, 1, inside=self)
        self.hide()

    def say(self, sentences: Sequence[str]) -> None:
        """Say what becomes of these very files, now that it is known; nothing is said when they are gone again."""
        if self.isVisible() and sentences:
            self.kinds.setText("\n".join(sentences))

    def show_for(self, files: int) -> None:
        """Show it for so many files."""
        one = self.tr("Drop the file here")
        self.headline.setText(one if files == 1 else self.tr("Drop the {0} files here").format(text.count(files)))
        self.kinds.setText(self._any)
        self.setGeometry(self._window.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        self.raise_()
        self.show()
