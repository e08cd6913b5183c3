"""An optimizer behind a rule of aggregation: given the gradients of all shares, it sees what the rule makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from counterfoil.program.aggregation.rule import AggregationRule
from counterfoil.program.update.rule import AtSlot, Wrapper


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
