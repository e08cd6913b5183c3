"""What an update rule is, and what most of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.errors import DataError

AtSlot = Callable[[str], None]
"""Told the name of the state tensor whose update follows, so that its operators can be attributed."""


class UpdateRule(Protocol):
    """An optimizer, as the capture needs it."""

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Names of the per-step scalars."""

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """Values of the per-step scalars at ``step`` (from 1) with learning rate ``lr``.

        What depends on the step alone is computed here, reciprocals too: a product is correctly rounded on all
        hardware, and a quotient is not (ADR 5).
        """

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
        """Return the new parameters and slots by name.

        Args:
            parameters: Those with a gradient, float32, by name.
            gradients: Their gradients, by the same names and of the same shapes.
            slots: All slots of the optimizer by name, ``slot:parameter``.
            scalars: Float32 tensors without axes, by the names of :attr:`scalar_names`.
            at_slot: Is told what is updated next.
        """

    def describe(self) -> str:
        """The rule in words."""


@dataclass(frozen=True)
class NothingTrained:
    """The rule of a step that changes no weight, such as one of an evaluation: what the step changes are buffers."""

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """None."""
        return ()

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """None."""
        return {}

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Change nothing."""
        return {}

    def describe(self) -> str:
        """That nothing is trained."""
        return "none: nothing is trained"


class ParameterRule(ABC):
    """A rule that updates each parameter by itself, from its own gradient and slots."""

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """``lr``."""
        return ("lr",)

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """The learning rate."""
        return (lr,)

    @property
    @abstractmethod
    def slot_names(self) -> tuple[str, ...]:
        """Names of the slots that each parameter has, or may have."""

    def first_slot(self, slot: str, parameter: Tensor) -> Tensor:
        """A slot of one parameter before the first step: zero."""
        return untouched_zeros(parameter)

    @abstractmethod
    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and its new slots.

        Args:
            parameter: The parameter, float32 of any shape.
            gradient: Its gradient, of the same shape.
            slots: Its slots by :attr:`slot_names`, of the same shape unless :meth:`first_slot` says otherwise.
            scalars: Float32 tensors without axes, by :attr:`scalar_names`.
        """

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The optimizer slots before the first step, named ``slot:parameter``."""
        return {
            f"{slot}:{name}": self.first_slot(slot, parameter)
            for name, parameter in parameters.items()
            for slot in self.slot_names
        }

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Update each parameter by :meth:`update_one`; see :meth:`UpdateRule.update`."""
        new: dict[str, Tensor] = {}
        for name, parameter in parameters.items():
            at_slot(name)
            own = {slot: slots[f"{slot}:{name}"] for slot in self.slot_names if f"{slot}:{name}" in slots}
            new[name], changed = self.update_one(parameter, gradients[name], own, scalars)
            new.update((f"{slot}:{name}", tensor) for slot, tensor in changed.items())
        return new


def untouched_zeros(like: Tensor) -> Tensor:
    """Return zeros of the shape and dtype of a tensor, which take no memory before somebody writes to them.

    Args:
        like: The tensor. One that is not contiguous, or not in the memory of the CPU, gets ordinary zeros.
    """
    if not like.is_cpu or not like.is_contiguous() or not like.numel():
        return torch.zeros_like(like)
    return torch.from_numpy(np.zeros(like.nbytes, np.uint8)).view(like.dtype).view(like.shape)


@dataclass(frozen=True)
class Wrapper:
    """A rule made from another one. By itself it changes nothing."""

    rule: UpdateRule | torch.optim.Optimizer | Sequence[torch.optim.Optimizer]

    @property
    def within(self) -> UpdateRule:
        """The rule within; raises DataError where it is an optimizer of torch that no job has turned into a rule."""
        if isinstance(self.rule, (torch.optim.Optimizer, Sequence)):
            raise DataError(
                f"The {type(self.rule).__name__} is no rule before it is part of a job.",
                remedy="Give it to a CustomJob, as its rule or within one.",
            )
        return self.rule

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Those of the rule within."""
        return self.within.scalar_names

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """Those of the rule within."""
        return self.within.scalars(step, lr)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of the rule within."""
        return self.within.slots(parameters)

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients that the rule within sees, by parameter: as they are."""
        return gradients

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Update by the rule within, of the gradients that it sees; see :meth:`UpdateRule.update`."""
        return self.within.update(parameters, self.seen(gradients, at_slot), slots, scalars, at_slot)


def check_fraction(name: str, value: float) -> None:
    """Check that a setting lies in 0 to 1, 1 excluded.

    Raises:
        DataError: It does not.
    """
    if not 0.0 <= value < 1.0:
        raise DataError(f"The optimizer's {name} is {value:g}; it must be at least 0 and less than 1.")


def check_not_negative(name: str, value: float) -> None:
    """Check that a setting is a finite number from 0.

    Raises:
        DataError: It is not.
    """
    if not 0.0 <= value < float("inf"):
        raise DataError(f"The optimizer's {name} is {value:g}; it must be 0 or a positive number.")


def check_positive(name: str, value: float) -> None:
    """Check that a setting is a finite number above 0.

    Raises:
        DataError: It is not.
    """
    if not 0.0 < value < float("inf"):
        raise DataError(f"The optimizer's {name} is {value:g}; it must be a positive number.")
