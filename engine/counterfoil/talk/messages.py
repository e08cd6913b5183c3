"""Values as bytes for another process of this program: written as MessagePack, read by the type that they must have.

A process that computes a stranger's program may have been taken over by it, and what it says must not take over the one
that listens. So bytes carry values and nothing else. Which classes come out is decided by the reader alone: it names a
type, every field must be there and of its type, and no other may be. A member of an enumeration goes by its value. No
type stands for another, but that a whole number may be a float. What a message holds is bounded, beside its bytes.
ADR 7 says why the window's engine is such a process.

For each dataclass a :class:`msgspec.Struct` is made of its type hints: that is what is written and read. msgspec does
not do without, since it lets unknown fields of a dataclass pass, tells the classes of a union apart by tags only, and
knows no sentences, which are texts that keep what they were made of.

What a type hint may be: numbers, texts, bytes, digests, moments, paths, enumerations, literals, arrays of numbers,
dataclasses, structs (read as they are), None, and unions, tuples and dicts of all these. ``object`` is what only the
caller can read: it comes out as :class:`msgspec.Raw`, for another :func:`decode`.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Raw

from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.sentence import Sentence, Value

MAX_ITEMS = 10_000_001
"""Most members of a tuple or a dict: a run has ten million steps at most, and a state before the first."""
MAX_TEXT = 2**24
"""Most characters of a text."""
MAX_SPOKEN = 2**26
"""Most characters in all sentences of a message: parts that are named again and again would make them endless."""
MAX_VALUES = 100
"""Most values of a sentence; a template has two digits for the place of one."""
MAX_DIGITS = 4300
"""Most digits of an integer: Python writes no longer one (sys.get_int_max_str_digits)."""
MAX_DIMENSIONS = 32
_LONGEST_FLOAT = 600
"""Most characters of a float: 309 digits, commas between them, and 99 behind the point."""
_TAG = "is"
_KINDS = "biuf"
"""Kinds of numpy dtypes that hold numbers and nothing else."""
_SMALL = range(-(2**63), 2**64)
"""Integers that MessagePack has."""
_STAY = dict.fromkeys(("CapsuleContents", "PublicKey", "StepTable"), type(None))
"""Types of values that stay in their process: the field is None in every message."""


class FormError(ValueError):
    """Bytes are no value of the type that was asked for, or a value is none that can be written."""


class _Wire(msgspec.Struct, frozen=True, tag_field=_TAG, tag=str.lower, forbid_unknown_fields=True):
    """A value that MessagePack does not have."""


class Spoken(_Wire, frozen=True):
    """A sentence: the template, and what stands in its places."""

    template: Annotated[str, Meta(max_length=MAX_TEXT)]
    values: Annotated[tuple[_Said, ...], Meta(max_length=MAX_VALUES)]


class Unpaired(_Wire, frozen=True):
    """A text with lone surrogates, as names of files may have: as UTF-8 would write them."""

    data: Annotated[bytes, Meta(max_length=MAX_TEXT)]


class Large(_Wire, frozen=True):
    """An integer of more than 64 bits, as products of what strangers declare may be."""

    digits: Annotated[str, Meta(pattern=rf"\A-?[1-9][0-9]{{18,{MAX_DIGITS - 1}}}\Z")]


class Numbers(_Wire, frozen=True):
    """An array of numbers."""

    dtype: Annotated[str, Meta(pattern=r"\A[<>|][a-z][0-9]{1,2}\Z")]
    shape: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(max_length=MAX_DIMENSIONS)]
    data: bytes


class Hashed(_Wire, frozen=True):
    """A digest, where it does not stand in a struct."""

    value: Annotated[bytes, Meta(min_length=DIGEST_BYTES, max_length=DIGEST_BYTES)]


_Text = Annotated[str, Meta(max_length=MAX_TEXT)] | Spoken | Unpaired
_Said = int | float | _Text | Large


class _Room:
    """How much may still be said in the sentences of a message."""

    def __init__(self) -> None:
        self._left = MAX_SPOKEN

    def take(self, characters: int) -> None:
        """Take some of it; raises FormError where that is more than there is."""
        self._left -= characters
        if self._left < 0:
            raise FormError("sentences that are too long")


Together = Callable[[Any, _Room], Any]


class _Form(NamedTuple):
    """How values of a type are read."""

    wire: Any  #: What msgspec reads.
    kinds: tuple[type, ...]  #: The classes of what it reads, by which members of a union are told apart.
    together: Together | None = None  #: Makes the value of that; None where it is the value.


def encode(value: object) -> bytes:
    """Write a value for :func:`decode`.

    Raises:
        FormError: It holds something that no message carries.
    """
    try:
        return msgspec.msgpack.encode(_apart(value), enc_hook=_unknown)
    except (TypeError, ValueError, OverflowError, NameError) as error:
        raise FormError(str(error)) from error


def decode(data: object, kind: Any) -> Any:
    """Read a value out of bytes of a process that may be hostile.

    Args:
        data: The bytes; whatever else it is, it is no message.
        kind: The type that it must have: a class, or any type hint of those named above.

    Raises:
        FormError: They are no value of that type, or one that is out of bounds.
    """
    form, decoder = _form(kind), _decoder(kind)
    if type(data) not in (bytes, Raw):
        raise FormError("no bytes")
    try:
        said = decoder.decode(cast(bytes, data))
        return said if form.together is None else form.together(said, _Room())
    except Exception as error:  # a value's own class refuses it in its own way
        raise FormError(f"{type(error).__name__}: {error}") from error


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(_form(kind).wire, strict=True, dec_hook=_own)


def _own(kind: type, value: object) -> Any:
    """Read a field of a struct whose class is none of msgspec's: a digest, a text or a number that checks itself."""
    if kind is Digest and isinstance(value, bytes):
        return Digest(value)
    read = getattr(kind, "read", None) if issubclass(kind, (int, str)) else None
    if read is None:
        raise TypeError(f"a {kind.__name__} is in no message")
    return read(value)


