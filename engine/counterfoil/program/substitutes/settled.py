"""Integers that the step does not compute: what follows from them alone is settled when the step is captured.

The edges of a graph, a table of indices: constants of the client's code. Which of them a mask chooses, and how many,
is known then, so shapes may follow from them. Only the result becomes a part of the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._mode_utils import no_dispatch

_IN_PLACE = frozenset(("__setitem__", "copy_", "set_", "requires_grad_"))


def settled(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], own: Collection[int]) -> Any:
    """Compute a function of constant integers alone.

    Args:
        func: A function of torch.
        args: Its arguments.
        kwargs: Its arguments by name.
        own: Addresses of the memory of the model's own tensors, which are no constants.

    Returns:
        What it gives; ``NotImplemented`` where it takes anything else, changes a tensor, or draws.
    """
    given = list(_tensors((args, tuple(kwargs.values()))))
    name = getattr(func, "__name__", "")
    if not given or not all(_constant(tensor, own) for tensor in given) or "out" in kwargs:
        return NotImplemented
    if _changes(name) or "rand" in name or name == "dropout":
        return NotImplemented
    with no_dispatch():
        return func(*args, **kwargs)


def _changes(name: str) -> bool:
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith("__")) or name.startswith("__i") and (
        name not in ("__invert__", "__index__", "__int__")
    )


def _constant(tensor: Tensor, own: Collection[int]) -> bool:
    if isinstance(tensor, FakeTensor) or tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        return False
    return type(tensor) is Tensor and tensor.untyped_storage().data_ptr() not in own


def with_known_places(func: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an indexing in which constant masks are the places that they choose."""
    if func not in (Tensor.__getitem__, Tensor.__setitem__):
        return args
    keys = args[1] if isinstance(args[1], tuple) else (args[1],)
    if not any(_mask(item) for item in keys):
        return args
    with no_dispatch():
        found = [place for item in keys for place in (item.nonzero(as_tuple=True) if _mask(item) else (item,))]
    return (args[0], tuple(found), *args[2:])


def _mask(item: Any) -> bool:
    return isinstance(item, Tensor) and not isinstance(item, FakeTensor) and item.dtype is torch.bool


def _tensors(item: Any) -> Iterator[Tensor]:
    if isinstance(item, Tensor):
        yield item
    elif isinstance(item, (list, tuple)):
        for part in item:
            yield from _tensors(part)
    elif isinstance(item, slice):
        yield from _tensors((item.start, item.stop, item.step))
