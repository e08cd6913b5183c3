"""A stranger's text as one line of plain characters, for a terminal."""

from __future__ import annotations

import unicodedata

from counterfoil_core.base.plaintext import LINE_CHARACTERS, code_of, cut

SENTENCE_CHARACTERS = 4000
"""Longest sentence of ours; it may quote several texts of strangers."""


MAX_MARKS = 2
"""Most combining marks on one character: enough for languages, too few to smear over other lines."""


_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Controls, formats (bidirectional marks, zero widths, tags), unassigned, private, surrogates, line ends."""


_MARKS = frozenset({"Mn", "Me"})


_INVISIBLE_RANGES = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0x1D159, 0x1D159), (0xE0100, 0xE01EF),
)  # fmt: skip
"""Letters and marks that are drawn as nothing (Unicode's Default_Ignorable_Code_Point), and the empty Braille cell."""


def one_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    r"""Return a text as one line of visible characters.

    Controls, bidirectional marks, line ends, invisible and unassigned characters become ``\x1b``, ``\u202e`` or
    ``\U000e0041``; several spaces, of whatever kind, become one, so that they push nothing onto a line of its own; of
    many combining marks on one character the first two stay.

    Args:
        text: Any text; lone surrogates, as in the name of a file that is not UTF-8, are allowed.
        limit: The longest result in characters; a longer one is cut and ends in an ellipsis.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text if len(text) <= limit else cut(text, limit)
    pieces: list[str] = []
    length = marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in _MARKS else 0
        # A mark at the very beginning would sit on a character of ours.
        if category in _HIDDEN_CATEGORIES or marks > MAX_MARKS or (marks and not pieces) or _invisible(character):
            piece = code_of(character)
        elif category == "Zs":
            if pieces and pieces[-1] == " ":
                continue
            piece = " "
        else:
            piece = character
        if length + len(piece) > limit:
            return cut("".join(pieces), limit)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def _invisible(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in _INVISIBLE_RANGES)
