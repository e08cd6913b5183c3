"""Operators whose large results are put into memory that served others before (:mod:`.kernels.buffers`).

The library takes memory for a result by itself, unless it is told where to put it. It computes the same either way, by
the same code: only operators are listed here of which that is so, where the result lies in the order of its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.kernels import buffers
from counterfoil_core.operators.signatures import overload

_PRODUCTS = {
    "aten.mm.default": "out",
    "aten.addmm.default": "out",
    "aten.bmm.default": "out",
    "aten.baddbmm.default": "out",
}
"""Overload that is told where to put the result; it lies in the order of its axes whatever the arguments are."""
_ELEMENTWISE = {
    "aten.add.Tensor": "out", "aten.sub.Tensor": "out", "aten.mul.Tensor": "out", "aten.div.Tensor": "out",
    "aten.sqrt.default": "out", "aten.neg.default": "out", "aten.exp.default": "out", "aten.tanh.default": "out",
    "aten.sigmoid.default": "out", "aten.rsqrt.default": "out", "aten.clamp_min.default": "out",
    "aten.gelu.default": "out", "aten.gelu_backward.default": "grad_input",
    "aten.threshold_backward.default": "grad_input", "aten.tanh_backward.default": "grad_input",
    "aten._softmax.default": "out",
}  # fmt: skip
"""The same, where all tensors among the arguments lie so."""


def into_buffers(
    operator: str, function: Any, shape: Sequence[int], dtype: torch.dtype, *more: Any
) -> Callable[..., Any] | None:
    """Return what computes an operator of one result into such memory; None where the library takes its own.

    Args:
        operator: Its name.
        function: The library's function, for arguments of which that cannot be done.
        shape: The shape of its result.
        dtype: The dtype of its result.
        more: What comes behind its arguments.
    """
    if not buffers.is_large(shape, dtype):
        return None
    if operator == "aten.relu.default":
        # That is what it is.
        return into_buffers("aten.clamp_min.default", lambda x, _: function(x), shape, dtype, 0)
    name = _PRODUCTS.get(operator) or _ELEMENTWISE.get(operator)
    if name is None:
        return None
    into, ordered = overload(f"{operator.rpartition('.')[0]}.{name}"), operator in _ELEMENTWISE
    parameter = next(argument.name for argument in into._schema.arguments if argument.is_out)
    told = getattr(into, "_op", into)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not _fit(args, kwargs, ordered=ordered):
            return function(*args, *more, **kwargs)
        return told(*args, *more, **kwargs, **{parameter: buffers.empty(shape, dtype)})

    return call


def product(operator: str, left: Tensor, right: Tensor) -> Any:
    """Compute a product of matrices into such memory where the result is large.

    Args:
        operator: ``aten.mm.default`` or ``aten.bmm.default``.
        left: ``[M, K]``, or a batch of such.
        right: ``[K, N]``, likewise, of the same dtype.
    """
    name, shape = operator.split(".")[1], (*left.shape[:-1], right.shape[-1])
    function = getattr(torch.ops.aten, name)
    if not buffers.is_large(shape, left.dtype) or not _fit((left, right), {}, ordered=False):
        return function.default(left, right)
    return function.out(left, right, out=buffers.empty(shape, left.dtype))


def combine_into(function: Callable[..., Tensor], x: Tensor, other: Tensor) -> Tensor:
    """Compute a function of elements into such memory where they are large.

    Args:
        function: A function of torch that takes ``out``.
        x: The first operand, of the result's shape and dtype.
        other: The second, which may be broadcast.
    """
    whole = buffers.is_large(x.shape, x.dtype) and _fit((x, other), {}, ordered=True)
    return function(x, other, out=buffers.empty(x.shape, x.dtype)) if whole else function(x, other)


def _fit(args: Sequence[Any], kwargs: Mapping[str, Any], *, ordered: bool) -> bool:
    """Whether all tensors lie in the CPU's memory, and in the order of their axes where that matters."""
    for argument in (*args, *kwargs.values()):
        # Tensors without memory are of another class.
        if isinstance(argument, Tensor) and (
            type(argument) is not Tensor or not argument.is_cpu or (ordered and not argument.is_contiguous())
        ):
            return False
    return True
