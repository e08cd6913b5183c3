"""What scales, forms and definitions of several families are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.memoryreuse import product
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments

# What computes a single operation of the exact profiles.

Definition = Callable[[Arguments, Profile], Any]
"""Computes an operator by its definition, of arguments by name, with defaults; floating-point tensors are float32."""

# What the scale rules of several families are made of.

Outputs = Sequence[Tensor | None]
"""What it made of them, before rounding."""
Scale = DeviceNumber | float | None
"""S of an output; None for an output without floating-point values."""
ScaleRule = Callable[[Arguments, Outputs], Sequence[Scale]]
"""Gives the scale of each output."""

SQUARED_ERROR = 2.0**-12
"""Above every gamma_n that fits a profile, so that an error that is squared is below it times the squared size."""


def vector_norm(x: Tensor, dims: Sequence[int] | int, order: float = 2.0) -> Tensor:
    """Return float64 norms over some axes."""
    result: Tensor = torch.linalg.vector_norm(x, ord=order, dim=dims, dtype=torch.float64)
    return result


def root(square: DeviceNumber | float) -> DeviceNumber | float:
    """Return the square root."""
    return square.sqrt() if isinstance(square, DeviceNumber) else math.sqrt(square)


def floating_tensors(arguments: Arguments) -> list[Tensor]:
    """Return the floating-point tensors among arguments; those within lists are left out."""
    return [value for value in arguments.values() if isinstance(value, Tensor) and value.is_floating_point()]


def add(*parts: DeviceNumber | float) -> DeviceNumber | float:
    """Return the sum of numbers, from the left; what adds nothing asks no device to."""
    total: DeviceNumber | float = 0.0
    for part in parts:
        if isinstance(total, float) and total == 0.0:
            total = part
        elif isinstance(part, DeviceNumber) or part != 0.0:
            total = total + part
    return total


def times(size: DeviceNumber | float, factor: float) -> DeviceNumber | float:
    """Return the product of a number with another one's magnitude; with 1 it stays."""
    return size if abs(factor) == 1.0 else size * abs(factor)


Run = Callable[..., Any]
"""Computes one piece: called with the name of an ATen operator and its positional arguments."""
Form = Callable[[Run, Arguments], Any]
"""Computes an operator from its arguments by name."""
Reduce = Callable[[Tensor, int], Tensor]
"""Reduces one axis, which stays with the length 1."""
_PRODUCTS = frozenset({"aten.mm.default", "aten.bmm.default"})


def natively(name: str, *args: Any) -> Any:
    """Compute a piece as the device does."""
    if name in _PRODUCTS:
        return product(name, *args)
    _, operator, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, operator), overload)(*args)


def total(run: Run, x: Tensor, axes: Sequence[int], *, keepdim: bool = False) -> Tensor:
    """Return the sum of ``x`` over some of its axes, one axis after another, the last first.

    A term passes through :func:`counterfoil_core.operators.sums.blocked_terms` additions, which its proven margin
    counts (docs/numerics.md, *Proven margins*).

    Args:
        run: Computes a piece.
        x: Floating-point, of any shape.
        axes: Axes, none negative.
        keepdim: Whether these stay, with the length 1.
    """

    def reduce(part: Tensor, axis: int) -> Tensor:
        result: Tensor = run("aten.sum.dim_IntList", part, [axis], True)
        return result

    return reduce_axes(reduce, x, axes, keepdim=keepdim)


def reduce_axes(reduce: Reduce, x: Tensor, axes: Sequence[int], *, keepdim: bool) -> Tensor:
    """Reduce axes one after another.

    Args:
        reduce: Reduces one axis; the reduction of several results must be that of all their terms.
        x: Floating-point, of any shape.
        axes: Axes, none negative.
        keepdim: Whether these stay, with the length 1.
    """
    ordered = sorted(axes, reverse=True)
    for axis in ordered:
        x = _along(reduce, x, axis)
    return x if keepdim or not ordered else x.squeeze(tuple(ordered))


def _along(reduce: Reduce, x: Tensor, axis: int) -> Tensor:
    length = x.shape[axis]
    if length <= sums.SHORT:
        return reduce(x, axis)
    block = sums.block_length(length)
    whole = length // block * block
    blocks = cut(x.narrow(axis, 0, whole), axis, block)
    partial = reduce(blocks, axis + 1).squeeze(axis + 1)
    if whole < length:
        partial = torch.cat([partial, reduce(x.narrow(axis, whole, length - whole), axis)], axis)
    return reduce(partial, axis)


def cut(x: Tensor, axis: int, block: int) -> Tensor:
    """View an axis as two.

    Args:
        x: Of any shape.
        axis: An axis, not negative, whose length is a multiple of ``block``.
        block: Length of a block.

    Returns:
        ``x`` with blocks and positions within a block in the place of that axis.
    """
    return x.view(*x.shape[:axis], x.shape[axis] // block, block, *x.shape[axis + 1 :])


def mean_of(run: Run, x: Tensor, axes: Sequence[int], *, keepdim: bool) -> Tensor:
    """Return the mean of ``x`` over some of its axes: their :func:`total`, divided once.

    Args:
        run: Computes a piece.
        x: Floating-point, of any shape.
        axes: Axes, none negative.
        keepdim: Whether these stay, with the length 1.
    """
    count = math.prod(x.shape[axis] for axis in axes)
    result: Tensor = run("aten.div.Scalar", total(run, x, axes, keepdim=keepdim), float(count))
    return result


def cast(x: Tensor, arguments: Arguments) -> Tensor:
    """Return ``x`` in the dtype that an operator's arguments ask for, if they do."""
    dtype = arguments.get("dtype")
    return x if dtype is None else x.to(dtype)
