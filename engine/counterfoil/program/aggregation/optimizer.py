"""An optimizer behind a rule of aggregation: given the gradients of all shares, it sees what the rule makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.aggregation.rule import Aggregate, AggregationRule, ShareRule
from counterfoil.program.update.rule import AtSlot, Wrapper, check_fraction

# Worker momentum: a rule sees an average of each share's gradients over the steps, which differ less than they do.

_MOMENTUM = "share_momentum"


@dataclass(frozen=True)
class WorkerMomentum(AggregationRule):
    """Let a rule aggregate the momenta of the shares: ``m <- decay m + (1 - decay) g``, zero before the first step.

    Karimireddy, He and Jaggi (ICML 2021); El Mhamdi, Guerraoui and Rouault (ICLR 2021).
    """

    rule: ShareRule  #: The rule within, of as many shares.
    decay: float = 0.9  #: How much of a momentum stays at each step.

    def __post_init__(self) -> None:
        check_fraction("decay of worker momentum", self.decay)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of the rule within, and the momenta of each parameter: one for each share, along the first axis."""
        momenta = {
            f"{_MOMENTUM}:{name}": torch.zeros_like(parameter).expand(self.rule.shares, *parameter.shape).clone()
            for name, parameter in parameters.items()
        }
        return {**self.rule.slots(parameters), **momenta}

    def aggregate(self, stacked: Mapping[str, Tensor], slots: Mapping[str, Tensor], at_slot: AtSlot) -> Aggregate:
        """Move the momenta, and let the rule within aggregate them; see :meth:`AggregationRule.aggregate`."""
        momenta = {}
        for name, tensor in stacked.items():
            slot = f"{_MOMENTUM}:{name}"
            at_slot(slot)
            momenta[name] = slots[slot] * self.decay + tensor * (1.0 - self.decay)
        made = self.rule.aggregate(momenta, slots, at_slot)
        kept = {f"{_MOMENTUM}:{name}": momentum for name, momentum in momenta.items()}
        return Aggregate(made.gradients, {**made.slots, **kept})

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.rule.describe()}, over worker momentum {self.decay:g}"


@dataclass(frozen=True)
class Aggregating(Wrapper):
    """Aggregate the gradients of all shares, then update with the rule within; the outermost wrapper.

    Attributes:
        rule: The rule within. What it wraps itself, such as clipping, sees the aggregate.
        aggregation: The rule of aggregation.
    """

    aggregation: AggregationRule

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of both rules."""
        return {**self.within.slots(parameters), **self.aggregation.slots(parameters)}

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters and slots; see :meth:`UpdateRule.update`.

        Args:
            parameters: Those with a gradient, by name.
            gradients: Their gradients of all shares; the first axis counts shares.
            slots: All slots of both rules.
            scalars: Those of the rule within.
            at_slot: Is told what is computed next.
        """
        made = self.aggregation.aggregate(gradients, slots, at_slot)
        return {**self.within.update(parameters, made.gradients, slots, scalars, at_slot), **made.slots}

    def describe(self) -> str:
        """Both rules in words."""
        return f"{self.within.describe()}; gradients: {self.aggregation.describe()}"
