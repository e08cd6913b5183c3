"""What the engine says, in the language of the window.

The engine speaks English, and that is what a verdict signs: English sentences with values in them. The window finds
the template that a sentence was made from and fills its translation with the same values. A sentence that no template
fits is shown as it is. The templates are collected from the engine's source by ``make translations``.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources

from PySide6.QtCore import QCoreApplication

from counterfoil_app.engine import strangers
from counterfoil_app.engine.worker import Failure

CONTEXT = "engine"
SHORT = 12
"""A template with less fixed text than this must be the whole text: in a longer one it would be found by accident."""
_PLACE = re.compile(r"\{\d+\}")


@lru_cache(maxsize=1)
def templates() -> tuple[str, ...]:
    """The engine's texts, with ``{0}``, ``{1}`` for the values."""
    file = resources.files("counterfoil_resources").joinpath("translations", "engine.json")
    return tuple(json.loads(file.read_text("utf-8")))


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    # The longest fixed text first, so that a template which is little more than its values does not come before others.
    ordered = sorted(templates(), key=lambda template: -len(_PLACE.sub("", template)))
    return tuple((_pattern(template), template) for template in ordered)


def _pattern(template: str) -> re.Pattern[str]:
    fixed = _PLACE.split(template)
    if len("".join(fixed)) < SHORT:
        return re.compile(r"(\S*?)".join(map(re.escape, fixed)) + "$")
    # A sentence ends at its stop; a value at the end of a template goes on to the end of the text.
    end = "$" if not fixed[-1] else "(?= |$)"
    return re.compile("(.*?)".join(map(re.escape, fixed)) + end, re.DOTALL)


def failure_text(failure: Failure) -> str:
    """A failure's sentence and remedy in the language of the window."""
    return translated(f"{failure.sentence} {failure.remedy}".strip())


def translated(sentence: str) -> str:
    """An English text of the engine in the language of the window; several sentences in a row are taken one by one.

    It may quote a stranger's file: the result is one line of visible characters.
    """
    return _translated(strangers.sentence(sentence))


def _translated(sentence: str) -> str:
    rest = sentence.lstrip(" ")
    done = [] if rest == sentence else [""]  # a value may begin with the space before it
    while rest:
        for pattern, template in _patterns():
            match = pattern.match(rest)
            translation = QCoreApplication.translate(CONTEXT, template)
            if match is not None and translation != template:
                values = [_translated(value) if " " in value else value for value in match.groups()]
                done.append(translation.format(*values))
                rest = rest[match.end() :].lstrip(" ")
                break
        else:
            # One sentence further: the end of a sentence is a stop before a capital letter.
            stop = re.search(r"(?<=[.!?]) (?=[A-Z])", rest)
            done.append(rest[: stop.start()] if stop else rest)
            rest = rest[stop.end() :] if stop else ""
    return " ".join(done)
