"""The optimizers of a script: as update rules, or followed as they are written where there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.optim import Optimizer
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from counterfoil.program.update import UpdateRule
from counterfoil.program.update.groups import ParameterGroups
from counterfoil.program.update.torchs import as_rule, counts_steps, is_stranger, optimizers_within, slots_by_torch
from counterfoil_core.base.errors import DataError

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
        yield from self._named.items()  # type: ignore[misc]


@dataclass
class FollowedOptimizer:
    """An optimizer of a script, whose own ``step`` is followed.

    A rule of ours stands for it where it does the same in fewer operators: where the state is as the rule left it, the
    settings are those that it was made of, nothing is hooked to the step, and every parameter with a gradient has made
    as many steps as the optimizer. The rule keeps the optimizer's own state as its own step would, so that a script may
    look at it, and so that the own step can go on from there at any time.
    """

    optimizer: Optimizer  #: The optimizer.
    number: int  #: Its number among those that the script has made, from 0.
    prefix: str  #: What the names of its per-step scalars begin with.
    names: dict[int, str]  #: The names of its parameters, by identity.
    #: The update rule that it is, of the learning rates that it began with; None where its own step is followed.
    rule: UpdateRule | None
    slots: Mapping[str, Tensor]  #: The rule's slots before the first step, by name.
    settings: list[dict[str, Any]]  #: The settings of its groups that the rule was made of.
    #: The learning rates of each parameter group at each of its calls.
    rates: list[tuple[float, ...]] = field(default_factory=list)
    _left: dict[int, dict[str, Any]] = field(default_factory=dict)
    _done_before: dict[int, int] = field(default_factory=dict)
    _trained: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, optimizer: Optimizer, number: int, prefix: str, tensors: Mapping[str, Tensor], taken: Collection[str]
    ) -> FollowedOptimizer:
        """Take an optimizer as it is before its first step.

        Args:
            optimizer: The optimizer.
            number: Its number among those that the script has made.
            prefix: What the names of its per-step scalars begin with.
            tensors: The tensors of the script's models by name.
            taken: Names of slots that other optimizers have.

        Raises:
            DataError: It can be part of no order.
        """
        optimizers_within(optimizer)
        own = cls(optimizer, number, prefix, {}, None, {}, [])
        own.learn_names(tensors)
        # NAdam keeps a product of all its steps, which no slot of ours holds: there is no way back from the rule.
        strange = is_stranger(optimizer) or isinstance(optimizer, torch.optim.NAdam)
        if strange or any(_MOVED in group for group in optimizer.param_groups):
            return own
        held = {own.names[id(p)]: p for group in optimizer.param_groups for p in group["params"]}
        trained = {name: _with_values(tensor) for name, tensor in held.items() if tensor.requires_grad}
        try:
            rule = as_rule(optimizer, Named(held), [[rate] for rate in _rates(optimizer)])
            slots = rule.slots(trained)
        except DataError:  # a setting, or a state, that no rule of ours has: its own step says what it does
            return own
        if any(name in taken or isinstance(slot, FakeTensor) for name, slot in slots.items()):
            return own
        own.rule, own.slots, own.settings = rule, slots, _settings(optimizer)
        own._trained = frozenset(id(p) for p in held.values() if p.requires_grad)
        own._done_before = {id(p): _done(optimizer, p) for p in held.values()}
        own._left = {id(p): dict(optimizer.state[p]) for p in held.values() if p in optimizer.state}
        return own

    def learn_names(self, tensors: Mapping[str, Tensor]) -> None:
        """Name its parameters, those of groups that came later too.

        Args:
            tensors: The tensors of the script's models by name.

        Raises:
            DataError: One is no module's.
        """
        known = {id(tensor): name for name, tensor in tensors.items()}
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) not in known and id(parameter) not in self.names:
                    raise DataError(
                        f"{type(self.optimizer).__name__} holds a tensor of shape {tuple(parameter.shape)} that is no "
                        "module's.",
                        remedy="Register what is trained with nn.Parameter in a module of the script's.",
                    )
                self.names.setdefault(id(parameter), known.get(id(parameter), ""))

    def call(self) -> tuple[float, ...]:
        """Take a call of ``step()``, and return the learning rates of its groups."""
        self.rates.append(_rates(self.optimizer))
        return self.rates[-1]

    @property
    def is_hooked(self) -> bool:
        """Whether something is called before or behind its step, or that of all optimizers."""
        own = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
        hooks = [getattr(self.optimizer, name, None) for name in own]
        return any((*hooks, _global_optimizer_pre_hooks, _global_optimizer_post_hooks))

    def fits_rule(self) -> bool:
        """Whether the rule does at this call what its own step does; to be asked behind :meth:`call`."""
        if self.rule is None or self.is_hooked or _settings(self.optimizer) != self.settings:
            return False
        counts = set()
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                left = self._left.get(id(parameter))
                if id(parameter) not in self._trained or not _same_entries(left, self.optimizer.state.get(parameter)):
                    return False
                counts.add(_done(self.optimizer, parameter) - self._done_before.get(id(parameter), 0) + 1)
        rules = [group.rule for group in self.rule.groups] if isinstance(self.rule, ParameterGroups) else [self.rule]
        call, rate = len(self.rates), self.rates[-1][0]
        return all(rule.scalars(count, rate) == rule.scalars(call, rate) for rule in rules for count in counts)

    def keep_state(self, slots: Mapping[str, Tensor]) -> None:
        """Keep the optimizer's own state as its own step would leave it, behind a step by the rule.

        Args:
            slots: The tensors that the rule's slots are, by name.
        """
        names = slots_by_torch(self.optimizer)
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                entries = self.optimizer.state[parameter]
                for key, ours in names.items():
                    slot = slots.get(f"{ours}:{self.names[id(parameter)]}")
                    if slot is not None:
                        entries[key] = slot
                if counts_steps(self.optimizer):
                    entries["step"] = torch.tensor(float(_done(self.optimizer, parameter) + 1))
                self._left[id(parameter)] = dict(entries)

    def entries(self) -> Iterator[tuple[str, str, Tensor]]:
        """Yield the tensors of its state with the name of the parameter and what the optimizer calls them."""
        for parameter, key, value in entries_of(self.optimizer):
            if id(parameter) in self.names:
                yield self.names[id(parameter)], key, value

    def scalar_names(self, time: int) -> tuple[str, ...]:
        """Return the names of the per-step scalars of its call of that number within a step."""
        if self.rule is None:
            return ()
        return tuple(f"{self.prefix}{f'again{time}.' * (time > 0)}{name}" for name in self.rule.scalar_names)

    def scalars(self) -> list[tuple[float, ...]]:
        """Return the values of the rule's per-step scalars at each call."""
        if self.rule is None:
            return [()] * len(self.rates)
        rule = self.rule
        if isinstance(rule, ParameterGroups):
            # Named by their numbers, from 1; those that train nothing are left out.
            numbers = [int(group.name.removeprefix("group")) - 1 for group in rule.groups]
            listed = [tuple(rates[number] for rates in self.rates) for number in numbers]
            rule = ParameterGroups(
                tuple(replace(group, learning_rates=own) for group, own in zip(rule.groups, listed, strict=True))
            )
        return [rule.scalars(call, rates[0]) for call, rates in enumerate(self.rates, start=1)]

    def describe(self) -> str:
        """The optimizer in words."""
        if self.rule is not None:
            return self.rule.describe()
        kind = type(self.optimizer)
        return f"{kind.__module__}.{kind.__qualname__}, as it is written"


