"""What an optimizer of torch may bring with it: gradients that are climbed, and a state that it is in already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from counterfoil.program.update.rule import AtSlot, Wrapper
from counterfoil_core.base.errors import DataError


@dataclass(frozen=True)
class Maximize(Wrapper):
    """Go up the gradients instead of down: the rule within sees them negated, as torch's ``maximize`` does."""

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients, negated."""
        negated = {}
        for name, gradient in gradients.items():
            at_slot(name)
            negated[name] = -gradient
        return negated

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, maximizing"


@dataclass(frozen=True)
class Continued(Wrapper):
    """Go on with the slots of an optimizer that has made steps before.

    Attributes:
        rule: The rule within.
        held: Slots by name, ``slot:parameter``; those that are not named start as the rule says.
        done: Steps that were made: the first step of the order is the one behind them.
        idle: Parameters that none of these steps has updated, since they never had a gradient.
    """

    held: Mapping[str, Tensor]
    done: int
    idle: frozenset[str] = frozenset()

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """Those of the rule within, so many steps later."""
        return self.within.scalars(step + self.done, lr)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of the rule within, as they were held."""
        return {name: self.held.get(name, slot).clone() for name, slot in self.within.slots(parameters).items()}

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients.

        Raises:
            DataError: A parameter has a gradient that had none before: its own steps begin with the first.
        """
        if begun := sorted(self.idle & gradients.keys()):
            raise DataError(
                f"The parameter {begun[0]!r} has a gradient, and had none in the {self.done} steps that its optimizer "
                "has made.",
                remedy="Make a new optimizer for the order, or put parameters into groups by the steps that they have "
                "made.",
            )
        return gradients

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, after {self.done} steps"
