"""What the engine says, in the language of the window.

The engine speaks English, and that is what a verdict signs. Its sentences know what they were made of, so the window
looks up the template in the catalogue and fills the translation with the same values. A text that is no such sentence,
for instance one that was read out of a signed verdict, is shown as it is.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication, QLocale

from counterfoil_app.engine import strangers
from counterfoil_app.engine.worker import Failure
from counterfoil_core.base.sentence import Sentence, Value, fill, joined

CONTEXT = "engine"
_PLACES = re.compile(r"\{[^{}]*\}")
_WORDS = re.compile(r"[^\W\d_]")
_FORM = re.compile(r",?(\.(?P<digits>\d+))?(?P<kind>[fg]?)")
_WIDE = 2**63
"""Integers from here on are no integers of Qt's."""
_AS_MANY_AS_NEEDED = QLocale.FloatingPointPrecisionOption.FloatingPointShortest.value


def failure_text(failure: Failure) -> str:
    """A failure's sentence and remedy in the language of the window."""
    return translate(joined(failure.sentence, failure.remedy))


def translate(sentence: str) -> str:
    """A text of the engine in the language of the window, with numbers as that language writes them.

    It may quote a stranger's file: the result is one line of visible characters.
    """
    return strangers.sentence(_show(strangers.sentence(sentence), ""))


def _show(value: Value, form: str) -> str:
    if isinstance(value, Sentence):
        said = QCoreApplication.translate(CONTEXT, value.template)
        # One that no catalogue knows, as another version may have signed, stays as it is, its numbers too.
        unknown = said == value.template and _WORDS.search(_PLACES.sub("", said)) and QLocale().name()[:2] != "en"
        return str(value) if unknown else fill(said, value.values, _show)
    return value if isinstance(value, str) else _number(value, form)


def _number(value: int | float, form: str) -> str:
    match = _FORM.fullmatch(form)
    if match is None or (isinstance(value, int) and abs(value) >= _WIDE):
        return format(value, form)
    if isinstance(value, int):
        return QLocale().toString(value)
    digits = int(match["digits"]) if match["digits"] else _AS_MANY_AS_NEEDED
    return QLocale().toString(value, match["kind"] or "g", digits)
