"""Optimizers of ``torch.optim`` as update rules: settings, parameter groups, and the state that they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from counterfoil.program.update.adafactor import Adafactor
from counterfoil.program.update.adam import Adam, AdamW
from counterfoil.program.update.capture import Captured
from counterfoil.program.update.groups import ParameterGroup, ParameterGroups
from counterfoil.program.update.rule import AtSlot, UpdateRule, Wrapper
from counterfoil.program.update.rules import Adagrad, RmsProp, Sgd
from counterfoil.program.update.twins import name_of
from counterfoil.program.update.variants import Adadelta, Adamax, NAdam, RAdam
from counterfoil_core.base.errors import DataError

# What an optimizer of torch may bring with it: gradients that are climbed, and a state that it is in already.


@dataclass(frozen=True)
class Maximize(Wrapper):
    """Go up the gradients instead of down: the rule within sees them negated, as torch's ``maximize`` does."""

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients, negated."""
        negated = {}
        for name, gradient in gradients.items():
            at_slot(name)
            negated[name] = -gradient
        return negated

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, maximizing"


@dataclass(frozen=True)
class Continued(Wrapper):
    """Go on with the slots of an optimizer that has made steps before.

    Attributes:
        rule: The rule within.
        held: Slots by name, ``slot:parameter``; those that are not named start as the rule says.
        done: Steps that were made: the first step of the order is the one behind them.
        idle: Parameters that none of these steps has updated, since they never had a gradient.
    """

    held: Mapping[str, Tensor]
    done: int
    idle: frozenset[str] = frozenset()

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """Those of the rule within, so many steps later."""
        return self.within.scalars(step + self.done, lr)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those of the rule within, as they were held."""
        return {name: self.held.get(name, slot).clone() for name, slot in self.within.slots(parameters).items()}

    def seen(self, gradients: Mapping[str, Tensor], at_slot: AtSlot) -> Mapping[str, Tensor]:
        """The gradients.

        Raises:
            DataError: A parameter has a gradient that had none before: its own steps begin with the first.
        """
        if begun := sorted(self.idle & gradients.keys()):
            raise DataError(
                f"The parameter {begun[0]!r} has a gradient, and had none in the {self.done} steps that its optimizer "
                "has made.",
                remedy="Make a new optimizer for the order, or put parameters into groups by the steps that they have "
                "made.",
            )
        return gradients

    def describe(self) -> str:
        """The rule in words."""
        return f"{self.within.describe()}, after {self.done} steps"


AnyRule = UpdateRule | Optimizer | Sequence[Optimizer]
"""What a job may name as its optimizer: a rule, or optimizers that train different parameters."""
_HOW = frozenset({"foreach", "fused", "capturable", "differentiable"})
"""Settings that say how torch computes, and change nothing of what."""
_OWN = frozenset({"lr", "maximize"})
"""Settings that are no part of the rule itself: rates are listed step by step, and going up is a wrapper."""
_MOMENTS = {"exp_avg": "moment1", "exp_avg_sq": "moment2"}


@dataclass(frozen=True)
class _Kind:
    """How an optimizer of torch becomes a rule."""

    #: Makes the rule from a group's settings; those that are not among its parameters are refused.
    make: Callable[..., UpdateRule]
    slots: Mapping[str, str]  #: Our names of the state tensors that torch keeps for a parameter, by torch's.


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
_OTHERS: Mapping[str, _Kind] = {
    "transformers.optimization.Adafactor": _Kind(
        Adafactor,
        {
            "exp_avg": "moment1",
            "exp_avg_sq": "square",
            "exp_avg_sq_row": "rows",
            "exp_avg_sq_col": "columns",
        },
    )
}
"""The same for optimizers of other libraries, by name: they need not be installed."""
_EIGHT_BITS = (
    "its state of 8 bits is made by programs of its own that an order cannot hold",
    "Use torch.optim's own class of that name, for instance torch.optim.AdamW: the same training, with a state of "
    "float32.",
)
_REFUSED: Mapping[str, tuple[str, str]] = {
    "torch.optim.LBFGS": (
        "how often it computes the loss in a step, and how far it goes, is told by the losses themselves",
        "Use an optimizer that computes one gradient a step.",
    ),
    "torch.optim.SparseAdam": (
        "it leaves rows without a gradient alone, and the gradients of an order are dense",
        "Use torch.optim.Adam, whose moments decay in every row; or torch.optim.SGD or Adagrad, which do the same with "
        "both.",
    ),
    "bitsandbytes.*": _EIGHT_BITS,
    "torchao.*": _EIGHT_BITS,
}
"""Optimizers, or libraries of them, that cannot be ordered: why, and what to do."""
_FRESH = "Make a new optimizer for the order."


