"""Variants of Adam: Adamax, NAdam and RAdam; and Adadelta."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.adam import MomentRule
from counterfoil.program.update.rule import ParameterRule, check_fraction, check_not_negative


@dataclass(frozen=True)
class Adadelta(ParameterRule):
    """Adadelta (Zeiler 2012), as ``torch.optim.Adadelta`` computes it."""

    rho: float = 0.9  #: Decay of both mean squares.
    eps: float = 1e-6  #: Added below both roots.
    weight_decay: float = 0.0  #: L2 penalty added to the gradient.

    def __post_init__(self) -> None:
        check_fraction("rho", self.rho)
        check_not_negative("eps", self.eps)
        check_not_negative("weight decay", self.weight_decay)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The mean squares of gradients and of steps."""
        return ("square", "delta")

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and mean squares; see :meth:`ParameterRule.update_one`."""
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        square = slots["square"] * self.rho + gradient * gradient * (1.0 - self.rho)
        step = torch.sqrt(slots["delta"] + self.eps) / torch.sqrt(square + self.eps) * gradient
        delta = slots["delta"] * self.rho + step * step * (1.0 - self.rho)
        return parameter - step * scalars["lr"], {"square": square, "delta": delta}

    def describe(self) -> str:
        """The rule in words."""
        return f"Adadelta, rho {self.rho:g}, epsilon {self.eps:g}, weight decay {self.weight_decay:g}"


@dataclass(frozen=True)
class Adamax(MomentRule):
    """Adamax (Kingma and Ba 2015, section 7.1), as ``torch.optim.Adamax`` computes it.

    Attributes:
        betas: Decay of the moment and of the largest magnitude.
        eps: Added to each magnitude.
        weight_decay: L2 penalty added to the gradient.
    """

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The step size ``lr / (1 - beta1^t)``."""
        return (lr / (1.0 - self.betas[0] ** step),)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The moment and the largest magnitude."""
        return ("moment1", "largest")

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and slots; see :meth:`ParameterRule.update_one`."""
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        moment1 = self.moment1(slots, gradient)
        largest = torch.maximum(slots["largest"] * self.betas[1], torch.abs(gradient) + self.eps)
        return parameter - moment1 / largest * scalars["lr"], {"moment1": moment1, "largest": largest}


@dataclass(frozen=True)
class _Decoupled(MomentRule):
    decoupled_weight_decay: bool = False

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Both moments."""
        return ("moment1", "moment2")

    def _decayed(self, parameter: Tensor, gradient: Tensor, scalars: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        if not self.weight_decay:
            return parameter, gradient
        if self.decoupled_weight_decay:
            return parameter - parameter * (scalars["lr"] * self.weight_decay), gradient
        return parameter, gradient + parameter * self.weight_decay

    def describe(self) -> str:
        """The rule in words."""
        return super().describe() + " (decoupled)" * self.decoupled_weight_decay


_products: dict[tuple[float, float], list[float]] = {}
"""Products of NAdam's momenta up to each step, by first beta and decay of the momentum."""


@dataclass(frozen=True)
class NAdam(_Decoupled):
    """NAdam (Dozat 2016), as ``torch.optim.NAdam`` computes it.

    Attributes:
        betas: Decay of the first and the second moment.
        eps: Added to the denominator.
        weight_decay: L2 penalty added to the gradient, or decoupled.
        decoupled_weight_decay: Whether it is decoupled.
        momentum_decay: How fast the momentum comes to its first beta.
    """

    momentum_decay: float = 4e-3

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Learning rate, the factors of gradient and moment, and ``1 / sqrt(1 - beta2^t)``."""
        return ("lr", "gradient_size", "moment_size", "root_correction")

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The per-step scalars."""
        products = _products.setdefault((self.betas[0], self.momentum_decay), [1.0])
        while len(products) <= step:
            products.append(products[-1] * self._momentum(len(products)))
        product = products[step]
        now, following = self._momentum(step), self._momentum(step + 1)
        return (
            lr,
            lr * (1.0 - now) / (1.0 - product),
            lr * following / (1.0 - product * following),
            1.0 / math.sqrt(1.0 - self.betas[1] ** step),
        )

    def _momentum(self, step: int) -> float:
        return float(self.betas[0] * (1.0 - 0.5 * 0.96 ** (step * self.momentum_decay)))

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and moments; see :meth:`ParameterRule.update_one`."""
        parameter, gradient = self._decayed(parameter, gradient, scalars)
        moment1, moment2 = self.moment1(slots, gradient), self.moment2(slots, gradient)
        denominator = torch.sqrt(moment2) * scalars["root_correction"] + self.eps
        direction = gradient * scalars["gradient_size"] + moment1 * scalars["moment_size"]
        return parameter - direction / denominator, {"moment1": moment1, "moment2": moment2}


@dataclass(frozen=True)
class RAdam(_Decoupled):
    """RAdam (Liu et al. 2020), as ``torch.optim.RAdam`` computes it.

    Attributes:
        betas: Decay of the first and the second moment.
        eps: Added to the denominator; above 0.
        weight_decay: L2 penalty added to the gradient, or decoupled.
        decoupled_weight_decay: Whether it is decoupled.
    """

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Learning rate, and the factors of the moment without and with a denominator: one of them is 0."""
        return ("lr", "plain_size", "rectified_size")

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The per-step scalars."""
        beta1, beta2 = self.betas
        size, correction2 = lr / (1.0 - beta1**step), 1.0 - beta2**step
        limit = 2.0 / (1.0 - beta2) - 1.0
        length = limit - 2.0 * step * beta2**step / correction2
        if length <= 5.0:
            return (lr, size, 0.0)
        rectified = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
        return (lr, 0.0, size * math.sqrt(correction2 * rectified))

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and moments; see :meth:`ParameterRule.update_one`."""
        parameter, gradient = self._decayed(parameter, gradient, scalars)
        moment1, moment2 = self.moment1(slots, gradient), self.moment2(slots, gradient)
        rectified = moment1 / (torch.sqrt(moment2) + self.eps) * scalars["rectified_size"]
        new = parameter - (moment1 * scalars["plain_size"] + rectified)
        return new, {"moment1": moment1, "moment2": moment2}
