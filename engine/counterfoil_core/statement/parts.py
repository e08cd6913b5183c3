"""What the auditor's sentences were made of, as it stands beside them in a statement: template and values.

A reader says a sentence in another language by its template. The English text is what was signed and what counts, so
the parts must give it again, letter by letter. What a stranger signed may be made to take endless memory: it is bounded
by the text that it must give. Pure.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET, UnsetType

from counterfoil_core.base.canonical import MAX_EXACT_INTEGER
from counterfoil_core.base.sentence import Sentence, Value, fill
from counterfoil_core.statement.model import MAX_SENTENCE, Number

Parts = tuple[Any, ...] | UnsetType
MAX_NESTED = 16
"""Most sentences inside each other."""
_PLACE = re.compile(r"\{(\d{1,2})[:}]")
_INTEGER = re.compile(r"-?[1-9][0-9]{0,4299}")


def parts_of(text: str) -> Parts:
    """Return what a sentence was made of, as JSON values; UNSET for a text that is none, or cannot be made again."""
    if not isinstance(text, Sentence):
        return UNSET
    parts = tuple(_written(text))
    try:
        same = sentence_of(text, parts) == text
    except ValueError:
        same = False
    return parts if same else UNSET


def sentence_of(text: str, parts: Parts) -> str:
    """Return the text with what it was made of; the text alone where nothing stands beside it.

    Args:
        text: What was signed.
        parts: A template and its values; may be junk.

    Raises:
        ValueError: They are no parts of a sentence, or give another text.
    """
    if isinstance(parts, UnsetType):
        return text
    made = _together(list(parts), len(text), 0)
    if made != text:
        raise ValueError("the template and the values give another text")
    return made


def shown_as(text: str, parts: Parts) -> str:
    """The same of a statement that was judged before; of one whose texts were changed to be shown, the text alone."""
    try:
        return sentence_of(text, parts)
    except ValueError:
        return text


def _written(sentence: Sentence) -> list[Any]:
    return [sentence.template, *map(_value_written, sentence.values)]


def _value_written(value: Value) -> Any:
    if isinstance(value, Sentence):
        return _written(value)
    if isinstance(value, float):
        number = Number.of(value)
        return {"hex": number.hex, "decimal": number.decimal}
    if isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER:
        return {"integer": str(value)}
    return value


def _together(parts: Any, most: int, depth: int) -> Sentence:
    """Put a sentence together that is no longer than another text; raises ValueError where it would be."""
    if not isinstance(parts, list) or not parts or depth > MAX_NESTED or type(parts[0]) is not str:
        raise ValueError("no template, and what stands in its places")
    template, *given = parts
    named = {int(place) for place in _PLACE.findall(template)}
    if named != set(range(len(given))) or len(template) > MAX_SENTENCE:
        raise ValueError("a template that does not name each of its values")
    left = most
    values: list[Value] = []
    for one in given:  # each stands in the text, so that all together are no longer than it
        value = _together(one, left, depth + 1) if isinstance(one, list) else _value(one)
        left -= len(value) if isinstance(value, str) else 1
        if left < 0:
            raise ValueError("longer than the text")
        values.append(value)
    room = _Room(most)
    fill(template, tuple(values), room.show)  # stops before it is too long
    return Sentence(template, tuple(values))


class _Room:
    """How long what stands in a template may still be."""

    def __init__(self, most: int) -> None:
        self._left = most

    def show(self, value: Value, form: str) -> str:
        """Write a value; raises ValueError where all of them are longer than is allowed."""
        text = format(value, form)
        self._left -= len(text)
        if self._left < 0:
            raise ValueError("longer than the text")
        return text


def _value(value: Any) -> Value:
    if type(value) in (str, int):
        found: Value = value
        return found
    if isinstance(value, dict) and value.keys() == {"integer"}:
        digits = value["integer"]
        if isinstance(digits, str) and _INTEGER.fullmatch(digits):
            return int(digits)
    if isinstance(value, dict) and value.keys() == {"hex", "decimal"} and {*map(type, value.values())} == {str}:
        return Number(value["hex"], value["decimal"]).value
    raise ValueError("a value that is neither a text nor a number nor a sentence")
