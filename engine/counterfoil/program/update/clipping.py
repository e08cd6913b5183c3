"""Clipping of gradients: by their joint norm, or each element by its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.rule import AtSlot, Wrapper, check_positive


def clip_by_norm(gradients: Mapping[str, Tensor], limit: float, at_slot: AtSlot) -> dict[str, Tensor]:
    """Scale all gradients so that their joint Euclidean norm is at most ``limit`` (Pascanu et al. 2013).

    As ``torch.nn.utils.clip_grad_norm_``: the factor is ``min(1, limit / (norm + 1e-6))``.

    Args:
        gradients: Gradients by parameter, of any shapes.
        limit: The largest joint norm.
        at_slot: Is told of the operators that compute the factor.
    """
    at_slot("clip_by_norm")
    norms = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients.values()])
    factor = torch.clamp(limit / (torch.linalg.vector_norm(norms) + 1e-6), max=1.0)
    return {name: gradient * factor for name, gradient in gradients.items()}


@dataclass(frozen=True)
class ClipByNorm(Wrapper):
    """Clip the gradients by their joint norm, then update with the rule within.

    Attributes:
        rule: The rule within.
        limit: Largest joint Euclidean norm of the gradients that the rule within sees.
    """

    limit: float

    def __post_init__(self) -> None:
        check_positive("largest norm of the gradients", self.limit)

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients, scaled."""
        return clip_by_norm(gradients, self.limit, at_slot)

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, gradients clipped to norm {self.limit:g}"


@dataclass(frozen=True)
class ClipByValue(Wrapper):
    """Clip each element of the gradients, as ``torch.nn.utils.clip_grad_value_``; then update with the rule within.

    Attributes:
        rule: The rule within.
        limit: Largest magnitude of an element.
    """

    limit: float

    def __post_init__(self) -> None:
        check_positive("largest element of the gradients", self.limit)

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients, clipped."""
        clipped = {}
        for name, gradient in gradients.items():
            at_slot(name)
            clipped[name] = torch.clamp(gradient, -self.limit, self.limit)
        return clipped

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, gradients clipped to +-{self.limit:g}"
