"""The lists of revoked keys that the user took in: kept as they were signed, and checked again each time.

The window checks no signature: the engine does, when a list is taken in and at every start. What is kept is the signed
file itself, in the folder that the command line reads too, beside a note of the key that the user named.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil import CounterfoilError, ListNote, Revocation, RevocationList, TrustFolder, TrustStore
from counterfoil_app.engine.port import ReadRevocations
from counterfoil_app.engine.strangers import plain
from counterfoil_core.base.sentence import say


class RevokedKeys(QObject):
    """The revoked keys; none until the kept lists were checked.

    Args:
        folder: Where they are kept.

    Attributes:
        lists: What they say, once each signature was found to hold; their texts are plain.
        problem: Why a kept list does not count, as a sentence; empty where each does.
    """

    changed = Signal()

    def __init__(self, folder: TrustFolder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._store = TrustStore()
        self.problem = ""

    @property
    def lists(self) -> tuple[RevocationList, ...]:
        """What the lists say."""
        return self._store.lists

    def of(self, key_id: str) -> Revocation | None:
        """What the lists say of a key; None where they say nothing."""
        return self._store.of(key_id)

    def covers(self, key_id: str, signed_at: str) -> bool:
        """Whether what a key signed no longer counts; as :meth:`TrustStore.covers`."""
        try:
            return self._store.covers(key_id, signed_at)
        except ValueError:  # no time at all: then nothing says that it was signed before
            return True

    def notes(self) -> tuple[ListNote, ...]:
        """Which lists are kept; raises CounterfoilError where what is kept is damaged."""
        return self._folder.keys().lists

    def path_of(self, note: ListNote) -> Path:
        """Where a list is kept."""
        return self._folder.list_path(note.key_id)

    def load(self, read: ReadRevocations, note: ListNote) -> None:
        """Know what a kept list says, after its signature was checked.

        Raises:
            CounterfoilError: It is an older list than the one that was taken in.
        """
        if read.found.number < note.number or read.found.key_id != note.key_id:
            raise CounterfoilError(
                say(
                    "The list of revoked keys {0} is damaged or was exchanged, so no key is known to be revoked.",
                    self.path_of(note),
                ),
                remedy=say("Take in the newest list again."),
            )
        self._know(read.found)

    def take(self, read: ReadRevocations, public: str) -> None:
        """Keep a list whose signature was checked with a key that the user named, in the place of the one before.

        Raises:
            CounterfoilError: It is older than the one that is known, or cannot be written.
        """
        self._folder.keep_list(read.envelope, read.found, public)
        self._know(read.found)

    def fail(self, problem: str) -> None:
        """Know that a kept list does not count."""
        self.problem = problem
        self.changed.emit()

    def _know(self, found: RevocationList) -> None:
        others = (each for each in self.lists if each.key_id != found.key_id)
        self._store, self.problem = TrustStore(lists=(*others, plain(found))), ""
        self.changed.emit()
