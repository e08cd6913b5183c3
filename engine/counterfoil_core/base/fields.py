"""Strict access to JSON objects that may come from a stranger: every field typed, none left over."""

from __future__ import annotations

from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say


class Fields:
    """The fields of one JSON object, taken one after the other.

    Args:
        value: The object; anything else is refused.
        what: What it is, for the sentence of an error, for instance ``order's manifest``.
        error: The class of every error raised here.
    """

    def __init__(self, value: Any, what: str, error: type[CounterfoilError]) -> None:
        self._what = what
        self._error = error
        if not isinstance(value, dict):
            raise error(say("The {0} is not a JSON object.", what))
        self._value = dict(value)

    def take(self, key: str, *kinds: type) -> Any:
        """Remove and return a field that must be of one of ``kinds``; True and False are no integers."""
        if key not in self._value:
            raise self._error(say("The {0} lacks the field {1}.", self._what, repr(key)))
        value = self._value.pop(key)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise self._error(say("The field {0} of the {1} should be of type {2}.", repr(key), self._what, names))
        return value

    def has(self, key: str) -> bool:
        """Return whether there is a field of this name that was not taken."""
        return key in self._value

    def integer(self, key: str, low: int, high: int) -> int:
        """Take an integer from ``low`` to ``high``.

        Args:
            key: Its key.
            low: The least that it may be.
            high: The largest, included.

        Raises:
            CounterfoilError: Of the class of the reader: the field is lacking, no integer, or out of this range.
        """
        value = int(self.take(key, int))
        if not low <= value <= high:
            raise self._error(
                say(
                    "The field {0} of the {1} is {2}; it must lie in {3} to {4}.",
                    repr(key),
                    self._what,
                    value,
                    low,
                    high,
                )
            )
        return value

    def text(self, key: str, most: int) -> str:
        """Take a text of at most ``most`` characters."""
        value = str(self.take(key, str))
        if len(value) > most:
            raise self._error(
                say(
                    "The field {0} of the {1} has {2} characters; {3} are allowed.",
                    repr(key),
                    self._what,
                    len(value),
                    most,
                )
            )
        return value

    def digest(self, key: str) -> Digest:
        """Take a SHA-256 digest written as 64 lower-case hexadecimal digits."""
        return self.as_digest(self.take(key, str), say("field {0} of the {1}", repr(key), self._what))

    def as_digest(self, text: object, what: str) -> Digest:
        """Read the text of a digest that stands somewhere inside a field; ``text`` may be any JSON value."""
        try:
            return Digest.from_hex(text)
        except ValueError as error:
            raise self._error(say("The {0} is not a SHA-256 digest.", what)) from error

    def end(self) -> None:
        """Refuse what nobody took."""
        if self._value:
            raise self._error(say("The {0} has the unknown field {1}.", self._what, quote(min(self._value))))
