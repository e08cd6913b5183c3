"""The scores of an evaluation that is followed: what a script adds up in a step, as integers of the state.

A number that the script took out of a tensor and added to a variable is that tensor again, and what the step adds to
the variable is added to a score of its name, int64. So a score is what the order's own arithmetic counts, and nothing
of it is a value of the script's run. A number that does not hang on the model, such as how many rows there were, is one
of the order. Of floating-point numbers those count that are whole by how they were made, as a sum of truth values is;
the first other one is the step's loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from counterfoil.program.asked.numbers import Asked, is_asked, kind_of
from counterfoil.program.remedies import Notes
from counterfoil.program.whereabouts import in_brackets
from counterfoil.training.following.steps import Geometry, Number, Operation, Step
from counterfoil.training.following.tallies import Tallies
from counterfoil.training.following.world import World
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.order.evaluation import NATS, SCORE
from counterfoil_core.values.runfacts import NATS_BITS

_EXACT = 2**24
"""Whole numbers up to this are numbers of float32, as those are that change from step to step."""
_DIVIDING = frozenset({"aten::mean", "aten::div"})
_WHOLE = frozenset(
    f"aten::{name}"
    for name in (
        *("_to_copy", "abs", "add", "add_", "alias", "as_strided", "cat", "clone", "detach", "expand", "mul", "neg"),
        *("permute", "reshape", "round", "rsub", "select", "slice", "squeeze", "stack", "sub", "sub_", "sum", "t"),
        *("transpose", "unsqueeze", "view", "_unsafe_view", "where", "zeros_like"),
    )
)
"""Operators that make whole numbers of whole numbers."""
REMEDY = "Count with tensors, and add up whole numbers: correct += (answers == labels).sum().item()."


class Nature(Enum):
    """What a tensor holds, by how it was made."""

    WHOLE = "whole numbers"
    FRACTION = "fractions of whole numbers"
    REAL = "any numbers"


def nature_of(step: Step, place: Geometry) -> Nature:
    """Return what a tensor holds: whole numbers where it was made of integers and truth values without dividing.

    Args:
        step: The step that made it.
        place: The tensor.
    """
    wanted = {place.memory} if _is_floating(place) else set()
    nature = Nature.WHOLE
    for event in reversed(step.events):
        if not isinstance(event, Operation):
            continue
        made = {each.memory for each in event.made} | event.changes
        if wanted.isdisjoint(made):
            continue
        name = event.function._schema.name
        if name in _DIVIDING:
            nature = Nature.FRACTION
        elif name not in _WHOLE or not all(step.numbers[number].is_integer() for number in _numbers(event.args)):
            return Nature.REAL
        given = {each.memory for each in event.given if _is_floating(each)}
        wanted = (wanted - made) | given
    return Nature.REAL if wanted else nature


class Scores:
    """Turns what a script adds up into scores.

    Args:
        world: Where it is followed.
        tallies: What it adds to.
        notes: Is told what is not counted.
        counts: What the script calls counts, by what the order calls them; of ``nats`` the number that adds up losses.

    Attributes:
        loss: The name of the number whose sums are the losses; empty where there is none.
        rounded: The name of a count that is a number of floating point; empty where there is none.
    """

    def __init__(self, world: World, tallies: Tallies, notes: Notes, counts: Mapping[str, str]) -> None:
        self._world = world
        self._tallies = tallies
        self._notes = notes
        self._before: dict[str, int] = {}
        #: Zero as each was before the first step, which may be 0.0.
        self._zeros = {name: type(value)() for name, value in tallies.held().items() if type(value) is float}
        self._names = {theirs: f"{SCORE}{ours}" for ours, theirs in counts.items()}
        self.loss, self.rounded = counts.get(NATS.removeprefix(SCORE), ""), ""

    def take(self) -> None:
        """Take what the script has added up in the step, which ends here.

        Raises:
            ProgramError: It cannot be counted.
        """
        world, loss = self._world, None
        for name, value in self._tallies.held().items():
            if isinstance(value, Tensor):
                self._take_tensor(name, value)
            elif not is_asked(value):
                if not isinstance(value, float):
                    self._take_number(name, int(value))
            else:
                added = _added(name, value, self._zeros.get(name, 0))
                if not isinstance(added, Tensor):
                    # Nothing of the model's was added in this step.
                    if kind_of(value) is not float:
                        self._take_number(name, self._before.get(name, 0) + int(added))
                elif self._name(name) == NATS:
                    loss = added
                    self._add(name, (added * 2.0**NATS_BITS).round().to(torch.int64))
                elif self._counts(name, added):
                    self._add(name, (added.round() if added.is_floating_point() else added).to(torch.int64))
                elif self.loss in ("", name):
                    self.loss, loss = name, added
        if loss is None:
            loss = next(iter(world.stands.values())).new_zeros((), dtype=torch.float32)
        world.step.losses.append(Geometry.of(loss))

    def check(self) -> None:
        """Check that what was named is counted; raises DataError."""
        for theirs, score in self._names.items():
            if score not in self._world.real:
                own = ", ".join(sorted(self._tallies.held())) or "nothing"
                raise DataError(
                    f"The script adds up nothing called {theirs!r} that counts as {score.removeprefix(SCORE)!r}.",
                    remedy=f"Name in --counts what it adds up: {own}.",
                )

    def _name(self, name: str) -> str:
        """The score that a number of the script is added to; raises DataError where it would be that of two."""
        score = self._names.get(name, f"{SCORE}{name}")
        if name not in self._names and score in self._names.values():
            raise DataError(
                f"The script adds up something else that is called {name!r}.",
                remedy="Rename one of both, in the script or in --counts.",
            )
        return score

    def _counts(self, name: str, added: Tensor) -> bool:
        """Whether what is added to a number is whole; raises ProgramError where it is a fraction of what is."""
        nature = nature_of(self._world.step, Geometry.of(added))
        if nature is Nature.FRACTION:
            raise ProgramError(
                f"The script adds to {name!r} a fraction of what it counted, and fractions are rounded.",
                remedy="Add up how many are right, and divide in the end: correct += (answers == labels).sum().item().",
            )
        if nature is Nature.WHOLE and added.is_floating_point():
            self.rounded = self.rounded or name
        return nature is Nature.WHOLE

    def _take_number(self, name: str, value: int) -> None:
        """Count what does not hang on the model."""
        before = self._before.get(name, 0)
        self._before[name] = value
        if abs(value - before) > _EXACT:
            raise ProgramError(
                f"The script adds {value - before} to {name!r} in one step; at most {_EXACT:,} can be counted.",
                remedy="Count in larger units, or what the model makes alone.",
            )
        stand = self._score(name)
        self._add(name, torch.fill(stand.to(torch.float32), float(value - before)).to(torch.int64))

    def _take_tensor(self, name: str, value: Tensor) -> None:
        """Let a tensor to which integers were added be a score."""
        world = self._world
        if not world.is_noted(value):
            if value.numel() == 1 and not value.is_floating_point():
                with _disable_current_modes():
                    number = int(value.item())
                self._take_number(name, number)
            return
        if value.is_floating_point():
            if isinstance(value, FakeTensor) and nature_of(world.step, Geometry.of(value)) is not Nature.REAL:
                raise ProgramError(
                    f"The script adds up {name!r} as a tensor of floating-point numbers, whose sums are rounded.",
                    remedy=REMEDY,
                )
            self._notes.add(f"What the script adds to the tensor {name!r} is floating point, and is not counted.")
            return
        if value.dtype is not torch.int64:
            raise ProgramError(
                f"The script counts {name!r} in a tensor of {str(value.dtype).removeprefix('torch.')}; "
                "scores are int64.",
                remedy="Count in torch.int64.",
            )
        score = self._name(name)
        if not isinstance(value, FakeTensor):
            with _disable_current_modes():
                world.rename(value, score)
                if score not in world.real:
                    raise ProgramError(
                        f"The script counts {name!r} in a buffer of a module, or a part of a tensor.",
                        remedy="Count in a tensor by itself, or take the number out with item().",
                    )
                if bool(world.real[score].any()):
                    raise ProgramError(f"The script's {name!r} does not begin at zero.", remedy="Begin at zero.")
        elif world.names.get(value.untyped_storage()._cdata) != score:
            world.adopt(score, value)

    def _score(self, name: str) -> FakeTensor:
        score = self._name(name)
        if score not in self._world.real:
            with _disable_current_modes():
                self._world.hold(score, torch.zeros((), dtype=torch.int64))
        return self._world.stands[score]

    def _add(self, name: str, added: Tensor) -> None:
        self._score(name).add_(added.reshape(()))


def _added(name: str, value: Asked, zero: float) -> Any:
    """What a step has added to a number that was taken out of tensors, which is zero from here on."""
    if value.tensor is None:
        raise ProgramError(
            f"What the script adds to {name!r} was computed by other means than torch's"
            f"{in_brackets(value.place)}, and would be a number of one run.",
            remedy=REMEDY,
        )
    added = value.tensor()
    value.count_from(zero)
    return added


def _is_floating(place: Geometry) -> bool:
    dtype: torch.dtype = getattr(torch, place.dtype.removeprefix("torch."))
    return dtype.is_floating_point


def _numbers(item: Any) -> list[int]:
    if isinstance(item, Number):
        return [item.index]
    return [found for part in item for found in _numbers(part)] if isinstance(item, (tuple, list)) else []
