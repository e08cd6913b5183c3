"""An exponential moving average of the weights, kept beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from counterfoil.program.update.rule import AtSlot, Wrapper, check_fraction


@dataclass(frozen=True)
class WeightAverage(Wrapper):
    """Update with the rule within, then move an average of each parameter: ``a + (w - a) (1 - decay)``.

    Training does not read the average; it is part of the state under the name ``average:parameter``, committed and
    audited like the weights. It starts at the initial weights. As ``torch.optim.swa_utils.AveragedModel`` with
    ``get_ema_multi_avg_fn(decay)`` that was told of the initial weights.

    Attributes:
        rule: The rule within.
        decay: How much of the average stays at each step.
    """

    decay: float

    def __post_init__(self) -> None:
        check_fraction("decay of the weights' average", self.decay)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of the rule within, and the average of each parameter."""
        averages = {f"average:{name}": parameter.clone() for name, parameter in parameters.items()}
        return {**self.within.slots(parameters), **averages}

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: AtSlot,
    ) -> dict[str, Tensor]:
        """Return the new parameters, slots and averages; see :meth:`UpdateRule.update`."""
        new = super().update(parameters, gradients, slots, scalars, at_slot)
        for name in parameters:
            slot = f"average:{name}"
            at_slot(slot)
            new[slot] = slots[slot] + (new[name] - slots[slot]) * (1.0 - self.decay)
        return new

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, average of the weights with decay {self.decay:g}"
