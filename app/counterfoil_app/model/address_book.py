"""The trainers' keys that the auditor has met, with the names the auditor gave them: trust on first use.

A key that signs runs of an order for the first time is noted. From then on, another key for runs of the same order is
pointed out, until the auditor accepts it. The book says whom the auditor believes a key to belong to; no check and no
verdict reads it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from counterfoil import CounterfoilError, one_line, write_whole
from counterfoil.sentence import say

FILE_NAME = "trainers.json"
FORMAT_VERSION = 1
MAX_BYTES = 4 * 2**20
MAX_NAME = 80
_KEY_ID = re.compile(r"[0-9a-f]{64}")


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


@dataclass(frozen=True)
class KnownKey:
    """A key that the auditor has met.

    Attributes:
        key_id: SHA-256 key id, 64 hexadecimal digits.
        name: The name the auditor gave it; empty when none.
        since: The day it was first met, ISO 8601.
        orders: Digests of the orders, as hexadecimal digits, whose runs it may sign.
    """

    key_id: str
    name: str
    since: str
    orders: tuple[str, ...]


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


class AddressBook:
    """The known keys; a pure value with a file behind it.

    Args:
        path: The file; it need not exist.

    Raises:
        CounterfoilError: The file cannot be read, or is damaged: it is then left as it is, since what it knew is
            worth more than a fresh start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys = {key.key_id: key for key in _read(path)}

    @property
    def keys(self) -> tuple[KnownKey, ...]:
        """All entries, those with names first, by name and day."""
        return tuple(sorted(self._keys.values(), key=lambda key: (not key.name, key.name.casefold(), key.since)))

    def look_up(self, key_id: str, order: str) -> Meeting:
        """Say what is known of a key that signed a run of an order, without noting anything."""
        key = self._keys.get(key_id)
        before = tuple(other for other in self.keys if order in other.orders and other.key_id != key_id)
        if before and (key is None or order not in key.orders):
            return Meeting(Standing.CHANGED, key, before)
        if key is None:
            return Meeting(Standing.NEW, None)
        return Meeting(Standing.KNOWN if key.name else Standing.MET, key)

    def meet(self, key_id: str, order: str, day: str) -> Meeting:
        """Note a key on its first use and say what was known before; a changed key is not noted.

        Args:
            key_id: The key id.
            order: The order's digest as hexadecimal digits.
            day: Today, ISO 8601.

        Raises:
            CounterfoilError: The file cannot be written.
        """
        meeting = self.look_up(key_id, order)
        if meeting.standing is not Standing.CHANGED and (meeting.key is None or order not in meeting.key.orders):
            self.accept(key_id, order, day)
        return meeting

    def accept(self, key_id: str, order: str, day: str) -> None:
        """Note that a key may sign runs of an order; raises CounterfoilError when the file cannot be written."""
        key = self._keys.get(key_id) or KnownKey(key_id, "", day, ())
        self._store(replace(key, orders=tuple(sorted({*key.orders, order}))))

    def name(self, key_id: str, name: str) -> None:
        """Give a key that was met a name; the empty name takes it away.

        Raises:
            CounterfoilError: The name is too long or not printable, another key has it, or the file cannot be written.
        """
        name = " ".join(name.split())
        if one_line(name, MAX_NAME) != name:
            raise CounterfoilError(
                say("A name has at most {0} printable characters.", MAX_NAME), remedy=say("Choose a shorter name.")
            )
        taken = next((key for key in self.keys if name and key.name == name and key.key_id != key_id), None)
        if taken is not None:
            raise CounterfoilError(
                say("{0} is the name of another key, {1}, met since {2}.", name, taken.key_id[:12], taken.since),
                remedy=say(
                    "If the trainer really has a new key, ask the trainer to confirm it, and name it differently."
                ),
            )
        self._store(replace(self._keys[key_id], name=name))

    def _store(self, key: KnownKey) -> None:
        keys = {**self._keys, key.key_id: key}
        records = [
            {"key": item.key_id, "name": item.name, "since": item.since, "orders": list(item.orders)}
            for item in keys.values()
        ]
        text = json.dumps({"format": FORMAT_VERSION, "keys": records}, indent=1, ensure_ascii=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CounterfoilError(
                say("The folder {0} cannot be made: {1}.", self._path.parent, error.strerror or error),
                remedy=say("Make room there; until then no key is remembered."),
            ) from error
        write_whole(self._path, text.encode(), what=say("the list of trainers"))
        self._keys = keys


def open_address_book(folder: Path) -> tuple[AddressBook | None, str]:
    """Open the book in a folder; without it the window works too, and says why keys are not compared."""
    try:
        return AddressBook(folder / FILE_NAME), ""
    except CounterfoilError as error:
        return None, str(error)


def _read(path: Path) -> list[KnownKey]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CounterfoilError(
            say("The address book {0} cannot be read: {1}.", path, error.strerror or error),
            remedy=say("Until then keys are not compared with those met before."),
        ) from error
    try:
        if len(data) > MAX_BYTES:
            raise ValueError("it is too large")
        value = json.loads(data)
        if value["format"] != FORMAT_VERSION:
            raise ValueError(f"format {value['format']!r}")
        return [_entry(item) for item in value["keys"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CounterfoilError(
            say("The address book {0} is damaged, so keys are not compared with those met before.", path),
            remedy=say("Repair the file, or move it away to begin a new one."),
            detail=f"{type(error).__name__}: {error}",
        ) from error


def _entry(value: Any) -> KnownKey:
    key_id, name, since, orders = value["key"], value["name"], value["since"], value["orders"]
    texts = (key_id, name, since, *orders)
    if not all(isinstance(text, str) for text in texts) or not isinstance(orders, list):
        raise ValueError("an entry is not made of texts")
    if not _KEY_ID.fullmatch(key_id) or one_line(name, MAX_NAME) != name:
        raise ValueError("an entry has no proper key or name")
    return KnownKey(key_id, name, since, tuple(orders))
