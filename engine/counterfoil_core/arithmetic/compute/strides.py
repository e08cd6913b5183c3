"""Frees operators from the strides of their arguments.

A program's values are tensors with an order of elements, C order; how they lie in memory belongs to the machine. A few
operators of torch look at the strides all the same: they refuse some, or compute something else without a word.
Rounding makes its outputs contiguous, and other back ends choose strides of their own, so neither may show in a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from counterfoil_core.operators.catalogue import kinds_with
from counterfoil_core.operators.facts import Trait

RELABELLED = kinds_with(Trait.RELABELS)
"""Kinds that give the elements, in C order, another shape; torch's own refuse strides that need a copy, and the last
gives the elements in the order of memory."""
CONTIGUOUS = kinds_with(Trait.CONTIGUOUS)
"""Kinds whose arguments must be contiguous: torch's own refuse others, or read them as if they were."""


class StrideFree:
    """An operator of torch whose result does not depend on the strides of its arguments.

    Args:
        kind: The operator kind.
        function: The operator, an ``OpOverload``.
    """

    def __init__(self, kind: str, function: Any) -> None:
        self._schema = function._schema
        self._run: Callable[..., Any] = _relabel if kind in RELABELLED else _contiguous(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the operator."""
        return self._run(*args, **kwargs)


def stride_free(kind: str, function: Any) -> Any:
    """Return the operator itself, or what stands for it where its result would depend on strides."""
    return StrideFree(kind, function) if kind in RELABELLED | CONTIGUOUS else function


def _relabel(x: Tensor, size: Any, stride: Any = None) -> Tensor:
    return x.reshape(size)


def _contiguous(function: Any) -> Callable[..., Any]:
    def laid_out(value: Any) -> Any:
        return value.contiguous() if isinstance(value, Tensor) else value

    def run(*args: Any, **kwargs: Any) -> Any:
        named: Mapping[str, Any] = {name: laid_out(value) for name, value in kwargs.items()}
        return function(*(laid_out(value) for value in args), **named)

    return run
