"""Indices among the arguments of operators, and what they may point to; of those by name, with tensors of any library.

Not every function of the library looks at an index before it uses it, so these are looked at first
(:mod:`counterfoil_core.arithmetic.compute.indices`). A family whose operators take indices declares which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from counterfoil_core.operators.facts import IndexRule

Named = Mapping[str, Any]
Pointing = Iterator[tuple[Any, int, int]]
"""Indices, the smallest that they may be, and the number that they must be below."""


def along_axis(arguments: Named) -> Pointing:
    """Give the indices along an axis of ``self``."""
    x = arguments["self"]
    yield arguments["index"], 0, x.shape[arguments["dim"]] if x.dim() else 1


def in_windows(axes: int) -> IndexRule:
    """Return what gives the places in a plane that maxima were taken from."""

    def rule(arguments: Named) -> Pointing:
        yield arguments["indices"], 0, math.prod(arguments["self"].shape[-axes:])

    return rule


def of_each_axis(arguments: Named) -> Pointing:
    """Give the indices of one axis after another; a mask has none. They may count from the end."""
    axis = 0
    for indices in arguments["indices"]:
        mask = indices is not None and not indices.dtype.is_floating_point and indices.dtype.itemsize == 1
        if indices is not None and not mask:
            length = arguments["self"].shape[axis]
            yield indices, -length, length
        axis += indices.dim() if mask else 1


def of_rows(arguments: Named) -> Pointing:
    """Give the rows of an embedding."""
    weight = arguments.get("weight")
    yield arguments["indices"], 0, arguments["num_weights"] if weight is None else weight.shape[0]


def of_labels(arguments: Named) -> Pointing:
    """Give the labels of a loss, but for those that are ignored."""
    x, target = arguments["self"], arguments["target"]
    ignored = target == arguments["ignore_index"]
    yield target.masked_fill(ignored, 0), 0, x.shape[0 if x.dim() == 1 else 1]
