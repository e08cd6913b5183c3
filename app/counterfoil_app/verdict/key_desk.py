"""Takes in public keys: a key that is not known is proposed to the user, and trusted only by the user's word."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from counterfoil import CounterfoilError, KnownKey, ListNote, Role, key_id_of, pem_of, write_whole
from counterfoil.base.wholefiles import check_apart
from counterfoil_app.engine.port import Engine, ReadRevocations
from counterfoil_app.engine.worker import Failure, JobResult, attempt
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.views.dialogs import ask_to_take_list
from counterfoil_app.views.keys import KeyProposalDialog, KeysDialog
from counterfoil_app.views.layouts import existing_file, new_file
from counterfoil_core.base.sentence import say


@dataclass(frozen=True)
class Proposal:
    """A key that arrived."""

    public: str  #: The key.
    source: str  #: Where it came from.
    role: Role  #: What it is proposed for.
    parent: QWidget  #: The window on which it is asked about.


class KeyDesk(QObject):
    """Asks about keys, one after the other.

    Args:
        session: Reads key files in its worker, and knows which key signed the open run.
        book: The known keys.
        unlocked: The user's own keys that are unlocked.
        settings: Know the folder where a dialog starts.
        theme: The theme of the application.
        window: The window that the dialogs belong to.
    """

    placed = Signal(str)
    """What was done with a key, as a sentence."""
    failed = Signal(Failure)

    def __init__(
        self,
        session: Session,
        book: KeyBook,
        unlocked: UnlockedKeys,
        settings: Settings,
        theme: Theme,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session = session
        self.book = book
        self.unlocked = unlocked
        self._settings = settings
        self._theme = theme
        self._window = window
        self._waiting: deque[Proposal] = deque()
        self._asked: KeyProposalDialog | None = None
        self._check_list()

    def read(self, path: Path, use: Callable[[str], None]) -> None:
        """Let the worker read a key file, and hand the key over; :attr:`failed` tells of a file that holds none."""
        self._session.ask(lambda engine: engine.read_key(path), partial(self._have_read, use))

    def offer(self, path: Path, role: Role | None = None, parent: QWidget | None = None) -> None:
        """Propose the key in a file, unless it is known.

        Args:
            path: The file.
            role: What it is for; None for the trainer's if it signed the open run, for the client's if it signed the
                order of that, else for an auditor's.
            parent: The window on which the user is asked.
        """
        self.read(path, lambda public: self.propose(public, str(path), role, parent))

    def propose(self, public: str, source: str, role: Role | None = None, parent: QWidget | None = None) -> None:
        """Propose a key; as :meth:`offer`."""
        known = self.book.find(key_id_of(public))
        if known is not None and known.name:
            self.placed.emit(
                self.tr("The key {0} is known: {1}, {2}.").format(known.key_id[:12], known.name, words.role(known.role))
            )
            return
        if role is None:
            role = self._proposed_role(public)
        self._waiting.append(Proposal(public, source, role, parent or self._window))
        self._ask()

    def note_mine(self, public: str, source: str, name: str) -> None:
        """Know a key that signed here as the user's own."""
        known = self.book.find(key_id_of(public))
        if known is None or (not known.name and known.role is Role.TRAINER):
            taken = {key.name for key in self.book.keys}
            names = (name, f"{name} {key_id_of(public)[:8]}")
            with_name = next((each for each in names if each not in taken), names[-1])
            today = date.today().isoformat()
            attempt(partial(self.book.trust, public, Role.MINE, with_name, source, today), self.failed)

    def show(self) -> KeysDialog:
        """Show the list of keys."""
        dialog = KeysDialog(self.book, self._theme, self._window)
        dialog.add_wanted.connect(partial(self._choose, dialog))
        dialog.save_wanted.connect(partial(self._save, dialog))
        dialog.list_wanted.connect(partial(self._choose_list, dialog))
        dialog.failed.connect(self.failed)
        dialog.open()
        return dialog

    def take_list(self, path: Path, key: Path, parent: QWidget | None = None) -> None:
        """Take in a list of revoked keys once the user has said whose it is.

        Args:
            path: The list.
            key: The public key file of whoever answers for the list, as the user says.
            parent: The window on which the user is asked.
        """

        def check(public: str) -> None:
            self._session.ask(
                lambda engine: engine.read_revocations(path, public),
                partial(self._have_list, public, parent or self._window),
            )

        self.read(key, check)

    def _have_list(self, public: str, parent: QWidget, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
            return
        read = result.value
        assert isinstance(read, ReadRevocations)
        revoked = self.book.revoked
        take = partial(attempt, partial(revoked.take, read, public), self.failed)
        ask_to_take_list(parent, read.found, take)

    def _check_list(self) -> None:
        """Check the kept lists of revoked keys again: one counts once its signature was found to hold."""
        revoked = self.book.revoked
        try:
            notes = revoked.notes()
        except CounterfoilError as error:
            revoked.fail(failure_text(Failure.of(error)))
            return
        for note in notes:
            question = partial(_read_list, path=revoked.path_of(note), public=note.public)
            self._session.ask(question, partial(self._have_kept_list, note))

    def _have_kept_list(self, note: ListNote, result: JobResult) -> None:
        failure = result.failure
        if failure is None:
            assert isinstance(result.value, ReadRevocations)
            try:
                self.book.revoked.load(result.value, note)
            except CounterfoilError as error:
                failure = Failure.of(error)
        if failure is not None:
            self.book.revoked.fail(failure_text(failure))
            self.failed.emit(failure)

    def _have_read(self, use: Callable[[str], None], result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        else:
            use(str(result.value))

    def _proposed_role(self, public: str) -> Role:
        """What a key is most likely for, by what of the open run it signed."""
        if self._signed_the_run(public):
            return Role.TRAINER
        return Role.CLIENT if key_id_of(public) == self._session.client_key else Role.AUDITOR

    def _signed_the_run(self, public: str) -> bool:
        return bool(self._session.trainer_key) and key_id_of(public) == self._session.trainer_key

    def _ask(self) -> None:
        if self._asked is not None or not self._waiting:
            return
        asked = self._waiting.popleft()
        own = self._signed_the_run(asked.public)
        what = (asked.public, asked.source, asked.role)
        dialog = self._asked = KeyProposalDialog(*what, signed_the_run=own, parent=asked.parent)
        dialog.trusted.connect(partial(self._trust, dialog, asked))
        dialog.finished.connect(self._answered)
        dialog.open()

    def _trust(self, dialog: KeyProposalDialog, asked: Proposal, role: Role, name: str) -> None:
        try:
            self.book.trust(asked.public, role, name, asked.source, date.today().isoformat())
        except CounterfoilError as error:
            dialog.show_problem(failure_text(Failure.of(error)))
            return
        dialog.accept()

    def _answered(self) -> None:
        self._asked = None
        self._ask()

    def _choose(self, dialog: QWidget) -> None:
        title, kinds = self.tr("Add a public key"), self.tr("Public keys (*.pub.pem *.pem)")
        if path := existing_file(dialog, title, self._settings.folder, kinds, here=True):
            self.offer(path, parent=dialog)

    def _choose_list(self, dialog: QWidget) -> None:
        title, kinds = self.tr("The list of revoked keys"), self.tr("Lists of keys (*.json)")
        if path := existing_file(dialog, title, self._settings.folder, kinds, here=True):
            self.ask_whose(path, dialog)

    def ask_whose(self, path: Path, parent: QWidget | None = None) -> None:
        """Ask for the public key of whoever signed a list of revoked keys, and take the list in."""
        over = parent or self._window
        title, kinds = self.tr("The public key of whoever signed it"), self.tr("Public keys (*.pub.pem *.pem)")
        if key := existing_file(over, title, path.parent, kinds, here=True):
            self.take_list(path, key, over)

    def _save(self, dialog: QWidget, key: KnownKey) -> None:
        proposal = self._settings.folder / f"{key.key_id[:12]}.pub.pem"
        title, kinds = self.tr("Save the public key"), self.tr("Public keys (*.pub.pem *.pem)")
        if path := new_file(dialog, title, proposal, kinds, here=True):
            content = pem_of(key.public).encode()
            attempt(partial(_write_public, path, content, self._settings.key_file), self.failed)


def _read_list(engine: Engine, path: Path, public: str) -> ReadRevocations:
    return engine.read_revocations(path, public)


def _write_public(path: Path, content: bytes, private_key: Path | None) -> None:
    """Write a public key, but not over the private key that verdicts are signed with."""
    check_apart([path], [] if private_key is None else [private_key])
    write_whole(path, content, what=say("the public key"), replace=True)
