"""Exceptions that nobody expected: shown with their traceback while the application lives on.

Three ways lead here: an exception in a Qt slot or event handler (``sys.excepthook``), one in a thread
(``threading.excepthook``), and what Qt itself complains about (its message handler).
"""

from __future__ import annotations

import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QSize, Qt, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import tokens_in_use
from counterfoil_app.shell.help import versions_text
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import label

ICON_PIXELS = 32
QT_KINDS = {
    QtMsgType.QtWarningMsg: "warning",
    QtMsgType.QtCriticalMsg: "critical",
    QtMsgType.QtFatalMsg: "fatal",
}


class ExceptionGuard(QObject):
    """Catches what would otherwise be printed and lost, or end the process.

    The signals may be emitted from any thread; connected objects of the window's thread get them there.
    """

    caught = Signal(Failure)
    qt_complained = Signal(str)

    def install(self) -> None:
        """Take over Python's and Qt's hooks; :meth:`uninstall` gives them back."""
        self._python_hook, self._thread_hook = sys.excepthook, threading.excepthook
        sys.excepthook = self._python_failed
        threading.excepthook = self._thread_failed
        self._qt_handler = qInstallMessageHandler(self._qt_said)

    def uninstall(self) -> None:
        """Give the hooks back."""
        sys.excepthook = self._python_hook
        threading.excepthook = self._thread_hook
        qInstallMessageHandler(self._qt_handler)

    def _python_failed(self, kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        self._python_hook(kind, error, where)  # to the terminal too, in case the window cannot show it
        if issubclass(kind, Exception):
            self.caught.emit(failure_of(error))

    def _thread_failed(self, arguments: threading.ExceptHookArgs) -> None:
        self._thread_hook(arguments)
        if isinstance(arguments.exc_value, Exception):
            self.caught.emit(failure_of(arguments.exc_value))

    def _qt_said(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        name = QT_KINDS.get(kind)
        if name is None or "propagateSizeHints" in message:
            # Debug output; and every window drawn off screen cannot tell a window manager its size.
            return
        print(f"Qt {name}: {message}", file=sys.stderr)
        self.qt_complained.emit(f"{message} ({context.category})" if context.category else message)


def failure_of(error: BaseException) -> Failure:
    """Describe an exception that nobody expected."""
    return Failure(
        sentence=strangers.sentence(f"{type(error).__name__}: {error}".rstrip(": ")),
        remedy="",
        detail=strangers.lines("".join(traceback.format_exception(error))),
        expected=False,
    )


class ExceptionDialog(QDialog):
    """Shows an unexpected exception. Further ones while it is open are added to it.

    Args:
        failure: What happened.
        kept: The file in which it was kept; None for none.
    """

    def __init__(self, failure: Failure, parent: QWidget | None = None, kept: Path | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("exception")
        self.setWindowTitle(self.tr("Counterfoil: unexpected error"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setSizeGripEnabled(True)
        self._failures: list[Failure] = []
        icon, ratio = QLabel(), self.devicePixelRatioF()
        icon.setPixmap(icons.pixmap("error", tokens_in_use().bad, scale(ICON_PIXELS), ratio))
        icon.setAccessibleName(self.tr("Error"))
        title = label(self.tr("Counterfoil itself made a mistake."), "title")
        self.sentence = label()
        advice = label(
            self.tr(
                "The window stays open, and no verdict was changed by this. Please report it with the details below; "
                "they hold file names and versions, and no keys."
            ),
            "muted",
        )
        self.kept = label("", "muted")
        self.kept.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setAccessibleName(self.tr("Details to copy"))
        self.details.setFont(fixed_font())
        self.details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = self.buttons.addButton(self.tr("&Copy details"), QDialogButtonBox.ButtonRole.ActionRole)
        words = layouts.column(title, self.sentence, advice, spacing=8)
        head = layouts.row((icon, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=14)
        layouts.column(head, (self.details, 1), self.kept, self.buttons, inside=self, spacing=10)
        self.buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.details.toPlainText()))
        metrics = self.fontMetrics()
        fit_to_screen(self, QSize(int(metrics.averageCharWidth() * 110), metrics.height() * 28))
        self.add(failure, kept)

    def add(self, failure: Failure, kept: Path | None = None) -> None:
        """Show one more; the same one again is counted only.

        Args:
            failure: What happened.
            kept: The file in which it was kept on this machine; None where it was not.
        """
        self._failures.append(failure)
        distinct = list(dict.fromkeys(each.detail for each in self._failures))
        self.sentence.setText(self._failures[0].sentence)
        if len(self._failures) > 1:
            more = self.tr("{0} more since").format(len(self._failures) - 1)
            self.sentence.setText(f"{self._failures[0].sentence} ({more})")
        self.details.setPlainText("\n\n".join([*distinct, versions_text()]))
        if kept is not None:
            self.kept.setText(self.tr("Nothing was sent. The details are kept on this machine: {0}").format(kept))
        self.kept.setVisible(bool(self.kept.text()))
