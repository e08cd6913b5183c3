from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, strategies as st

from counterfoil.base.oneline import one_line

BAD = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Handwritten digits, small residual network", "Handwritten digits, small residual network"),
        ("Größe \u00d7 数字 \u05e9\u05dc\u05d5\u05dd", "Größe \u00d7 数字 \u05e9\u05dc\u05d5\u05dd"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\rc\td\x00e\x7f", "a\\x0ab\\x0dc\\x09d\\x00e\\x7f"),
        ("\x9b31mred\x85next", "\\x9b31mred\\x85next"),
        ("abc\u202edcb\u202c", "abc\\u202edcb\\u202c"),
        ("a\u2066b\u2069\u200f\u061c", "a\\u2066b\\u2069\\u200f\\u061c"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("a\u200bb\u200dc\ufeffd\u00ade", "a\\u200bb\\u200dc\\ufeffd\\xade"),
        ("\U000e0041\U000e0042", "\\U000e0041\\U000e0042"),
        ("\ue000\ud800\U0010ffff", "\\ue000\\ud800\\U0010ffff"),
        ("a\u3164b\u115fc\u2800d\ufe0f", "a\\u3164b\\u115fc\\u2800d\\ufe0f"),
        ("a" + "\u0301" * 5, "a\u0301\u0301\\u0301\\u0301\\u0301"),
        ("\u0301a", "\\u0301a"),
        ("a \u2003\u00a0 b", "a b"),
        ("a" + " " * 500 + "VERIFIED", "a VERIFIED"),
        ("", ""),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_seen(text: str, seen: str) -> None:
    assert one_line(text) == seen


def test_long_text_is_cut() -> None:
    assert one_line("x" * 200) == "x" * 200
    assert one_line("x" * 201) == "x" * 199 + "\u2026"
    assert one_line("\x1b" * 100, 10) == "\\x1b\\x1b\u2026"
    assert len(one_line("\u00e9" * 10_000_000)) == 200


@given(text=st.text(st.characters(codec=None), max_size=300), limit=st.integers(8, 400))
def test_nothing_invisible_is_left(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert not {unicodedata.category(character) for character in line} & BAD
    assert line.splitlines() in ([], [line])
    assert "  " not in line
    assert one_line(line, limit) == line


def test_every_character_alone() -> None:
    for code in range(sys.maxunicode + 1):
        line = one_line(chr(code))
        assert 1 <= len(line) <= 10
        assert line.isprintable()
