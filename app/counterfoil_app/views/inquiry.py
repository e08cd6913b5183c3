"""Dialogs about one question to the engine: what came out, how far it is, a page, buttons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QSizePolicy, QWidget

from counterfoil import DeliveryOutcome, DeliveryReport, Level, Relation, TrainerTrust, Trust
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.limits import not_said
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.inquiry import Delivery, Hearing, Inquiry, Seen
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import ChecksList, TrustBar
from counterfoil_app.views.dispute import FindingView
from counterfoil_app.views.drop import DropDialog
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.layouts import button, existing_file
from counterfoil_app.views.parts import (
    Field,
    FieldGrid,
    Page,
    caption,
    digest_field,
    hold_width,
    label,
    restyle,
    show_icon,
    tell,
)
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

ICON_PIXELS = 36
CAPSULE_SIZE, DELIVERY_SIZE = (820, 680), (820, 600)


class Headline(QHBoxLayout):
    """What came out, in a word and a sentence with an icon, and what it rests on."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.icon = QLabel()
        self.word = label("", "title")
        self.sentence = label()
        self.trust = TrustBar(theme)
        self.limits = label("", "muted")
        for text_of in (self.word, self.sentence, self.limits):  # a stranger's longest word makes no dialog wider
            policy = text_of.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
            text_of.setSizePolicy(policy)
        said = layouts.column(self.word, self.sentence, self.limits)
        layouts.fill(self, self.icon, (said, 1), (self.trust, 0, Qt.AlignmentFlag.AlignTop), spacing=12)

    def show_look(self, look: Look, sentence: str, limits: str = "") -> None:
        """Show what came out, and what that does not say."""
        show_icon(self.icon, look, self._theme, ICON_PIXELS)
        self.word.setText(look.word)
        self.sentence.setText(sentence)
        self.limits.setText(limits)
        self.limits.setVisible(bool(limits))