def entries_of(optimizer: Optimizer) -> Iterator[tuple[Tensor, str, Tensor]]:
    """Yield the dense tensors of an optimizer's state: the parameter, what the optimizer calls them, and they."""
    for parameter, entries in optimizer.state.items():
        for key, value in entries.items() if isinstance(entries, dict) else ():
            if isinstance(value, Tensor) and value.layout is torch.strided:
                yield parameter, str(key), value


def _with_values(tensor: Tensor) -> Tensor:
    """A parameter for the slots that are made of it; one without values began as zeros."""
    return torch.zeros(tensor.shape, dtype=tensor.dtype) if isinstance(tensor, FakeTensor) else tensor.detach()


def _same_entries(left: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> bool:
    """Whether a parameter's state is as the rule left it."""
    left, now = left or {}, now or {}
    return left.keys() == now.keys() and all(left[key] is now[key] for key in left)


def _done(optimizer: Optimizer, parameter: Tensor) -> int:
    """Steps that a parameter has made."""
    return int(optimizer.state.get(parameter, {}).get("step", 0))


def _rates(optimizer: Optimizer) -> tuple[float, ...]:
    return tuple(float(group.get(_RATE) or 0.0) for group in optimizer.param_groups)


def _settings(optimizer: Optimizer) -> list[dict[str, Any]]:
    """The settings of each group, but for its learning rate, and which parameters it has."""
    return [
        {
            **{name: group[name] for name in optimizer.defaults if name in group and name != _RATE},
            "params": [id(parameter) for parameter in group["params"]],
        }
        for group in optimizer.param_groups
    ]
