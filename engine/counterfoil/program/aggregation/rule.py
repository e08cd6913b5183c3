"""What a rule of aggregation is: of the gradients of several shares it makes the one that an optimizer sees.

Some shares may lie. A rule tolerates so many of them; who lied it does not say, and a replay does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

from torch import Tensor

from counterfoil.program.update.rule import AtSlot
from counterfoil_core.base.errors import DataError


@dataclass(frozen=True)
class Aggregate:
    """What a rule makes of a step's shares."""

    gradients: Mapping[str, Tensor]  #: One gradient for each parameter, of its shape.
    slots: Mapping[str, Tensor] = field(default_factory=dict)  #: The rule's new slots, by the names of its old ones.


class AggregationRule(ABC):
    """A rule, traced as optimizers are: no value decides what it does, and its operators are of the allow-list."""

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The rule's own state before the first step, named ``slot:parameter``: none.

        Args:
            parameters: Those with a gradient, by name.
        """
        return {}

    @abstractmethod
    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Make one gradient of those of all shares.

        Args:
            stacked: The gradients of all shares by parameter; the first axis counts shares.
            slots: All slots of the order by name; the rule's own are among them.
            at_slot: Is told what is computed next.
        """

    @abstractmethod
    def describe(self) -> str:
        """The rule in words."""


@dataclass(frozen=True)
class ShareRule(AggregationRule):
    """A rule for a number of shares, some of which may be faulty."""

    shares: int  #: How many shares a step has; n of the papers.
    faulty: int = 0  #: How many of them may be anything at all; f of the papers.
    title: ClassVar[str]
    """The rule's name at the beginning of a sentence."""

    def __post_init__(self) -> None:
        """Check the rule's needs.

        Raises:
            DataError: There are not enough shares for so many faulty ones.
        """
        if self.shares < 1 or self.faulty < 0:
            raise DataError(
                f"A rule of {self.shares} shares, {self.faulty} of them faulty, cannot be.",
                remedy="Give one share at least, and no negative number of faulty ones.",
            )
        if self.shares < self.least_shares:
            raise DataError(
                f"{self.title} with {self.faulty} faulty shares needs {self.least_shares} shares at least, and there "
                f"are {self.shares}.",
                remedy="Divide the batch into more shares, name fewer of them as faulty, or choose another rule.",
            )

    @property
    def least_shares(self) -> int:
        """How many shares the rule needs for so many faulty ones: more than twice as many."""
        return 2 * self.faulty + 1

    @classmethod
    def settings(cls) -> tuple[str, ...]:
        """Names of the settings that only this rule has."""
        return tuple(item.name for item in fields(cls) if item.name not in ("shares", "faulty"))

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.title} of {self.shares} shares, {self.faulty} of which may be faulty"


def mean_over_shares(chosen: Tensor) -> Tensor:
    """Return the mean over the first axis: one sum, times the reciprocal of the count."""
    # A product is correctly rounded on all hardware, and a quotient is not (ADR 5).
    return chosen.sum(0) * (1.0 / chosen.shape[0])
