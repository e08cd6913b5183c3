"""A dispute capsule: what it says, and who is right when its steps are replayed here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import failure_text, translated
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.hearing import Hearing
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import ChecksList
from counterfoil_app.views.dispute import FindingView
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import Field, FieldGrid, Page, caption, digest_field, restyle, tell

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
        self.checks = ChecksList(hearing, hearing.changed, theme)
        self.facts = FieldGrid()
        layouts.fill(page.column, self.finding, caption(self.tr("Checks"), "section"), self.checks, self.facts, 1)
        self.choose_order = button(self.tr("Choose the &order\u2026"), self.order_wanted)
        self.start = button(self.tr("&Adjudicate"), hearing.start)
        self.sign = button(self.tr("S&ign\u2026"), self.signature_wanted)
        self.stop = button(self.tr("&Stop"), hearing.stop)
        self.close_button = button(self.tr("&Close"), self.close)
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
        self.top.show_look(*self._headline())
        if hearing.order is None:
            unknown = self.tr(
                "It is not compared with the client's own order: whether this step was ordered is not known."
            )
            tell(self.notice, unknown, Tone.WARN)
        else:
            tell(self.notice, self.tr("It is compared with the order {0}.").format(name_of(hearing.order)), Tone.INFO)
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
        first = self.start if report is None else self.close_button if done else self.sign
        for one in (self.start, self.sign, self.close_button):
            restyle(one, "primary", one is first)

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
        steps = words.disputed_step(report.step, report.steps_ordered, report.agreed_step)
        return [
            *file,
            digest_field(self.tr("SHA-256"), report.capsule_digest, unread),
            Field(self.tr("Job"), report.title or unread),
            Field(self.tr("Disputed"), steps if report.step else unread),
            digest_field(self.tr("Order digest"), report.order_digest, unread),
            digest_field(self.tr("Run root"), report.run_root, unread),
            Field(self.tr("Trainer's key"), report.trainer_key or unread, exact=bool(report.trainer_key)),
        ]
