"""Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.clipping import clip_by_norm
from counterfoil.program.update.rule import (
    AtSlot,
    ParameterRule,
    check_fraction,
    check_not_negative,
    untouched_zeros,
)


@dataclass(frozen=True)
class MomentRule(ParameterRule):
    """What Adam and its variants share: decaying moments of a parameter's gradient."""

    betas: tuple[float, float] = (0.9, 0.999)  #: Decay of the first and the second moment.
    eps: float = 1e-8  #: Added to the denominator.
    weight_decay: float = 0.0  #: L2 penalty added to the gradient.

    def __post_init__(self) -> None:
        _check(self.betas, self.eps, self.weight_decay)

    def moment1(self, slots: Mapping[str, Tensor], gradient: Tensor) -> Tensor:
        """The first moment after a step."""
        return slots["moment1"] * self.betas[0] + gradient * (1.0 - self.betas[0])

    def moment2(self, slots: Mapping[str, Tensor], gradient: Tensor) -> Tensor:
        """The second moment after a step."""
        return slots["moment2"] * self.betas[1] + gradient * gradient * (1.0 - self.betas[1])

    def describe(self) -> str:
        """The rule in words."""
        return _words(type(self).__name__, self.betas, self.eps, self.weight_decay)


@dataclass(frozen=True)
class Adam(MomentRule):
    """Adam (Kingma and Ba 2015), as ``torch.optim.Adam`` computes it.

    Attributes:
        betas: Decay of the first and the second moment.
        eps: Added to the denominator.
        weight_decay: L2 penalty added to the gradient.
        amsgrad: Whether the largest second moment so far takes its place (Reddi et al. 2018).
    """

    amsgrad: bool = False

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Step size ``lr / (1 - beta1^t)`` and ``1 / sqrt(1 - beta2^t)``."""
        return ("step_size", "root_correction")

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The per-step scalars."""
        return _corrections(self.betas, step, lr)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Both moments; the largest second one with ``amsgrad``."""
        return _slot_names(self.amsgrad)

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and moments; see :meth:`ParameterRule.update_one`."""
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        return _moved(parameter, gradient, slots, scalars, self.betas, self.eps)

    def describe(self) -> str:
        """The rule in words."""
        return super().describe() + ", amsgrad" * self.amsgrad


@dataclass(frozen=True)
class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019), as ``torch.optim.AdamW`` computes it."""

    betas: tuple[float, float] = (0.9, 0.999)  #: Decay of the first and the second moment.
    eps: float = 1e-8  #: Added to the denominator.
    weight_decay: float = 0.01  #: Decoupled weight decay.
    decays: Callable[[str], bool] = lambda name: True  #: Whether the parameter of a name decays; by default all do.
    clip_norm: float | None = None  #: Largest joint norm of the gradients, or None.
    amsgrad: bool = False  #: Whether the largest second moment so far takes its place (Reddi et al. 2018).

    def __post_init__(self) -> None:
        _check(self.betas, self.eps, self.weight_decay)

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Learning rate, step size ``lr / (1 - beta1^t)`` and ``1 / sqrt(1 - beta2^t)``."""
        return ("lr", "step_size", "root_correction")

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The per-step scalars."""
        return (lr, *_corrections(self.betas, step, lr))

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Both moments of each parameter, zero; the largest second one with ``amsgrad``."""
        return {
            f"{moment}:{name}": untouched_zeros(p)
            for moment in _slot_names(self.amsgrad)
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
        """Return the new parameters and moments; see :meth:`UpdateRule.update`."""
        if self.clip_norm is not None:
            gradients = clip_by_norm(gradients, self.clip_norm, at_slot)
        new: dict[str, Tensor] = {}
        for name, parameter in parameters.items():
            at_slot(name)
            if self.weight_decay and self.decays(name):
                parameter = parameter - parameter * (scalars["lr"] * self.weight_decay)
            own = {slot: slots[f"{slot}:{name}"] for slot in _slot_names(self.amsgrad)}
            new[name], changed = _moved(parameter, gradients[name], own, scalars, self.betas, self.eps)
            new.update((f"{slot}:{name}", tensor) for slot, tensor in changed.items())
        return new

    def describe(self) -> str:
        """The rule in words."""
        clip = "" if self.clip_norm is None else f", gradients clipped to norm {self.clip_norm:g}"
        return _words("AdamW", self.betas, self.eps, self.weight_decay) + ", amsgrad" * self.amsgrad + clip


def _slot_names(amsgrad: bool) -> tuple[str, ...]:
    return ("moment1", "moment2", *(("largest2",) if amsgrad else ()))


def _moved(
    parameter: Tensor,
    gradient: Tensor,
    slots: Mapping[str, Tensor],
    scalars: Mapping[str, Tensor],
    betas: tuple[float, float],
    eps: float,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The step that both have in common: the new parameter and moments."""
    beta1, beta2 = betas
    moment1 = slots["moment1"] * beta1 + gradient * (1.0 - beta1)
    moment2 = slots["moment2"] * beta2 + gradient * gradient * (1.0 - beta2)
    new = {"moment1": moment1, "moment2": moment2}
    if "largest2" in slots:
        moment2 = new["largest2"] = torch.maximum(slots["largest2"], moment2)
    # A product where torch divides: products are exact, quotients would be rounded and logged.
    denominator = torch.sqrt(moment2) * scalars["root_correction"] + eps
    return parameter - moment1 / denominator * scalars["step_size"], new


def _words(name: str, betas: tuple[float, float], eps: float, weight_decay: float) -> str:
    return f"{name}, betas {betas[0]:g} and {betas[1]:g}, epsilon {eps:g}, weight decay {weight_decay:g}"


def _check(betas: tuple[float, float], eps: float, weight_decay: float) -> None:
    check_fraction("first beta", betas[0])
    check_fraction("second beta", betas[1])
    check_not_negative("eps", eps)
    check_not_negative("weight decay", weight_decay)


def _corrections(betas: tuple[float, float], step: int, lr: float) -> tuple[float, float]:
    """Step size and reciprocal root: what the bias corrections of both moments come to."""
    return lr / (1.0 - betas[0] ** step), 1.0 / math.sqrt(1.0 - betas[1] ** step)
