"""Rules that divide by the root of squared gradients without correcting for the start: Adagrad and RMSprop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.rule import ParameterRule, check_fraction, check_not_negative


@dataclass(frozen=True)
class Adagrad(ParameterRule):
    """Adagrad (Duchi et al. 2011), as ``torch.optim.Adagrad`` computes it."""

    lr_decay: float = 0.0  #: The learning rate of step t is divided by ``1 + (t - 1) lr_decay``.
    weight_decay: float = 0.0  #: L2 penalty added to the gradient.
    initial_accumulator_value: float = 0.0  #: What each sum of squares starts at.
    eps: float = 1e-10  #: Added to the denominator.

    def __post_init__(self) -> None:
        check_not_negative("decay of the learning rate", self.lr_decay)
        check_not_negative("weight decay", self.weight_decay)
        check_not_negative("initial sum of squares", self.initial_accumulator_value)
        check_not_negative("eps", self.eps)

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The decayed learning rate."""
        return (lr / (1.0 + (step - 1) * self.lr_decay),)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The sum of squared gradients."""
        return ("sum",)

    def first_slot(self, slot: str, parameter: Tensor) -> Tensor:
        """The sum before the first step."""
        return torch.full_like(parameter, self.initial_accumulator_value)

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and sum; see :meth:`ParameterRule.update_one`."""
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        total = slots["sum"] + gradient * gradient
        new = parameter - gradient / (torch.sqrt(total) + self.eps) * scalars["lr"]
        return new, {"sum": total}

    def describe(self) -> str:
        """The rule in words."""
        return (
            f"Adagrad, learning rate decay {self.lr_decay:g}, initial sum {self.initial_accumulator_value:g}, "
            f"epsilon {self.eps:g}, weight decay {self.weight_decay:g}"
        )


@dataclass(frozen=True)
class RmsProp(ParameterRule):
    """RMSprop (Hinton 2012, lecture 6; centered: Graves 2013), as ``torch.optim.RMSprop`` computes it."""

    alpha: float = 0.99  #: Decay of the mean square.
    eps: float = 1e-8  #: Added to the denominator.
    momentum: float = 0.0  #: Momentum factor; 0 for none.
    centered: bool = False  #: Whether the mean gradient's square is taken off the mean square.
    weight_decay: float = 0.0  #: L2 penalty added to the gradient.

    def __post_init__(self) -> None:
        check_fraction("alpha", self.alpha)
        check_not_negative("eps", self.eps)
        check_not_negative("momentum", self.momentum)
        check_not_negative("weight decay", self.weight_decay)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The mean square; the mean if centered; the momentum if there is one."""
        return ("square", *(("mean",) if self.centered else ()), *(("momentum",) if self.momentum else ()))

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and slots; see :meth:`ParameterRule.update_one`."""
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        square = slots["square"] * self.alpha + gradient * gradient * (1.0 - self.alpha)
        new = {"square": square}
        if self.centered:
            new["mean"] = slots["mean"] * self.alpha + gradient * (1.0 - self.alpha)
            # Never negative but for rounding: both are stored as float32, so a steady gradient could make it so.
            square = torch.clamp(square - new["mean"] * new["mean"], min=0.0)
        direction = gradient / (torch.sqrt(square) + self.eps)
        if self.momentum:
            direction = slots["momentum"] * self.momentum + direction
            new["momentum"] = direction
        return parameter - direction * scalars["lr"], new

    def describe(self) -> str:
        """The rule in words."""
        return (
            f"RMSprop{' (centered)' if self.centered else ''}, alpha {self.alpha:g}, momentum {self.momentum:g}, "
            f"epsilon {self.eps:g}, weight decay {self.weight_decay:g}"
        )
