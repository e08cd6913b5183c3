"""Shows what an auditor signed: whether its signature holds, with which key, for which bundle, and what it says."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from counterfoil import Adjudication, Afterwards, TrainerTrust, Trust, Verdict
from counterfoil_app.engine.port import NOTHING_LATER, VerdictReading
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import failure_text, translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.verdict.later import SaidLater
from counterfoil_app.views.dropped import DropDialog
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import Field, FieldGrid, Page, digest_field, label, restyle
from counterfoil_app.views.trust_bar import TrustBar

ICON_PIXELS = 36
SIZE = (760, 620)


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

    def __init__(self, path: Path, book: KeyBook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Verdict: {0}").format(name_of(path)))
        fit_to_screen(self, QSize(*SIZE))
        self.path = path
        self.checked = False
        self.bundle: Path | None = None
        self.key_ids: tuple[str, ...] = ()
        self.other_key: Path | None = None
        self.statements: list[Path] = []
        self.withdrawn = False
        self._book = book
        self._theme = theme
        self.icon = QLabel()
        self.headline = label("", "title")
        self.sentence = label()
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.icon)
        words_column = QVBoxLayout()
        words_column.addWidget(self.headline)
        words_column.addWidget(self.sentence)
        top.addLayout(words_column, 1)
        self.trust = TrustBar(theme)
        top.addWidget(self.trust, 0, Qt.AlignmentFlag.AlignTop)
        self.about_bundle = label("", "notice")
        self.banner = label("", "notice")
        restyle(self.banner, "tone", Tone.BAD.value)
        self.banner.hide()
        self.page = Page(self.tr("What the verdict says"))
        self.later = SaidLater()
        self._facts = FieldGrid()
        self.page.column.addWidget(self.later)
        self.page.column.addWidget(self._facts)
        self.page.column.addStretch(1)
        self.choose_key = QPushButton(self.tr("Auditor's public &key\u2026"))
        self.choose_bundle = QPushButton(self.tr("Compare with a &bundle\u2026"))
        self.choose_statement = QPushButton(self.tr("Add a &statement\u2026"))
        self.choose_statement.setToolTip(self.tr("A withdrawal by the auditor, or a reply of the trainer's"))
        self.close_button = QPushButton(self.tr("&Close"))
        buttons = QHBoxLayout()
        buttons.addWidget(self.choose_key)
        buttons.addWidget(self.choose_bundle)
        buttons.addWidget(self.choose_statement)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addLayout(top)
        column.addWidget(self.banner)
        column.addWidget(self.about_bundle)
        column.addWidget(self.page, 1)
        column.addStretch(0)
        column.addLayout(buttons)
        self.choose_key.clicked.connect(self._ask_key)
        self.choose_bundle.clicked.connect(self._ask_bundle)
        self.choose_statement.clicked.connect(self._ask_statement)
        self.close_button.clicked.connect(self.close)
        self._show(Look(self.tr("Being checked"), "waiting", Tone.INFO), self.tr("Reading {0}").format(name_of(path)))
        self.about_bundle.hide()
        self._enable(False)

    def show_reading(self, reading: VerdictReading) -> None:
        """Show what the file turned out to be."""
        verdict = reading.verdict
        self.key_ids = reading.key_ids
        self.checked = verdict is not None
        self._show_later(reading.later)
        if verdict is None:
            self._show_unknown_key(reading.key_ids)
            return
        trust = self._trust(verdict)
        # What a verdict rested on is no comfort once it is taken back.
        self.trust.show_trust(None if self.withdrawn else trust)
        look = _look(verdict, trust)
        if trust.trainer is TrainerTrust.AUDITOR:
            self._show(
                Look(self.tr("The trainer signed this about its own run"), "failed", Tone.BAD),
                self.tr(
                    "The key that signed this is the key that signed the run. A trainer cannot audit itself: what it "
                    "says of its own run shows nothing."
                ),
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
            self._show_withdrawn(look, reading.later)
        else:
            self._show(
                Look(self.tr("The signature holds: {0}").format(look.word), look.icon, look.tone),
                " ".join(
                    filter(
                        None,
                        (
                            translated(verdict.reason),
                            translated(trust.reason),
                            self.tr("The key is that of {0}.").format(self._owner(verdict.key_id)),
                        ),
                    )
                ),
            )
        self._facts.show_fields(self._fields(verdict))
        self.page.show()
        self._enable(True)
        compare = reading.bundle_matches is None and not self.withdrawn
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
        return self._book.seen(verdict.trust, verdict.trainer_key, digest, verdict.client_key)

    def _owner(self, key_id: str) -> str:
        known = self._book.find(key_id)
        return self.tr("{0}, {1}").format(known.name, words.role(known.role)) if known is not None else key_id[:12]

    def show_failure(self, failure: Failure) -> None:
        """Say why the file is no verdict that counts."""
        self.trust.show_trust(None)
        self._show(
            Look(self.tr("This verdict does not count"), "failed", Tone.BAD),
            failure_text(failure),
        )
        self._show_later(NOTHING_LATER)
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
        for button in (self.choose_bundle, self.choose_statement):
            button.setEnabled(checked)

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

    def _show(self, look: Look, sentence: str) -> None:
        # What does not count must not look like a verdict in which a line is red.
        bad = Tone.BAD.value if look.tone is Tone.BAD and look.icon == "failed" else ""
        self.page.colour(self, bad)
        colour = self._theme.tokens.tone(look.tone)
        self.icon.setPixmap(icons.pixmap(look.icon, colour, scaled(ICON_PIXELS), self.devicePixelRatioF()))
        self.icon.setAccessibleName(look.word)
        self.headline.setText(look.word)
        self.sentence.setText(sentence)

    def _show_bundle(self, verdict: Verdict | Adjudication, matches: bool | None) -> None:
        name = name_of(self.bundle)
        self.about_bundle.show()
        if matches is None:
            self.about_bundle.setText(
                self.tr("It speaks of a file called {0}. Compare it with your bundle: a name proves nothing.").format(
                    verdict.bundle_name
                )
            )
            restyle(self.about_bundle, "tone", Tone.INFO.value)
        elif matches:
            self.about_bundle.setText(self.tr("It speaks of this very file: {0}.").format(name))
            restyle(self.about_bundle, "tone", Tone.OK.value)
        else:
            self.about_bundle.setText(
                self.tr("It speaks of another file: the SHA-256 of {0} is not the one in the verdict.").format(name)
            )
            restyle(self.about_bundle, "tone", Tone.BAD.value)

    def _fields(self, verdict: Verdict | Adjudication) -> list[Field]:
        unread = self.tr("the audit could not read it")
        source = {
            "client": self.tr("compared with the client's own file"),
            "signature": self.tr("signed with the client's key, which was given"),
            "bundle": self.tr("taken from the bundle; not compared with the client's own file"),
        }[verdict.order_source]
        fields = [
            Field(self.tr("Job"), verdict.title or unread),
            Field(self.tr("Signed at"), self.tr("{0}, as the auditor says").format(text.moment(verdict.signed_at))),
            Field(self.tr("Auditor's key"), verdict.key_id, exact=True),
            Field(self.tr("Bundle") if isinstance(verdict, Verdict) else self.tr("Capsule"), verdict.bundle_name),
            digest_field(self.tr("SHA-256"), verdict.bundle_digest, unread),
            digest_field(self.tr("Run root"), verdict.run_root, unread),
            Field(self.tr("Order"), source),
            digest_field(self.tr("Order digest"), verdict.order_digest, unread),
            *self._consent_fields(verdict),
            Field(self.tr("Steps"), self._steps(verdict)),
        ]
        if verdict.disputed_step is not None:
            fields.append(Field(self.tr("Disputed step"), text.count(verdict.disputed_step)))
        for check in verdict.checks:
            state = words.check(check).word
            fields.append(Field(words.check_title(check.number), f"{state}. {translated(check.detail)}".strip()))
        return fields

    def _consent_fields(self, verdict: Verdict | Adjudication) -> list[Field]:
        """Who stands by the order, as the auditor found it; nothing where the order could not be read."""
        key_id = verdict.client_key
        if verdict.run_order is None:
            return []
        given = bool(key_id) and verdict.given_client_key == key_id
        signature = words.order_signature(key_id, self._book.find(key_id), given=given)
        return [
            Field(self.tr("Client's signature"), signature),
            *([Field(self.tr("Client's key"), key_id, exact=True)] if key_id else []),
            Field(self.tr("Trainer's acceptance"), words.order_acceptance(verdict.accepted)),
        ]

    def _steps(self, verdict: Verdict | Adjudication) -> str:
        if isinstance(verdict, Verdict):
            return self.tr("{0} ordered, {1} judged").format(
                text.count(verdict.steps_ordered), text.count(verdict.steps_replayed)
            )
        return self.tr("step {0} of {1}, replayed from the state after step {2}").format(
            text.count(verdict.step), text.count(verdict.steps_ordered), text.count(verdict.agreed_step)
        )

    def _make_primary(self, button: QPushButton) -> None:
        for one in (self.choose_key, self.choose_bundle, self.close_button):
            restyle(one, "primary", one is button)

    def _ask_key(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("The auditor's public key"), str(self.path.parent), self.tr("Public keys (*.pub.pem *.pem)")
        )
        if name:
            self.key_chosen.emit(Path(name))

    def _ask_statement(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("Add a statement"), str(self.path.parent), self.tr("Statements (*.json);;All files (*)")
        )
        if name:
            self.statement_chosen.emit(Path(name))

    def _ask_bundle(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, self.tr("Compare with a bundle"), str(self.path.parent), self.tr("Counterfoil bundles (*.cfoil)")
        )
        if name:
            self.bundle_chosen.emit(Path(name))


def _look(verdict: Verdict | Adjudication, trust: Trust) -> Look:
    if isinstance(verdict, Adjudication):
        return words.adjudication(verdict.outcome)
    # A verdict on a sample says so in its headline; it must not look like one on the whole run.
    return words.outcome(verdict.outcome, verdict.sample, trust)