class InquiryDialog(DropDialog):
    """One inquiry; it is stopped when the dialog is closed.

    Args:
        inquiry: The inquiry.
        theme: The theme of the application.
        size: Width and height on a screen that has the room.
    """

    def __init__(
        self, inquiry: Inquiry[Seen], theme: Theme, size: tuple[int, int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        fit_to_screen(self, QSize(*map(scale, size)))
        self._inquiry = inquiry
        self._theme = theme
        self.top = Headline(theme)
        self.headline, self.sentence, self.trust = self.top.word, self.top.sentence, self.top.trust
        self.notice = label("", "notice")
        self.progress = QProgressBar()

    def arrange(self, page: Page, choose: QPushButton, start: QPushButton, *others: QPushButton) -> None:
        """Lay everything out, refresh it, and keep it fresh.

        Args:
            page: What was found.
            choose: The button on the left: what the inquiry is to be compared with.
            start: The button that begins it.
            others: Those on the right, in the order of their places.
        """
        self.choose, self.start = choose, start
        self.stop = button(self.tr("&Stop"), self._inquiry.stop)
        for each in (start, self.stop, *others):
            hold_width(each)
        below = layouts.row(choose, 1, start, self.stop, *others)
        layouts.column(self.top, self.notice, self.progress, (page, 1), below, inside=self, spacing=12)
        follow(self.refresh, self._inquiry.changed, self._theme.changed)
        self.refresh()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Stop what goes on."""
        self._inquiry.stop()
        super().closeEvent(event)

    def reject(self) -> None:
        """Stop what goes on, and close."""
        self._inquiry.stop()
        super().reject()

    def refresh(self) -> None:
        """Show where the inquiry stands."""
        working, share = self._inquiry.working, self._inquiry.share
        self.progress.setVisible(working)
        self.progress.setRange(0, 0 if share is None else 1000)
        self.progress.setValue(int(1000 * (share or 0)))
        self.stop.setEnabled(working)
        for each in (self.start, self.choose):
            each.setEnabled(not working)

    def unfinished(self, doing: str, said: str, undone: str) -> tuple[Look, str] | None:
        """What is said while the inquiry is under way, and where it failed; None where it is neither.

        Args:
            doing: What is being done, in a word or two.
            said: The same as a sentence.
            undone: What is not done where it failed, in a word or two.
        """
        if self._inquiry.working:
            return Look(doing, "running", Tone.INFO), said
        if self._inquiry.failure is not None:
            return Look(undone, "inconclusive", Tone.WARN), failure_text(self._inquiry.failure)
        return None


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
        super().__init__(hearing, theme, CAPSULE_SIZE, parent)
        self.setWindowTitle(self.tr("Dispute capsule: {0}").format(name_of(hearing.path)))
        self.hearing = hearing
        self.progress.setAccessibleName(self.tr("Progress of the replay"))
        page = Page(self.tr("What was found"))
        self.finding = FindingView(theme)
        self.checks = ChecksList(hearing, hearing.changed, theme)
        self.facts = FieldGrid()
        layouts.fill(page.column, self.finding, caption(self.tr("Checks"), "section"), self.checks, self.facts, 1)
        choose_order = button(self.tr("Choose the &order\u2026"), self.order_wanted)
        start = button(self.tr("&Adjudicate"), hearing.start)
        self.sign = button(self.tr("S&ign\u2026"), self.signature_wanted)
        self.close_button = button(self.tr("&Close"), self.close)
        self.arrange(page, choose_order, start, self.sign, self.close_button)

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
        self.top.show_look(*self._headline(), not_said(report.outcome) if report is not None else "")
        if hearing.order is None:
            unknown = self.tr(
                "It is not compared with the client's own order: whether this step was ordered is not known."
            )
            tell(self.notice, unknown, Tone.WARN)
        else:
            tell(self.notice, self.tr("It is compared with the order {0}.").format(name_of(hearing.order)), Tone.INFO)
        super().refresh()
        dispute = report.dispute if report is not None else None
        self.finding.show_finding(dispute.finding if dispute is not None else None)
        self.facts.show_fields(self._fields())
        self.sign.setEnabled(report is not None and report.capsule_digest is not None)
        done = hearing.signed is not None or not self.sign.isEnabled()
        first = self.start if report is None else self.close_button if done else self.sign
        for one in (self.start, self.sign, self.close_button):
            restyle(one, "primary", one is first)

    def _headline(self) -> tuple[Look, str]:
        hearing, report = self.hearing, self.hearing.report
        doing, undone = self.tr("Being adjudicated"), self.tr("Not adjudicated")
        if unfinished := self.unfinished(doing, self.tr("The disputed step is replayed."), undone):
            return unfinished
        if report is None:
            return Look(self.tr("An accusation, not yet checked"), "disputed", Tone.INFO), self._accusation()
        said = translate(report.reason)
        if report.dispute is not None:
            said += " " + words.dispute_consequence(report.dispute, None)
        if hearing.signed is not None:
            said += " " + self.tr("The signed adjudication is in {0}.").format(hearing.signed)
        return words.adjudication(report.outcome), said

    def _accusation(self) -> str:
        """What the capsule says that it is about, before anything of it is checked."""
        subject = self.hearing.subject
        if subject is None:
            return self.tr(
                "An auditor says that a step of this run is not what was ordered. Replay the step here, and see who is "
                "right; neither side is trusted."
            )
        step, whose = (
            text.count(subject.step),
            self.tr("Replay it here, and see who is right; neither side is trusted."),
        )
        if subject.part:
            said = self.tr("An auditor says that step {0} of {1} is not what was ordered: its {2} is another.")
            return said.format(step, subject.title, words.step_part(subject.part)) + " " + whose
        return (
            self.tr("An auditor says that step {0} of {1} is not what was ordered.").format(step, subject.title)
            + " "
            + whose
        )

    def _said_of_itself(self) -> list[Field]:
        """What the capsule says that it is about, in fields."""
        subject = self.hearing.subject
        if subject is None:
            return []
        part = [Field(self.tr("Part of the step"), words.step_part(subject.part))] if subject.part else []
        return [
            Field(self.tr("Job"), subject.title),
            Field(self.tr("Disputed"), words.disputed_step(subject.step, subject.steps, subject.agreed_step)),
            *part,
            Field(self.tr("Order digest"), subject.order.hex, exact=True),
        ]

    def _fields(self) -> list[Field]:
        report = self.hearing.report
        file = [Field(self.tr("File"), str(self.hearing.path), exact=True)]
        if report is None:
            return [*file, *self._said_of_itself()]
        unread = self.tr("could not be read")
        steps = words.disputed_step(report.step, report.steps_recorded, report.agreed_step)
        return [
            *file,
            digest_field(self.tr("SHA-256"), report.capsule_digest, unread),
            Field(self.tr("Job"), report.title or unread),
            Field(self.tr("Disputed"), steps if report.step else unread),
            digest_field(self.tr("Order digest"), report.order_digest, unread),
            digest_field(self.tr("Run root"), report.run_root, unread),
            Field(self.tr("Trainer's key"), report.trainer_key or unread, exact=bool(report.trainer_key)),
        ]


@dataclass(frozen=True)
class _Line:
    """One tensor that is not as it should be: its name, what is wrong, and numbers where there are any."""

    name: str
    what: str
    differing: str = ""
    largest: str = ""
    place: str = ""


class DeliveryDialog(InquiryDialog):
    """One comparison of weights with a run.

    Args:
        delivery: The comparison.
        book: The known keys.
        theme: The theme of the application.
    """

    verdict_chosen = Signal(Path)
    """The user names the verdict on the run."""
    steps_wanted = Signal()
    """The user wants to know which step of the run holds the weights."""

    def __init__(self, delivery: Delivery, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(delivery, theme, DELIVERY_SIZE, parent)
        self.setWindowTitle(self.tr("Delivered weights: {0}").format(name_of(delivery.weights)))
        self.delivery = delivery
        self._book = book
        self.progress.setAccessibleName(self.tr("Progress of the comparison"))
        self.page = page = Page(self.tr("What was found"))
        self._table_title = caption(self.tr("Tensors that are not as in the run"), "section")
        self.model: RecordTable[_Line] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Tensors that are not as in the run"))
        self.facts = FieldGrid()
        layouts.fill(page.column, self._table_title, self.table, self.facts, 1)
        choose_verdict = button(self.tr("Choose the &verdict\u2026"), self._ask_verdict)
        start = button(self.tr("&Compare again"), delivery.start)
        self.steps = button(
            self.tr("&Find the step\u2026"),
            self.steps_wanted,
            tip=self.tr("Say which step of the run holds these weights, or none"),
        )
        self.close_button = button(self.tr("C&lose"), self.close)
        self.arrange(page, choose_verdict, start, self.steps, self.close_button)

    def refresh(self) -> None:
        """Show where the comparison stands."""
        delivery, report = self.delivery, self.delivery.found
        look, sentence = self._headline()
        self.top.show_look(look, sentence)
        trainer = "" if report is None else self._book.name_of(report.trainer_key)
        self.trust.show_trust(self._trust(), trainer)
        self.page.colour(self, Tone.BAD.value if look.tone is Tone.BAD else "")
        known, basis = self._basis()
        tell(self.notice, basis, Tone.BAD if delivery.disputed else Tone.INFO if known else Tone.WARN)
        super().refresh()
        lines = () if report is None else tuple(self._lines(report))
        self.model.show_records(lines)
        for widget in (self._table_title, self.table):
            widget.setVisible(bool(lines))
        if lines:
            fit_height(self.table)
        self.facts.show_fields(self._fields())
        self.steps.setEnabled(not delivery.working)
        wanted = not known and not delivery.working
        restyle(self.choose, "primary", wanted)
        restyle(self.close_button, "primary", report is not None and not wanted)

    def _headline(self) -> tuple[Look, str]:
        delivery, report = self.delivery, self.delivery.found
        said = self.tr("Every tensor is compared with the final state of the run.")
        if delivery.progress is not None:
            said = translate(delivery.progress.what)
        if unfinished := self.unfinished(self.tr("Being compared"), said, self.tr("Not compared")):
            return unfinished
        if report is None:
            return Look(self.tr("Not compared"), "waiting", Tone.INFO), self.tr("The comparison was stopped.")
        trust = self._trust()
        said = " ".join(translate(words) for words in (report.sentence, *report.warnings))
        if trust is not None and trust.reason:
            said += " " + translate(trust.reason)
        if trust is not None and trust.trainer is TrainerTrust.AUDITOR:
            return Look(self.tr("The trainer certified its own run"), "failed", Tone.BAD), said
        looks = {
            DeliveryOutcome.DELIVERED: Look(self.tr("DELIVERED: these are the verified weights"), "verified", Tone.OK),
            DeliveryOutcome.DIFFERENT: Look(self.tr("DIFFERENT: these are other weights"), "disputed", Tone.BAD),
            DeliveryOutcome.INCONCLUSIVE: Look(words.as_signed("INCONCLUSIVE"), "inconclusive", Tone.WARN),
            DeliveryOutcome.REFUSED: Look(words.as_signed("REFUSED"), "refused", Tone.WARN),
            DeliveryOutcome.ERROR: Look(words.as_signed("ERROR"), "error", Tone.WARN),
        }
        look = looks[report.outcome]
        if report.outcome is DeliveryOutcome.INCONCLUSIVE and delivery.disputed:
            look = Look(self.tr("INCONCLUSIVE: the weights of a disputed run"), "disputed", Tone.BAD)
            said = self.tr("The weights are the final state of the run, and that run was disputed.")
        if report.outcome is DeliveryOutcome.DELIVERED and trust is not None and trust.level is not Level.WHOLE:
            tone = Tone.WARN if trust.level is Level.OPEN else Tone.BAD
            look = Look(self.tr("DELIVERED: these are the weights of the run"), "verified-open", tone)
        return look, said

    def _trust(self) -> Trust | None:
        """What it rests on, for who knows the keys in the book."""
        report = self.delivery.found
        if report is None or report.trust is None:
            return None
        return self._book.seen(report.trust, report.trainer_key, report.order_digest.hex, report.client_key)

    def _basis(self) -> tuple[bool, str]:
        """Whether something says that the run is verified, and what."""
        delivery = self.delivery
        if delivery.verdict is not None:
            return True, self.tr("The run {0} is judged by the verdict {1}.").format(
                name_of(delivery.run), name_of(delivery.verdict)
            )
        if delivery.verified_here is not None:
            return True, self.tr("The run {0} was replayed here and verified.").format(name_of(delivery.run))
        if delivery.disputed:
            return True, self.tr(
                "The run {0} was replayed here and disputed: it is not what was ordered, and its weights are not those "
                "of a verified run, also where they are equal to its final state."
            ).format(name_of(delivery.run))
        return False, self.tr("Nothing says that the run {0} is verified: choose the verdict on it.").format(
            name_of(delivery.run)
        )

    def _columns(self) -> list[Column[_Line]]:
        return [
            Column(self.tr("Tensor"), lambda line: line.name, 28, fixed=True),
            Column(self.tr("What is wrong"), lambda line: line.what, 18),
            Column(self.tr("Elements"), lambda line: line.differing, 16, numeric=True),
            Column(self.tr("Largest difference"), lambda line: line.largest, 16, numeric=True),
            Column(self.tr("At"), lambda line: line.place, 12),
        ]

    def _lines(self, report: DeliveryReport) -> list[_Line]:
        differing = [
            _Line(one.name, translate(one.note))
            if one.note
            else _Line(
                one.name,
                self.tr("other values"),
                self.tr("{0} of {1}").format(text.count(one.differing), text.count(one.elements)),
                text.digits(f"{one.largest:.3g}") if math.isfinite(one.largest) else self.tr("not a number"),
                text.index(one.index),
            )
            for one in report.differing
        ]
        missing = [_Line(name, self.tr("missing")) for name in report.missing]
        return differing + missing + [_Line(name, self.tr("not of the run")) for name in report.surplus]

    def _fields(self) -> list[Field]:
        delivery, report = self.delivery, self.delivery.found
        if report is None:
            return [Field(self.tr("Weights"), str(delivery.weights), exact=True)]
        counts = ", ".join(
            f"{translate(Relation(value).words)}: {text.count(count)}" for value, count in report.relations.items()
        )
        fields = [
            Field(self.tr("Weights"), str(delivery.weights), exact=True),
            Field(self.tr("Tensors"), text.count(report.tensors)),
            Field(self.tr("Equal"), counts or self.tr("none")),
            digest_field(self.tr("Run root"), report.run_root, ""),
            digest_field(self.tr("Order digest"), report.order_digest, ""),
            Field(self.tr("Step"), text.count(report.step)),
        ]
        if report.key_id:
            fields.append(Field(self.tr("Auditor's key"), report.key_id, exact=True))
        fields += [Field(file.name, file.digest.hex, exact=True) for file in report.files]
        if report.others:
            fields.append(Field(self.tr("Not looked at"), ", ".join(report.others)))
        return fields

    def _ask_verdict(self) -> None:
        folder, kinds = self.delivery.run.parent, self.tr("Verdicts (*.json)")
        if path := existing_file(self, self.tr("The verdict on the run"), folder, kinds):
            self.verdict_chosen.emit(path)
