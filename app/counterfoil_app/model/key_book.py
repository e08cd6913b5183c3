"""The public keys that the auditor knows, by their content: whose they are, what they are for, where they came from.

A trainer's key is noted when a run that it signed is first opened, without a name: trust on first use. From then on
another key for runs of the same order is pointed out, until the auditor accepts it. It is *named* once the auditor has
said whose it is. Any other key is in the book only after a person has confirmed it: what a key signed says nothing
about whose key it is. Verdicts are checked with the keys of auditors and with the auditor's own, and an order is the
client's if a client's key, or the auditor's own, signed it.

A file of keys under a known name may be another one tomorrow; so the book holds the keys themselves, and no path of a
file is ever read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from counterfoil import (
    CounterfoilError,
    KeyFile,
    KnownKey,
    ListNote,
    Revocation,
    RevocationList,
    Role,
    Trust,
    TrustFolder,
    TrustStore,
    key_id_of,
    named_keys,
    of_another_kind,
    one_line,
    seen_by,
)
from counterfoil.trust.keyfile import MAX_ORDERS, MAX_SOURCE
from counterfoil.trust.validity import validity
from counterfoil_app.engine.port import ReadRevocations
from counterfoil_app.engine.strangers import plain
from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.sentence import say

# The folder that a new private key goes to.


def make_key_folder(folder: Path) -> None:
    """Make the folder of a new key, for its owner alone.

    Raises:
        KeyFileError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise KeyFileError(
            say("The folder {0} for the key cannot be made: {1}.", folder, error.strerror or error),
            remedy=say("Choose another folder."),
        ) from error


# The lists of revoked keys that the user took in: kept as they were signed, and checked again each time. The window
# checks no signature: the engine does, when a list is taken in and at every start. What is kept is the signed file
# itself, in the folder that the command line reads too, beside a note of the key that the user named.


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


FILE_NAME = "keys.json"


class Standing(Enum):
    """What the book knows of a key that signed a run."""

    NEW = "new"
    """Never met, and no run of this order was met before."""
    MET = "met"
    """Met before, without a name."""
    KNOWN = "known"
    """The auditor gave it a name."""
    CHANGED = "changed"
    """Runs of this order were signed by another key until now."""
    NO_TRAINER = "no trainer"
    """It is in the book as an auditor's or a client's."""


@dataclass(frozen=True)
class Meeting:
    """What the book says of a run's key."""

    standing: Standing  #: What is known of the key.
    key: KnownKey | None  #: The key's entry; None when it has none.
    #: The keys that signed runs of this order until now, when the key changed.
    before: tuple[KnownKey, ...] = field(default=())


