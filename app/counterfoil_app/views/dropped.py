"""Files that are dropped on a window or a dialog."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QWidget


def dropped_files(data: QMimeData) -> list[Path]:
    """The files of this machine in what is dragged."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]


class DropDialog(QDialog):
    """A dialog that takes files, for whoever opened it: what is dropped on a dialog does not reach the window below."""

    files_dropped = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take files."""
        if dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Hand them on."""
        if paths := dropped_files(event.mimeData()):
            event.acceptProposedAction()
            self.files_dropped.emit(paths)
