"""Functions of torch that look at values, where they are given tensors without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from counterfoil.program.asked.numbers import is_asked
from counterfoil.program.philoxdraws import dropout_of
from counterfoil.program.remedies import Notes
from counterfoil.program.sparse import DenseConstants, dense_gradient
from counterfoil.program.substitutes import Substitutes
from counterfoil.training.following.calls import SET_DATA
from counterfoil.training.following.steps import Geometry
from counterfoil.training.following.world import World, advance_generator, with_values

_MAKERS = {torch.tensor, torch.as_tensor}
"""Functions that make tensors of numbers, which they want to know."""


class WithoutValues(TorchFunctionMode):
    """Replaces functions as a capture does, where one of their arguments is a tensor without values.

    Args:
        world: Knows which have none.
        notes: Is told of sparse constants that become dense.
    """

    def __init__(self, world: World, notes: Notes) -> None:
        super().__init__()
        self._world = world
        self._notes = notes
        self._substitutes = Substitutes(self)
        self._dense = DenseConstants(notes)

    def hold(self, truth: Tensor) -> None:
        """Let the loss be infinite where a truth value does not hold."""
        self._world.step.truths.append(Geometry.of(truth.detach()))

    def knows(self, tensor: Tensor) -> bool:
        """Whether the value of a tensor is known."""
        return not self._world.is_noted(tensor)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Replace a function, or pass the call on."""
        named = kwargs or {}
        if func in _MAKERS and any(map(is_asked, _given(args))):
            return _made(args[0], self._world, named.get("dtype"))
        tensors = [item for item in _given((args, named)) if isinstance(item, Tensor)]
        if not any(map(self._world.is_noted, tensors)):
            return func(*args, **named)
        if func in _MAKERS:
            return _made(args[0], self._world, named.get("dtype"))
        with torch._C.DisableTorchFunction():  # else every mode below is asked for the layout
            is_sparse = any(item.layout is not torch.strided for item in tensors)
        if is_sparse:
            return self._dense.__torch_function__(func, types, args, named)
        if func is Tensor.__deepcopy__:
            # It would copy the memory past every operator: that of what the tensor stands for.
            return args[1].setdefault(id(args[0]), args[0].detach().clone().requires_grad_(args[0].requires_grad))
        if func == SET_DATA and isinstance(args[0], Tensor):
            # Another memory of the same contents, but for who else looks at it: what stands for the tensor stays.
            with torch.no_grad():
                args[0].detach().copy_(args[1])
            return None
        if func is functional.batch_norm:
            args = _positional(args, named)
            if is_asked(args[6]) and args[5]:
                return _cumulative_batch_norm(self._world.unknown(args[6]), *args)
        args, named = dense_gradient(func, args, named, self._notes)
        drawn = dropout_of(func)
        if drawn is not func:
            advance_generator(
                lambda: func(*(with_values(item) for item in args), **{n: with_values(v) for n, v in named.items()})
            )
        return self._substitutes.__torch_function__(drawn, types, args, named)


def _positional(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of ``batch_norm`` by their places; what is named is taken out of the names."""
    names = ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps")
    defaults = (None, None, None, None, None, False, 0.1, 1e-5)
    given = dict(zip(names, args, strict=False))
    return tuple(given.get(name, named.pop(name, default)) for name, default in zip(names, defaults, strict=True))


def _cumulative_batch_norm(
    momentum: Tensor, x: Tensor, mean: Tensor, variance: Tensor, weight: Any, bias: Any, _training: bool, _: Any,
    epsilon: float,
) -> Tensor:  # fmt: skip
    """Batch norm whose running statistics move by a value of the step, as with ``momentum=None``."""
    own_mean, own_variance = torch.zeros_like(mean), torch.zeros_like(variance)
    result = functional.batch_norm(x, own_mean, own_variance, weight, bias, True, 1.0, epsilon)
    with torch.no_grad():
        for running, own in ((mean, own_mean), (variance, own_variance)):
            running.mul_(1 - momentum).add_(own * momentum)
    return result


def _made(items: Any, world: World, dtype: torch.dtype | None = None) -> Tensor:
    """A tensor made of tensors without values, and of numbers that were taken out of such, in the place of numbers."""
    if is_asked(items):
        made = world.unknown(items)
    elif isinstance(items, Tensor):
        made = items.detach().clone()
    elif isinstance(items, (list, tuple)):
        made = torch.stack([_made(item, world) for item in items])
    else:
        made = torch.tensor(items)
    return made if dtype is None else made.to(dtype)


def _given(item: Any) -> list[Any]:
    if isinstance(item, (tuple, list)):
        return [found for part in item for found in _given(part)]
    if isinstance(item, dict):
        return [found for part in item.values() for found in _given(part)]
    return [item]
