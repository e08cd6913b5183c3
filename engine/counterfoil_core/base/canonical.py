"""Canonical JSON: one byte string for one value, so that it can be hashed and signed.

Keys sorted, no spaces, UTF-8, no floats. A float would be printed differently by other languages, and integers
beyond 2^53 are changed by some JSON readers: write floats with :func:`float_text` and such integers as strings.

JSON of a stranger is measured before it is parsed: a value takes up to a hundred times the memory of its two bytes.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say

MAX_EXACT_INTEGER = 2**53 - 1
"""Largest integer that every JSON reader keeps (RFC 8259, section 6)."""
MAX_DEPTH = 64
"""Levels of lists and objects inside each other."""
MAX_VALUES = 2_000_000
"""Values in one text of JSON, unless the caller allows more: what is parsed takes about 100 bytes for each."""
MAX_BYTES = 32 * 2**20
"""Bytes of one text of JSON, unless the caller allows more."""
MAX_WIDE_BYTES = 8 * 2**20
"""Bytes of one that holds characters beyond ASCII, which may take four bytes each in memory."""
# Possessive: without a way back, a string of any length takes no memory to match. One without an end goes to the end:
# else it would be sought again from every quote in it.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BLANK = re.compile(rb"[ \t\n\r]")
_LIKE_LISTS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class CanonicalError(CounterfoilError):
    """A value has no canonical form, or bytes are not in canonical form."""


def float_text(value: float) -> str:
    """Return the hexadecimal form of a float64, which is exact and the same in every language (C99 ``%a``)."""
    return float(value).hex()


def _check(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if value is None or isinstance(value, (bool, str)):
        return
    if isinstance(value, int):
        if abs(value) > MAX_EXACT_INTEGER:
            raise _too_wide(value)
        return
    if isinstance(value, (list, tuple)):
        for item in value:
            _check(item, depth + 1)
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise CanonicalError(say("The key {0} of a JSON object is not a string.", repr(key)))
            _check(item, depth + 1)
        return
    raise CanonicalError(say("A value of type {0} has no canonical JSON form.", type(value).__name__))


def _too_deep() -> CanonicalError:
    return CanonicalError(
        say("A JSON value is nested more than {0} levels deep, or its brackets do not match.", MAX_DEPTH)
    )


def _too_wide(value: int) -> CanonicalError:
    return CanonicalError(say("The integer {0} does not fit a JSON number; write it as a string.", value))


def encode(value: Any) -> bytes:
    """Encode a JSON value as canonical bytes.

    Raises:
        CanonicalError: The value holds a float, an integer beyond 2^53 - 1, a key that is no string, or a lone
            surrogate.
    """
    _check(value)
    return _written(value)


def _written(value: Any) -> bytes:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise CanonicalError(say("A text holds a character that has no UTF-8 form.")) from error


@contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage be looked for: among millions of new values without a cycle that takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def decode(
    data: bytes,
    *,
    max_values: int = MAX_VALUES,
    max_bytes: int = MAX_BYTES,
    between: Callable[[], None] | None = None,
) -> Any:
    """Decode bytes that must be in canonical form.

    Args:
        data: What a stranger wrote.
        max_values: How many values it may hold, keys included.
        max_bytes: How long it may be.
        between: Called between parts of the work, none of which takes more than a second; may raise.

    Raises:
        CanonicalError: The bytes are not JSON, or not the canonical form of what they say, or more than is read.
    """
    if _BLANK.search(_measured(data, max_values, max_bytes)):
        raise CanonicalError(say("A JSON record is not in canonical form: it has space between its values."))
    if between is not None:
        between()
    value = _loaded(data, parse_int=_exact, parse_float=_no_float, parse_constant=_no_float)
    if between is not None:
        between()
    if _written(value) != data:
        raise CanonicalError(say("A JSON record is not in canonical form."))
    return value


def parse(data: bytes) -> Any:
    """Decode JSON of any form, where a standard allows any: space and floats may be in it; no key may stand twice.

    Raises:
        CanonicalError: The bytes are not JSON, or more than is read.
    """
    _measured(data, MAX_VALUES, MAX_BYTES)
    return _loaded(data, object_pairs_hook=_object)


def _measured(data: bytes, max_values: int, max_bytes: int) -> bytes:
    """Measure JSON without parsing it, and return it without its strings; raises CanonicalError when it is too much."""
    limit = max_bytes if data.isascii() else min(max_bytes, MAX_WIDE_BYTES)
    if len(data) > limit:
        raise CanonicalError(say("A JSON record has {0} bytes; {1} are read.", len(data), limit))
    # Cheap counts first: finding the strings keeps a piece of bytes for each.
    if data.count(b'"') > 2 * max_values:
        raise _too_many(max_values)
    bare = _STRING.sub(b"", data)
    # Every value but the first stands behind one of these; so does every key.
    if sum(bare.count(sign) for sign in (b",", b"[", b"{", b":")) > max_values:
        raise _too_many(max_values)
    _check_depth(bare)
    return bare


def _too_many(limit: int) -> CanonicalError:
    return CanonicalError(say("A JSON record holds more than {0} values, which is more than is read.", limit))


def _check_depth(bare: bytes) -> None:
    signs = bare.translate(_LIKE_LISTS, _NO_BRACKETS)
    # The innermost pairs go at once, so that every pass takes one level away.
    for _ in range(MAX_DEPTH):
        if not signs:
            return
        signs = signs.replace(b"[]", b"")
    if signs:
        raise _too_deep()


def _loaded(data: bytes, **hooks: Any) -> Any:
    """Parse UTF-8, without a byte order mark (RFC 8259, section 8.1): what was measured is what is read.

    Python's reader guesses other encodings of bytes, in which quotes and brackets look otherwise.
    """
    try:
        with without_collection():
            return json.loads(data.decode(), **hooks)
    except (ValueError, RecursionError) as error:
        raise CanonicalError(say("A record is not JSON."), detail=str(error)) from error


def _exact(text: str) -> int:
    value = int(text)
    if abs(value) > MAX_EXACT_INTEGER:
        raise _too_wide(value)
    return value


def _no_float(text: str) -> Any:
    raise CanonicalError(
        say("The number {0} of a JSON record is not an integer, and canonical JSON has no other numbers.", text[:40])
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CanonicalError(say("A JSON object has the same key twice."))
    return found
