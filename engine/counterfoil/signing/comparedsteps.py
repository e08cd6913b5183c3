"""What a comparison of an order with its script says, who says it, and whether that counts. Pure values and sentences.

Nothing here signs or checks a signature: whoever shows what was found need not load what does
(:mod:`counterfoil.signing.comparison`). :func:`standing_of` alone decides whether a comparison counts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from counterfoil.signing.kinds import Comparison
from counterfoil_core.base.sentence import Sentence, enumeration, say

SUFFIX = ".comparison.json"
"""How the name of the file ends, behind the order's without ``.cfoil``."""
FROM_SCRIPT = "script"
"""The recipe of orders that are followed from a script."""
FROM_CODE = "custom"
"""That of orders of a client's own code, a script's or a function's: which, they do not say."""
_SHOWN_RANGES = 4


@dataclass(frozen=True)
class FoundComparison:
    """What lies beside an order as a comparison with its script."""

    file: str  #: Name of the file.
    said: Comparison | None  #: What it says of this order, without its signer; None where it cannot be used.
    problem: str = ""  #: Why it cannot be used; empty where it can.
    key_id: str = ""  #: Key id of the key that signed it; empty where nobody did.
    signed_at: str = ""  #: When, as the clock of whoever signed had it; empty where nobody did.


class Standing(Enum):
    """Who says that an order was compared with its script."""

    WORD = "word"
    """Whoever wrote the file: nobody signed it."""
    CLIENT = "client"
    """The client, whose key the reader knows."""
    ORDERER = "orderer"
    """Whoever signed the order as its client; the order itself names the key."""
    AUDITOR = "auditor"
    """An auditor whom the reader trusts."""
    TRAINER = "trainer"
    """The trainer of the run that is looked at."""
    REVOKED = "revoked"
    """Somebody with a key that no longer counts."""
    OTHER = "other"
    """Somebody with another key."""

    @property
    def counts(self) -> bool:
        """Whether it is more than the word of whoever wrote the file."""
        return self in (Standing.CLIENT, Standing.ORDERER, Standing.AUDITOR)


@dataclass(frozen=True)
class ComparedLine:
    """How far an order was compared with its script, for whoever reads what the order is."""

    said: str  #: It in a sentence.
    less: bool  #: Whether that is less than all steps, and to be pointed out.


NOT_COMPARED = say("Not compared with the script.")
_WITHOUT = {
    FROM_SCRIPT: ComparedLine(NOT_COMPARED, True),
    FROM_CODE: ComparedLine(say("Not compared with a script; whether it came from one it does not say."), False),
}
"""What is said of an order, by its recipe, beside which no comparison lies."""


def comparison_path(order: str | os.PathLike[str]) -> Path:
    """Return where the comparison of an order lies: ``job.comparison.json`` beside ``job.cfoil``."""
    path = Path(order)
    return path.with_name(path.name.removesuffix(".cfoil") + SUFFIX)


def ranges_of(steps: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return steps as ranges, first and last of each, ascending: ``(1, 400), (512, 512)``."""
    found: list[tuple[int, int]] = []
    for step in sorted(set(steps)):
        if found and found[-1][1] == step - 1:
            found[-1] = (found[-1][0], step)
        else:
            found.append((step, step))
    return tuple(found)


def standing_of(
    found: FoundComparison,
    *,
    orderer: str,
    client: str = "",
    trainer: str = "",
    auditors: Collection[str] = (),
    revoked: bool = False,
) -> Standing:
    """Decide who says it, and so whether it counts. Pure.

    Args:
        found: The comparison.
        orderer: Key id of the key whose signature as the client's the order has; empty for an unsigned order.
        client: Key id of the client's key, where the reader knows it from elsewhere.
        trainer: Key id of the key that signed the run; empty for an order that nobody has run.
        auditors: Key ids of auditors whom the reader trusts.
        revoked: Whether the reader knows that the key was revoked, and no longer counts for what it signed then.
    """
    key = found.key_id
    if not key:
        return Standing.WORD
    if key == trainer:  # whoever else it may be too: it would speak for itself
        return Standing.TRAINER
    if revoked:
        return Standing.REVOKED
    if key == client:
        return Standing.CLIENT
    if key in auditors:
        return Standing.AUDITOR
    return Standing.ORDERER if key == orderer else Standing.OTHER


def compared_in(compared: tuple[tuple[int, int], ...], steps: int) -> Sentence:
    """Say in which steps an order was compared with its script, without an end: ``Compared with the script in ...``."""
    if steps == 1:
        return say("Compared with the script in its only step")
    if compared == ((1, steps),):
        return say("Compared with the script in all {0:,} steps", steps)
    if len(compared) > _SHOWN_RANGES:
        count = sum(last - first + 1 for first, last in compared)
        return say("Compared with the script in {0:,} of {1:,} steps, first in {2}", count, steps, _range(*compared[0]))
    shown = enumeration([_range(*each) for each in compared])
    (first, last), *more = compared
    if more or first < last:
        return say("Compared with the script in steps {0} of {1:,}", shown, steps)
    return say("Compared with the script in step {0} of {1:,}", shown, steps)


def comparison_line(found: FoundComparison | None, standing: Standing | None, recipe: str) -> ComparedLine | None:
    """Say how far an order was compared with the script that it came from; None where it came from none. Pure.

    Args:
        found: What lies beside it.
        standing: Who says so; None where nothing lies there.
        recipe: The order's recipe.
    """
    if found is None or standing is None:
        return _WITHOUT.get(recipe)
    if found.said is None:
        said = say(
            "Nothing shows that it was compared with the script: {0} cannot be used. {1}", found.file, found.problem
        )
        return ComparedLine(said, True)
    if standing is Standing.TRAINER:
        return ComparedLine(
            say("Not compared with the script, but by the trainer, whose signature does not count for it."), True
        )
    where, key = compared_in(found.said.compared, found.said.steps), found.key_id[:12]
    said = {
        Standing.WORD: say("{0} (the file's word: nobody has signed it).", where),
        Standing.CLIENT: say("{0} (signed by the client).", where),
        Standing.ORDERER: say("{0} (signed with the key that signed the order, {1}).", where, key),
        Standing.AUDITOR: say("{0} (signed by a trusted auditor, with the key {1}).", where, key),
        Standing.REVOKED: say("{0} (the file's word: it is signed with the key {1}, which was revoked).", where, key),
        Standing.OTHER: say(
            "{0} (the file's word: it is signed with the key {1}, of which nobody said that it is the client's or a "
            "trusted auditor's).",
            where,
            key,
        ),
    }[standing]
    return ComparedLine(said, found.said.compared != ((1, found.said.steps),))


def _range(first: int, last: int) -> Sentence:
    return say("{0:,}", first) if first == last else say("{0:,} to {1:,}", first, last)
