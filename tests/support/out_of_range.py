"""Every number of a message in its turn, in the place of which one stands that no honest program writes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

INTEGERS = (2**63, -1, 2**64 - 1, -(2**63), 2**63 - 1, 2**53 + 1, 2**31)
"""What MessagePack can hold and int64, a float64 or an index cannot."""
FLOATS = (math.nan, math.inf, -math.inf, 1e308, -1.0)
Path = tuple[str | int, ...]


def spoilt_numbers(value: Any, *, each: bool) -> Iterator[tuple[str, Any]]:
    """Yield where a number was replaced, and the whole value with it.

    Args:
        value: Maps, lists, texts and numbers, as they are decoded.
        each: Whether each such number is put into each place; else one of them, another one in the next place.
    """
    seen: dict[Path, int] = {}
    turn = 0
    for where, old in _numbers(value):
        alike = tuple(part if isinstance(part, str) else 0 for part in where)
        seen[alike] = seen.get(alike, 0) + 1
        if seen[alike] > 2:  # further steps, sites and tensors are like the first two
            continue
        news = INTEGERS if isinstance(old, int) else FLOATS
        turn += 1
        for new in news if each else (news[turn % len(news)],):
            yield f"{'.'.join(map(str, where))} = {new}", _put(value, where, new)


def _numbers(value: Any, path: Path = ()) -> Iterator[tuple[Path, int | float]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _numbers(inner, (*path, name))
        case list():
            for place, inner in enumerate(value):
                yield from _numbers(inner, (*path, place))
        case int() | float() if not isinstance(value, bool):
            yield path, value


def _put(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    if isinstance(value, dict):
        return value | {first: _put(value[first], tuple(rest), new)}
    return [_put(inner, tuple(rest), new) if place == first else inner for place, inner in enumerate(value)]
