"""Shows what an auditor signed: whether its signature holds, with which key, for which bundle, and what it says.

What was said of it afterwards stands above that, in the words of those who said it.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal, SignalInstance
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from counterfoil import Adjudication, Afterwards, RunFacts, TrainerTrust, Trust, Validity, Verdict
from counterfoil_app.engine.port import VerdictReading
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import limits, text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.verdict.matter import check_fields, consent_fields
from counterfoil_app.views import layouts
from counterfoil_app.views.drop import DropDialog
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.inquiry import Headline
from counterfoil_app.views.layouts import button, existing_file
from counterfoil_app.views.parts import (
    Field,
    FieldGrid,
    Page,
    caption,
    clear_layout,
    digest_field,
    label,
    restyle,
    tell,
)

_tr = texts("later")


class Quotation(QFrame):
    """A text of somebody else's, as plain text behind a bar, so that nothing in it looks like ours.

    Args:
        who: Who said it, and when.
        words: The text; its lines are of visible characters.
    """

    def __init__(self, who: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("quotation")
        self.who = caption(who, "heading")
        self.words = label(words)
        layouts.column(self.who, self.words, inside=self, margins=(12, 6, 8, 6), spacing=4)


class SaidLater(QWidget):
    """Withdrawals by the auditor, replies of the trainer, and what does not count, in this order."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = layouts.column(inside=self, margins=(0, 0, 0, 8), spacing=8)
        self.quotations: list[Quotation] = []
        self.hide()

    def show_later(self, later: Afterwards) -> None:
        """Show statements, whose texts were made plain before."""
        clear_layout(self._column)
        self.quotations = []
        for one in later.withdrawals:
            who = _tr("The auditor took this verdict back on {0}, by the auditor's clock. The auditor's reason:")
            self._quote(who.format(text.moment(one.signed_at)), one.reason)
            if one.superseded_by is not None:
                instead = FieldGrid()
                instead.show_fields([Field(_tr("In its place"), one.superseded_by.hex, exact=True)])
                set_tip(instead, _tr("SHA-256 of what is signed in the other verdict"))
                self._column.addWidget(instead)
        for reply in later.replies:
            who = _tr("Reply of the trainer who signed the run, on {0} by the trainer's clock:")
            self._quote(who.format(text.moment(reply.signed_at)), reply.text)
        for sentence in later.ignored:
            notice = label("", "notice")
            tell(notice, translate(sentence), Tone.WARN)
            self._column.addWidget(notice)
        self.setVisible(later != Afterwards())

    def _quote(self, who: str, words: str) -> None:
        quotation = Quotation(who, words)
        self.quotations.append(quotation)
        self._column.addWidget(quotation)


SIZE = (760, 620)
MOST_ARRAYS = 20
"""Data arrays of a verdict's facts that are shown."""