# Writing


def _apart(value: Any) -> Any:
    """Return what stands for a value in a message."""
    kind = type(value)
    if value is None or kind in (bool, float, bytes, datetime) or isinstance(value, (Enum, msgspec.Struct)):
        return value
    if kind is int:
        return value if value in _SMALL else Large(str(value))
    if kind is Sentence:
        return Spoken(value.template, tuple(map(_apart, value.values)))
    if kind is str:
        return value if value.isascii() else _text_apart(value)
    if kind in (tuple, list):
        return value if {*map(type, value)} <= {bool, int, float, bytes} else [_apart(each) for each in value]
    if kind is dict:
        return {_apart(name): _apart(each) for name, each in value.items()}
    if kind is Digest:
        return Hashed(value.value)
    if is_dataclass(kind):
        return _mirror(kind).apart(value)
    if isinstance(value, Path):
        return os.fsencode(value)
    return value  # for _unknown


def _text_apart(text: str) -> str | Unpaired:
    try:
        text.encode()
    except UnicodeEncodeError:
        return Unpaired(text.encode("utf-8", "surrogatepass"))
    return text


def _unknown(value: Any) -> Any:
    """Return what stands for a value that msgspec does not know: digests, numbers of numpy's, texts of a class."""
    if type(value) is Digest:
        return value.value
    import numpy as np  # late: a worker closes its box before numpy starts threads

    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _KINDS:
            raise TypeError("an array of something else than numbers")
        return Numbers(value.dtype.str, value.shape, value.tobytes())
    if hasattr(type(value), "read") and isinstance(value, (int, str)):  # which _own reads
        return str(value)
    raise TypeError(f"a {type(value).__name__} is in no message")


# Reading


