"""What processes say, from the table of those that speak: a new program there is fuzzed by itself, both ways."""

from __future__ import annotations

import io
import typing
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from itertools import chain, product
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from counterfoil.talk import messages
from counterfoil.talk.frames import read_frame, write_frame
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import Call, Delivery, Enclosure, Item, Port, Question, Raised, Returned, Steer
from counterfoil.talk.table import PROGRAMS
from counterfoil_core.base.digest import Digest

ENCLOSURE = Enclosure(("/run.cfoil",), (), "/scratch")


def example(kind: Any) -> bytes:
    """Return the bytes of a value of a type, as the other side may write it; raises FormError where none is found."""
    failure = FormError("nothing was tried")
    for rows, bare, dtype in product((True, False), (False, True), ("<f8", "<f4", "<i8", "|u1")):
        body = msgspec.msgpack.encode(_built(messages._form(kind).wire, rows, bare, dtype))
        try:
            decode(body, kind)
        except FormError as error:
            failure = error
        else:
            return body
    raise failure


def _built(wire: Any, rows: bool, bare: bool, dtype: str) -> Any:
    """A value as maps and lists: with a member in each row or none, with what may be left out or not."""
    built = partial(_built, rows=rows, bare=bare, dtype=dtype)
    origin, arguments = get_origin(wire), get_args(wire)
    simple = {
        bool: True, int: 1, float: 0.5, str: "" if bare else "a", bytes: bytes(32), type(None): None, None: None,
        datetime: datetime(2026, 1, 1, tzinfo=UTC), msgspec.Raw: None, Any: None,
        messages.Large: {"is": "large", "digits": "9" * 20},
        messages.Numbers: {"is": "numbers", "dtype": dtype, "shape": [1], "data": bytes(int(dtype[2:]))},
    }  # fmt: skip
    if wire in simple:
        return simple[wire]
    if origin is Annotated:
        return built(arguments[0])
    if origin is Literal:
        return arguments[0]
    if origin in (Union, UnionType):
        if bare and type(None) in arguments:
            return None
        return built(next(each for each in arguments if each is not type(None)))
    if origin is tuple:
        return [built(each) for each in arguments if each is not ...] if rows or ... not in arguments else []
    if origin is dict:
        return {built(arguments[0]): built(arguments[1])}
    if issubclass(wire, Enum):
        return next(iter(wire)).value
    if issubclass(wire, msgspec.Struct):
        info = msgspec.structs.fields(wire)
        tag = {wire.__struct_config__.tag_field: wire.__struct_config__.tag} if wire.__struct_config__.tag else {}
        hints = typing.get_type_hints(wire, include_extras=True)
        return {**tag, **{each.encode_name: built(hints.get(each.name, each.type)) for each in info}}
    return bytes(32) if wire is Digest else str(wire())


def framed(*said: object) -> bytes:
    stream = io.BytesIO()
    for each in said:
        write_frame(stream, each if isinstance(each, bytes) else encode(each))
    return stream.getvalue()


def frames(data: bytes, most: int) -> Iterator[bytes]:
    """The frames in bytes; raises FormError where they end in the middle of one."""
    stream, end = io.BytesIO(data), 0
    while (frame := read_frame(stream, most)) is not None:
        end = stream.tell()
        yield frame
    if end != len(data):
        raise FormError("it ends in the middle")


def asked(port: Port[Any], most: int, data: bytes) -> Any:
    """Read what a program is told."""
    said: list[object] = []
    for frame in frames(data, most):
        message = decode(frame, Enclosure | Question)
        if isinstance(message, Call):
            port.read(message)
        said.append((type(message).__name__, repr(message)[:1000]))
    return tuple(said)


def answered(port: Port[Any], asks: tuple[Port[Any], ...], most: int, data: bytes) -> Any:
    """Read what a program says; the number of a call says which function it is of."""
    said: list[object] = []
    for message in chain.from_iterable(decode(frame, Delivery) for frame in frames(data, most)):
        if isinstance(message, Call):
            next((each for each in asks if message.name in each.names), port).read(message)
        elif isinstance(message, Raised):
            said.append(repr(message.failure.error))
        else:
            decode(message.value, port.form(port.names[message.number % len(port.names)]).brings)
        said.append((type(message).__name__, message.number))
    return tuple(said)


def _seeds(port: Port[Any], value_of: Callable[[str], object]) -> Iterator[object]:
    for name in port.names:
        try:
            yield value_of(name)
        except (FormError, TypeError, ValueError):  # a value that checks itself, of which nobody has an example
            continue


def spoken() -> Iterator[tuple[str, tuple[bytes, ...], Callable[[bytes], Any]]]:
    """Yield a name, what is said, and what reads it: for each program, what it is told and what it says."""
    for program in PROGRAMS:
        port, asks = program.open_port(), program.open_asks()

        def call(name: str, of: Port[Any] = port) -> Call:
            return Call(1, name, msgspec.Raw(example(of.form(name).arguments)))

        def brought(name: str, of: Port[Any] = port) -> Item | Returned:
            kind = Item if of.form(name).yields else Returned
            return kind(of.names.index(name), msgspec.Raw(example(of.form(name).brings)))

        told = [ENCLOSURE, *_seeds(port, call), Steer(1, cancelled=True, paused=False), Returned(1, None)]
        says = [[each] for each in _seeds(port, brought)]
        says += [[each] for other in asks for each in _seeds(other, partial(call, of=other))]
        assert len(told) > 3, program.name
        assert says, program.name
        yield (
            f"{program.name}, told",
            tuple(framed(*told[at : at + 4]) for at in range(0, len(told), 4)),
            partial(asked, port, program.hears),
        )
        yield (
            f"{program.name}, says",
            tuple(framed(*says[at : at + 4]) for at in range(0, len(says), 4)),
            partial(answered, port, asks, program.says),
        )
