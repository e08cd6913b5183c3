"""The optimizers of a script: as update rules, or followed as they are written where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from counterfoil.base.errors import DataError
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.torchs import as_rule, is_stranger, optimizers_within

_RATE = "lr"
_MOVED = "max_momentum"
"""What OneCycleLR keeps in a group whose momentum, or betas, it moves."""


class Named(nn.Module):
    """Parameters under the names that they have in the order.

    Args:
        parameters: The parameters by name.
    """

    def __init__(self, parameters: Mapping[str, Tensor]) -> None:
        super().__init__()
        self._named = dict(parameters)

    def named_parameters(self, *_: Any, **__: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Return the parameters by name."""
        yield from ((name, tensor) for name, tensor in self._named.items() if isinstance(tensor, nn.Parameter))


@dataclass
class FollowedOptimizer:
    """An optimizer of a script.

    Attributes:
        optimizer: The optimizer.
        prefix: What the names of its per-step scalars begin with.
        names: The names of its parameters, by identity.
        rule: The update rule that it is, of the learning rates that it began with; None where its own step is followed.
        slots: Its slots before the first step, by name.
        rates: The learning rates of each parameter group at each of its calls.
    """

    optimizer: Optimizer
    prefix: str
    names: Mapping[int, str]
    rule: UpdateRule | None
    slots: Mapping[str, Tensor]
    settings: list[dict[str, Any]]
    rates: list[tuple[float, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, optimizer: Optimizer, prefix: str, tensors: Mapping[str, Tensor]) -> FollowedOptimizer:
        """Take an optimizer as it is before its first step.

        Args:
            optimizer: The optimizer.
            prefix: What the names of its per-step scalars begin with.
            tensors: The tensors of the script's models by name.

        Raises:
            DataError: It cannot be ordered, or its settings or state cannot be taken over.
        """
        optimizers_within(optimizer)
        own = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        held = {name: tensor for name, tensor in tensors.items() if id(tensor) in own}
        names = {id(tensor): name for name, tensor in held.items()}
        if own - names.keys():
            raise DataError(
                f"{type(optimizer).__name__} holds a parameter that is no module's, or became one after the first step "
                "began.",
                remedy="Make the models whole before the first step, and register what is trained with nn.Parameter.",
            )
        if is_stranger(optimizer) or any(_MOVED in group for group in optimizer.param_groups):
            return cls(optimizer, prefix, names, None, {}, [])
        rule = as_rule(optimizer, Named(held), [[rate] for rate in _rates(optimizer)])
        trained = {name: tensor.detach() for name, tensor in held.items() if tensor.requires_grad}
        return cls(optimizer, prefix, names, rule, rule.slots(trained), _settings(optimizer))

    def call(self, place: str) -> tuple[float, ...]:
        """Take a call of ``step()``, and return the learning rates of its groups.

        Raises:
            DataError: Another setting than the learning rate was changed.
        """
        if self.rule is not None and _settings(self.optimizer) != self.settings:
            raise DataError(
                f"A setting of {type(self.optimizer).__name__} other than its learning rate is changed between steps "
                f"{place}.".replace(" .", "."),
                remedy="Keep momentum, betas and weight decay as they are; OneCycleLR and CyclicLR take "
                "cycle_momentum=False.",
            )
        self.rates.append(_rates(self.optimizer))
        return self.rates[-1]

    def scalar_names(self, time: int) -> tuple[str, ...]:
        """Return the names of the per-step scalars of its call of that number within a step."""
        if self.rule is None:
            return ()
        return tuple(f"{self.prefix}{f'again{time}.' * (time > 0)}{name}" for name in self.rule.scalar_names)

    def scalars(self) -> list[tuple[float, ...]]:
        """Return the values of the rule's per-step scalars at each call."""
        if self.rule is None:
            return [()] * len(self.rates)
        by_group = list(zip(*self.rates, strict=True))
        own = Named(dict(self._parameters()))
        rule = as_rule(self.optimizer, own, by_group)
        return [rule.scalars(call, rates[0]) for call, rates in enumerate(self.rates, start=1)]

    def describe(self) -> str:
        """The optimizer in words."""
        if self.rule is not None:
            return self.rule.describe()
        kind = type(self.optimizer)
        return f"{kind.__module__}.{kind.__qualname__}, as it is written"

    def _parameters(self) -> Iterator[tuple[str, Tensor]]:
        for group in self.optimizer.param_groups:
            yield from ((self.names[id(parameter)], parameter) for parameter in group["params"])


def _rates(optimizer: Optimizer) -> tuple[float, ...]:
    return tuple(float(group[_RATE]) for group in optimizer.param_groups)


def _settings(optimizer: Optimizer) -> list[dict[str, Any]]:
    """The settings of each group, but for its parameters and its learning rate."""
    return [
        {name: group[name] for name in optimizer.defaults if name in group and name != _RATE}
        for group in optimizer.param_groups
    ]