class VerdictViewer(DropDialog):
    """One file with a verdict or an adjudication.

    Args:
        path: The verdict.
        book: The known keys, by which it is checked.
        theme: The theme of the application.

    Attributes:
        path: The verdict.
        bundle: The bundle that it is compared with, once one was chosen.
        checked: Whether its signature was found to hold.
        key_ids: Fingerprints of the keys that it says it was signed with.
        other_key: A key file that was chosen, and holds another key; None for none.
        statements: Files with what was said of it afterwards, beside what lies in its folder.
        withdrawn: Whether its auditor took it back.
    """

    key_chosen = Signal(Path)
    bundle_chosen = Signal(Path)
    statement_chosen = Signal(Path)
    files_dropped = Signal(list)

    def __init__(self, path: Path, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.take_files(self.files_dropped.emit)
        self.setWindowTitle(self.tr("Verdict: {0}").format(name_of(path)))
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self.path = path
        self.checked = False
        self.bundle: Path | None = None
        self.key_ids: tuple[str, ...] = ()
        self.other_key: Path | None = None
        self.statements: list[Path] = []
        self.withdrawn = False
        self._book = book
        self.top = Headline(theme)
        self.headline, self.sentence, self.trust = self.top.word, self.top.sentence, self.top.trust
        self.about_bundle = label("", "notice")
        self.banner = label("", "notice")
        restyle(self.banner, "tone", Tone.BAD.value)
        self.banner.hide()
        self.page = Page(self.tr("What the verdict says"))
        self.later = SaidLater()
        self._facts = FieldGrid()
        layouts.fill(self.page.column, self.later, self._facts, 1)
        self.choose_key = button(self.tr("Auditor's public &key\u2026"), self._ask_key)
        self.choose_bundle = button(self.tr("Compare with a &bundle\u2026"), self._ask_bundle)
        statement_tip = self.tr("A withdrawal by the auditor, or a reply of the trainer's")
        self.choose_statement = button(self.tr("Add a &statement\u2026"), self._ask_statement, tip=statement_tip)
        self.close_button = button(self.tr("&Close"), self.close)
        row = layouts.row(self.choose_key, self.choose_bundle, self.choose_statement, 1, self.close_button)
        shown = (self.top, self.banner, self.about_bundle, (self.page, 1), 0, row)
        layouts.column(*shown, inside=self, spacing=12)
        self._show(Look(self.tr("Being checked"), "waiting", Tone.INFO), self.tr("Reading {0}").format(name_of(path)))
        self.about_bundle.hide()
        self._enable(False)

    def show_reading(self, reading: VerdictReading) -> None:
        """Show what the file turned out to be."""
        verdict = reading.verdict
        self.key_ids = reading.key_ids
        self.checked = verdict is not None
        standing = reading.validity
        self._show_later(standing.later)
        if verdict is None:
            self._show_unknown_key(reading.key_ids)
            return
        trust = self._trust(verdict)
        # What a verdict rested on is no comfort once it is taken back.
        trainer = self._book.name_of(getattr(verdict, "trainer_key", ""))
        self.trust.show_trust(None if self.withdrawn else trust, trainer)
        look = _look(verdict, trust)
        owner = self.tr("The key is that of {0}.").format(self._owner(verdict.key_id))
        revoked, gone = dict(standing.revoked).get("signer"), "signer" in standing.gone
        if revoked is not None and not gone:
            before = self.tr("This verdict was signed before, as its auditor says; nothing else shows when.")
            owner = " ".join((owner, words.revocation(revoked), before))
        if trust.trainer is TrainerTrust.AUDITOR:
            self._show(
                Look(self.tr("The trainer signed this about its own run"), "failed", Tone.BAD),
                self.tr(
                    "The key that signed this is the key that signed the run. A trainer cannot audit itself: what it "
                    "says of its own run shows nothing."
                ),
            )
        elif revoked is not None and gone:
            self.trust.show_trust(None)
            self._show(
                Look(self.tr("This verdict no longer counts: its auditor's key was revoked"), "failed", Tone.BAD),
                " ".join((words.revocation(revoked), self.tr("What it said was: {0}.").format(look.word), owner)),
            )
        elif reading.bundle_matches is False:
            self._show(
                Look(self.tr("This verdict is about another file"), "failed", Tone.BAD),
                self.tr(
                    "It says nothing of {0}. Its signature holds, and it found: {1}, for a file called {2} with "
                    "another SHA-256."
                ).format(name_of(self.bundle), look.word, verdict.bundle_name),
            )
        elif self.withdrawn:
            self._show_withdrawn(look, standing.later)
        elif not standing.counts:
            self.trust.show_trust(None)
            said = self.tr("What it said was: {0}.").format(look.word)
            self._show(
                Look(self.tr("This verdict does not count"), "failed", Tone.BAD),
                " ".join((*map(translate, standing.why), said)),
            )
        else:
            self._show(
                Look(self.tr("The signature holds: {0}").format(look.word), look.icon, look.tone),
                " ".join(filter(None, (translate(verdict.reason), translate(trust.reason), owner))),
                _not_said(verdict),
            )
        self._facts.show_fields(self._fields(verdict, reading))
        self.page.show()
        self._enable(True)
        compare = reading.bundle_matches is None and standing.counts
        self._make_primary(self.choose_bundle if compare else self.close_button)
        self._show_bundle(verdict, reading.bundle_matches)

    def show_other_key(self, path: Path) -> None:
        """Say that a key file that was chosen does not hold the key that the verdict names."""
        self.other_key = path
        self._show_unknown_key(self.key_ids)

    def _trust(self, verdict: Verdict | Adjudication) -> Trust:
        """What it rests on, for who knows the keys in the book."""
        order = verdict.run_order
        digest = order.hex if order is not None else ""
        # Run and order were signed before the verdict; it does not say when.
        latest = verdict.signed_at
        return self._book.seen(
            verdict.trust, verdict.trainer_key, digest, verdict.client_key, run_signed=latest, order_signed=latest
        )

    def _owner(self, key_id: str) -> str:
        known = self._book.find(key_id)
        return self.tr("{0}, {1}").format(known.name, words.role(known.role)) if known is not None else key_id[:12]

    def show_failure(self, failure: Failure) -> None:
        """Say why the file is no verdict that counts."""
        self.trust.show_trust(None)
        self._show(Look(self.tr("This verdict does not count"), "failed", Tone.BAD), failure_text(failure))
        self._show_later(Afterwards())
        self.page.hide()
        self.about_bundle.hide()
        self._enable(False)
        self._make_primary(self.choose_key)

    def _show_unknown_key(self, key_ids: tuple[str, ...]) -> None:
        self.trust.show_trust(None)
        if self.other_key is None:
            self._show(
                Look(self.tr("Not checked: signed with a key that you have not confirmed"), "inconclusive", Tone.WARN),
                self.tr(
                    "Get the auditor's public key from the auditor, choose it, and confirm it. Until then anybody may "
                    "have made this."
                ),
            )
        else:
            self._show(
                Look(self.tr("This verdict was not signed with that key"), "failed", Tone.BAD),
                self.tr(
                    "{0} holds another key than the one that the verdict names. If it is the auditor's key, somebody "
                    "else made this verdict: do not rely on it."
                ).format(name_of(self.other_key)),
            )
        self._facts.show_fields([Field(self.tr("Names the key"), key_id, exact=True) for key_id in key_ids])
        self.page.show()
        self.about_bundle.hide()
        self._enable(False)
        self._make_primary(self.choose_key)

    def _enable(self, checked: bool) -> None:
        """What can be compared with a verdict whose signature holds."""
        for each in (self.choose_bundle, self.choose_statement):
            each.setEnabled(checked)

    def _show_withdrawn(self, look: Look, later: Afterwards) -> None:
        replaced = any(one.superseded_by is not None for one in later.withdrawals)
        title = self.tr("Superseded: its auditor put another verdict in its place")
        if not replaced:
            title = self.tr("Withdrawn: its auditor took it back")
        self._show(
            Look(title, "failed", Tone.BAD),
            self.tr("It no longer counts. Its signature holds, and what it said was: {0}.").format(look.word),
        )

    def _show_later(self, later: Afterwards) -> None:
        """Show what was said of it afterwards; that it was taken back stands above all else."""
        self.withdrawn = bool(later.withdrawals)
        self.banner.setVisible(self.withdrawn)
        if self.withdrawn:
            first = later.withdrawals[0]
            self.banner.setText(
                self.tr("WITHDRAWN by its auditor on {0}, as the auditor says. Do not rely on it.").format(
                    text.moment(first.signed_at)
                )
            )
        self.later.show_later(later)

    def _show(self, look: Look, sentence: str, not_said: str = "") -> None:
        # What does not count must not look like a verdict in which a line is red.
        bad = Tone.BAD.value if look.tone is Tone.BAD and look.icon == "failed" else ""
        self.page.colour(self, bad)
        self.top.show_look(look, sentence, not_said)

    def _show_bundle(self, verdict: Verdict | Adjudication, matches: bool | None) -> None:
        name = name_of(self.bundle)
        self.about_bundle.show()
        if matches is None:
            said = self.tr("It speaks of a file called {0}. Compare it with your bundle: a name proves nothing.")
            tell(self.about_bundle, said.format(verdict.bundle_name), Tone.INFO)
        elif matches:
            tell(self.about_bundle, self.tr("It speaks of this very file: {0}.").format(name), Tone.OK)
        else:
            said = self.tr("It speaks of another file: the SHA-256 of {0} is not the one in the verdict.")
            tell(self.about_bundle, said.format(name), Tone.BAD)

    def _fields(self, verdict: Verdict | Adjudication, reading: VerdictReading) -> list[Field]:
        unread = self.tr("the audit could not read it")
        known = self._book.find(verdict.client_key)
        fields = [
            Field(self.tr("Job"), verdict.title or unread),
            Field(self.tr("Signed at"), self.tr("{0}, as the auditor says").format(text.moment(verdict.signed_at))),
            Field(self.tr("Auditor's key"), verdict.key_id, exact=True),
            *([Field(self.tr("Claimed name"), self._claim(reading.claimed_name))] if reading.claimed_name else []),
            *self._revoked_fields(reading.validity),
            Field(self.tr("Bundle") if isinstance(verdict, Verdict) else self.tr("Capsule"), verdict.bundle_name),
            digest_field(self.tr("SHA-256"), verdict.bundle_digest, unread),
            digest_field(self.tr("Run root"), verdict.run_root, unread),
            Field(self.tr("Order"), words.order_source(verdict.order_source)),
            digest_field(self.tr("Order digest"), verdict.order_digest, unread),
            *([] if verdict.run_order is None else consent_fields(verdict, verdict.accepted, known)),
            Field(self.tr("Steps"), self._steps(verdict)),
        ]
        if verdict.disputed_step is not None:
            fields.append(Field(self.tr("Disputed step"), text.count(verdict.disputed_step)))
        if isinstance(verdict, Verdict) and verdict.run_facts is not None:
            fields += self._run_facts(verdict.run_facts)
        return fields + check_fields(verdict.checks)

    def _claim(self, name: str) -> str:
        return self.tr("{0}. The window checks no certificate; 'counterfoil verify --roots' does.").format(name)

    def _revoked_fields(self, validity: Validity) -> list[Field]:
        titles = {
            "signer": self.tr("Auditor's key is revoked"),
            "trainer": self.tr("Trainer's key is revoked"),
            "client": self.tr("Client's key is revoked"),
            "party": self.tr("Key of a party is revoked"),
        }
        return [Field(titles[role], words.revocation(each)) for role, each in validity.revoked]

    def _steps(self, verdict: Verdict | Adjudication) -> str:
        if isinstance(verdict, Verdict):
            return words.judged_steps(verdict)
        return words.disputed_step(verdict.step, verdict.steps_recorded, verdict.agreed_step)

    def _run_facts(self, said: RunFacts) -> list[Field]:
        """What the auditor counted of the run."""
        fields = [
            Field(self.tr("Operations"), text.count(said.total_operations)),
            Field(self.tr("Parameters"), text.count(said.parameters)),
        ]
        read = self.tr("{0} rows read, {1} of them different")
        fields += [
            Field(
                self.tr("Data: {0}").format(use.name), read.format(*map(text.count, (use.rows_read, use.distinct_rows)))
            )
            for use in said.data[:MOST_ARRAYS]
        ]
        if said.tokens:
            fields.append(Field(self.tr("Tokens looked up"), text.count(said.tokens)))
        if said.seconds is not None:
            time = text.duration(said.seconds)
            fields.append(Field(self.tr("Duration"), self.tr("{0}, as the trainer says").format(time)))
        return fields

    def _make_primary(self, button: QPushButton) -> None:
        for one in (self.choose_key, self.choose_bundle, self.close_button):
            restyle(one, "primary", one is button)

    def _ask_key(self) -> None:
        kinds = self.tr("Public keys (*.pub.pem *.pem)")
        self._ask(self.key_chosen, self.tr("The auditor's public key"), kinds)

    def _ask_statement(self) -> None:
        self._ask(self.statement_chosen, self.tr("Add a statement"), self.tr("Statements (*.json);;All files (*)"))

    def _ask_bundle(self) -> None:
        kinds = self.tr("Counterfoil bundles (*.cfoil)")
        self._ask(self.bundle_chosen, self.tr("Compare with a bundle"), kinds)

    def _ask(self, chosen: SignalInstance, title: str, kinds: str) -> None:
        if path := existing_file(self, title, self.path.parent, kinds, here=True):
            chosen.emit(path)


def _not_said(verdict: Verdict | Adjudication) -> str:
    return limits.not_said(verdict.outcome, verdict.sample if isinstance(verdict, Verdict) else None)


def _look(verdict: Verdict | Adjudication, trust: Trust) -> Look:
    if isinstance(verdict, Adjudication):
        return words.adjudication(verdict.outcome)
    # A verdict on a sample says so in its headline; it must not look like one on the whole run.
    return words.conclusion(verdict, trust)
