"""Delivered weights: whether they are what was trained and verified, and which tensors are not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from counterfoil import DeliveryOutcome, DeliveryReport, Level, Relation, TrainerTrust, Trust
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import failure_text, translated
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.delivery import Delivery
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.views import layouts
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, existing_file
from counterfoil_app.views.parts import Field, FieldGrid, Page, caption, digest_field, restyle, tell
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

SIZE = (820, 600)


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

    def __init__(self, delivery: Delivery, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(delivery, theme, SIZE, parent)
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
        self.choose_verdict = button(self.tr("Choose the &verdict\u2026"), self._ask_verdict)
        self.start = button(self.tr("&Compare again"), delivery.start)
        self.stop = button(self.tr("&Stop"), delivery.stop)
        self.close_button = button(self.tr("C&lose"), self.close)
        self.arrange(page, self.choose_verdict, (self.start, self.stop, self.close_button))

    def refresh(self) -> None:
        """Show where the comparison stands."""
        delivery, report = self.delivery, self.delivery.report
        look, sentence = self._headline()
        self.top.show_look(look, sentence)
        self.trust.show_trust(self._trust())
        self.page.colour(self, Tone.BAD.value if look.tone is Tone.BAD else "")
        known, basis = self._basis()
        tell(self.notice, basis, Tone.INFO if known else Tone.WARN)
        self.progress.setVisible(delivery.working)
        progress = delivery.progress
        self.progress.setValue(0 if progress is None else int(1000 * progress.done / max(1, progress.total)))
        lines = () if report is None else tuple(self._lines(report))
        self.model.show_records(lines)
        for widget in (self._table_title, self.table):
            widget.setVisible(bool(lines))
        if lines:
            fit_height(self.table)
        self.facts.show_fields(self._fields())
        self.stop.setEnabled(delivery.working)
        self.start.setEnabled(not delivery.working)
        self.choose_verdict.setEnabled(not delivery.working)
        wanted = not known and not delivery.working
        restyle(self.choose_verdict, "primary", wanted)
        restyle(self.close_button, "primary", report is not None and not wanted)

    def _headline(self) -> tuple[Look, str]:
        delivery, report = self.delivery, self.delivery.report
        if delivery.working:
            progress = delivery.progress
            return Look(self.tr("Being compared"), "running", Tone.INFO), (
                self.tr("Every tensor is compared with the final state of the run.")
                if progress is None
                else translated(progress.what)
            )
        if delivery.failure is not None:
            return Look(self.tr("Not compared"), "inconclusive", Tone.WARN), failure_text(delivery.failure)
        if report is None:
            return Look(self.tr("Not compared"), "waiting", Tone.INFO), self.tr("The comparison was stopped.")
        trust = self._trust()
        said = " ".join(translated(words) for words in (report.sentence, *report.warnings))
        if trust is not None and trust.reason:
            said += " " + translated(trust.reason)
        if trust is not None and trust.trainer is TrainerTrust.AUDITOR:
            return Look(self.tr("The trainer certified its own run"), "failed", Tone.BAD), said
        looks = {
            DeliveryOutcome.DELIVERED: Look(self.tr("DELIVERED: these are the verified weights"), "verified", Tone.OK),
            DeliveryOutcome.DIFFERENT: Look(self.tr("DIFFERENT: these are other weights"), "disputed", Tone.BAD),
            DeliveryOutcome.INCONCLUSIVE: Look("INCONCLUSIVE", "inconclusive", Tone.WARN),
            DeliveryOutcome.REFUSED: Look("REFUSED", "refused", Tone.WARN),
            DeliveryOutcome.ERROR: Look("ERROR", "error", Tone.WARN),
        }
        look = looks[report.outcome]
        if report.outcome is DeliveryOutcome.DELIVERED and trust is not None and trust.level is not Level.WHOLE:
            tone = Tone.WARN if trust.level is Level.OPEN else Tone.BAD
            look = Look(self.tr("DELIVERED: these are the weights of the run"), "verified-open", tone)
        return look, said

    def _trust(self) -> Trust | None:
        """What it rests on, for who knows the keys in the book."""
        report = self.delivery.report
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
        if delivery.replay is not None:
            return True, self.tr("The run {0} was replayed here and verified.").format(name_of(delivery.run))
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
            _Line(one.name, translated(one.note))
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
        delivery, report = self.delivery, self.delivery.report
        if report is None:
            return [Field(self.tr("Weights"), str(delivery.weights), exact=True)]
        counts = ", ".join(
            f"{translated(Relation(value).words)}: {text.count(count)}" for value, count in report.relations.items()
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
