"""Infinities that an argument of an operator already holds: masks of attention, and what is computed from them.

An infinite element of a rounded operator's output is allowed exactly when some floating-point tensor among its
arguments holds an infinity; what is not a number never is. The scale is that of the same arguments and outputs with 0
in the place of every infinity. Infinite elements are on no grid: they pass unrounded and unlogged, and their bits
enter the fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.kernels.cpu.rounding import change_of_fingerprint


def hold_infinity(arguments: Mapping[str, Any]) -> bool:
    """Whether some floating-point tensor among an operator's arguments holds an infinity."""
    return any(_is_floating(value) and bool(torch.isinf(value).any()) for value in arguments.values())


def without_infinities(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operator's arguments with 0 in the place of every infinity of a floating-point tensor."""
    return {name: _finite(value) for name, value in arguments.items()}


def finite_outputs(outputs: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Return an operator's outputs with 0 in the place of every infinity."""
    return [_finite(output) for output in outputs]


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _finite(value: Any) -> Any:
    return torch.where(torch.isinf(value), 0.0, value) if _is_floating(value) else value


@dataclass(frozen=True)
class Infinities:
    """The infinite elements of one output."""

    indices: npt.NDArray[np.int64]  #: int64 ``[k]``: flat C-order indices, ascending.
    values: npt.NDArray[np.float64]  #: float64 ``[k]``: which infinity each is.

    @classmethod
    def of(cls, flat: Tensor) -> Infinities:
        """Find the infinite elements of a floating-point tensor ``[n]``."""
        where = torch.isinf(flat).nonzero().flatten()
        return cls(where.cpu().numpy(), flat[where].double().cpu().numpy())

    def take_out(self, flat: Tensor) -> None:
        """Put zeros in their place, which every grid has, and no margin reaches."""
        flat[torch.from_numpy(self.indices).to(flat.device)] = 0.0

    def put_back(self, flat: Tensor, fingerprint: int, key: int) -> int:
        """Put them back.

        Args:
            flat: ``[n]``: the tensor, rounded.
            fingerprint: Its fingerprint with zeros in their place.
            key: The fingerprint key of the site.

        Returns:
            The fingerprint with them, 0 to 2^64 - 1.
        """
        flat[torch.from_numpy(self.indices).to(flat.device)] = torch.from_numpy(self.values).to(flat)
        zeros = np.zeros_like(self.values)
        return (fingerprint + change_of_fingerprint(zeros, self.values, self.indices, key)) % 2**64
