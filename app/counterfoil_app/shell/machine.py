"""The page of the machine that computes: what is there, what is wrong, and the remedy, to copy into a report."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QWidget

from counterfoil import MachineFact, MachineState
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.questions import Examination
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.tables import Column, RecordTable, table_view

CHARACTERS, LINES = 120, 36
_FIRST = (MachineState.WRONG, MachineState.NOTE, MachineState.FINE)


class MachineDialog(QDialog):
    """Examines the machine, and shows its page.

    Args:
        session: Whose engine's machine it is.
        theme: The theme of the window.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("machine")
        self.setWindowTitle(self.tr("This machine"))
        self.setSizeGripEnabled(True)
        self.examination = Examination(session, self)
        where = session.where
        about = (
            self.tr("What {0} has for Counterfoil: it computes for this window.").format(where) if where
            else self.tr("What this machine has for Counterfoil. Nothing of it is sent anywhere.")
        )  # fmt: skip
        self.summary = label("", "notice")
        self.progress = QProgressBar()
        self.progress.setAccessibleName(self.tr("Progress of the examination"))
        columns: list[Column[MachineFact]] = [
            Column(self.tr("State"), lambda fact: self._look(fact).word, 10, look=self._look),
            Column(self.tr("Part"), lambda fact: translate(fact.section), 16),
            Column(self.tr("What"), lambda fact: translate(fact.name), 30, tip=lambda fact: translate(fact.name)),
            Column(self.tr("Found"), lambda fact: translate(fact.value), 20, tip=lambda fact: translate(fact.value)),
        ]
        self.model: RecordTable[MachineFact] = RecordTable(columns, theme, self)
        self.table = table_view(self.model, self.tr("What was found"), self)
        self.remedies = label("", "muted")
        self.remedies.setAccessibleName(self.tr("What to do"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = self.buttons.addButton(self.tr("&Copy the page"), QDialogButtonBox.ButtonRole.ActionRole)
        self.again = self.buttons.addButton(self.tr("&Examine again"), QDialogButtonBox.ButtonRole.ActionRole)
        parts = (label(about, "muted"), self.progress, self.summary, (self.table, 1), self.remedies, self.buttons)
        layouts.column(*parts, inside=self, spacing=10)
        self.buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(self._copy)
        self.again.clicked.connect(self.examination.start)
        self.examination.changed.connect(self._refresh)
        self.finished.connect(self.examination.stop)
        self.finished.connect(self.deleteLater)
        metrics = self.fontMetrics()
        fit_to_screen(self, QSize(metrics.averageCharWidth() * CHARACTERS, metrics.height() * LINES))
        self.examination.start()

    def _refresh(self) -> None:
        examined, progress = self.examination, self.examination.progress
        self.progress.setVisible(examined.working)
        self.progress.setRange(0, progress.total if progress is not None else 0)
        if progress is not None:
            self.progress.setValue(progress.done)
            self.progress.setFormat(translate(progress.part))
        self.again.setEnabled(not examined.working)
        self.copy.setEnabled(examined.found is not None)
        facts = examined.found.facts if examined.found is not None else ()
        # What asks for something to be done stands above what does not.
        self.model.show_records(sorted(facts, key=lambda fact: _FIRST.index(fact.state)))
        if examined.failure is not None:
            self._say(failure_text(examined.failure), "bad")
        elif examined.found is not None:
            self._say(translate(examined.found.summary), "bad" if examined.found.wrong else "ok")
        self.summary.setVisible(not examined.working)
        said = [f"{translate(fact.name)}: {translate(fact.remedy)}" for fact in facts if fact.remedy]
        self.remedies.setText("\n".join(dict.fromkeys(said)))
        self.remedies.setVisible(bool(said))

    def _say(self, sentence: str, tone: str) -> None:
        self.summary.setText(sentence)
        restyle(self.summary, "tone", tone)

    def _look(self, fact: MachineFact) -> Look:
        return {
            MachineState.FINE: Look(self.tr("fine"), "passed", Tone.OK),
            MachineState.NOTE: Look(self.tr("note"), "warning", Tone.WARN),
            MachineState.WRONG: Look(self.tr("wrong"), "failed", Tone.BAD),
        }[fact.state]

    def _copy(self) -> None:
        """In English, as reports are read."""
        if self.examination.found is not None:
            QGuiApplication.clipboard().setText(self.examination.found.text)
