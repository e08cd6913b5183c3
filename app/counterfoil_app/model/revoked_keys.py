"""The list of revoked keys that the user took in: kept as it was signed, and checked again each time it is loaded.

The window checks no signature: the engine does, when the list is taken in and at every start. What is kept is the
signed file itself beside a note of the key that the user named, so that whoever changes one of them is found out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from PySide6.QtCore import QObject, Signal

from counterfoil import CounterfoilError, Revocation, RevocationList, key_id_of, write_whole
from counterfoil_app.engine.port import ReadRevocations
from counterfoil_app.engine.strangers import plain
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import FORM

LIST_NAME = "revoked-keys.json"
NOTE_NAME = "revoked-keys-note.json"
FORMAT_VERSION = 1
MAX_NOTE = 4096


class _Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which key signs the list, as the user said, and the number of the list that was taken in last."""

    format: int
    public: Annotated[str, Meta(pattern=rf"^({FORM})$")]
    number: Annotated[int, Meta(ge=1)]


class RevokedKeys(QObject):
    """The revoked keys; none until the kept list was checked.

    Args:
        folder: Where list and note are kept.

    Attributes:
        path: The kept list.
        found: What it says, once its signature was found to hold; its texts are plain.
        problem: Why the kept list does not count, as a sentence; empty where it does or none is kept.
    """

    changed = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = folder / LIST_NAME
        self._note_path = folder / NOTE_NAME
        self.found: RevocationList | None = None
        self.problem = ""

    def of(self, key_id: str) -> Revocation | None:
        """What the list says of a key; None where it says nothing."""
        return None if self.found is None else self.found.of(key_id)

    def covers(self, key_id: str, signed_at: str) -> bool:
        """Whether what a key signed no longer counts.

        Args:
            key_id: Its fingerprint.
            signed_at: When it was signed, ISO 8601 in UTC, as the signer says; or at the latest when.
        """
        found = self.of(key_id)
        try:
            return found is not None and found.covers(signed_at)
        except ValueError:  # no time at all: then nothing says that it was signed before
            return True

    def signer(self) -> str | None:
        """The public key that the kept list must be signed with; None where no list is kept.

        Raises:
            CounterfoilError: What is kept is damaged, or half of it is gone.
        """
        note = self._note()
        if note is None and not self.path.exists():
            return None
        if note is None or not self.path.exists():
            raise _damaged(self._note_path)
        return note.public

    def load(self, read: ReadRevocations) -> None:
        """Know what the kept list says, after its signature was checked.

        Raises:
            CounterfoilError: It is an older list than the one that was taken in.
        """
        note = self._note()
        if note is None or read.found.number < note.number or read.found.key_id != key_id_of(note.public):
            raise _damaged(self.path)
        self._know(read.found)

    def take(self, read: ReadRevocations, public: str) -> None:
        """Keep a list whose signature was checked with a key that the user named, in the place of the one before.

        Raises:
            CounterfoilError: It is older than the one that is known, or cannot be written.
        """
        before = self.found
        if before is not None and before.key_id == read.found.key_id and read.found.number < before.number:
            raise CounterfoilError(
                say("This is list {0} of revoked keys, and list {1} is known.", read.found.number, before.number),
                remedy=say("Ask for the newest list: an old one knows less."),
            )
        note = msgspec.json.encode(_Note(FORMAT_VERSION, public, read.found.number))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CounterfoilError(
                say("The folder {0} cannot be made: {1}.", self.path.parent, error.strerror or error),
                remedy=say("Make room there; until then no key is remembered."),
            ) from error
        # A stop between the two leaves a list that does not fit its note, which is said at the next start.
        write_whole(self.path, read.envelope, what=say("the list of keys"))
        write_whole(self._note_path, note, what=say("the list of keys"))
        self._know(read.found)

    def fail(self, problem: str) -> None:
        """Know that the kept list does not count."""
        self.found, self.problem = None, problem
        self.changed.emit()

    def _know(self, found: RevocationList) -> None:
        self.found, self.problem = plain(found), ""
        self.changed.emit()

    def _note(self) -> _Note | None:
        try:
            with open_plain(self._note_path) as file:
                note = msgspec.json.decode(file.read(MAX_NOTE), type=_Note)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise _damaged(self._note_path) from error
        if note.format != FORMAT_VERSION:
            raise _damaged(self._note_path)
        return note


def _damaged(path: Path) -> CounterfoilError:
    return CounterfoilError(
        say("The list of revoked keys {0} is damaged or was exchanged, so no key is known to be revoked.", path),
        remedy=say("Take in the newest list again."),
    )
