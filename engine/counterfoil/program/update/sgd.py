"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from counterfoil.program.update.clipping import clip_by_norm
from counterfoil.program.update.rule import AtSlot, ParameterRule, check_not_negative
from counterfoil_core.base.errors import DataError


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
