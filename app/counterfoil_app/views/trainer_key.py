"""The trainer's key: whose the auditor believes it to be, and whether it changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from counterfoil import BundleSummary, KnownKey
from counterfoil.trust.keyfile import MAX_NAME
from counterfoil_app.engine.worker import Failure, attempt
from counterfoil_app.looks import words
from counterfoil_app.looks.theme import Tone
from counterfoil_app.model.key_book import KeyBook, Meeting, Standing
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.layouts import button, line_edit
from counterfoil_app.views.parts import Field, FieldGrid, label, tell


class TrainerKeyPanel(QWidget):
    """Shows the key of the open run, and lets the auditor name or accept it.

    Args:
        session: The session.
        book: The known keys.
    """

    failed = Signal(Failure)

    def __init__(self, session: Session, book: KeyBook, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._book = book
        self._summary: BundleSummary | None = None
        self._key = self._public = self._order = ""
        self._known = self._may_name = False
        self.sentence = label("", "notice")
        self._fields = FieldGrid()
        hint = self.tr("Name this key, for instance after its owner")
        self.name = line_edit(name=self.tr("Name of this key"), hint=hint, most=MAX_NAME)
        self.name.returnPressed.connect(self._keep_name)
        self.name.textChanged.connect(self._refresh_button)
        self.keep = button(self.tr("Keep name"), self._keep_name)
        self.accept = button(self.tr("Accept this key for the order"), self._accept)
        self._naming = QWidget()
        layouts.row((self.name, 1), self.keep, inside=self._naming, margins=layouts.NONE)
        shown = (self.sentence, self._fields, self._naming, self.accept)
        layouts.column(*shown, inside=self, margins=layouts.NONE, spacing=6)
        session.bundle_changed.connect(partial(session.drawing.soon, self._meet))
        book.changed.connect(self._again)
        self._meet()

    def _meet(self) -> None:
        """Compare the key of the opened run with the known ones, and note it on its first use."""
        summary = self._session.summary
        if summary is self._summary and summary is not None:
            return  # a replay of the same bundle: whether the key was new has been said
        self._summary = summary
        run = summary.run if summary is not None else None
        self._key = self._session.trainer_key
        self._public = run.trainer_public if run is not None and self._key else ""
        self._order = run.order_digest.hex if run is not None else ""
        self._fields.show_fields([Field(self.tr("Key"), self._key, exact=True)] if self._key else [])
        self.setVisible(run is not None)
        if not self._key:
            tell(self.sentence, self.tr("The run carries no valid signature, so no key can be named."), Tone.WARN)
            self._offer(naming=False, accepting=False)
        elif self._book.problem:
            tell(self.sentence, self._book.problem, Tone.WARN)
            self._offer(naming=False, accepting=False)
        else:
            meet = partial(self._book.meet, self._public, self._order, self._source(), date.today().isoformat())
            attempt(partial(self._show_meeting, meet), self.failed)

    def _source(self) -> str:
        return self.tr("the run {0}").format(self._session.path or "")

    def _again(self) -> None:
        """Show what the book says now; a key that was only met stays as it was shown."""
        if self._key and not self._book.problem:
            meeting = self._book.look_up(self._key, self._order)
            if meeting.standing is not Standing.MET or self._known or self._book.revoked.of(self._key) is not None:
                self._show_meeting(lambda: meeting)

    def _show_meeting(self, ask: Callable[[], Meeting]) -> None:
        meeting = ask()
        key = meeting.key
        self._known = meeting.standing is not Standing.NEW
        changed = meeting.standing is Standing.CHANGED
        tell(self.sentence, *self._account(meeting))
        if not self.name.hasFocus():
            self.name.setText(key.name if key is not None else "")
        self._offer(naming=not changed and meeting.standing is not Standing.NO_TRAINER, accepting=changed)
        self._refresh_button()

    def _who(self, key: KnownKey) -> str:
        return key.name or key.key_id[:12]

    def _account(self, meeting: Meeting) -> tuple[str, Tone]:
        """What is known of the key, in a sentence and its tone."""
        key = meeting.key
        revoked, run = self._book.revoked.of(self._key), self._session.run
        if revoked is not None:
            said = words.revocation(revoked)
            if run is None or self._book.revoked.covers(self._key, run.signed_at):
                return self.tr("The key that signed this run does not count. {0}").format(said), Tone.BAD
            before = self.tr("The run was signed before, as its trainer says; nothing else shows when. {0}")
            return before.format(said), Tone.WARN
        if meeting.standing is Standing.CHANGED:
            return self.tr(
                "The key changed: until now, runs of this order were signed by {0}. Ask the trainer, by another "
                "way than the one the file came, whether this key is the right one."
            ).format(", ".join(map(self._who, meeting.before))), Tone.BAD
        if key is None:
            return self.tr(
                "You meet this key for the first time. It is remembered from now on; compare it with the trainer's "
                "before you rely on it, and give it a name."
            ), Tone.INFO
        if meeting.standing is Standing.NO_TRAINER:
            stranger = self.tr("This key is in your list as that of {0}, {1}: a run should not be signed with it.")
            return stranger.format(key.name, words.role(key.role)), Tone.BAD
        if meeting.standing is Standing.KNOWN:
            return self.tr("Signed by {0}, known since {1}.").format(key.name, key.since), Tone.OK
        return self.tr("Signed by a key without a name, first met on {0}.").format(key.since), Tone.INFO

    def _offer(self, *, naming: bool, accepting: bool) -> None:
        """Each in its place, whatever the key is: what can be done is said by what is enabled."""
        self.name.setEnabled(naming)
        self._may_name = naming
        self.accept.setEnabled(accepting)
        self._refresh_button()

    def _refresh_button(self) -> None:
        known = self._book.find(self._key)
        self.keep.setEnabled(self._may_name and self.name.text().strip() != (known.name if known is not None else ""))

    def _keep_name(self) -> None:
        if self.keep.isEnabled() and self._key:
            self.name.clearFocus()
            self._change(partial(self._book.name, self._key, self.name.text()))

    def _accept(self) -> None:
        today = date.today().isoformat()
        self._change(partial(self._book.accept, self._public, self._order, self._source(), today))

    def _change(self, change: Callable[[], None]) -> None:
        attempt(change, self.failed)
        attempt(partial(self._show_meeting, partial(self._book.look_up, self._key, self._order)), self.failed)
