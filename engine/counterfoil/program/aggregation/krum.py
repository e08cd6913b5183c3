"""Rules that take the shares with the nearest neighbours: Krum and multi-Krum (Blanchard et al., NIPS 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import torch
from torch import Tensor

from counterfoil.program.aggregation.rule import Aggregate, ShareRule, mean_over_shares
from counterfoil.program.aggregation.vectors import layout_of_shares, minus, squared_length
from counterfoil.program.update.rule import AtSlot


@dataclass(frozen=True)
class _Neighbours(ShareRule):
    """A rule that chooses shares by their scores: the sum of the squared distances to the n - f - 2 nearest others."""

    @property
    def least_shares(self) -> int:
        """So many that a share has an honest neighbour more than there are faulty ones: 2 f + 2 < n."""
        return 2 * self.faulty + 3

    def scores(self, stacked: Mapping[str, Tensor]) -> Tensor:
        """Return the score of every share; the nearest distances are added from the smallest on."""
        vectors = layout_of_shares(stacked).vectors(stacked, self.shares)
        distances = {}
        for i, j in combinations(range(self.shares), 2):
            distances[i, j] = distances[j, i] = squared_length(minus(vectors[i], vectors[j]))
        others = [distances[i, j] for i in range(self.shares) for j in range(self.shares) if i != j]
        ordered = torch.sort(torch.stack(others).reshape(self.shares, -1), dim=1, stable=True).values
        # Additions, not one sum: a sum would be rounded by the size of the largest score.
        nearest = ordered.unbind(1)[: self.shares - self.faulty - 2]
        return sum(nearest[1:], nearest[0])


@dataclass(frozen=True)
class Krum(_Neighbours):
    """The share with the smallest score; of equal ones the first."""

    title: ClassVar[str] = "Krum"

    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Choose one share; see :meth:`AggregationRule.aggregate`."""
        at_slot("krum")
        chosen = torch.argmin(self.scores(stacked), dim=0, keepdim=True)
        gradients = {}
        for name, tensor in stacked.items():
            at_slot(name)
            gradients[name] = tensor.index_select(0, chosen).squeeze(0)
        return Aggregate(gradients)


@dataclass(frozen=True)
class MultiKrum(_Neighbours):
    """The mean of the n - f shares with the smallest scores; of equal ones the first."""

    title: ClassVar[str] = "Multi-Krum"

    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Choose shares and take their mean; see :meth:`AggregationRule.aggregate`."""
        at_slot("multi_krum")
        chosen = torch.sort(self.scores(stacked), stable=True).indices[: self.shares - self.faulty]
        gradients = {}
        for name, tensor in stacked.items():
            at_slot(name)
            gradients[name] = mean_over_shares(tensor.index_select(0, chosen))
        return Aggregate(gradients)
