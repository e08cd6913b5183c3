"""Functions of torch that look at values, where they are given tensors without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from counterfoil.operators.random import dropout_of
from counterfoil.program.asked.numbers import is_asked
from counterfoil.program.notes import Notes
from counterfoil.program.sparse import DenseConstants
from counterfoil.program.substitutes import Substitutes
from counterfoil.training.following.steps import Geometry
from counterfoil.training.following.world import World, advance_generator, valued

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
        if not any(isinstance(item, Tensor) and self._world.is_noted(item) for item in _given((args, named))):
            return func(*args, **named)
        if func in _MAKERS:
            return _made(args[0], self._world, named.get("dtype"))
        if any(isinstance(item, Tensor) and item.layout is not torch.strided for item in _given((args, named))):
            return self._dense.__torch_function__(func, types, args, named)
        drawn = dropout_of(func)
        if drawn is not func:
            advance_generator(lambda: func(*(valued(item) for item in args), **{n: valued(v) for n, v in named.items()}))
        return self._substitutes.__torch_function__(drawn, types, args, named)


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
