"""The file of the keys that a reader knows: whose they are, what they are for, and where they came from.

A file of a key under a known name may be another one tomorrow; so the file holds the keys themselves. Values alone:
the window holds them, and nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

from counterfoil.base.oneline import one_line
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.publickeys import FORM, key_id_of

FORMAT_VERSION = 1
MAX_BYTES = 4 * 2**20
MAX_KEYS = 5000
MAX_LISTS = 100
MAX_NAME = 80
MAX_SOURCE = 300
MAX_ORDERS = 2000


class Role(Enum):
    """What a key is for; each has one role, since nobody audits what the same key signed."""

    TRAINER = "trainer"
    AUDITOR = "auditor"
    CLIENT = "client"
    MINE = "mine"


_Hex = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
_Public = Annotated[str, Meta(pattern=rf"^({FORM})$")]
_Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[01][0-9]-[0-3][0-9]$")]


class KnownKey(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A key that is known: what is not exactly as it was written is no list of ours."""

    public: _Public  #: The key in hexadecimal digits.
    role: Role  #: What it is for.
    #: Whose it is, as the reader says; empty for a trainer's that was only met.
    name: Annotated[str, Meta(max_length=MAX_NAME)]
    source: Annotated[str, Meta(max_length=MAX_SOURCE)]  #: Where it came from, in a line.
    since: _Day  #: The day on which it came into the file, ISO 8601.
    #: Digests of the orders, as hexadecimal digits, whose runs it may sign; of a trainer's alone.
    orders: Annotated[tuple[_Hex, ...], Meta(max_length=MAX_ORDERS)] = ()

    @cached_property
    def key_id(self) -> str:
        """Its fingerprint: 64 hexadecimal digits."""
        return key_id_of(self.public)


class ListNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which list of revoked keys was taken in last of somebody who signs such lists: an older one is refused."""

    public: _Public  #: The key that signs them, as the reader said.
    number: Annotated[int, Meta(ge=1)]  #: Its number.

    @property
    def key_id(self) -> str:
        """The key's fingerprint."""
        return key_id_of(self.public)


class KeyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All of it."""

    format: int = msgspec.field(default=0)
    keys: Annotated[tuple[KnownKey, ...], Meta(max_length=MAX_KEYS)] = ()
    lists: Annotated[tuple[ListNote, ...], Meta(max_length=MAX_LISTS)] = ()


def named_keys(held: KeyFile, key: KnownKey) -> KeyFile:
    """Return a file with one more key, or with another entry of the same key.

    Raises:
        CounterfoilError: It is there for something else, another key has its name, the name cannot be shown or lacks,
            or the file is full.
    """
    before = next((each for each in held.keys if each.public == key.public), None)
    if before is not None and before.role is not key.role and (before.name or key.role is Role.AUDITOR):
        raise of_another_kind(before)
    taken = next((each for each in held.keys if key.name and each.name == key.name and each.public != key.public), None)
    if one_line(key.name, MAX_NAME) != key.name:
        raise CounterfoilError(
            say("A name has at most {0} printable characters.", MAX_NAME), remedy=say("Choose a shorter name.")
        )
    if taken is not None:
        raise CounterfoilError(
            say("{0} is the name of another key, {1}, met since {2}.", key.name, taken.key_id[:12], taken.since),
            remedy=say("If its owner really has a new key, ask the owner to confirm it, and name it differently."),
        )
    if not key.name and key.role is not Role.TRAINER:
        raise CounterfoilError(say("A key that is trusted has a name."), remedy=say("Say whose it is, or remove it."))
    if before is None and len(held.keys) >= MAX_KEYS:
        raise CounterfoilError(
            say("The list of keys is full: it holds {0}.", MAX_KEYS), remedy=say("Remove keys that you do not need.")
        )
    others = tuple(each for each in held.keys if each.public != key.public)
    return KeyFile(held.format, (*others, key), held.lists)


def of_another_kind(key: KnownKey) -> CounterfoilError:
    """Return the error for a key that is known for something else."""
    return CounterfoilError(
        say("The key {0} is in the list of keys as one of another kind.", key.key_id[:12]),
        remedy=say("Remove it from the list first, if that was wrong."),
    )


def encode_keys(keys: Sequence[KnownKey], lists: Sequence[ListNote] = ()) -> bytes:
    """Return the content of the file."""
    return msgspec.json.format(msgspec.json.encode(KeyFile(FORMAT_VERSION, tuple(keys), tuple(lists))), indent=1)


def decode_keys(data: bytes) -> KeyFile:
    """Read the content of the file; raises ValueError or RecursionError for what Counterfoil would not have written."""
    if len(data) > MAX_BYTES:
        raise ValueError("it is too large")
    held = msgspec.json.decode(data, type=KeyFile)
    if held.format != FORMAT_VERSION:
        raise ValueError(f"format {held.format!r}")
    names = [key.name for key in held.keys if key.name]
    texts: tuple[tuple[Callable[[KnownKey], str], int], ...] = (
        (lambda key: key.name, MAX_NAME),
        (lambda key: key.source, MAX_SOURCE),
    )
    if len({key.public for key in held.keys}) < len(held.keys) or len(set(names)) < len(names):
        raise ValueError("two entries have the same key or name")
    if len({note.public for note in held.lists}) < len(held.lists):
        raise ValueError("two lists are of the same key")
    for key in held.keys:
        if any(one_line(text(key), most) != text(key) for text, most in texts):
            raise ValueError("an entry has a text that cannot be seen")
        if not key.name and key.role is not Role.TRAINER:
            raise ValueError("a trusted key has no name")
        if key.orders and key.role not in (Role.TRAINER, Role.MINE):
            raise ValueError("an entry has orders that its key signs no runs of")
    return held