class KeyBook(QObject):
    """The known keys, with a file behind them.

    A file that cannot be read, or is damaged, is left as it is, since what it knew is worth more than a fresh start:
    the book is then empty and takes no keys, and :attr:`problem` says why.

    Args:
        path: The file; it need not exist.

    Attributes:
        revoked: Keys that were revoked, in the book or not.
    """

    changed = Signal()

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = TrustFolder(path.parent)
        self._keys: dict[str, KnownKey] = {}
        self._broken: CounterfoilError | None = None
        self.revoked = RevokedKeys(self._folder, self)
        self.revoked.changed.connect(self.changed)
        try:
            self._keys = {key.key_id: key for key in self._folder.keys().keys}
        except CounterfoilError as error:
            self._broken = error

    @property
    def problem(self) -> str:
        """Why the book cannot be used; empty when it can."""
        return "" if self._broken is None else str(self._broken)

    @property
    def keys(self) -> tuple[KnownKey, ...]:
        """All entries: by role, those with names first, by name and day."""
        order = list(Role)
        return tuple(
            sorted(
                self._keys.values(),
                key=lambda key: (order.index(key.role), not key.name, key.name.casefold(), key.since, key.public),
            )
        )

    @property
    def checking(self) -> tuple[str, ...]:
        """The keys that verdicts are checked with: those of auditors, and the auditor's own."""
        return tuple(key.public for key in self.keys if key.role in (Role.AUDITOR, Role.MINE))

    @property
    def store(self) -> TrustStore:
        """All that is trusted, for the engine: keys, what was revoked, and what was said of verdicts afterwards."""
        try:
            later = self._folder.later()
        except CounterfoilError:  # the notice above the keys says it
            later = ()
        return TrustStore(self.keys, self.revoked.lists, later)

    def keep_later(self, envelope: bytes) -> None:
        """Keep what was said of a verdict, which the engine has checked; raises CounterfoilError where it cannot."""
        self._folder.keep_later(envelope)

    @property
    def counting(self) -> tuple[str, ...]:
        """Those of :attr:`checking` that were not revoked: for what counts only if nobody else may have the key."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return tuple(public for public in self.checking if not self.revoked.covers(key_id_of(public), now))

    def find(self, key_id: str) -> KnownKey | None:
        """The entry of the key with a fingerprint."""
        return self._keys.get(key_id)

    def name_of(self, key_id: str) -> str:
        """The name that the user has given a key; empty for none."""
        known = self.find(key_id)
        return "" if known is None else known.name

    def look_up(self, key_id: str, order: str) -> Meeting:
        """Say what is known of a key that signed a run of an order, without noting anything."""
        key = self._keys.get(key_id)
        before = tuple(other for other in self.keys if order in other.orders and other.key_id != key_id)
        if before and (key is None or order not in key.orders):
            return Meeting(Standing.CHANGED, key, before)
        if key is None:
            return Meeting(Standing.NEW, None)
        if key.role in (Role.AUDITOR, Role.CLIENT):
            return Meeting(Standing.NO_TRAINER, key)
        return Meeting(Standing.KNOWN if key.name else Standing.MET, key)

    @property
    def clients(self) -> tuple[str, ...]:
        """The keys by whose signature an order is the client's: those of clients, and the user's own."""
        return tuple(key.public for key in self.keys if key.role in (Role.CLIENT, Role.MINE))

    def is_client(self, key_id: str) -> bool:
        """Whether a key that signed an order makes it the client's."""
        key = self._keys.get(key_id)
        return key is not None and key.role in (Role.CLIENT, Role.MINE)

    def seen(
        self, trust: Trust, key_id: str, order: str, client_key: str, *, run_signed: str = "", order_signed: str = ""
    ) -> Trust:
        """What a conclusion rests on for who knows these keys.

        Args:
            trust: As it stands in what was found or signed.
            key_id: Fingerprint of the key that signed the run; empty for none.
            order: The order's digest as hexadecimal digits.
            client_key: Fingerprint of the key that signed the order as its client; empty for an unsigned order.
            run_signed: When the run was signed, as the trainer says, or at the latest; empty where nothing says it.
            order_signed: The same of the order.
        """
        store, trainer, client = TrustStore(lists=self.revoked.lists), (key_id, run_signed), (client_key, order_signed)
        gone = validity(store, ("", ""), trainer=trainer, client=client).gone
        standing = self.look_up(key_id, order).standing if key_id else Standing.NEW
        return seen_by(
            trust,
            named=standing is Standing.KNOWN,
            changed=standing is Standing.CHANGED,
            client=self.is_client(client_key),
            revoked="trainer" in gone,
            client_revoked="client" in gone,
        )

    def meet(self, public: str, order: str, source: str, day: str) -> Meeting:
        """Note a trainer's key on its first use and say what was known before; a changed key is not noted.

        Args:
            public: The key.
            order: The order's digest as hexadecimal digits.
            source: The run that it signed.
            day: Today, ISO 8601.

        Raises:
            CounterfoilError: The file cannot be written.
        """
        meeting = self.look_up(key_id_of(public), order)
        noted = meeting.key is not None and order in meeting.key.orders
        if meeting.standing not in (Standing.CHANGED, Standing.NO_TRAINER) and not noted:
            self.accept(public, order, source, day)
        return meeting

    def accept(self, public: str, order: str, source: str, day: str) -> None:
        """Note that a key may sign runs of an order.

        Raises:
            CounterfoilError: The key is an auditor's or a client's, or the file cannot be written.
        """

        def accepted(held: KeyFile) -> KeyFile:
            key = _find(held, public) or KnownKey(public, Role.TRAINER, "", _line(source), day)
            if key.role in (Role.AUDITOR, Role.CLIENT):
                raise of_another_kind(key)
            return named_keys(held, replace(key, orders=tuple(sorted({*key.orders, order}))[:MAX_ORDERS]))

        self._change(accepted)

    def trust(self, public: str, role: Role, name: str, source: str, day: str) -> None:
        """Take in a key that a person has confirmed, or one that signed here.

        Raises:
            CounterfoilError: It is in the book for something else, its name cannot be taken, or the file cannot be
                written.
        """

        def trusted(held: KeyFile) -> KeyFile:
            key = _find(held, public)
            orders = key.orders if key is not None else ()
            return named_keys(held, KnownKey(public, role, " ".join(name.split()), _line(source), day, orders))

        self._change(trusted)

    def name(self, key_id: str, name: str) -> None:
        """Give a key another name; the empty one takes a trainer's away.

        Raises:
            CounterfoilError: The name is too long or not printable, another key has it, it is empty and the key is no
                trainer's, or the file cannot be written.
        """
        known = self._keys[key_id]
        self._change(
            lambda held: named_keys(held, replace(_find(held, known.public) or known, name=" ".join(name.split())))
        )

    def remove(self, key_id: str) -> None:
        """Forget a key; raises CounterfoilError when the file cannot be written."""
        self._change(
            lambda held: KeyFile(held.format, tuple(key for key in held.keys if key.key_id != key_id), held.lists)
        )

    def _change(self, how: Callable[[KeyFile], KeyFile]) -> None:
        if self._broken is not None:
            raise self._broken
        self._keys = {key.key_id: key for key in self._folder.change(how).keys}
        self.changed.emit()


def _line(text: str) -> str:
    return one_line(text, MAX_SOURCE)


def _find(held: KeyFile, public: str) -> KnownKey | None:
    return next((key for key in held.keys if key.public == public), None)
