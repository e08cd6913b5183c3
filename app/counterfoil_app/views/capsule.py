"""A dispute capsule: what it says, and who is right when its steps are replayed here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QPushButton,
    QWidget,
)

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translated
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.hearing import Hearing
from counterfoil_app.views.checks import ChecksList
from counterfoil_app.views.finding import FindingView
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.parts import Field, FieldGrid, Page, caption, digest_field, restyle

SIZE = (820, 680)


class CapsuleDialog(InquiryDialog):
    """One capsule, adjudicated here.

    Args:
        hearing: Its adjudication.
        theme: The theme of the application.
    """

    order_wanted = Signal()
    """The user wants to choose the client's order."""
    signature_wanted = Signal()
    """The user wants to sign what was found."""

    def __init__(self, hearing: Hearing, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(hearing, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Dispute capsule: {0}").format(name_of(hearing.path)))
        self.hearing = hearing
        self.progress.setAccessibleName(self.tr("Progress of the replay"))
        page = Page(self.tr("What was found"))
        self.finding = FindingView(theme)
        page.column.addWidget(self.finding)
        page.column.addWidget(caption(self.tr("Checks"), "section"))
        self.checks = ChecksList(hearing, hearing.changed, theme)
        page.column.addWidget(self.checks)
        self.facts = FieldGrid()
        page.column.addWidget(self.facts)
        page.column.addStretch(1)
        self.choose_order = QPushButton(self.tr("Choose the &order\u2026"))
        self.start = QPushButton(self.tr("&Adjudicate"))
        self.sign = QPushButton(self.tr("S&ign\u2026"))
        self.stop = QPushButton(self.tr("&Stop"))
        self.close_button = QPushButton(self.tr("&Close"))
        self.choose_order.clicked.connect(self.order_wanted)
        self.start.clicked.connect(hearing.start)
        self.sign.clicked.connect(self.signature_wanted)
        self.stop.clicked.connect(hearing.stop)
        self.close_button.clicked.connect(self.close)
        self.arrange(page, self.choose_order, (self.start, self.stop, self.sign, self.close_button))

    def use_order(self, order: Path | None) -> None:
        """Compare with this order from now on; what was found without it is found anew."""
        again = self.hearing.report is not None
        self.hearing.order = order
        self.refresh()
        if again:
            self.hearing.start()

    def refresh(self) -> None:
        """Show where the adjudication stands."""
        hearing, report = self.hearing, self.hearing.report
        self.show_headline(*self._headline())
        self.notice.setText(
            self.tr("It is not compared with the client's own order: whether this step was ordered is not known.")
            if hearing.order is None
            else self.tr("It is compared with the order {0}.").format(name_of(hearing.order))
        )
        restyle(self.notice, "tone", (Tone.WARN if hearing.order is None else Tone.INFO).value)
        self.progress.setVisible(hearing.working)
        self.progress.setValue(int(1000 * hearing.share))
        dispute = report.dispute if report is not None else None
        self.finding.show_finding(dispute.finding if dispute is not None else None)
        self.facts.show_fields(self._fields())
        self.stop.setEnabled(hearing.working)
        self.start.setEnabled(not hearing.working)
        self.choose_order.setEnabled(not hearing.working)
        self.sign.setEnabled(report is not None and report.capsule_digest is not None)
        done = hearing.signed is not None or not self.sign.isEnabled()
        for button, first in (
            (self.start, report is None),
            (self.sign, report is not None and not done),
            (self.close_button, report is not None and done),
        ):
            restyle(button, "primary", first)

    def _headline(self) -> tuple[Look, str]:
        hearing, report = self.hearing, self.hearing.report
        if hearing.working:
            return Look(self.tr("Being adjudicated"), "running", Tone.INFO), self.tr("The disputed step is replayed.")
        if hearing.failure is not None:
            return Look(self.tr("Not adjudicated"), "inconclusive", Tone.WARN), failure_text(hearing.failure)
        if report is None:
            return Look(self.tr("An accusation, not yet checked"), "disputed", Tone.INFO), self.tr(
                "An auditor says that a step of this run is not what was ordered. Replay the step here, and see who is "
                "right; neither side is trusted."
            )
        account = ""
        if report.dispute is not None:
            account = words.dispute_account(report.dispute, None) + " "
        said = account + translated(report.reason)
        if hearing.signed is not None:
            said += " " + self.tr("The signed adjudication is in {0}.").format(hearing.signed)
        return words.adjudication(report.outcome), said

    def _fields(self) -> list[Field]:
        report = self.hearing.report
        file = [Field(self.tr("File"), str(self.hearing.path), exact=True)]
        if report is None:
            return file
        unread = self.tr("could not be read")
        steps = self.tr("step {0} of {1}, replayed from the state after step {2}").format(
            text.count(report.step), text.count(report.steps_ordered), text.count(report.agreed_step)
        )
        return [
            *file,
            digest_field(self.tr("SHA-256"), report.capsule_digest, unread),
            Field(self.tr("Job"), report.title or unread),
            Field(self.tr("Disputed"), steps if report.step else unread),
            digest_field(self.tr("Order digest"), report.order_digest, unread),
            digest_field(self.tr("Run root"), report.run_root, unread),
            Field(self.tr("Trainer's key"), report.trainer_key or unread, exact=bool(report.trainer_key)),
        ]
