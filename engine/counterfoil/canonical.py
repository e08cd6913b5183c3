"""Canonical JSON: one byte string for one value, so that it can be hashed and signed.

Keys sorted, no spaces, UTF-8, no floats. A float would be printed differently by other languages, and integers
beyond 2^53 are changed by some JSON readers: write floats with :func:`float_text` and such integers as strings.
"""

from __future__ import annotations

import json
from typing import Any

from counterfoil.errors import CounterfoilError

MAX_EXACT_INTEGER = 2**53 - 1
"""Largest integer that every JSON reader keeps (RFC 8259, section 6)."""


class CanonicalError(CounterfoilError):
    """A value has no canonical form, or bytes are not in canonical form."""


def float_text(value: float) -> str:
    """Return the hexadecimal form of a float64, which is exact and the same in every language (C99 ``%a``)."""
    return float(value).hex()


def _check(value: Any, depth: int = 0) -> None:
    if depth > 64:
        raise CanonicalError("A JSON value is nested more than 64 levels deep.")
    if value is None or isinstance(value, (bool, str)):
        return
    if isinstance(value, int):
        if abs(value) > MAX_EXACT_INTEGER:
            raise CanonicalError(f"The integer {value} does not fit a JSON number; write it as a string.")
        return
    if isinstance(value, (list, tuple)):
        for item in value:
            _check(item, depth + 1)
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise CanonicalError(f"The key {key!r} of a JSON object is not a string.")
            _check(item, depth + 1)
        return
    raise CanonicalError(f"A value of type {type(value).__name__} has no canonical JSON form.")


def encode(value: Any) -> bytes:
    """Encode a JSON value as canonical bytes.

    Raises:
        CanonicalError: The value holds a float, an integer beyond 2^53 - 1, a key that is no string, or a lone
            surrogate.
    """
    _check(value)
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise CanonicalError("A text holds a character that has no UTF-8 form.") from error


def decode(data: bytes) -> Any:
    """Decode bytes that must be in canonical form.

    Raises:
        CanonicalError: The bytes are not JSON, or not the canonical form of what they say.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CanonicalError("A record is not JSON.", detail=str(error)) from error
    if encode(value) != data:
        raise CanonicalError("A JSON record is not in canonical form.")
    return value
