"""Lion: the sign of an interpolated momentum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.rule import ParameterRule, check_fraction, check_not_negative


@dataclass(frozen=True)
class Lion(ParameterRule):
    """Lion (Chen et al. 2023, algorithm 2), with decoupled weight decay. All its operators are exact."""

    #: Weights of the momentum: in the step that is taken, and in the momentum that is kept.
    betas: tuple[float, float] = (0.9, 0.99)
    weight_decay: float = 0.0  #: Decoupled weight decay.

    def __post_init__(self) -> None:
        check_fraction("first beta", self.betas[0])
        check_fraction("second beta", self.betas[1])
        check_not_negative("weight decay", self.weight_decay)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The momentum."""
        return ("momentum",)

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and momentum; see :meth:`ParameterRule.update_one`."""
        beta1, beta2 = self.betas
        momentum = slots["momentum"]
        if self.weight_decay:
            parameter = parameter - parameter * (scalars["lr"] * self.weight_decay)
        direction = torch.sign(momentum * beta1 + gradient * (1.0 - beta1))
        kept = momentum * beta2 + gradient * (1.0 - beta2)
        return parameter - direction * scalars["lr"], {"momentum": kept}

    def describe(self) -> str:
        """The rule in words."""
        return f"Lion, betas {self.betas[0]:g} and {self.betas[1]:g}, weight decay {self.weight_decay:g}"
