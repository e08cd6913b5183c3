"""Which lies are told, and what became of each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from lies.subject import CRASHED, Subject

SINGLE = 0.6
"""This part of all lies is about one field each; the others are about two at once."""


@dataclass(frozen=True)
class Told:
    """A lie that was told.

    Attributes:
        subject: What it was about.
        fields: Its one or two fields.
        number: Which lie about them.
        outcome: What was concluded.
        wrong: Whether it must not be.
    """

    subject: str
    fields: tuple[str, ...]
    number: int
    outcome: str
    wrong: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))

    @property
    def key(self) -> str:
        """Its name."""
        return self.name(self.subject, self.fields, self.number)

    @staticmethod
    def name(subject: str, fields: Sequence[str], number: int) -> str:
        """The name of a lie, by which it is found again."""
        return "\0".join((subject, *fields, str(number)))


def all_lies(subjects: Sequence[Subject], count: int, seed: int) -> list[tuple[str, tuple[str, ...], int]]:
    """Return subject, fields and number of every lie: each field of each subject in turn, then pairs."""
    chance = random.Random(seed)
    places = [(subject, field) for subject in subjects for field in subject.fields]
    singles = max(len(places), int(SINGLE * count))
    lies = [(places[n % len(places)][0].name, (places[n % len(places)][1],), n // len(places)) for n in range(singles)]
    seen = set()
    paired = [subject for subject in subjects if len(subject.fields) > 1]
    weights = [len(subject.fields) for subject in paired]
    while paired and len(lies) < count:
        (subject,) = chance.choices(paired, weights)
        pair = tuple(sorted(chance.sample(sorted(subject.fields), 2)))
        number = chance.randrange(1000)
        if (subject.name, pair, number) not in seen:
            seen.add((subject.name, pair, number))
            lies.append((subject.name, pair, number))
    return lies


def tell(subject: Subject, fields: tuple[str, ...], number: int) -> Told:
    """Tell a lie; the same for the same numbers."""
    chance = random.Random(f"{subject.name} {fields} {number}")
    outcome = subject.told(fields, chance)
    wrong = outcome.startswith(CRASHED) or subject.wrong(outcome, frozenset(fields))
    return Told(subject.name, fields, number, outcome, wrong)
