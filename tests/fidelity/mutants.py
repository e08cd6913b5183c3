"""Mutants of the follower: each takes back one repair, and so gives a wrong order of a script of the corpus.

They are the control of two things. With the product's own comparison off, the judge of this folder must call each of
these orders different: it sees what it is there for. With the comparison on, the product must refuse each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from unittest import mock

from counterfoil.training.following.optimizers import FollowedOptimizer


@dataclass(frozen=True)
class Mutant:
    """A follower with one repair taken back.

    Attributes:
        name: What it is called.
        cause: What it gets wrong, in a few words.
        script: The script of the corpus that shows it, as IDIOM/NAME.
        patch: Within, the follower of this process, and of its forks, is the mutant.
    """

    name: str
    cause: str
    script: str
    patch: Callable[[], AbstractContextManager[None]]


@contextmanager
def _rates_of_the_first_step() -> Iterator[None]:
    call = FollowedOptimizer.call

    def called(self: FollowedOptimizer, place: str) -> tuple[float, ...]:
        call(self, place)
        self.rates[-1] = self.rates[0]
        return self.rates[-1]

    with mock.patch.object(FollowedOptimizer, "call", called):
        yield


MUTANTS = (
    Mutant("rates of the first step", "a schedule is not followed", "schedules/cosine", _rates_of_the_first_step),
)


def by_name(name: str) -> Mutant:
    """The mutant of a name."""
    return next(mutant for mutant in MUTANTS if mutant.name == name)
