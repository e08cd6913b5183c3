"""What was cut into digits, for the second product that it occurs in: weights, activations and gradients have two.

An entry belongs to one value and dies with it, with a change of it in place that torch knows of, with its second use,
and with :func:`forget`, which whoever runs a program calls before each step: within a step no value changes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from torch import Tensor

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class _Entry:
    owner: weakref.ref[Tensor]
    version: int
    made: Any


_entries: dict[Hashable, _Entry] = {}


def forget() -> None:
    """Forget everything."""
    _entries.clear()


def kept() -> int:
    """Return how many are kept."""
    return len(_entries)


def once(x: Tensor, how: Hashable, make: Callable[[], _Made]) -> _Made:
    """Return what ``make`` makes of a tensor; of the same values with the same ``how`` it is made once for two uses.

    Args:
        x: The tensor, contiguous; another view of the same memory is the same tensor.
        how: What else the result depends on.
        make: Makes it.
    """
    owner = x if x._base is None else x._base
    key = id(owner), x.storage_offset(), tuple(x.shape), how
    entry = _entries.pop(key, None)
    if entry is not None and entry.owner() is owner and entry.version == owner._version:
        return cast(_Made, entry.made)
    made = make()
    _entries[key] = _Entry(weakref.ref(owner, lambda _: _entries.pop(key, None)), owner._version, made)
    return made
