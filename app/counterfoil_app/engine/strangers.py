"""Texts of strangers, before they are shown: titles, names, sentences that quote them, file names.

What is signed or sent back to the engine stays as it is; what a view gets has gone through here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

from counterfoil import Afterwards, Digest, one_line
from counterfoil_core.base.sentence import Sentence

SENTENCE_CHARACTERS = 4000
"""Longest sentence that is shown; it may quote several texts of strangers."""
QUOTED_LINES = 200
"""Most lines of a text of a stranger's that are shown."""
T = TypeVar("T")


def sentence(text: str) -> str:
    """A sentence that may quote a stranger, as one line of visible characters; what it was made of is kept."""
    shown = one_line(text, SENTENCE_CHARACTERS)
    if shown == text:
        return text
    if not isinstance(text, Sentence):
        return shown
    cleaned = Sentence(
        text.template, tuple(sentence(value) if isinstance(value, str) else value for value in text.values)
    )
    return cleaned if one_line(cleaned, SENTENCE_CHARACTERS) == cleaned else shown


def lines(text: str) -> str:
    """A text of several lines, such as a traceback: each of visible characters, the spaces at its beginning kept."""
    return "\n".join(
        " " * (len(line) - len(line.lstrip(" "))) + sentence(line.lstrip(" ")) for line in text.split("\n")
    )


def quote_texts(later: Afterwards) -> Afterwards:
    """What others said of a verdict: their texts keep their lines, each of visible characters."""
    shown = plain(later)
    withdrawals = tuple(
        structs.replace(one, reason=_quotation(said.reason))
        for one, said in zip(shown.withdrawals, later.withdrawals, strict=True)
    )
    replies = tuple(
        structs.replace(one, text=_quotation(said.text)) for one, said in zip(shown.replies, later.replies, strict=True)
    )
    return replace(shown, withdrawals=withdrawals, replies=replies)


def _quotation(text: str) -> str:
    found = text.splitlines()
    more = ["\u2026"] if len(found) > QUOTED_LINES else []
    return "\n".join([*(sentence(line) for line in found[:QUOTED_LINES]), *more])


def name_of(path: Path | None) -> str:
    """The name of a file; empty for none."""
    return one_line(path.name) if path is not None else ""


def beside(path: Path, ending: str, *others: str) -> Path:
    """The name to offer for a file that is written beside another one: ``run.steps.csv`` for ``run.cfoil``.

    What could not be seen in the name is left out of the new one. Where such a file lies already, a number makes the
    name another one; ``others`` are endings of files that are written together with it, under names of their own.
    """
    stem = "".join(character if one_line(character) == character else "_" for character in path.stem)
    stems = chain([stem], (f"{stem}-{number}" for number in count(2)))
    free = (new for new in stems if not any(path.with_name(f"{new}{each}").exists() for each in (ending, *others)))
    return path.with_name(f"{next(free)}{ending}")


def plain(value: T) -> T:
    """A frozen value of the engine with each text in it as :func:`sentence`; columns of numbers stay as they are."""
    return cast(T, _plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return sentence(value)
    if isinstance(value, tuple) and value and not isinstance(value[0], (int, float, Digest)):
        return tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Struct):
        # A key has several lines; what is shown of it is its id.
        changed = _changed(value, (name for name in value.__struct_fields__ if name != "public_key"))
        return structs.replace(value, **changed) if changed else value
    if is_dataclass(value) and not isinstance(value, (type, Digest)):
        changed = _changed(value, [field.name for field in fields(value)])
        return replace(cast(Any, value), **changed) if changed else value
    return value


def _changed(value: Any, names: Iterable[str]) -> dict[str, Any]:
    """Those of the fields that are not plain, made plain."""
    changed = {}
    for name in names:
        old = getattr(value, name)
        new = _plain(old)
        if new is not old and new != old:
            changed[name] = new
    return changed
