"""For whom a dispute capsule is sealed, and what others read in one that is not."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QWidget
from shiboken6 import isValid

from counterfoil.audit.values.capsulecontents import HandedOut
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.engine.worker import JobResult
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.history import kept_capsule
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.parts import caption, label, tell

SIZE = (620, 310)
LIST_HEIGHT = 72


class JudgesField(QWidget):
    """Says what a capsule hands out, and asks whether it is sealed, and for whom.

    Args:
        start: The folder where a judge's key is looked for.
    """

    changed = Signal()
    """Another choice was made."""

    def __init__(self, start: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._start = start
        self._files: list[Path] = []
        self._open = self.tr("Whoever gets the capsule can read rows of the data and the state of the model in it.")
        self.notice = label("", "hint")
        self.seal = QCheckBox(self.tr("&Seal it for judges: nobody else can open it"))
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Public sealing keys of the judges"))
        self.list.setFixedHeight(scale(LIST_HEIGHT))
        self.add = layouts.button(self.tr("&Add a judge's key\u2026"), self._choose)
        self.remove = layouts.button(self.tr("&Remove"), self._remove, name=self.tr("Remove the chosen key"))
        buttons = layouts.column(self.add, self.remove, 1)
        layouts.column(self.notice, self.seal, layouts.row((self.list, 1), buttons), inside=self)
        self.seal.toggled.connect(self._refresh)
        self.list.itemSelectionChanged.connect(self._refresh)
        self._refresh()

    @property
    def judges(self) -> tuple[Path, ...]:
        """The files of the judges' public sealing keys; none where it is not sealed."""
        return tuple(self._files) if self.seal.isChecked() else ()

    @property
    def problem(self) -> str:
        """What is missing; empty where nothing is."""
        if self.seal.isChecked() and not self._files:
            return self.tr("Add the public sealing key of a judge, a .pub file.")
        return ""

    def count(self, session: Session) -> None:
        """Have what the capsule of a session's dispute hands out counted, and say it."""
        kept = kept_capsule(session.result_file)
        if kept is not None and kept.is_file():
            session.ask(lambda engine: engine.handed_out(kept), self._counted)

    def _counted(self, result: JobResult) -> None:
        if isinstance(result.value, HandedOut) and isValid(self):  # its dialog may be closed by now
            self._open = " ".join(translate(sentence) for sentence in plain(result.value).sentences)
            self._refresh()

    def use(self, path: Path) -> None:
        """Add a judge's key, once."""
        if path not in self._files:
            self._files.append(path)
            item = QListWidgetItem(name_of(path))
            set_tip(item, str(path))
            self.list.addItem(item)
        self.seal.setChecked(True)
        self._refresh()

    def _choose(self) -> None:
        kinds = self.tr("Public sealing keys (*.pub);;All files (*)")
        path = layouts.existing_file(self, self.tr("A judge's public sealing key"), self._start, kinds, here=True)
        if path is not None:
            self._start = path.parent
            self.use(path)

    def _remove(self) -> None:
        for row in sorted(layouts.chosen_rows(self.list), reverse=True):
            self.list.takeItem(row)
            del self._files[row]
        self._refresh()

    def _refresh(self) -> None:
        sealed = self.seal.isChecked()
        for part in (self.list, self.add):
            part.setEnabled(sealed)
        self.remove.setEnabled(sealed and bool(self.list.selectedItems()))
        if sealed:
            tell(self.notice, self.tr("Only these judges can open the capsule, you neither."), Tone.INFO)
        else:
            tell(self.notice, self._open, Tone.WARN)
        self.changed.emit()


class SealDialog(QDialog):
    """Asked before a capsule is saved: what it hands out, and for whom it is sealed.

    Args:
        start: The folder where a judge's key is looked for.
    """

    def __init__(self, start: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Save dispute capsule"))
        self.judges = JudgesField(start)
        self.hint = label("", "hint")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(self.tr("Save\u2026"))
        self.ok.setProperty("primary", True)
        layouts.fill(
            Body(self, self.hint, self.buttons),
            caption(self.tr("Who may read it"), "section"),
            self.judges,
            1,
            spacing=8,
        )
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.judges.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        self.hint.setText(self.judges.problem)
        self.ok.setEnabled(not self.judges.problem)
