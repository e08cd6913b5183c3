"""The page of the machine that computes: what is there, what is wrong, and the remedy, to copy into a report."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from counterfoil import MachineFact, MachineState
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.questions import Examination
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import Page, label
from counterfoil_app.views.tables import Column, RecordTable, table_view

SIZE = (960, 680)
_FIRST = (MachineState.WRONG, MachineState.NOTE, MachineState.FINE)


class MachineDialog(InquiryDialog):
    """Examines the machine, and shows its page.

    Args:
        session: Whose engine's machine it is.
        theme: The theme of the window.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        self.examination = examination = Examination(session)
        super().__init__(examination, theme, SIZE, parent)
        examination.setParent(self)
        self.setWindowTitle(self.tr("This machine"))
        where = session.where
        self._about = (
            self.tr("What {0} has for Counterfoil: it computes for this window.").format(where) if where
            else self.tr("What this machine has for Counterfoil. Nothing of it is sent anywhere.")
        )  # fmt: skip
        self.progress.setAccessibleName(self.tr("Progress of the examination"))
        columns: list[Column[MachineFact]] = [
            Column(self.tr("State"), lambda fact: self._look(fact).word, 10, look=self._look),
            Column(self.tr("Part"), lambda fact: translate(fact.section), 16),
            Column(self.tr("What"), lambda fact: translate(fact.name), 30, tip=lambda fact: translate(fact.name)),
            Column(self.tr("Found"), lambda fact: translate(fact.value), 20, tip=lambda fact: translate(fact.value)),
        ]
        self.model: RecordTable[MachineFact] = RecordTable(columns, theme, self)
        self.remedies = label("", "muted")
        self.remedies.setAccessibleName(self.tr("What to do"))
        page = Page(self.tr("The machine"))
        layouts.fill(page.column, (table_view(self.model, self.tr("What was found")), 1), self.remedies)
        self.copy = button(self.tr("&Copy the page"), self._copy)
        again = button(self.tr("&Examine again"), examination.start)
        self.arrange(page, self.copy, again, button(self.tr("C&lose"), self.close))
        self.notice.hide()
        examination.start()

    def refresh(self) -> None:
        """Show how far the examination is, or what it found."""
        super().refresh()
        found = self.examination.found
        self.top.show_look(*self._headline())
        self.copy.setEnabled(found is not None)
        facts = found.facts if found is not None else ()
        # What asks for something to be done stands above what does not.
        self.model.show_records(sorted(facts, key=lambda fact: _FIRST.index(fact.state)))
        said = [f"{translate(fact.name)}: {translate(fact.remedy)}" for fact in facts if fact.remedy]
        self.remedies.setText("\n".join(dict.fromkeys(said)))
        self.remedies.setVisible(bool(said))

    def _headline(self) -> tuple[Look, str]:
        progress, found = self.examination.progress, self.examination.found
        said = self._about if progress is None else translate(progress.part)
        if unfinished := self.unfinished(self.tr("Being examined"), said, self.tr("Not examined")):
            return unfinished
        if found is None:
            return Look(self.tr("Not examined"), "waiting", Tone.INFO), self.tr("The examination was stopped.")
        icon, tone = ("failed", Tone.BAD) if found.wrong else ("passed", Tone.OK)
        return Look(translate(found.summary), icon, tone), self._about

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
