"""What a rule of aggregation is: of the gradients of several shares it makes the one that an optimizer sees.

Some shares may lie. A rule tolerates so many of them; who lied it does not say, and a replay does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

import torch
from torch import Tensor

from counterfoil.program.update.rule import AtSlot
from counterfoil_core.base.errors import DataError

# The gradient of a share as one long vector: its length, distances between two, and clipping to a length. Each length
# is a sum of its own. Were those of all shares one operator's output, they would be rounded to one grid, whose quantum
# grows with the largest: a share of huge numbers would hide how far another is from the honest ones.

LARGEST = 2.0**40
"""What a larger element counts as; no honest gradient comes near it. Squares of differences, however many are added,
stay below the end of float32, or one share of huge numbers would stop the training."""
LONGEST = 2**29
"""So many elements at most are one sum: an exact profile adds no more."""

Vector = tuple[Tensor, ...]
"""One long vector, in runs of at most :data:`LONGEST` elements."""


@dataclass(frozen=True)
class Layout:
    """Where the tensors of a gradient lie in a long vector: one after the other, in their order."""

    runs: tuple[tuple[str, ...], ...]  #: The names of the tensors of each run.
    shapes: Mapping[str, torch.Size]  #: The shape of each tensor.

    @staticmethod
    def of(shapes: Mapping[str, torch.Size], longest: int = LONGEST) -> Layout:
        """Return the layout of tensors: each run has as many of them as fit.

        Args:
            shapes: Their shapes by name.
            longest: So many elements fit into a run; a tensor with more is one by itself.
        """
        runs: list[list[str]] = [[]]
        length = 0
        for name, shape in shapes.items():
            if runs[-1] and length + shape.numel() > longest:
                runs.append([])
                length = 0
            runs[-1].append(name)
            length += shape.numel()
        return Layout(tuple(tuple(run) for run in runs), dict(shapes))

    def vector(self, tensors: Mapping[str, Tensor]) -> Vector:
        """Return one tensor for each name as one vector."""
        return tuple(torch.cat([tensors[name].reshape(-1) for name in run]) for run in self.runs)

    def vectors(self, stacked: Mapping[str, Tensor], shares: int) -> list[Vector]:
        """Return the vector of every share, no element of it beyond :data:`LARGEST`."""
        runs = [
            torch.cat([stacked[name].reshape(shares, -1) for name in run], dim=1).clamp(-LARGEST, LARGEST).unbind(0)
            for run in self.runs
        ]
        return list(zip(*runs, strict=True))

    def tensors(self, vector: Sequence[Tensor]) -> dict[str, Tensor]:
        """Return the tensors of a vector by name."""
        return dict(self._pieces(vector))

    def _pieces(self, vector: Sequence[Tensor]) -> Iterator[tuple[str, Tensor]]:
        for run, elements in zip(self.runs, vector, strict=True):
            pieces = torch.split(elements, [self.shapes[name].numel() for name in run])
            for name, piece in zip(run, pieces, strict=True):
                yield name, piece.reshape(self.shapes[name])


def layout_of_shares(stacked: Mapping[str, Tensor]) -> Layout:
    """Return the layout of one share's vector."""
    return Layout.of({name: tensor.shape[1:] for name, tensor in stacked.items()})


def minus(one: Vector, other: Vector) -> Vector:
    """Return the difference of two vectors."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def squared_length(vector: Vector) -> Tensor:
    """Return the sum of an element's squares: that of each run, added in their order."""
    # A product of a tensor with itself is exact by class; square() would be a power, which is not.
    sums = [(run * run).sum() for run in vector]
    return sum(sums[1:], sums[0])


def mean_of_clipped(vectors: Sequence[Vector], centre: Vector, radius: float) -> Vector:
    """Return the mean of the vectors' differences from a centre, each clipped to a length; added share after share.

    Args:
        vectors: The vectors of all shares.
        centre: Where they are seen from.
        radius: Their longest length.
    """
    total: Vector | None = None
    for vector in vectors:
        difference = minus(vector, centre)
        length = torch.sqrt(squared_length(difference))
        # min(1, radius / length), without a division by zero, and exactly 1 within the radius.
        factor = torch.full_like(length, radius) / length.clamp(min=radius)
        clipped = tuple(run * factor for run in difference)
        total = clipped if total is None else tuple(a + b for a, b in zip(total, clipped, strict=True))
    assert total is not None, "a rule has a share at least"
    return tuple(run * (1.0 / len(vectors)) for run in total)


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
