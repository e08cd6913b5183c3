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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from counterfoil import CounterfoilError, Trust, key_id_of, one_line, seen_by, write_whole
from counterfoil_app.model.revoked_keys import RevokedKeys
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import FORM

FILE_NAME = "keys.json"
FORMAT_VERSION = 1
MAX_BYTES = 4 * 2**20
MAX_KEYS = 5000
MAX_NAME = 80
MAX_SOURCE = 300
MAX_ORDERS = 2000


class Role(Enum):
    """What a key is for; each has one role, since nobody audits what the same key signed."""

    TRAINER = "trainer"
    AUDITOR = "auditor"
    CLIENT = "client"
    MINE = "mine"


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


_Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
_Public = Annotated[str, Meta(pattern=rf"^({FORM})$")]
_Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[01][0-9]-[0-3][0-9]$")]


class KnownKey(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A key in the book, and in its file: what is not exactly as it was written is no list of ours.

    Attributes:
        public: The key in hexadecimal digits.
        role: What it is for.
        name: Whose it is, as the auditor says; empty for a trainer's that was only met.
        source: Where it came from, in a line.
        since: The day it came into the book, ISO 8601.
        orders: Digests of the orders, as hexadecimal digits, whose runs it may sign; of a trainer's alone.
    """

    public: _Public
    role: Role
    name: Annotated[str, Meta(max_length=MAX_NAME)]
    source: Annotated[str, Meta(max_length=MAX_SOURCE)]
    since: _Day
    orders: Annotated[tuple[_Hex, ...], Meta(max_length=MAX_ORDERS)]

    @cached_property
    def key_id(self) -> str:
        """Its fingerprint: 64 hexadecimal digits."""
        return key_id_of(self.public)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    keys: Annotated[tuple[KnownKey, ...], Meta(max_length=MAX_KEYS)]


@dataclass(frozen=True)
class Meeting:
    """What the book says of a run's key.

    Attributes:
        standing: What is known of the key.
        key: The key's entry; None when it has none.
        before: The keys that signed runs of this order until now, when the key changed.
    """

    standing: Standing
    key: KnownKey | None
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
        self._path = path
        self._keys: dict[str, KnownKey] = {}
        self._broken: CounterfoilError | None = None
        self.revoked = RevokedKeys(path.parent, self)
        self.revoked.changed.connect(self.changed)
        try:
            self._keys = {key.key_id: key for key in _read(path)}
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
    def counting(self) -> tuple[str, ...]:
        """Those of :attr:`checking` that were not revoked: for what counts only if nobody else may have the key."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return tuple(public for public in self.checking if not self.revoked.covers(key_id_of(public), now))

    def find(self, key_id: str) -> KnownKey | None:
        """The entry of the key with a fingerprint."""
        return self._keys.get(key_id)

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
        standing = self.look_up(key_id, order).standing if key_id else Standing.NEW
        return seen_by(
            trust,
            named=standing is Standing.KNOWN,
            changed=standing is Standing.CHANGED,
            client=self.is_client(client_key),
            revoked=self.revoked.covers(key_id, run_signed),
            client_revoked=self.revoked.covers(client_key, order_signed),
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
        key = self._keys.get(key_id_of(public)) or KnownKey(public, Role.TRAINER, "", _line(source), day, ())
        if key.role in (Role.AUDITOR, Role.CLIENT):
            raise self._of_another_kind(key)
        self._store(replace(key, orders=tuple(sorted({*key.orders, order}))[:MAX_ORDERS]))

    def trust(self, public: str, role: Role, name: str, source: str, day: str) -> None:
        """Take in a key that a person has confirmed, or one that signed here.

        Raises:
            CounterfoilError: It is in the book for something else, its name cannot be taken, or the file cannot be
                written.
        """
        key = self._keys.get(key_id_of(public))
        if key is not None and key.role is not role and (key.name or role is Role.AUDITOR):
            raise self._of_another_kind(key)
        orders = key.orders if key is not None else ()
        self._store(KnownKey(public, role, self._checked(name, public), _line(source), day, orders))

    def name(self, key_id: str, name: str) -> None:
        """Give a key another name; the empty one takes a trainer's away.

        Raises:
            CounterfoilError: The name is too long or not printable, another key has it, it is empty and the key is no
                trainer's, or the file cannot be written.
        """
        key = self._keys[key_id]
        name = self._checked(name, key.public)
        if not name and key.role is not Role.TRAINER:
            raise CounterfoilError(
                say("A key that is trusted has a name."), remedy=say("Say whose it is, or remove it.")
            )
        self._store(replace(key, name=name))

    def remove(self, key_id: str) -> None:
        """Forget a key; raises CounterfoilError when the file cannot be written."""
        self._write({other: key for other, key in self._keys.items() if other != key_id})

    def _of_another_kind(self, key: KnownKey) -> CounterfoilError:
        return CounterfoilError(
            say("The key {0} is in the list of keys as one of another kind.", key.key_id[:12]),
            remedy=say("Remove it from the list first, if that was wrong."),
        )

    def _checked(self, name: str, public: str) -> str:
        name = " ".join(name.split())
        if one_line(name, MAX_NAME) != name:
            raise CounterfoilError(
                say("A name has at most {0} printable characters.", MAX_NAME), remedy=say("Choose a shorter name.")
            )
        taken = next((key for key in self.keys if name and key.name == name and key.public != public), None)
        if taken is not None:
            raise CounterfoilError(
                say("{0} is the name of another key, {1}, met since {2}.", name, taken.key_id[:12], taken.since),
                remedy=say("If its owner really has a new key, ask the owner to confirm it, and name it differently."),
            )
        return name

    def _store(self, key: KnownKey) -> None:
        self._write({**self._keys, key.key_id: key})

    def _write(self, keys: dict[str, KnownKey]) -> None:
        if self._broken is not None:
            raise self._broken
        if len(keys) > MAX_KEYS:
            raise CounterfoilError(
                say("The list of keys is full: it holds {0}.", MAX_KEYS),
                remedy=say("Remove keys that you do not need."),
            )
        file = _File(FORMAT_VERSION, tuple(keys.values()))
        text = msgspec.json.format(msgspec.json.encode(file), indent=1)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CounterfoilError(
                say("The folder {0} cannot be made: {1}.", self._path.parent, error.strerror or error),
                remedy=say("Make room there; until then no key is remembered."),
            ) from error
        write_whole(self._path, text, what=say("the list of keys"))
        self._keys = keys
        self.changed.emit()


def _line(text: str) -> str:
    return one_line(text, MAX_SOURCE)


def _read(path: Path) -> tuple[KnownKey, ...]:
    try:
        with open_plain(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise CounterfoilError(
            say("The list of keys {0} cannot be read: {1}.", path, error.strerror or error),
            remedy=say("Until then no key is known: verdicts cannot be checked, and a changed key is not noticed."),
        ) from error
    try:
        if len(data) > MAX_BYTES:
            raise ValueError("it is too large")
        held = msgspec.json.decode(data, type=_File)
        if held.format != FORMAT_VERSION:
            raise ValueError(f"format {held.format!r}")
        _check(held.keys)
    except (ValueError, RecursionError) as error:
        raise CounterfoilError(
            say("The list of keys {0} is damaged, so no key is known.", path),
            remedy=say("Repair the file, or move it away to begin a new one."),
            detail=f"{type(error).__name__}: {error}",
        ) from error
    return held.keys


def _check(keys: Sequence[KnownKey]) -> None:
    """Raise ValueError for what the book would not have written."""
    names = [key.name for key in keys if key.name]
    texts: tuple[tuple[Callable[[KnownKey], str], int], ...] = (
        (lambda key: key.name, MAX_NAME),
        (lambda key: key.source, MAX_SOURCE),
    )
    if len({key.public for key in keys}) < len(keys) or len(set(names)) < len(names):
        raise ValueError("two entries have the same key or name")
    for key in keys:
        if any(one_line(text(key), most) != text(key) for text, most in texts):
            raise ValueError("an entry has a text that cannot be seen")
        if not key.name and key.role is not Role.TRAINER:
            raise ValueError("a trusted key has no name")
        if key.orders and key.role not in (Role.TRAINER, Role.MINE):
            raise ValueError("an entry has orders that its key signs no runs of")
