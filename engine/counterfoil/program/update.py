"""Optimizers as pure update rules, written in operators that are exact wherever the mathematics allows.

A rule computes new parameters and optimizer slots from old ones. Everything that depends on the step number alone
(learning rate, bias corrections) is a per-step scalar: computed once by the client, listed in the order, so that no
``pow`` or ``cos`` of the auditor's machine takes part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

AtSlot = Callable[[str], None]
"""Told the name of the state tensor whose update follows, so that its operators can be attributed."""


class UpdateRule(Protocol):
    """An optimizer, as the capture needs it."""

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Names of the per-step scalars."""

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """Values of the per-step scalars at ``step`` (from 1) with learning rate ``lr``."""

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The optimizer slots before the first step, named ``slot:parameter``."""

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters and slots by name."""

    def describe(self) -> str:
        """The rule in words."""


def clip_by_norm(gradients: Mapping[str, Tensor], limit: float, at_slot: AtSlot) -> dict[str, Tensor]:
    """Scale all gradients so that their joint Euclidean norm is at most ``limit`` (Pascanu et al. 2013).

    As ``torch.nn.utils.clip_grad_norm_``: the factor is ``min(1, limit / (norm + 1e-6))``.
    """
    at_slot("clip_by_norm")
    norms = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients.values()])
    factor = torch.clamp(limit / (torch.linalg.vector_norm(norms) + 1e-6), max=1.0)
    return {name: gradient * factor for name, gradient in gradients.items()}


@dataclass(frozen=True)
class Sgd:
    """Stochastic gradient descent with momentum and weight decay, as ``torch.optim.SGD`` computes it.

    Attributes:
        momentum: Momentum factor; 0 for none.
        weight_decay: L2 penalty added to the gradient.
        clip_norm: Largest joint norm of the gradients, or None.
    """

    momentum: float = 0.0
    weight_decay: float = 0.0
    clip_norm: float | None = None

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """``lr``."""
        return ("lr",)

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The learning rate."""
        return (lr,)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """One momentum buffer for each parameter, zero."""
        if not self.momentum:
            return {}
        return {f"momentum:{name}": torch.zeros_like(p) for name, p in parameters.items()}

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters and momentum buffers."""
        if self.clip_norm is not None:
            gradients = clip_by_norm(gradients, self.clip_norm, at_slot)
        new: dict[str, Tensor] = {}
        for name, parameter in parameters.items():
            at_slot(name)
            direction = gradients[name]
            if self.weight_decay:
                direction = direction + parameter * self.weight_decay
            if self.momentum:
                direction = slots[f"momentum:{name}"] * self.momentum + direction
                new[f"momentum:{name}"] = direction
            new[name] = parameter - direction * scalars["lr"]
        return new

    def describe(self) -> str:
        """The rule in words."""
        clip = "" if self.clip_norm is None else f", gradients clipped to norm {self.clip_norm:g}"
        return f"SGD, momentum {self.momentum:g}, weight decay {self.weight_decay:g}{clip}"


@dataclass(frozen=True)
class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019), as ``torch.optim.AdamW`` computes it.

    Attributes:
        betas: Decay of the first and the second moment.
        epsilon: Added to the denominator.
        weight_decay: Decoupled weight decay.
        decays: Whether the parameter of a name decays; by default all do.
        clip_norm: Largest joint norm of the gradients, or None.
    """

    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    decays: Callable[[str], bool] = lambda name: True
    clip_norm: float | None = None

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Learning rate, step size ``lr / (1 - beta1^t)`` and ``1 / sqrt(1 - beta2^t)``."""
        return ("lr", "step_size", "root_correction")

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The per-step scalars."""
        return (lr, lr / (1.0 - self.betas[0] ** step), 1.0 / math.sqrt(1.0 - self.betas[1] ** step))

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Both moments of each parameter, zero."""
        return {
            f"{moment}:{name}": torch.zeros_like(p)
            for moment in ("moment1", "moment2")
            for name, p in parameters.items()
        }

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters and moments."""
        if self.clip_norm is not None:
            gradients = clip_by_norm(gradients, self.clip_norm, at_slot)
        beta1, beta2 = self.betas
        new: dict[str, Tensor] = {}
        for name, parameter in parameters.items():
            at_slot(name)
            gradient = gradients[name]
            if self.weight_decay and self.decays(name):
                parameter = parameter - parameter * (scalars["lr"] * self.weight_decay)
            moment1 = slots[f"moment1:{name}"] * beta1 + gradient * (1.0 - beta1)
            moment2 = slots[f"moment2:{name}"] * beta2 + gradient * gradient * (1.0 - beta2)
            # A product where torch divides: products are exact, quotients would be rounded and logged.
            denominator = torch.sqrt(moment2) * scalars["root_correction"] + self.epsilon
            new[name] = parameter - moment1 / denominator * scalars["step_size"]
            new[f"moment1:{name}"] = moment1
            new[f"moment2:{name}"] = moment2
        return new

    def describe(self) -> str:
        """The rule in words."""
        clip = "" if self.clip_norm is None else f", gradients clipped to norm {self.clip_norm:g}"
        return (
            f"AdamW, betas {self.betas[0]:g} and {self.betas[1]:g}, epsilon {self.epsilon:g}, "
            f"weight decay {self.weight_decay:g}{clip}"
        )
