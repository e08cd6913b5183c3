"""Text of strangers, made fit to be shown: one line, and nothing in it that moves, hides or turns what is around it.

A title or the name of a tensor comes out of a file that may be hostile. Shown as it is, it could move a terminal's
cursor, begin a line that looks like ours, or turn the direction of the text behind it. What is not plainly visible is
shown as its code instead; what a file says is not changed by this, only how it looks.
"""

from __future__ import annotations

import string

LINE_CHARACTERS = 200
"""Longest text of a stranger's that is shown, unless told otherwise."""
QUOTED_CHARACTERS = 60
"""Longest text of a stranger's within a sentence that is signed."""
ELLIPSIS = "\u2026"

_NAME_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_.:/[]-")


def spell(text: str, limit: int = LINE_CHARACTERS) -> str:
    r"""Return a name of a stranger's for a sentence that somebody else signs: it cannot be read as words of theirs.

    What is no letter, digit or sign of a name, a space too, becomes its code, as in ``conv\x20one``.

    Args:
        text: Any text.
        limit: The longest result in characters; a longer one is cut and ends in an ellipsis.
    """
    shown = "".join(
        character if character in _NAME_CHARACTERS else code_of(character) for character in text[: limit + 1]
    )
    return shown if len(shown) <= limit else cut(shown, limit)


def quote(text: str, limit: int = QUOTED_CHARACTERS) -> str:
    """Return a text of a stranger's as :func:`spell`, in quotes."""
    return f"'{spell(text, limit)}'"


def cut(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; one that is longer ends in an ellipsis."""
    return text[: limit - 1] + ELLIPSIS


def code_of(character: str) -> str:
    """Return a character as an escape of its code: 2, 4 or 8 hexadecimal digits."""
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
