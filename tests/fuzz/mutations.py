"""Changes to bytes, JSON and signed envelopes, by somebody who knows the structure of what is changed."""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Callable, MutableMapping, MutableSequence
from typing import Any

from securesystemslib.dsse import Envelope

from counterfoil_core.base import canonical
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import PAYLOAD_TYPE

_NUMBERS = (0, 1, 2, 7, 8, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], [None], {"": None}, "", " ", "a", "0", "-1", "é", "x" * 10_000),
    *("0" * 64, "g" * 64, "A" * 64, "0x1p+0", "0x1p+99999", "inf", "nan", "-0x0p+0", "1e5", "float32", "complex64"),
    *("..", "/", "a/b", "\0", "\x1b[31m", "\x9b", "\u202e", "\u2028", "\r\n", "\ud800", "ﷺ" * 50, "true", "null"),
    *("aten.exp.default", "aten.set_.default", "counterfoil.uniform", "2026-01-01T00:00:00Z", "9999-99-99T99:99:99Z"),
    *(0, 1, -1, 2, 60, 255, 2**31, -(2**31), 2**53 - 1, 2**53, 2**63, 2**64, -(2**63), 10**400),
    *(0.0, 0.5, -0.0, 1e308),
)


def spoil_bytes(data: bytes, chance: random.Random) -> bytes:
    """Change bytes in one to three places: bits, numbers, pieces left out, doubled, moved or put in, or an end."""
    spoiled = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(spoiled) + 1)
        length = min(chance.choice((1, 1, 2, 4, 8, 64, 1000)), len(spoiled) - at)
        kind = chance.randrange(8)
        if kind <= 1 and at < len(spoiled):
            spoiled[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            width = chance.choice((1, 2, 4, 8))
            number = chance.choice(_NUMBERS) % 2 ** (8 * width)
            spoiled[at : at + width] = number.to_bytes(width, chance.choice(("little", "big")))
        elif kind == 3:
            del spoiled[at : at + length]
        elif kind == 4:
            other = chance.randrange(len(spoiled) + 1)
            spoiled[at:at] = spoiled[other : other + length]
        elif kind == 5:
            spoiled[at : at + length] = chance.randbytes(length)
        elif kind == 6:
            piece = bytes(spoiled[at : at + length]) or b"["
            spoiled[at:at] = piece * chance.choice((2, 10, 1000, 100_000 // len(piece)))
        else:
            del spoiled[at:]
    return bytes(spoiled)


def spoil_value(value: Any, chance: random.Random) -> Any:
    """Change a JSON value in one to three places: a value replaced, left out, doubled, swapped, nested or renamed."""
    holder = [copy.deepcopy(value)]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        parent, key = chance.choice(_places(holder))
        kind = chance.randrange(9)
        if kind <= 3:
            parent[key] = copy.deepcopy(chance.choice(_VALUES))
        elif kind == 4:
            parent[key] = _similar(parent[key], chance)
        elif kind == 5 and parent is not holder:
            del parent[key]
        elif kind == 6:
            if isinstance(parent, MutableSequence) and parent is not holder:
                parent.extend(parent[key : key + 1] * chance.choice((1, 1, 2, 1000)))
            elif isinstance(parent, MutableMapping):
                parent[chance.choice((f"{key} ", "x", "", "_type", "__class__"))] = copy.deepcopy(parent[key])
        elif kind == 7:
            other, place = chance.choice(_places(holder))
            # Copies, so that no value comes to hold itself.
            parent[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(parent[key])
        else:
            for _ in range(chance.choice((1, 2, 70))):
                parent[key] = [parent[key]] if chance.random() < 0.5 else {"a": parent[key]}
    return holder[0]


def _places(holder: list[Any]) -> list[tuple[Any, Any]]:
    """Every value in it, as where it lies."""
    found: list[tuple[Any, Any]] = [(holder, 0)]
    for parent, key in found:
        value = parent[key]
        if isinstance(value, dict):
            found.extend((value, name) for name in value)
        elif isinstance(value, list):
            found.extend((value, number) for number in range(len(value)))
    return found


def _similar(value: Any, chance: random.Random) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice(
            (
                value + 1,
                value - 1,
                -value,
                value * 2,
                value * 2**31,
                str(value),
                value / 2 if abs(value) < 2**60 else 0.5,
            )
        )
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(("", value[at] * 2, "0", "\0", value[at].swapcase())) + value[at + 1 :]
    if isinstance(value, list):
        return chance.choice((value[::-1], value[1:], value * 2))
    if isinstance(value, dict):
        return dict(list(value.items())[1:])
    return 0


def write_json(value: Any, chance: random.Random) -> bytes:
    """In canonical form if it has one, and now and then in another."""
    if chance.random() < 0.9:
        try:
            return canonical.encode(value)
        except canonical.CanonicalError:
            pass  # a float, a lone surrogate: written as Python does
    return json.dumps(value, indent=chance.choice((None, None, 1))).encode()


def spoil_json(data: bytes, chance: random.Random) -> bytes:
    """Change JSON bytes: mostly what they say, else the bytes."""
    if chance.random() < 0.2:
        return spoil_bytes(data, chance)
    return write_json(spoil_value(json.loads(data), chance), chance)


def spoil_envelope(key: SigningKey | None) -> Callable[[bytes, random.Random], bytes]:
    """Changes to a DSSE envelope: its bytes, its fields, or what it says, which ``key`` then signs if there is one."""

    def spoil(data: bytes, chance: random.Random) -> bytes:
        kind = chance.random()
        if kind < 0.15:
            return spoil_bytes(data, chance)
        if kind < 0.35:
            return spoil_json(data, chance)
        envelope = json.loads(data)
        payload = spoil_json(base64.b64decode(envelope["payload"]), chance)
        if key is None:
            envelope["payload"] = base64.b64encode(payload).decode()
            return json.dumps(envelope).encode()
        signed = Envelope(payload, PAYLOAD_TYPE, {})
        signed.sign(key._signer)
        return json.dumps(signed.to_dict()).encode()

    return spoil


def spoil_lines(spoil: Callable[[bytes, random.Random], bytes]) -> Callable[[bytes, random.Random], bytes]:
    """Changes to a file of lines: one of them, or which there are and in what order."""

    def change(data: bytes, chance: random.Random) -> bytes:
        lines = data.splitlines(keepends=True)
        at = chance.randrange(len(lines))
        kind = chance.randrange(6)
        if kind <= 2:
            lines[at] = spoil(lines[at].rstrip(b"\n"), chance) + b"\n"
        elif kind == 3:
            lines.insert(chance.randrange(len(lines)), lines.pop(at))
        elif kind == 4:
            lines[at:at] = chance.choice(([lines[at]], [b"\n"], [b"\n" * 100_000], lines))
        else:
            return spoil_bytes(data, chance)
        return b"".join(lines)

    return change


def spoil_pem(data: bytes, chance: random.Random) -> bytes:
    """Change a PEM file: its text, or the DER in it, written in PEM again."""
    if chance.random() < 0.3:
        return spoil_bytes(data, chance)
    first, *middle, last = data.splitlines()
    der = spoil_bytes(base64.b64decode(b"".join(middle)), chance)
    text = base64.b64encode(der)
    return b"\n".join([first, *(text[start : start + 64] for start in range(0, len(text), 64)), last]) + b"\n"
