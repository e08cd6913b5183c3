"""A dialog whose button has something done that takes a moment."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.theme import Tone
from counterfoil_app.views.parts import label, restyle


class WorkDialog(QDialog):
    """Stays open while what was asked for is done, and closes then; where that fails says why, with all that was typed.

    Attributes:
        hint: Says what goes on, what failed, or what lacks.
        buttons: The button that begins, which is ``ok``, and Cancel; both rest while something is done.
        working: Whether it is being done.
        failed: Why it was not; empty for nothing.
    """

    wanted = Signal()
    """The user wants it done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.working = False
        self.failed = ""
        self.hint = label("", "hint")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setProperty("primary", True)
        self.buttons.accepted.connect(self._want)
        self.buttons.rejected.connect(self.reject)

    def end(self, failure: Failure | None) -> None:
        """Close when it is done; otherwise say why not."""
        self.working = False
        if failure is None:
            self.accept()
            return
        self.failed = failure_text(failure)
        self._refresh()

    def reject(self) -> None:
        """Close, unless something is being done."""
        if not self.working:
            super().reject()

    def _want(self) -> None:
        self.working, self.failed = True, ""
        self._refresh()
        self.wanted.emit()

    def _edited(self) -> None:
        self.failed = ""
        self._refresh()

    def _refresh(self) -> None:
        """Show what is chosen; ends with :meth:`_show_state`."""
        raise NotImplementedError

    def _show_state(self, problem: str, progress: str, advice: str = "") -> None:
        """Allow what can be done now, and say what stands against it.

        Args:
            problem: What lacks; empty for nothing.
            progress: What is said while it is done.
            advice: What is said otherwise.
        """
        self.ok.setEnabled(not problem and not self.working)
        self.buttons.button(QDialogButtonBox.StandardButton.Cancel).setEnabled(not self.working)
        self.hint.setText(progress if self.working else self.failed or problem or advice)
        restyle(self.hint, "tone", Tone.BAD.value if self.failed and not self.working else "")
