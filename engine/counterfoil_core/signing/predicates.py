"""What the predicates of several statements have in common: a time, and words of whoever signs."""

from __future__ import annotations

from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import read_timestamp

MAX_TEXT = 20_000
"""Characters of a text that somebody signs."""
MAX_BYTES = 2**18
"""Bytes of the file of a statement with such a text; its characters have at most four bytes each, in base64."""


def take_time(fields: Fields, name: str, what: str) -> str:
    """Take a field that is a time.

    Args:
        fields: The fields of the predicate.
        name: Name of the field.
        what: What the statement is, for the sentence of an error.

    Raises:
        SignatureError: It is none.
    """
    try:
        text: str = fields.take(name, str)
        read_timestamp(text)
    except ValueError as error:
        raise SignatureError(say("The field {0} of the {1} is not a time.", repr(name), what)) from error
    return text


def check_text(text: str, what: str) -> str:
    """Return a text if it may be signed, or was; raises SignatureError where it is empty or longer than ``MAX_TEXT``.

    Args:
        text: The text.
        what: What the statement is, for the sentence of an error.
    """
    if not 1 <= len(text) <= MAX_TEXT or not text.strip():
        raise SignatureError(say("The text of the {0} must have 1 to {1} characters.", what, MAX_TEXT))
    return text