@cache
def _form(hint: Any) -> _Form:
    """Return how values of a type are read; raises TypeError for one that is in no message."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _BUILT_IN:
        return _BUILT_IN[hint]
    if origin is Annotated:  # the bounds in it stand in the place of ours
        return _bounded(*arguments)
    if origin is Literal:
        return _Form(hint, tuple({type(each) for each in arguments}))
    if origin in (Union, types.UnionType):
        return _union([_form(each) for each in arguments])
    if origin in (tuple, Sequence):
        return _row(arguments, alike=origin is Sequence or arguments[-1:] == (...,))
    if origin in (dict, Mapping):
        return _dict(*map(_form, arguments))
    if isinstance(hint, type) and issubclass(hint, (Enum, msgspec.Struct)):
        return _Form(hint, (hint,))
    if isinstance(hint, type) and is_dataclass(hint):
        return _mirror(hint).form
    return _array(hint)


def _bounded(hint: Any, *bounds: Any) -> _Form:
    if hint in (int, str):  # which is no sentence then
        return _Form(Annotated[(hint, *bounds)], (hint,))
    inner = _form(hint)
    bare = get_args(inner.wire)[0] if get_origin(inner.wire) is Annotated else inner.wire
    return inner._replace(wire=Annotated[(bare, *bounds)])


def _union(members: Sequence[_Form]) -> _Form:
    wire: Any = Union[tuple(member.wire for member in members)]  # noqa: UP007, as there are any number
    kinds = {kind: member.together for member in members for kind in member.kinds}
    if len(kinds) < sum(len(member.kinds) for member in members):
        raise TypeError(f"{wire} is in no message: what is read of it may be either")
    if not any(kinds.values()):
        return _Form(wire, tuple(kinds))

    def together(said: Any, room: _Room) -> Any:
        make = kinds[type(said)]
        return said if make is None else make(said, room)

    return _Form(wire, tuple(kinds), together)


def _row(arguments: tuple[Any, ...], *, alike: bool) -> _Form:
    """A tuple, of any number of members of one type, or of so many of their own."""
    # Rows of integers, of which there may be millions, are read in one go: these have 64 bits.
    members = [_Form(int, (int,)) if each is int else _form(each) for each in arguments if each is not ...]
    if alike:
        any_number: Any = tuple[members[0].wire, ...]  # type: ignore[misc]
        wire: Any = Annotated[any_number, Meta(max_length=MAX_ITEMS)]
    else:
        wire = tuple[tuple(member.wire for member in members)]  # type: ignore[misc]
    makers = [member.together for member in members]
    if not any(makers):
        return _Form(wire, (tuple,))

    def together(said: Any, room: _Room) -> Any:
        each = makers * len(said) if alike else makers
        return tuple(one if make is None else make(one, room) for one, make in zip(said, each, strict=True))

    return _Form(wire, (tuple,), together)


def _dict(key: _Form, value: _Form) -> _Form:
    members: Any = dict[key.wire, value.wire]  # type: ignore[name-defined]
    wire: Any = Annotated[members, Meta(max_length=MAX_ITEMS)]

    def together(said: Any, room: _Room) -> Any:
        return {
            name if key.together is None else key.together(name, room): (
                each if value.together is None else value.together(each, room)
            )
            for name, each in said.items()
        }

    return _Form(wire, (dict,), together)


def _array(hint: Any) -> _Form:
    """An array of numbers: of the dtype that the hint gives, or of any where it gives none."""
    import numpy as np

    if get_origin(hint) is not np.ndarray:
        raise TypeError(f"{hint} is in no message")
    (wanted,) = get_args(get_args(hint)[1])

    def together(said: Numbers, _room: _Room) -> Any:
        kind = np.dtype(said.dtype)
        if kind.kind not in _KINDS or (wanted is not Any and kind != np.dtype(wanted)):
            raise FormError(f"an array of {said.dtype}")
        return np.frombuffer(said.data, kind).reshape(said.shape).copy()

    return _Form(Numbers, (Numbers,), together)


@dataclass(frozen=True)
class _Mirror:
    """The struct that stands for a dataclass in a message, field by field."""

    struct: type[msgspec.Struct]  #: It.
    unread: frozenset[str]  #: The names of fields that only the caller can read.
    names: tuple[str, ...]  #: The names of all fields.
    form: _Form  #: How the dataclass is read.

    def apart(self, value: Any) -> msgspec.Struct:
        """Return what stands for a value."""
        return self.struct(
            *(
                Raw(encode(getattr(value, name))) if name in self.unread else _apart(getattr(value, name))
                for name in self.names
            )
        )


@cache
def _mirror(kind: type) -> _Mirror:
    hints = get_type_hints(kind, localns=_STAY, include_extras=True)
    forms = {item.name: _form(hints[item.name]) for item in fields(kind)}
    struct = msgspec.defstruct(
        kind.__name__,
        [(name, form.wire) for name, form in forms.items()],
        tag_field=_TAG,
        tag=kind.__name__,
        frozen=True,
        forbid_unknown_fields=True,
    )
    makers = {name: form.together for name, form in forms.items()}

    def together(said: Any, room: _Room) -> Any:
        return kind(
            **{
                name: getattr(said, name) if make is None else make(getattr(said, name), room)
                for name, make in makers.items()
            }
        )

    unread = frozenset(name for name in forms if hints[name] is object)
    return _Mirror(struct, unread, tuple(forms), _Form(struct, (struct,), together))


def _integer(said: int | Large, _room: _Room) -> int:
    return int(said.digits) if isinstance(said, Large) else said


def _text(said: str | Spoken | Unpaired, room: _Room) -> str:
    if isinstance(said, Spoken):
        return _sentence(said, room)
    return said.data.decode("utf-8", "surrogatepass") if isinstance(said, Unpaired) else said


def _sentence(said: Spoken, room: _Room) -> Sentence:
    values: tuple[Value, ...] = tuple(
        _text(each, room)
        if isinstance(each, (str, Spoken, Unpaired))
        else each
        if isinstance(each, float)
        else _integer(each, room)
        for each in said.values
    )
    longest = max(map(_longest, values), default=0)
    room.take(len(said.template) + said.template.count("{") * longest)
    return Sentence(said.template, values)


def _longest(value: Value) -> int:
    """How many characters a value of a sentence has at most, in any form that a template may give it."""
    if isinstance(value, str):
        return len(value)
    return _LONGEST_FLOAT + (value.bit_length() if isinstance(value, int) else 0)


def _digest(said: Hashed, _room: _Room) -> Digest:
    return Digest(said.value)


def _path(said: bytes, _room: _Room) -> Path:
    return Path(os.fsdecode(said))


_BUILT_IN: dict[Any, _Form] = {
    **{kind: _Form(kind, (kind,)) for kind in (bool, float, bytes, datetime, type(None))},
    None: _Form(None, (type(None),)),
    int: _Form(int | Large, (int, Large), _integer),
    str: _Form(_Text, (str, Spoken, Unpaired), _text),
    Sentence: _Form(Spoken, (Spoken,), _sentence),
    Digest: _Form(Hashed, (Hashed,), _digest),
    Path: _Form(Annotated[bytes, Meta(max_length=MAX_TEXT)], (bytes,), _path),
    object: _Form(Raw, (Raw,)),
}
