"""Parameter groups: other settings for some parameters, chosen by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch import Tensor

from counterfoil.program.update.rule import AtSlot, UpdateRule, check_not_negative
from counterfoil_core.base.errors import DataError

_MOST_DESCRIBED = 12
_NAME = re.compile(r"[A-Za-z0-9_]{1,50}")


@dataclass(frozen=True)
class ParameterGroup:
    """Some of the parameters, and how they are updated."""

    name: str  #: Name of the group; letters, digits and underscores. Its per-step scalars are named ``group:scalar``.
    #: Which parameters belong to it: a pattern for their names, with ``*`` and ``?``, for instance ``*.bias``, or a
    #: function of the name.
    matches: str | Callable[[str], bool]
    rule: UpdateRule  #: The update rule of its parameters.
    lr_factor: float = 1.0  #: Its learning rate, in units of the job's.
    #: Its learning rates, one for each step, in the place of the job's.
    learning_rates: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise DataError(f"The name {self.name!r} of a parameter group is not made of letters, digits and _.")
        check_not_negative(f"learning-rate factor of the parameter group {self.name!r}", self.lr_factor)

    def learning_rate(self, step: int, lr: float) -> float:
        """Its learning rate at ``step``, from 1, where the job's is ``lr``."""
        return lr * self.lr_factor if self.learning_rates is None else self.learning_rates[step - 1]

    def has(self, parameter: str) -> bool:
        """Whether the pattern or function takes the parameter of this name."""
        if isinstance(self.matches, str):
            return fnmatchcase(parameter, self.matches)
        return self.matches(parameter)


@dataclass(frozen=True)
class ParameterGroups:
    """A rule that updates each parameter as its group says: the first group that takes its name."""

    groups: tuple[ParameterGroup, ...]  #: The groups; the last one usually matches ``*``.

    def __post_init__(self) -> None:
        names = [group.name for group in self.groups]
        if len(set(names)) != len(names):
            raise DataError("Two parameter groups have the same name.", remedy="Give each a name of its own.")

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Those of each group's rule, as ``group:scalar``."""
        return tuple(f"{group.name}:{scalar}" for group in self.groups for scalar in group.rule.scalar_names)

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The per-step scalars of each group."""
        return tuple(
            value for group in self.groups for value in group.rule.scalars(step, group.learning_rate(step, lr))
        )

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The slots of each group's rule.

        Raises:
            DataError: A parameter belongs to no group, or a group has no parameter.
        """
        members = self._members(parameters)
        for group, names in members:
            if not names:
                raise DataError(
                    f"No parameter belongs to the parameter group {group.name!r}.",
                    remedy="Correct its pattern, or leave it out; the first group that matches a name takes it.",
                )
        return {
            name: tensor
            for group, names in members
            for name, tensor in group.rule.slots({name: parameters[name] for name in names}).items()
        }

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters and slots; see :meth:`UpdateRule.update`."""
        new: dict[str, Tensor] = {}
        for group, names in self._members(parameters):
            if not names:
                # None of its parameters has a gradient.
                continue
            new.update(
                group.rule.update(
                    {name: parameters[name] for name in names},
                    {name: gradients[name] for name in names},
                    slots,
                    {scalar: scalars[f"{group.name}:{scalar}"] for scalar in group.rule.scalar_names},
                    at_slot,
                )
            )
        return new

    def describe(self) -> str:
        """The rule in words; of many groups the first ones."""
        shown = self.groups if len(self.groups) <= _MOST_DESCRIBED else self.groups[:_MOST_DESCRIBED]
        words = [
            f"{group.name}: {group.rule.describe()}"
            + ("" if group.lr_factor == 1.0 else f", learning rate times {group.lr_factor:g}")
            + ("" if group.learning_rates is None else f", learning rate {group.learning_rates[0]:g} at step 1")
            for group in shown
        ]
        left = len(self.groups) - len(shown)
        return "; ".join([*words, *([f"{left} more groups"] if left else [])])

    def _members(self, parameters: Mapping[str, Tensor]) -> list[tuple[ParameterGroup, list[str]]]:
        members: dict[str, list[str]] = {group.name: [] for group in self.groups}
        for name in parameters:
            chosen = next((group for group in self.groups if group.has(name)), None)
            if chosen is None:
                raise DataError(
                    f"The parameter {name!r} belongs to no parameter group.",
                    remedy="Add a last group that matches '*'.",
                )
            members[chosen.name].append(name)
        return [(group, members[group.name]) for group in self.groups]
