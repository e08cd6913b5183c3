"""Lies about one value, of a JSON document or of an array: what it is changed to; none leaves it as it is."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Path = tuple[str | int, ...]
"""Where a value stands in a JSON document."""
_WORDS: tuple[Any, ...] = (
    *(None, True, False, [], {}, "", "0", "a", "0" * 64, "f" * 64, 0, 1, -1, 2, 255, 2**31, 2**53 - 1, 2**63, 2**64),
    *("client", "bundle", "VERIFIED", "DISPUTED", "passed", "replay", "trainer", "all", "listed", "random", "cpu"),
    *("0x1p+0", "nan", "inf", "float32", "2020-01-01T00:00:00Z", "state", "loss", "aten.relu.default"),
)


def json_paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """Every place in a JSON document but the whole, lists and objects before what is in them."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*here, key)
        yield from json_paths(item, (*here, key))


def field_name(path: Path) -> str:
    """A place as a field's name: numbers of elements, digests and names that a file chose are left out."""
    return ".".join("[]" if isinstance(part, int) else part for part in path).replace(".[]", "[]")


def value_at(document: Any, path: Path) -> Any:
    """What stands at a place."""
    for key in path:
        document = document[key]
    return document


def lie_in_json(document: Any, path: Path, chance: random.Random, twin: Any = None) -> Any:
    """Return the document with another value at a place: a likely one, any other, the twin's, or none at all.

    Args:
        document: The document; it stays as it is.
        path: The place.
        chance: Decides.
        twin: A document of the same form, say of the honest run beside a cheat's.
    """
    changed = copy.deepcopy(document)
    holder = value_at(changed, path[:-1])
    old = holder[path[-1]]
    for _ in range(20):
        kind = chance.randrange(8)
        if kind == 0:
            del holder[path[-1]]
            return changed
        if kind <= 2 and twin is not None:
            try:
                new = copy.deepcopy(value_at(twin, path))
            except (LookupError, TypeError):
                continue
        elif kind <= 5:
            new = _similar(old, chance)
        else:
            new = copy.deepcopy(chance.choice(_WORDS))
        if type(new) is not type(old) or new != old:
            holder[path[-1]] = new
            return changed
    del holder[path[-1]]
    return changed


def _similar(value: Any, chance: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((1, -1, 2, -value, value, 10**6))
    if isinstance(value, str) and value.isdigit():
        return str(int(value) + chance.choice((1, 2, 1000)))
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice("0123456789abcdef") + value[at + 1 :]
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return chance.choice(
            (value[:at] + value[at + 1 :], value[: at + 1] + value[at:], value[::-1], [value[at]] * len(value))
        )
    if isinstance(value, dict) and value:
        gone = chance.choice(sorted(value))
        return {name: item for name, item in value.items() if name != gone}
    return chance.choice(_WORDS)


def lie_in_array(array: Array, chance: random.Random, twin: Array | None = None) -> Array:
    """Return an array of the same form with another value in it: a bit, a number, a row of the twin's or of its own."""
    changed = np.array(array, order="C")
    flat = changed.reshape(-1)
    if not flat.size:
        return changed
    for _ in range(20):
        kind, at = chance.randrange(7), chance.randrange(flat.size)
        if kind <= 1:
            width = flat.dtype.itemsize
            flat.view(np.uint8).reshape(-1, width)[at, chance.randrange(width)] ^= np.uint8(1 << chance.randrange(8))
        elif kind == 2:
            flat[at] = 0
        elif kind == 3 and flat.dtype.kind == "f":
            flat[at] = chance.choice((np.nan, np.inf, -np.inf, -flat[at], np.nextafter(flat[at], flat.dtype.type(9))))
        elif kind == 3:
            flat[at] = flat[at - 1]
        elif kind == 4 and changed.ndim and len(changed) > 1:
            one, other = chance.sample(range(len(changed)), 2)
            changed[[one, other]] = changed[[other, one]]
        elif kind == 5 and twin is not None and twin.shape == changed.shape and changed.ndim:
            row = chance.randrange(len(changed))
            changed[row] = twin[row]
        elif kind == 6 and twin is not None and twin.shape == changed.shape:
            changed = np.array(twin, order="C")
            flat = changed.reshape(-1)
        if changed.tobytes() != array.tobytes():
            return changed
    flat.view(np.uint8)[0] ^= np.uint8(1)
    return changed


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two documents are equal, types included."""
    return repr(one) == repr(other)
