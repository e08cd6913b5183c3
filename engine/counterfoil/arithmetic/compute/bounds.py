"""Indices are looked at before an operator uses them.

Not every function of the library does: some write wherever an index points to, and others stop the whole device. A
program from a stranger may hand any integers on as indices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torch import Tensor

from counterfoil.base.sentence import say

Named = Mapping[str, Any]
Bounds = tuple[Tensor, int, int]
"""Indices, the smallest that they may be, and the number that they must be below."""


def has_indices(kind: str) -> bool:
    """Return whether operators of a kind take indices."""
    return kind in _RULES


def check_indices(kind: str, arguments: Named) -> None:
    """Check the indices of one operator.

    Args:
        kind: The operator kind.
        arguments: Its arguments by name.

    Raises:
        IndexError: One points outside of what it is an index of.
    """
    for indices, low, high in _bounds(kind, arguments):
        smallest, largest = (int(bound) for bound in indices.aminmax())
        if smallest < low or largest >= high:
            raise IndexError(
                say("an index is {0}, outside of {1} to {2}", smallest if smallest < low else largest, low, high - 1)
            )


def kept_inside(kind: str, arguments: Named) -> tuple[dict[int, Tensor], list[Tensor]]:
    """Look at the indices of one operator without waiting for the device they are on.

    Args:
        kind: The operator kind.
        arguments: Its arguments by name.

    Returns:
        What takes the place of index tensors, by their ``id``: the same, and an index that is surely one where they
        point outside. And whether any does: bool ``[]`` each.

    Raises:
        IndexError: There is nothing to point to.
    """
    instead, wrong = {}, []
    for indices, low, high in _bounds(kind, arguments):
        if low >= high:
            check_indices(kind, arguments)
        outside = (indices < low) | (indices >= high)
        for given in _tensors(arguments.values()):
            # The rule for labels looks at a tensor that it makes of them.
            if given is indices or (given is arguments.get("target") and given.shape == indices.shape):
                instead[id(given)] = given.masked_fill(outside, 0)
        wrong.append(outside.any())
    return instead, wrong


def _tensors(arguments: Iterable[Any]) -> Iterator[Tensor]:
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from _tensors(argument)


def _bounds(kind: str, arguments: Named) -> Iterator[Bounds]:
    rule = _RULES.get(kind)
    for bounds in rule(arguments) if rule is not None else ():
        if bounds[0].numel() and type(bounds[0]).__name__ != "FakeTensor":
            yield bounds


def _axis(arguments: Named) -> Iterator[Bounds]:
    x = arguments["self"]
    yield arguments["index"], 0, x.shape[arguments["dim"]] if x.dim() else 1


def _pooled(axes: int) -> Callable[[Named], Iterator[Bounds]]:
    def rule(arguments: Named) -> Iterator[Bounds]:
        yield arguments["indices"], 0, math.prod(arguments["self"].shape[-axes:])

    return rule


def _each_axis(arguments: Named) -> Iterator[Bounds]:
    axis = 0
    for indices in arguments["indices"]:
        mask = indices is not None and not indices.dtype.is_floating_point and indices.dtype.itemsize == 1
        if indices is not None and not mask:
            length = arguments["self"].shape[axis]
            yield indices, -length, length
        axis += indices.dim() if mask else 1


def _rows(arguments: Named) -> Iterator[Bounds]:
    weight = arguments.get("weight")
    yield arguments["indices"], 0, arguments["num_weights"] if weight is None else weight.shape[0]


def _labels(arguments: Named) -> Iterator[Bounds]:
    x, target = arguments["self"], arguments["target"]
    ignored = target == arguments["ignore_index"]
    yield target.masked_fill(ignored, 0), 0, x.shape[0 if x.dim() == 1 else 1]


_RULES: Mapping[str, Callable[[Named], Iterator[Bounds]]] = {
    **dict.fromkeys(("gather", "scatter", "scatter_add", "scatter_reduce", "index_select", "index_add"), _axis),
    **dict.fromkeys(("index", "index_put"), _each_axis),
    **dict.fromkeys(("embedding", "embedding_dense_backward"), _rows),
    **dict.fromkeys(("nll_loss_forward", "nll_loss_backward", "nll_loss2d_forward", "nll_loss2d_backward"), _labels),
    "max_pool2d_with_indices_backward": _pooled(2),
    "adaptive_max_pool2d_backward": _pooled(2),
    "max_pool3d_with_indices_backward": _pooled(3),
}
