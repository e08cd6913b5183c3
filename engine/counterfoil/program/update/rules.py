"""Rules that divide by the root of squared gradients without correcting for the start: Adagrad and RMSprop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.clipping import clip_by_norm
from counterfoil.program.update.rule import AtSlot, ParameterRule, check_fraction, check_not_negative
from counterfoil_core.base.errors import DataError

# Stochastic gradient descent.


@dataclass(frozen=True)
class Sgd(ParameterRule):
    """Stochastic gradient descent with momentum and weight decay, as ``torch.optim.SGD`` computes it."""

    momentum: float = 0.0  #: Momentum factor; 0 for none.
    weight_decay: float = 0.0  #: L2 penalty added to the gradient.
    clip_norm: float | None = None  #: Largest joint norm of the gradients, or None.
    nesterov: bool = False  #: Whether the step looks ahead along the momentum (Nesterov 1983; Sutskever et al. 2013).
    dampening: float = 0.0  #: How much of a gradient does not go into the momentum, from the second step on.

    def __post_init__(self) -> None:
        check_not_negative("momentum", self.momentum)
        check_not_negative("weight decay", self.weight_decay)
        if self.nesterov and (not self.momentum or self.dampening):
            raise DataError(
                "Nesterov's step needs a momentum without dampening.", remedy="Set momentum, for instance to 0.9."
            )

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """``lr``; with dampening also the share of the gradient that goes into the momentum."""
        return ("lr", "share") if self.dampening else ("lr",)

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The learning rate, and the share: all of the first gradient, as torch has it."""
        return (lr, 1.0 if step == 1 else 1.0 - self.dampening) if self.dampening else (lr,)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The momentum buffer, if there is a momentum."""
        return ("momentum",) if self.momentum else ()

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters and momentum buffers; see :meth:`UpdateRule.update`."""
        if self.clip_norm is not None:
            gradients = clip_by_norm(gradients, self.clip_norm, at_slot)
        return super().update(parameters, gradients, slots, scalars, at_slot)

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and momentum buffer; see :meth:`ParameterRule.update_one`."""
        direction = gradient
        new: dict[str, Tensor] = {}
        if self.weight_decay:
            direction = direction + parameter * self.weight_decay
        if self.momentum:
            if self.dampening:
                direction = direction * scalars["share"]
            new["momentum"] = slots["momentum"] * self.momentum + direction
            direction = direction + new["momentum"] * self.momentum if self.nesterov else new["momentum"]
        return parameter - direction * scalars["lr"], new

    def describe(self) -> str:
        """The rule in words."""
        clip = "" if self.clip_norm is None else f", gradients clipped to norm {self.clip_norm:g}"
        kind = "Nesterov momentum" if self.nesterov else "momentum"
        dampening = f", dampening {self.dampening:g}" if self.dampening else ""
        return f"SGD, {kind} {self.momentum:g}{dampening}, weight decay {self.weight_decay:g}{clip}"


# Lion: the sign of an interpolated momentum.


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
