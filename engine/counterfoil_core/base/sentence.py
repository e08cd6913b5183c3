"""Sentences that people read, with what they were made of, so that they can be said in another language.

A sentence of the engine is English, and that is what a verdict signs. The window shows it in the language of its
reader: it looks up the template, and fills its translation with the same values. So a sentence is made by
``say("Step {0} of {1} differs.", step, steps)`` and not by an f-string, which forgets its parts. It is a string like
any other: equal to its text, hashed and signed as it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NoReturn

Value = int | float | str
"""What stands in a place of a template: a number, a text, or a :class:`Sentence`."""
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<place>\d{1,2})(?::(?P<form>[^{}]*))?\}|[{}]")
CAPITAL = "capital"
_FORM = re.compile(rf",?(?:\.\d{{1,2}})?[dfgx%]?|{CAPITAL}")


class Sentence(str):
    """A text, and the template and the values that it was made from. Cannot be changed.

    Args:
        template: English with ``{0}``, ``{1}`` for the values; one for a number may give its form, as in ``{0:,}``
            or ``{0:.3g}``, and ``{0:capital}`` begins with a capital. Braces of the text are doubled.
        values: Numbers, strings, and other sentences.

    Raises:
        TypeError: A value is of another type.
        ValueError: The template names a place without a value, or a form that no number has.
    """

    __slots__ = ("template", "values")
    template: str
    values: tuple[Value, ...]

    def __new__(cls, template: str, values: tuple[Value, ...] = ()) -> Sentence:
        """Fill the template; the values are kept as they are."""
        if type(template) is not str or any(type(value) not in (int, float, str, Sentence) for value in values):
            raise TypeError("a sentence is made of a template and of numbers, strings and sentences")
        made = super().__new__(cls, fill(template, values))
        object.__setattr__(made, "template", template)
        object.__setattr__(made, "values", tuple(values))
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a sentence cannot be changed")

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, tuple[Value, ...]]]:
        return Sentence, (self.template, self.values)


def say(template: str, *values: object) -> Sentence:
    """Make a sentence; a value that is no number and no text is taken as an f-string would take it."""
    return Sentence(template, tuple(map(_value, values)))


def joined(*parts: str, between: str = " ") -> Sentence:
    """Put texts in a row, those that are empty left out; each keeps what it was made of."""
    kept = tuple(part for part in parts if part)
    return Sentence(between.join(f"{{{place}}}" for place in range(len(kept))), tuple(map(_text, kept)))


def enumeration(parts: Sequence[str]) -> Sentence:
    """Name one thing or several, as in ``state, loss and log``; there is at least one."""
    *before, last = parts
    return say("{0} and {1}", joined(*before, between=", "), last) if before else joined(last)


def pack_sentence(value: Value) -> Value | list[Any]:
    """Return a sentence as lists of numbers and strings, for a file or a pipe; any other value as it is."""
    return [value.template, *map(pack_sentence, value.values)] if isinstance(value, Sentence) else value


def unpack_sentence(value: Any) -> Value:
    """Return what :func:`pack_sentence` took apart.

    Raises:
        TypeError: It holds something else than lists, numbers and strings.
        ValueError: A template does not fit its values, or a list is empty.
    """
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    template, *values = value
    return Sentence(template, tuple(map(unpack_sentence, values)))


def fill(template: str, values: tuple[Value, ...], show: Callable[[Value, str], str] = format) -> str:
    """Put values into the places of a template.

    Nothing of a value's is looked at but its text, and no form makes it longer than a number is, so that a template
    of a stranger's does no harm.

    Args:
        template: As in :class:`Sentence`, in any language.
        values: The values.
        show: Writes a value in a form, which is empty unless the template gives one; by default as Python does.

    Raises:
        ValueError: The template names a place without a value, or a form that no number has.
    """

    def piece(match: re.Match[str]) -> str:
        if match["place"] is None:
            if len(match[0]) == 2:
                return match[0][0]
            raise ValueError(f"a single brace in the template {template!r}")
        place, form = int(match["place"]), match["form"] or ""
        if place >= len(values) or not _FORM.fullmatch(form):
            raise ValueError(f"the template {template!r} does not fit {len(values)} values")
        if form == CAPITAL:
            text = show(values[place], "")
            return text[:1].upper() + text[1:]
        return show(values[place], form)

    return _PIECE.sub(piece, template)


def _value(value: Any) -> Value:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, float) else _text(value)


def _text(value: Any) -> str:
    if type(value) in (str, Sentence):
        return value  # type: ignore[no-any-return]
    text = format(value, "")  # what an f-string does, and the text of an error of ours is a sentence
    if isinstance(value, Exception) and value.args and value.args[0] == text and type(value.args[0]) is Sentence:
        return value.args[0]  # an error of Python's own gives its sentence away as a plain text
    return text if type(text) in (str, Sentence) else str(text)
