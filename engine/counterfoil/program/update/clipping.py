"""Clipping of gradients: by their joint norm, each element by its value, or by what a function does to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.update.rule import AtSlot, Wrapper, check_positive
from counterfoil_core.base.errors import DataError


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


@dataclass(frozen=True)
class ClipBy(Wrapper):
    """Let a function change the gradients, as a loop does between ``backward()`` and ``step()``; then update.

    Attributes:
        rule: The rule within.
        function: Is given the parameters that have a gradient, each with its ``grad``, and changes that: for instance
            ``lambda parameters: adaptive_clip_grad(parameters, 0.01)``. It is captured, and must not decide by values.
    """

    function: Callable[[list[Tensor]], Any]

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Update by the rule within, of the gradients that the function leaves; see :meth:`UpdateRule.update`."""
        at_slot("clip_by")
        given = {name: parameter.detach() for name, parameter in parameters.items()}
        for name, parameter in given.items():
            # A gradient need not be memory of its own.
            parameter.grad = gradients[name].clone()
        self.function(list(given.values()))
        left = {name: parameter.grad for name, parameter in given.items() if parameter.grad is not None}
        if gone := sorted(given.keys() - left.keys()):
            raise DataError(
                f"The function that clips gradients took the gradient of {gone[0]!r} away.",
                remedy="Leave the parameter out of the optimizer, or set requires_grad=False.",
            )
        return self.within.update(parameters, left, slots, scalars, at_slot)

    def describe(self) -> str:
        """The rule in words."""
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__).rpartition("<locals>.")[2]
        return f"{self.within.describe()}, gradients changed by the function {name}"
