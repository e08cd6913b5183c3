"""The folder in which a reader keeps whom to trust: window and command line both read it, and one at a time writes it.

``keys.json`` holds the keys and the number of the newest list of each who signs lists of revoked keys; ``revoked/`` the
lists as they were signed; ``statements/`` withdrawals and replies. Nothing of it is taken from elsewhere: a folder that
comes with a run would let whoever made the run say who is to be believed. What is damaged, or could be somebody else's
writing, ends the command, since "no key is revoked" would be the worst reading of it. docs/keys.md.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import platformdirs

from counterfoil.base.joberrors import TrustError
from counterfoil.base.wholefiles import claim_file, write_whole
from counterfoil.signing.kinds import RevocationList
from counterfoil.trust.keyfile import MAX_BYTES, KeyFile, ListNote, decode_keys, encode_keys
from counterfoil.trust.store import TrustStore
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, FileWriteError, SignatureError
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.kinds import REVOCATIONS, WITHDRAWAL

KEYS, REVOKED, LATER = "keys.json", "revoked", "statements"
ENDING = ".json"
MAX_STATEMENTS = 10_000
PATIENCE_SECONDS = 10.0
"""How long is waited for another process that writes."""


def trust_home() -> Path:
    """Return the folder of this user; it need not exist."""
    return platformdirs.user_config_path("counterfoil", appauthor=False) / "trust"


class TrustFolder:
    """A folder with what a reader trusts.

    Args:
        path: The folder; it need not exist, and is made when something is kept in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def keys(self) -> KeyFile:
        """Read the file of keys; raises TrustError where it is damaged, or not this user's alone to write."""
        data = self._read(self.path / KEYS, MAX_BYTES)
        try:
            return KeyFile() if data is None else decode_keys(data)
        except (ValueError, RecursionError) as error:
            raise TrustError(
                say("The list of keys {0} is damaged, so no key is known.", self.path / KEYS),
                remedy=say("Repair the file, or move it away to begin a new one."),
                detail=f"{type(error).__name__}: {error}",
            ) from error

    def store(self) -> TrustStore:
        """Read all of it, and check each signature again.

        Raises:
            TrustError: Something of it is damaged, gone, older than it was, or not this user's alone to write.
        """
        from counterfoil_core.signing.envelope import payload_of

        held = self.keys()
        lists = tuple(self._list(note) for note in held.lists)
        later = tuple(self._checked_later())
        if not (held.keys or lists or later):
            return TrustStore()
        told = {
            "keys": Digest.of(encode_keys(held.keys, held.lists)).hex,
            "lists": [Digest.of(payload_of(envelope)).hex for envelope, _ in lists],
            "statements": [Digest.of(payload_of(envelope)).hex for _, envelope in later],
        }
        return TrustStore(held.keys, tuple(said for _, said in lists), later, Digest.of(canonical.encode(told)))

    def change(self, how: Callable[[KeyFile], KeyFile]) -> KeyFile:
        """Change the file of keys, while nobody else does; returns what it holds then.

        Args:
            how: Returns what it is to hold, of what it holds; may raise, and nothing is changed.

        Raises:
            TrustError: It is damaged; it is left as it is.
            FileWriteError: It cannot be written.
        """
        with self._writing():
            before = self.keys()
            after = how(before)
            if after != before:
                self._write(self.path / KEYS, encode_keys(after.keys, after.lists), say("the list of keys"))
            return after

    def take_list(self, envelope: bytes, public: str) -> RevocationList:
        """Keep a list of revoked keys in the place of the one before, and return what it says.

        Args:
            envelope: The list; may be junk.
            public: The key that must have signed it, as the reader says, in hexadecimal digits.

        Raises:
            SignatureError: It does not hold for this key.
            DataError: It is older than the list that is kept, or takes back what that says of a key.
            TrustError, FileWriteError: It cannot be kept.
        """
        said = _opened_list(envelope, public)
        self.keep_list(envelope, said, public)
        return said

    def keep_list(self, envelope: bytes, said: RevocationList, public: str) -> None:
        """Keep a list whose signature was checked with a key that the reader named, as :meth:`take_list` does."""

        def noted(held: KeyFile) -> KeyFile:
            before = next((note for note in held.lists if note.public == public), None)
            if before is not None and said.number < before.number:
                raise DataError(
                    say("This is list {0} of revoked keys, and list {1} is known.", said.number, before.number),
                    remedy=say("Ask for the newest list: an old one knows less."),
                )
            # First the list: a stop between the two leaves a newer one than is noted, which counts.
            self._write(self.list_path(said.key_id), envelope, say("the list of revoked keys"))
            notes = (*(note for note in held.lists if note.public != public), ListNote(public, said.number))
            return KeyFile(held.format, held.keys, notes)

        self.change(noted)

    def drop_list(self, key_id: str) -> None:
        """Forget the list of somebody; raises FileWriteError."""
        self.change(
            lambda held: KeyFile(held.format, held.keys, tuple(note for note in held.lists if note.key_id != key_id))
        )
        with suppress(OSError):
            self.list_path(key_id).unlink()

    def take_later(self, envelope: bytes) -> str:
        """Keep a withdrawal or a reply, and return the name of its file.

        Raises:
            SignatureError: It is neither, or does not hold by the key that it names.
            FileWriteError: It cannot be written.
        """
        _check_later(envelope)
        return self.keep_later(envelope)

    def keep_later(self, envelope: bytes) -> str:
        """Keep one that was checked, as :meth:`take_later` does."""
        from counterfoil_core.signing.envelope import payload_of

        path = self.path / LATER / f"{Digest.of(payload_of(envelope)).hex}{ENDING}"
        if not path.exists():
            with self._writing():
                self._write(path, envelope, say("a statement"))
        return path.name

    def _later_files(self) -> tuple[Path, ...]:
        folder = self.path / LATER
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING) and not name.startswith("."))
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unreadable(folder, error) from error
        if len(names) > MAX_STATEMENTS:
            raise TrustError(say("The folder {0} holds more than {1} statements.", folder, MAX_STATEMENTS))
        return tuple(folder / name for name in names)

    def later(self) -> tuple[tuple[str, bytes], ...]:
        """Read the withdrawals and replies, name and envelope of each; nothing of them is checked here."""
        read = ((path.name, self._read(path, WITHDRAWAL.most)) for path in self._later_files())
        return tuple((name, envelope) for name, envelope in read if envelope is not None)

    def _checked_later(self) -> Iterator[tuple[str, bytes]]:
        for name, envelope in self.later():
            try:
                _check_later(envelope)
            except SignatureError as error:
                raise TrustError(
                    say("The statement {0} is damaged: {1}", self.path / LATER / name, error.sentence),
                    remedy=say("Take it in again, or remove it if you know what it said."),
                ) from error
            yield name, envelope

    def list_path(self, key_id: str) -> Path:
        """Return where the list of revoked keys lies that the key of that id signed."""
        return self.path / REVOKED / f"{key_id}{ENDING}"

    def _list(self, note: ListNote) -> tuple[bytes, RevocationList]:
        path = self.list_path(note.key_id)
        envelope = self._read(path, REVOCATIONS.most)
        try:
            if envelope is None:
                raise SignatureError(say("It is gone."))
            said = _opened_list(envelope, note.public)
            if said.number < note.number:
                raise SignatureError(say("It is list {0}, and list {1} was taken in.", said.number, note.number))
        except CounterfoilError as error:
            raise TrustError(
                say("The list of revoked keys {0} is damaged or was exchanged: {1}", path, error.sentence),
                remedy=say("Take in the newest list again."),
            ) from error
        return envelope, said

    def _read(self, path: Path, most: int) -> bytes | None:
        """Read a file that only this user can have written; None where there is none."""
        try:
            with open_plain(path) as file:
                found = os.fstat(file.fileno())
                data = file.read(most + 1) or b""
            self._check_own(path, found)
            self._check_own(path.parent, path.parent.stat())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(path, error) from error
        if len(data) > most:
            raise TrustError(say("{0} is larger than {1} bytes.", path, most))
        return data

    def _check_own(self, path: Path, found: os.stat_result) -> None:
        if os.name == "posix" and (found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            raise TrustError(
                say("{0} could have been written by somebody else, so nothing that it says can be relied on.", path),
                remedy=say("Look at what it holds. Then make it yours alone: chown, and chmod go-w."),
            )

    def _unreadable(self, path: Path, error: OSError) -> TrustError:
        return TrustError(
            say("{0} cannot be read: {1}.", path, error.strerror or str(error)),
            remedy=say("Until then nothing is known of keys: which ones you know, and which ones were revoked."),
        )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the one who writes; raises FileWriteError where another one does not end."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise FileWriteError(
                say("The folder {0} cannot be made: {1}.", self.path, error.strerror or str(error)),
                remedy=say("Make room there; until then no key is remembered."),
            ) from error
        until = time.monotonic() + PATIENCE_SECONDS
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(claim_file(self.path / KEYS))
                except FileWriteError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.05)
                else:
                    break
            yield

    def _write(self, path: Path, data: bytes, what: str) -> None:
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise FileWriteError(
                say("The folder {0} cannot be made: {1}.", path.parent, error.strerror or str(error))
            ) from error
        write_whole(path, data, what=what, mode=0o600)


# The window, which checks no signature, starts without what does.


def _opened_list(envelope: bytes, public: str) -> RevocationList:
    """Check a list with a key, in hexadecimal digits; raises SignatureError."""
    from counterfoil_core.signing.keys import PublicKey
    from counterfoil_core.signing.publickeys import pem_of
    from counterfoil_core.signing.statements import open_said

    return open_said(RevocationList, envelope, PublicKey.from_pem(pem_of(public).encode()))


def _check_later(envelope: bytes) -> None:
    """Check a withdrawal or a reply by the key that it names; raises SignatureError."""
    from counterfoil.trust.afterwards import open_later

    open_later(envelope)


def read_store(place: Path | None) -> TrustStore:
    """Read what a reader trusts.

    Args:
        place: A folder; ``none`` for nothing; None for that of this user, where there is one.

    Raises:
        TrustError: Something of it is damaged, or there is no such folder.
    """
    if place is None:
        return TrustFolder(trust_home()).store()
    if str(place) == "none":
        return TrustStore()
    if not place.is_dir():
        raise TrustError(
            say("There is no folder {0} with keys that are trusted.", place),
            remedy=say("'counterfoil trust add' makes one; --trust none reads without."),
        )
    return TrustFolder(place).store()
