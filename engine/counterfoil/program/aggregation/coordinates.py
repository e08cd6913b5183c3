"""Rules that look at each element by itself: the mean, the median and the trimmed mean of all shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from counterfoil.program.aggregation.rule import Aggregate, ShareRule, mean_over_shares
from counterfoil.program.update.rule import AtSlot
from counterfoil_core.base.errors import DataError


@dataclass(frozen=True)
class _Coordinates(ShareRule):
    """A rule that makes each tensor by itself."""

    def one(self, stacked: Tensor) -> Tensor:
        """Return the gradient of one parameter from those of all shares."""
        raise NotImplementedError

    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Make each tensor by :meth:`one`; see :meth:`AggregationRule.aggregate`."""
        gradients = {}
        for name, tensor in stacked.items():
            at_slot(name)
            gradients[name] = self.one(tensor)
        return Aggregate(gradients)


@dataclass(frozen=True)
class Mean(_Coordinates):
    """The mean of all shares, as training on several devices has it. One faulty share makes of it what it likes."""

    title: ClassVar[str] = "The mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.faulty:
            raise DataError(
                f"The mean tolerates no faulty share, and {self.faulty} are named.",
                remedy="Name none, or choose a rule that tolerates them.",
            )

    def one(self, stacked: Tensor) -> Tensor:
        """The mean of each element."""
        return mean_over_shares(stacked)

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.title} of {self.shares} shares"


@dataclass(frozen=True)
class Median(_Coordinates):
    """The median of each element; of an even number of shares the mean of the middle two (Yin et al., ICML 2018)."""

    title: ClassVar[str] = "The median"

    def one(self, stacked: Tensor) -> Tensor:
        """The middle element, or half the sum of the middle two."""
        ordered = _ordered(stacked)
        upper = ordered[self.shares // 2]
        return upper if self.shares % 2 else (ordered[self.shares // 2 - 1] + upper) * 0.5


@dataclass(frozen=True)
class TrimmedMean(_Coordinates):
    """The mean of each element without the f largest and the f smallest ones (Yin et al., ICML 2018)."""

    title: ClassVar[str] = "The trimmed mean"

    def one(self, stacked: Tensor) -> Tensor:
        """The mean of what is left."""
        return mean_over_shares(_ordered(stacked)[self.faulty : self.shares - self.faulty])


def _ordered(stacked: Tensor) -> Tensor:
    return torch.sort(stacked, dim=0, stable=True).values
