"""For whom a dispute capsule is sealed, and what others read in one that is not."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QRadioButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)
from shiboken6 import isValid

from counterfoil.audit.values.capsulecontents import HandedOut
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.engine.worker import JobResult
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.history import kept_capsule
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.parts import caption, label, tell

SIZE = (620, 360)
LIST_HEIGHT = 72


class JudgesField(QWidget):
    """Says what a capsule hands out, and asks who may read it: nothing is given away before that is answered.

    Args:
        start: The folder where a judge's key is looked for.
        optional: Whether the capsule may be left out.
    """

    changed = Signal()
    """Another choice was made."""

    def __init__(self, start: Path, parent: QWidget | None = None, *, optional: bool = False) -> None:
        super().__init__(parent)
        self._start = start
        self._files: list[Path] = []
        self._counting = False
        first = self.tr("Whoever gets the capsule can read rows of the data and the state of the model in it.")
        # One for each answer, in one place: whatever is answered, what stands below does not move.
        self._notices = QStackedWidget()
        self._notices.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        sealed = self.tr("Only these judges can open the capsule, you neither.")
        kept = self.tr("Without the capsule others have your word: they can replay the step with the whole run alone.")
        for said, tone in ((first, Tone.WARN), (sealed, Tone.INFO), (kept, Tone.INFO)):
            notice = label("", "notice")
            tell(notice, said, tone)
            self._notices.addWidget(notice)
        self.seal = QRadioButton(self.tr("&Sealed for judges: nobody else can open it"))
        self.open = QRadioButton(self.tr("&Open: whoever gets it can read all that"))
        self.leave_out = QRadioButton(self.tr("&Without the capsule: nobody but you can show the step"))
        self.leave_out.setVisible(optional)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Public sealing keys of the judges"))
        self.list.setFixedHeight(scale(LIST_HEIGHT))
        self.add = layouts.button(self.tr("&Add a judge's key\u2026"), self._choose)
        self.remove = layouts.button(self.tr("&Remove"), self._remove, name=self.tr("Remove the chosen key"))
        self._keys = QWidget()
        buttons = layouts.column(self.add, self.remove, 1)
        layouts.row((self.list, 1), buttons, inside=self._keys, margins=(22, 0, 0, 0))
        layouts.column(
            self._notices, self.seal, self._keys, self.open, self.leave_out, inside=self, margins=layouts.NONE
        )
        follow(self._refresh, self.seal.toggled, self.open.toggled, self.leave_out.toggled)
        self.list.itemSelectionChanged.connect(self._refresh)
        self._refresh()

    @property
    def notice(self) -> QLabel:
        """What the answer comes to."""
        shown = self._notices.currentWidget()
        assert isinstance(shown, QLabel)
        return shown

    @property
    def judges(self) -> tuple[Path, ...]:
        """The files of the judges' public sealing keys; none where it is not sealed."""
        return tuple(self._files) if self.seal.isChecked() else ()

    @property
    def goes_along(self) -> bool:
        """Whether the capsule is given away at all."""
        return not self.leave_out.isChecked()

    @property
    def problem(self) -> str:
        """What is missing; empty where nothing is."""
        if not (self.seal.isChecked() or self.open.isChecked() or self.leave_out.isChecked()):
            return self.tr("Say who may read the capsule.")
        if self.open.isChecked() and self._counting:
            return self.tr("What the capsule hands out is being counted.")
        if self.seal.isChecked() and not self._files:
            return self.tr("Add the public sealing key of a judge, a .pub file.")
        return ""

    def count(self, session: Session) -> None:
        """Have what the capsule of a session's dispute hands out counted, and say it."""
        kept = kept_capsule(session.result_file)
        if kept is not None and kept.is_file():
            self._counting = True
            session.ask(lambda engine: engine.handed_out(kept), self._counted)
            self._refresh()

    def _counted(self, result: JobResult) -> None:
        if isValid(self):  # its dialog may be closed by now
            self._counting = False
            if isinstance(result.value, HandedOut):
                said = " ".join(translate(sentence) for sentence in plain(result.value).sentences)
                tell(self._notices.widget(0), said, Tone.WARN)  # type: ignore[arg-type]  # the first of the labels
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
        self._keys.setEnabled(sealed)
        self.remove.setEnabled(sealed and bool(self.list.selectedItems()))
        self._notices.setCurrentIndex(1 if sealed else 2 if self.leave_out.isChecked() else 0)
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
