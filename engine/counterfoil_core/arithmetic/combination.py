"""What the shares of a step give, combined: exact sums by exponents that all shares have in common, or side by side.

``docs/numerics.md``, "Shares", defines both. The sum of one tensor lies in one int64 accumulator, whoever adds how many
shares in whatever order (:mod:`counterfoil_core.kernels.exact.combine`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.kernels.exact.combine import (
    ZERO,
    combine_bits,
    combined,
    exponents_of,
    is_exponent,
    quantise_into,
)

Given = Mapping[str, Tensor]
"""What a share gives to be combined, float32, by name."""


def common_exponents(shares: Sequence[Given]) -> npt.NDArray[np.int32]:
    """Return the exponents of what some shares give: int32 ``[tensors]``, by their names, sorted.

    Args:
        shares: What each gives; one share at least.
    """
    names = sorted(shares[0])
    found = torch.stack([exponents_of([given[name] for name in names]) for given in shares])
    largest: npt.NDArray[np.int32] = found.amax(dim=0).cpu().numpy()
    return largest


@dataclass
class ExactSum:
    """Adds shares one after the other by exponents that are given, and keeps none of them."""

    #: E of each tensor by name; another than that of all shares together is found out (:attr:`other`).
    exponents: Mapping[str, int]
    count: int  #: W, the number of shares in all.
    totals: dict[str, Tensor] = field(default_factory=dict)  #: int64 accumulators by name, 8 bytes an element.
    _largest: list[npt.NDArray[np.int32]] = field(default_factory=list)

    def add(self, given: Given) -> None:
        """Add what a share gives; nothing of it is kept."""
        self._largest.append(common_exponents([given]))
        for name in sorted(given):
            tensor = given[name]
            if name not in self.totals:
                self.totals[name] = torch.zeros(tensor.shape, dtype=torch.int64, device=tensor.device)
            # An element that does not fit adds nothing, nor does anything by an exponent that no tensor has: the
            # exponent is another then, which ``other`` says.
            if is_exponent(self.exponents[name]):
                quantise_into(self.totals[name], tensor, self.exponents[name], combine_bits(self.count))

    @property
    def found(self) -> npt.NDArray[np.int32]:
        """The exponents of the shares that were added: int32 ``[tensors]``, by their names, sorted."""
        largest: npt.NDArray[np.int32] = np.stack(self._largest).max(axis=0)
        return largest

    @property
    def other(self) -> tuple[str, ...]:
        """The names of what has another exponent than the one that was given, once all shares were added."""
        given = [self.exponents[name] for name in sorted(self.totals)]
        different = zip(sorted(self.totals), self.found.tolist(), given, strict=True)
        return tuple(name for name, own, theirs in different if own != theirs)

    def is_beyond(self, name: str) -> bool:
        """Whether the sum of one tensor is beyond float32's range."""
        try:
            combined(self.totals[name], self.exponents[name], combine_bits(self.count))
        except NonFiniteError:
            return True
        return False

    def result(self) -> dict[str, Tensor]:
        """Return the sums, each rounded once to float32; raises NonFiniteError where one is beyond its range."""
        bits = combine_bits(self.count)
        return {name: combined(total, self.exponents[name], bits) for name, total in self.totals.items()}


def side_by_side(shares: Sequence[Given]) -> dict[str, Tensor]:
    """Return what the shares give one behind the other: float32 ``[W, ...]`` by name.

    Args:
        shares: What each gives, in their order.
    """
    return {name: torch.stack([given[name] for given in shares]) for name in sorted(shares[0])}


__all__ = ["ZERO", "ExactSum", "Given", "common_exponents", "side_by_side"]
