"""Rules that bound how much one share can do: centred clipping, and clipping with the largest elements alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import torch
from torch import Tensor

from counterfoil.program.aggregation.rule import (
    Aggregate,
    Layout,
    ShareRule,
    layout_of_shares,
    mean_of_clipped,
    mean_over_shares,
    minus,
    squared_length,
)
from counterfoil.program.update.rule import AtSlot
from counterfoil_core.base.errors import DataError

# Rules that look at each element by itself: the mean, the median and the trimmed mean of all shares.


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


# Rules that take the shares with the nearest neighbours: Krum and multi-Krum (Blanchard et al., NIPS 2017).


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


_CENTRE = "aggregation_centre"
_HELD_BACK = "aggregation_held_back"


@dataclass(frozen=True)
class CentredClipping(ShareRule):
    """From the last aggregate, some times: go by the mean of the shares' differences, each clipped to a length.

    Karimireddy, He and Jaggi, "Learning from History for Byzantine Robust Optimization" (ICML 2021). They use it over
    worker momentum (:class:`~counterfoil.program.aggregation.optimizer.WorkerMomentum`).
    """

    radius: float = 10.0  #: The longest difference that counts in full; tau of the paper.
    iterations: int = 1  #: How often; L of the paper.
    title: ClassVar[str] = "Centred clipping"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_length("radius of centred clipping", self.radius)
        if self.iterations < 1:
            raise DataError(
                f"Centred clipping {self.iterations} times is no rule.", remedy="Choose 1 iteration or more."
            )

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The last aggregate: zero before the first step."""
        return {f"{_CENTRE}:{name}": torch.zeros_like(parameter) for name, parameter in parameters.items()}

    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Move the centre; see :meth:`AggregationRule.aggregate`."""
        at_slot("centred_clipping")
        layout = layout_of_shares(stacked)
        vectors = layout.vectors(stacked, self.shares)
        centre = layout.vector({name: slots[f"{_CENTRE}:{name}"] for name in stacked})
        for _ in range(self.iterations):
            moved = mean_of_clipped(vectors, centre, self.radius)
            centre = tuple(a + b for a, b in zip(centre, moved, strict=True))
        gradients = layout.tensors(centre)
        return Aggregate(gradients, {f"{_CENTRE}:{name}": gradient for name, gradient in gradients.items()})

    def describe(self) -> str:
        """The rule in words."""
        times = f", {self.iterations} times" if self.iterations > 1 else ""
        return f"{super().describe()}, to {self.radius:g}{times}"


@dataclass(frozen=True)
class SparseFed(ShareRule):
    """The largest elements of the mean of clipped shares, and of what was held back before; the others are held back.

    Panda et al., "SparseFed: Mitigating Model Poisoning Attacks in Federated Learning with Sparsification" (AISTATS
    2022). The momentum of their algorithm is the optimizer's, or worker momentum.
    """

    limit: float = 10.0  #: The longest share that counts in full; L of the paper.
    #: The part of all elements that is used in a step, above 0 and at most 1; k of the paper is this part of the number
    #: of elements, rounded up.
    kept: float = 0.1
    title: ClassVar[str] = "Top-k with clipping"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_length("limit of top-k with clipping", self.limit)
        if not 0.0 < self.kept <= 1.0:
            raise DataError(
                f"The part of the elements that is kept is {self.kept:g}.",
                remedy="Choose a number above 0, and at most 1.",
            )

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """What was held back: zero before the first step."""
        return {f"{_HELD_BACK}:{name}": torch.zeros_like(parameter) for name, parameter in parameters.items()}

    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Take the largest elements; see :meth:`AggregationRule.aggregate`."""
        at_slot("top_k")
        layout = layout_of_shares(stacked)
        vectors = layout.vectors(stacked, self.shares)
        nothing = tuple(torch.zeros_like(run) for run in vectors[0])
        mean = mean_of_clipped(vectors, nothing, self.limit)
        before = layout.vector({name: slots[f"{_HELD_BACK}:{name}"] for name in stacked})
        waiting = torch.cat([old + new for old, new in zip(before, mean, strict=True)])
        taken = waiting * self._mask(waiting)
        # The elements of all runs are ranked together, so they are one run here.
        whole = Layout.of(layout.shapes, longest=waiting.numel())
        left = whole.tensors([waiting - taken])
        return Aggregate(whole.tensors([taken]), {f"{_HELD_BACK}:{name}": tensor for name, tensor in left.items()})

    def _mask(self, waiting: Tensor) -> Tensor:
        """Return 1 at the elements of the largest magnitude, of equal ones the first, and 0 elsewhere."""
        ranked = torch.sort(waiting.abs(), dim=0, descending=True, stable=True).indices
        return torch.zeros_like(waiting).scatter(0, ranked[: math.ceil(self.kept * waiting.numel())], 1.0)

    def describe(self) -> str:
        """The rule in words."""
        return f"{super().describe()}, each clipped to {self.limit:g}, {self.kept:.3%} of the elements in a step"


def _check_length(what: str, value: float) -> None:
    if not 0.0 < value < math.inf:
        raise DataError(f"The {what} is {value:g}.", remedy="Choose a positive number.")