def optimizers_within(rule: AnyRule) -> tuple[Optimizer, ...]:
    """Return the optimizers of torch that a rule is, or that its wrappers hold; none where it is a rule of ours.

    Raises:
        DataError: One can be part of no order.
    """
    while isinstance(rule, Wrapper):
        rule = rule.rule
    given = tuple(rule) if isinstance(rule, Sequence) else (rule,)
    found = tuple(one for one in given if isinstance(one, Optimizer))
    for one in found:
        for name in (name_of(one), *(f"{kind.__module__.partition('.')[0]}.*" for kind in type(one).__mro__)):
            if name in _REFUSED:
                cause, remedy = _REFUSED[name]
                raise DataError(f"The optimizer {name_of(one)} cannot be ordered: {cause}.", remedy=remedy)
    return found


def captured_within(rule: UpdateRule) -> Iterator[Captured]:
    """Yield the captured optimizers that a rule consists of."""
    if isinstance(rule, Captured):
        yield rule
    elif isinstance(rule, Wrapper):
        yield from captured_within(rule.within)
    elif isinstance(rule, ParameterGroups):
        for group in rule.groups:
            yield from captured_within(group.rule)


def trained_names(optimizers: Sequence[Optimizer], model: nn.Module) -> frozenset[str]:
    """Return the names of the parameters that optimizers train.

    Raises:
        DataError: One holds a tensor that is no parameter of the model, or two hold the same one.
    """
    names = names_of_parameters(model)
    trained: set[str] = set()
    for optimizer in optimizers:
        given = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        for parameter in given:
            if id(parameter) not in names:
                raise DataError(
                    f"The optimizer holds a tensor of shape {tuple(parameter.shape)} that is no parameter of the job's "
                    "model.",
                    remedy="Make the optimizer of model.parameters() after the model is complete; what a loss learns "
                    "must be part of the model too.",
                )
        own = {names[id(parameter)] for parameter in given if parameter.requires_grad}
        if own & trained:
            raise DataError(
                f"Two optimizers of the job hold the parameter {min(own & trained)!r}.",
                remedy="Give each parameter to one of them; optimizers that take turns are a TurnsJob.",
            )
        trained |= own
    return frozenset(trained)


def names_of_parameters(model: nn.Module) -> dict[int, str]:
    """Return the names of a model's parameters, by identity."""
    return {id(parameter): name for name, parameter in model.named_parameters()}


def as_rule(rule: AnyRule, model: nn.Module, rates: Sequence[Sequence[float]]) -> UpdateRule:
    """Return a rule in which optimizers of torch have become ones of ours.

    Args:
        rule: The rule: an optimizer of torch, several of them, or with such within.
        model: The model whose parameters they hold.
        rates: The learning rates of each of their parameter groups, those of several one behind the other.

    Raises:
        DataError: A setting, or the state that one is in, cannot be taken over.
        ProgramError: The step of one cannot be captured.
    """
    if isinstance(rule, Wrapper):
        return replace(rule, rule=as_rule(rule.rule, model, rates))  # type: ignore[return-value]
    if isinstance(rule, Optimizer):
        return _of_one(rule, model, rates)
    if not isinstance(rule, Sequence):
        return rule
    if len(rule) == 1:
        return as_rule(rule[0], model, rates)
    groups, left = [], list(rates)
    for number, optimizer in enumerate(rule, start=1):
        own, left = left[: len(optimizer.param_groups)], left[len(optimizer.param_groups) :]
        members = trained_names([optimizer], model)
        if members:
            made = _of_one(optimizer, model, own)
            listed = tuple(own[0])
            groups.append(ParameterGroup(f"optimizer{number}", members.__contains__, made, learning_rates=listed))
    if not groups:
        raise _nothing_to_train()
    return ParameterGroups(tuple(groups))


