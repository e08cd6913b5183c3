"""Optimizers of ``torch.optim`` as update rules: settings, parameter groups, and the state that they are in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from counterfoil.base.errors import DataError
from counterfoil.program.update.adam import Adam, AdamW
from counterfoil.program.update.adaptive import Adagrad, RmsProp
from counterfoil.program.update.groups import ParameterGroup, ParameterGroups
from counterfoil.program.update.rule import UpdateRule, Wrapper
from counterfoil.program.update.sgd import Sgd
from counterfoil.program.update.variants import Adadelta, Adamax, NAdam, RAdam
from counterfoil.program.update.wrappers import Continued, Maximize

AnyRule = UpdateRule | Optimizer
"""What a job may name as its optimizer."""
_HOW = frozenset({"foreach", "fused", "capturable", "differentiable"})
"""Settings that say how torch computes, and change nothing of what."""
_OWN = frozenset({"lr", "maximize"})
"""Settings that are no part of the rule itself: rates are listed step by step, and going up is a wrapper."""
_MOMENTS = {"exp_avg": "moment1", "exp_avg_sq": "moment2"}


@dataclass(frozen=True)
class _Kind:
    """How an optimizer of torch becomes a rule.

    Attributes:
        make: Makes the rule from a group's settings; those that are not among its parameters are refused.
        slots: Our names of the state tensors that torch keeps for a parameter, by torch's.
    """

    make: Callable[..., UpdateRule]
    slots: Mapping[str, str]


def _adam(*, decoupled_weight_decay: bool = False, **settings: Any) -> UpdateRule:
    return (AdamW if decoupled_weight_decay else Adam)(**settings)


_ADAM = _Kind(_adam, {**_MOMENTS, "max_exp_avg_sq": "largest2"})
_KINDS: Mapping[type[Optimizer], _Kind] = {
    torch.optim.SGD: _Kind(Sgd, {"momentum_buffer": "momentum"}),
    torch.optim.Adam: _ADAM,
    torch.optim.AdamW: _Kind(lambda decoupled_weight_decay=True, **settings: AdamW(**settings), _ADAM.slots),
    torch.optim.Adagrad: _Kind(Adagrad, {"sum": "sum"}),
    torch.optim.RMSprop: _Kind(RmsProp, {"square_avg": "square", "grad_avg": "mean", "momentum_buffer": "momentum"}),
    torch.optim.Adadelta: _Kind(Adadelta, {"square_avg": "square", "acc_delta": "delta"}),
    torch.optim.Adamax: _Kind(Adamax, {"exp_avg": "moment1", "exp_inf": "largest"}),
    torch.optim.NAdam: _Kind(NAdam, _MOMENTS),
    torch.optim.RAdam: _Kind(RAdam, _MOMENTS),
}
_FRESH = "Make a new optimizer for the order."


def is_stranger(optimizer: Optimizer) -> bool:
    """Whether no rule of ours stands for an optimizer."""
    return type(optimizer) not in _KINDS


def optimizer_within(rule: AnyRule) -> Optimizer | None:
    """Return the optimizer of torch that a rule is, or that the wrappers of a rule hold; None where there is none.

    Raises:
        DataError: It is one that no rule stands for.
    """
    while isinstance(rule, Wrapper):
        rule = rule.rule
    if not isinstance(rule, Optimizer):
        return None
    if type(rule) not in _KINDS:
        known = ", ".join(kind.__name__ for kind in _KINDS)
        raise DataError(
            f"The optimizer {type(rule).__module__}.{type(rule).__qualname__} cannot be ordered.",
            remedy=f"Of torch.optim there are {known}; of counterfoil, also Lion.",
        )
    return rule


def trained_names(optimizer: Optimizer, model: nn.Module) -> frozenset[str]:
    """Return the names of the parameters that an optimizer trains.

    Raises:
        DataError: It holds a tensor that is no parameter of the model, or none of its parameters.
    """
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    given = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for parameter in given:
        if id(parameter) not in names:
            raise DataError(
                f"The optimizer holds a tensor of shape {tuple(parameter.shape)} that is no parameter of the job's "
                "model.",
                remedy="Make the optimizer of model.parameters() after the model is complete; what a loss learns must "
                "be part of the model too.",
            )
    return frozenset(names[id(parameter)] for parameter in given if parameter.requires_grad)


def as_rule(rule: AnyRule, model: nn.Module, rates: Sequence[Sequence[float]]) -> UpdateRule:
    """Return a rule in which an optimizer of torch has become one of ours.

    Args:
        rule: The rule: an optimizer of torch, or with one within.
        model: The model whose parameters it holds.
        rates: The learning rates of each of its parameter groups.

    Raises:
        DataError: A setting, or the state that it is in, cannot be taken over.
    """
    if isinstance(rule, Wrapper):
        return replace(rule, rule=as_rule(rule.rule, model, rates))  # type: ignore[return-value]
    if not isinstance(rule, Optimizer):
        return rule
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = []
    for number, (group, listed) in enumerate(zip(rule.param_groups, rates, strict=True), start=1):
        members = {names[id(parameter)]: parameter for parameter in group["params"] if parameter.requires_grad}
        if members:
            name = f"group{number}"
            made = _continued(rule, _rule_of(rule, group), members, name)
            groups.append(ParameterGroup(name, frozenset(members).__contains__, made, learning_rates=tuple(listed)))
    if not groups:
        raise DataError(
            "The optimizer holds no parameter that requires a gradient, so there is nothing to train.",
            remedy="Make it of parameters with requires_grad=True.",
        )
    return groups[0].rule if len(rule.param_groups) == 1 else ParameterGroups(tuple(groups))


def write_back(optimizer: Optimizer, model: nn.Module, state: Mapping[str, Tensor], steps: int, *, rate: float) -> None:
    """Put an optimizer of torch into the state that it would be in after so many more steps.

    Args:
        optimizer: The optimizer.
        model: The model whose parameters it holds; they are not changed.
        state: The state after the step, by the names of an order.
        steps: Steps that the order has made.
        rate: The learning rate of the last step of its first parameter group.
    """
    slots = _KINDS[type(optimizer)].slots
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            kept = {torchs: state.get(f"{ours}:{names[id(parameter)]}") for torchs, ours in slots.items()}
            own = optimizer.state[parameter]
            own.update({name: tensor.to(parameter).clone() for name, tensor in kept.items() if tensor is not None})
            if type(optimizer) is not torch.optim.SGD and any(tensor is not None for tensor in kept.values()):
                own["step"] = torch.tensor(float(steps))
    optimizer.param_groups[0]["lr"] = rate


def _rule_of(optimizer: Optimizer, group: Mapping[str, Any]) -> UpdateRule:
    # Schedulers keep things of their own in a group.
    settings = {name: _plain(group[name]) for name in optimizer.defaults if name not in _OWN | _HOW}
    try:
        made = _KINDS[type(optimizer)].make(**settings)
    except TypeError as error:
        raise DataError(
            f"The settings {', '.join(sorted(settings))} of {type(optimizer).__name__} cannot all be taken over: "
            f"{error}.",
            remedy="Leave out what torch.optim does not have by itself.",
        ) from error
    return Maximize(made) if group.get("maximize") else made


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.item()
    return tuple(_plain(item) for item in value) if isinstance(value, (tuple, list)) else value


def _continued(optimizer: Optimizer, rule: UpdateRule, members: Mapping[str, Tensor], group: str) -> UpdateRule:
    """The rule with the state that the optimizer is in, where it has made steps."""
    slots = _KINDS[type(optimizer)].slots
    states = {name: optimizer.state.get(parameter, {}) for name, parameter in members.items()}
    held = {
        f"{slots[kept]}:{name}": value.detach().clone()
        for name, state in states.items()
        for kept, value in state.items()
        if kept in slots and isinstance(value, Tensor)
    }
    made = {name: _steps_done(state) for name, state in states.items()}
    # What never had a gradient, as a head that nobody uses, was never updated, and need not be from now on.
    idle = frozenset(name for name, count in made.items() if not count)
    steps = set(made.values()) - {0}
    if not steps:
        return rule
    if len(steps) > 1:
        raise DataError(
            f"The parameters of the optimizer's {group} have made different numbers of steps: "
            f"{', '.join(map(str, sorted(steps)))}.",
            remedy=f"{_FRESH} Or put them into groups by the steps that they have made.",
        )
    return Continued(rule, held, steps.pop(), idle)


def _steps_done(state: Mapping[str, Any]) -> int:
    """Steps that a parameter has made; SGD does not count them, and has a momentum after the first."""
    return int(state["step"]) if "step" in state else int(any(value is not None for value in state.values()))
