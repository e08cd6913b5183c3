"""A twin of an optimizer: it has the code and the settings of the real one, and other tensors in the place of its own.

What is done to the twin is not done to the real one, nor to the model.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil_core.base.errors import DataError

HOW = {"foreach": False, "fused": None, "capturable": False, "differentiable": False}
"""Settings that say how is computed and change nothing of what, and the way that is watched."""
_NO_CHARACTER = re.compile(r"[^A-Za-z0-9_.\-]")


@dataclass(frozen=True)
class Place:
    """Where an optimizer holds a tensor."""

    container: Any
    key: Any
    tensor: Tensor


@dataclass(frozen=True)
class Twin:
    """A twin."""

    optimizer: Optimizer  #: The twin itself.
    parameters: Mapping[str, Tensor]  #: What stands for each parameter that the optimizer holds, by name.

    @property
    def held(self) -> dict[str, Place]:
        """Where it holds tensors, by their names."""
        return held_tensors(self.optimizer, {id(tensor): name for name, tensor in self.parameters.items()})


def held_tensors(optimizer: Optimizer, names: Mapping[int, str]) -> dict[str, Place]:
    """Return where an optimizer holds tensors other than parameters.

    Args:
        optimizer: The optimizer.
        names: The names of its parameters, by identity.

    Returns:
        The places by name: ``exp_avg:layer.weight`` for what it keeps for a parameter, ``d:group1`` for what a group
        has, ``x:optimizer`` for the rest.
    """
    found: dict[str, Place] = {}
    for path, owner, container, key, tensor in _walk(vars(optimizer), (), "optimizer", names, set()):
        name = f"{'.'.join(_NO_CHARACTER.sub('_', str(part)) for part in path)}:{owner}"
        found.setdefault(name, Place(container, key, tensor))
    return found


def _walk(
    item: Any, path: tuple[Any, ...], owner: str, names: Mapping[int, str], seen: set[int]
) -> Iterator[tuple[tuple[Any, ...], str, Any, Any, Tensor]]:
    """Yield path, owner, container, key and tensor."""
    if id(item) in seen:
        return
    seen.add(id(item))
    if isinstance(item, Optimizer):
        item = vars(item)
    if isinstance(item, dict):
        pairs = list(item.items())
    elif isinstance(item, (list, tuple)):
        pairs = list(enumerate(item))
    else:
        return
    for key, value in pairs:
        inner, whose = (*path, key), owner
        if id(key) in names:
            # What is kept for a parameter is named after it, wherever that is.
            inner, whose = (), names[id(key)]
        elif key == "param_groups" or key == "state":
            inner = path
        elif path == () and owner == "optimizer" and isinstance(item, list) and isinstance(value, dict):
            inner, whose = (), f"group{key + 1}"
        if isinstance(value, Tensor):
            if id(value) not in names:
                yield inner, whose, item, key, value
        else:
            yield from _walk(value, inner, whose, names, seen)


def twin_of(optimizer: Optimizer, names: Mapping[int, str], stand_in: Callable[[str, Tensor], Tensor]) -> Twin:
    """Return a twin of an optimizer.

    Args:
        optimizer: The optimizer.
        names: The names of its parameters, by identity.
        stand_in: Returns what takes the place of a tensor, of its name: a parameter's, or as :func:`held_tensors` says.

    Raises:
        DataError: It cannot be copied.
    """
    given = {id(p): p for group in optimizer.param_groups for p in group["params"]}
    parameters = {names[key]: stand_in(names[key], parameter) for key, parameter in given.items()}
    memo: dict[int, Any] = {key: parameters[names[key]] for key in given}
    memo |= {id(place.tensor): stand_in(name, place.tensor) for name, place in held_tensors(optimizer, names).items()}
    twin = type(optimizer).__new__(type(optimizer))
    memo[id(optimizer)] = twin
    # A scheduler puts itself before the step of the instance.
    own = {name: value for name, value in vars(optimizer).items() if name != "step"}
    try:
        vars(twin).update(copy.deepcopy(own, memo))
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"The optimizer {name_of(optimizer)} cannot be copied: {describe_error(error)}.",
            remedy="Let it hold numbers, tensors, lists and dicts only, and no files, locks or processes.",
        ) from error
    for group in twin.param_groups:
        group.update({key: value for key, value in HOW.items() if key in group})
    return Twin(twin, parameters)


def name_of(optimizer: Optimizer) -> str:
    """Return an optimizer's class in full."""
    kind = type(optimizer)
    package = "torch.optim" if kind.__module__.startswith("torch.optim.") else kind.__module__
    return f"{package}.{kind.__qualname__}"


def plain_number(value: Any) -> Any:
    """Return a tensor of one element as a number, and anything else as it is."""
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def set_rates(optimizer: Optimizer, rates: list[float]) -> None:
    """Set the learning rate of each group that has one."""
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if isinstance(group.get("lr"), Tensor):
            group["lr"] = torch.full_like(group["lr"], rate)
        elif group.get("lr") is not None:
            group["lr"] = rate