def _of_one(optimizer: Optimizer, model: nn.Module, rates: Sequence[Sequence[float]]) -> UpdateRule:
    """The rule that stands for one optimizer of torch."""
    names = names_of_parameters(model)
    groups = []
    for number, (group, listed) in enumerate(zip(optimizer.param_groups, rates, strict=True), start=1):
        members = {names[id(parameter)]: parameter for parameter in group["params"] if parameter.requires_grad}
        if members:
            name = f"group{number}"
            made = None if is_stranger(optimizer) else _rule_of(optimizer, group)
            groups.append((name, members, made, tuple(listed)))
    if not groups:
        raise _nothing_to_train()
    if is_stranger(optimizer):
        return Captured(optimizer, names, rates)
    known = [
        ParameterGroup(
            name,
            frozenset(members).__contains__,
            _continued(optimizer, made, members, name),
            learning_rates=listed,
        )
        for name, members, made, listed in groups
        if made is not None
    ]
    return known[0].rule if len(optimizer.param_groups) == 1 else ParameterGroups(tuple(known))


def _nothing_to_train() -> DataError:
    return DataError(
        "The optimizer holds no parameter that requires a gradient, so there is nothing to train.",
        remedy="Make it of parameters with requires_grad=True.",
    )


def is_stranger(optimizer: Optimizer) -> bool:
    """Whether no rule of ours stands for an optimizer: its own step is captured."""
    return _kind(optimizer) is None


def _kind(optimizer: Optimizer) -> _Kind | None:
    return _KINDS.get(type(optimizer)) or _OTHERS.get(name_of(optimizer))


def _kind_of(optimizer: Optimizer) -> _Kind:
    kind = _kind(optimizer)
    assert kind is not None
    return kind


def slots_of_torch(key: str) -> frozenset[str]:
    """Return our names of a state tensor that torch's optimizers keep for a parameter.

    Args:
        key: What they call it.
    """
    return frozenset(kind.slots[key] for kind in _KINDS.values() if key in kind.slots)


def slots_by_torch(optimizer: Optimizer) -> Mapping[str, str]:
    """Return our names of the state tensors that an optimizer keeps for a parameter, by its own; none of a stranger."""
    kind = _KINDS.get(type(optimizer))
    return {} if kind is None else kind.slots


def counts_steps(optimizer: Optimizer) -> bool:
    """Whether an optimizer that a rule of ours stands for counts the steps of each parameter in its state."""
    return type(optimizer) is not torch.optim.SGD


def write_back(optimizer: Optimizer, model: nn.Module, state: Mapping[str, Tensor], steps: int) -> None:
    """Put an optimizer that a rule of ours stands for into the state that it would be in after so many more steps.

    Args:
        optimizer: The optimizer.
        model: The model whose parameters it holds; they are not changed.
        state: The state after the step, by the names of an order.
        steps: Steps that the order has made.
    """
    slots = _kind_of(optimizer).slots
    names = names_of_parameters(model)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            kept = {torchs: state.get(f"{ours}:{names[id(parameter)]}") for torchs, ours in slots.items()}
            own = optimizer.state[parameter]
            own.update({name: tensor.to(parameter).clone() for name, tensor in kept.items() if tensor is not None})
            if counts_steps(optimizer) and any(tensor is not None for tensor in kept.values()):
                own["step"] = torch.tensor(float(steps))


def _rule_of(optimizer: Optimizer, group: Mapping[str, Any]) -> UpdateRule:
    # Schedulers keep things of their own in a group.
    settings = {name: _plain(group[name]) for name in optimizer.defaults if name not in _OWN | _HOW}
    try:
        made = _kind_of(optimizer).make(**settings)
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
    slots = _kind_of(optimizer).slots
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
