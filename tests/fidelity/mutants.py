"""Mutants of the follower: each takes back one repair, and so gives a wrong order of a script of the corpus.

They are the control of two things. With the product's own comparison off, the judge of this folder must call each of
these orders different: it sees what it is there for. With the comparison on, the product must refuse each of them.

A mutant is a row of ``MUTANTS``: what it is called, which kind of error it makes, a script that is followed truly and
shows it, and a context manager within which the follower of this process and of its forks is the mutant. It replaces as
little as it can by ``mock.patch.object``; ``python -m tests.fidelity --mutants NAME --uncompared`` shows what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from counterfoil.training.following import drafting
from counterfoil.training.following.drafting import Followed
from counterfoil.training.following.follower import Follower
from counterfoil.training.following.layout import Made, Plan, plan_of
from counterfoil.training.following.models import Models
from counterfoil.training.following.optimizers import FollowedOptimizer
from counterfoil.training.following.steps import Geometry
from counterfoil.training.following.taken import TakenSteps
from counterfoil.training.following.world import World


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


@contextmanager
def _bias_of_the_first_step() -> Iterator[None]:
    scalars = FollowedOptimizer.scalars

    def repeated(self: FollowedOptimizer) -> list[tuple[float, ...]]:
        rows = scalars(self)
        return rows[:1] * len(rows)

    with mock.patch.object(FollowedOptimizer, "scalars", repeated):
        yield


class _Unversioned(dict[tuple[Geometry, int], Any]):
    """Takes a tensor for what it was when it was met first, whatever was written to it since."""

    def __contains__(self, key: object) -> bool:
        assert isinstance(key, tuple)
        return super().__contains__((key[0], 0))

    def __getitem__(self, key: tuple[Geometry, int]) -> Any:
        return super().__getitem__((key[0], 0))

    def __setitem__(self, key: tuple[Geometry, int], value: Any) -> None:
        super().__setitem__((key[0], 0), value)


@contextmanager
def _buffers_as_they_were_first() -> Iterator[None]:
    init = World.__init__

    def begun(self: World, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self._met = _Unversioned()

    with mock.patch.object(World, "__init__", begun):
        yield


@contextmanager
def _parameters_alone() -> Iterator[None]:
    def kept(self: Models) -> frozenset[str]:
        return frozenset(name for name, tensor in self.tensors.items() if tensor.requires_grad)

    with mock.patch.object(Models, "kept", property(kept)):
        yield


@contextmanager
def _averages_at_nine_tenths() -> Iterator[None]:
    job = Follower._job

    def changed(self: Follower) -> Followed:
        made = job(self)
        assert self._models is not None
        averages = {name: 0.9 * tensor for name, tensor in made.state.items() if name in self._models.others}
        return replace(made, state={**made.state, **averages})

    with mock.patch.object(Follower, "_job", changed):
        yield


@contextmanager
def _numbers_of_the_first_step() -> Iterator[None]:
    def planned(steps: list[Made]) -> Plan:
        return replace(plan_of(steps), numbered={})

    with mock.patch.object(drafting, "plan_of", planned):
        yield


@contextmanager
def _without(place: int) -> Iterator[None]:
    end = TakenSteps.end

    def ended(self: TakenSteps, *args: Any) -> None:
        end(self, *args)
        self.made.pop(place)

    with mock.patch.object(TakenSteps, "end", ended):
        yield


MUTANTS = (
    Mutant("rates of the first step", "a schedule is not followed", "schedules/cosine", _rates_of_the_first_step),
    Mutant("counts stay at one", "the count of a slot does not move", "freezing/bias_only", _bias_of_the_first_step),
    Mutant(
        "buffers as they were first",
        "what is written into a buffer again is not seen",
        "accumulation/reused_buffer",
        _buffers_as_they_were_first,
    ),
    Mutant(
        "parameters alone", "statistics that a pass moves are lost", "normalisation/batchnorm_cnn", _parameters_alone
    ),
    Mutant(
        "averages at nine tenths",
        "a tensor is changed before it becomes state",
        "averages/ema_module",
        _averages_at_nine_tenths,
    ),
    Mutant("numbers of the first step", "a number is frozen", "losses/annealed", _numbers_of_the_first_step),
    Mutant("without the first step", "the first step is missed", "loaders/plain_shuffle", lambda: _without(0)),
    Mutant("without the last step", "the last step is missed", "averages/ema_module", lambda: _without(-1)),
)


def by_name(name: str) -> Mutant:
    """The mutant of a name."""
    return next(mutant for mutant in MUTANTS if mutant.name == name)
