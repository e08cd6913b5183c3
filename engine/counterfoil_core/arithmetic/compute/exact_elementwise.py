"""Elementwise operators of an exact profile, with everything settled that follows from the program.

What :data:`counterfoil_core.arithmetic.families.pointwise.OF_NUMBERS` and the division beside it compute, by the same
operations of :mod:`counterfoil_core.kernels.exact.elementwise`: numbers of the program become tensors once, and where
an operand is looked for and what shape the result has is known before. A small step consists of hundreds of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Operation
from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.exact import elementwise

Computed = Callable[[list[Any], dict[str, Any]], Any]
"""Computes an operator from its arguments by position and by name."""

_FUNCTIONS: Mapping[tuple[str, int], tuple[Callable[..., Tensor], bool]] = {
    ("add", 1): (torch.add, False),
    ("add", -1): (torch.sub, False),
    ("sub", 1): (torch.sub, False),
    ("sub", -1): (torch.add, False),
    ("rsub", 1): (torch.sub, True),
    ("rsub", -1): (torch.add, True),
    ("mul", 1): (torch.mul, False),
    ("div", 1): (torch.div, False),
}
"""By kind and alpha: the operation, and whether the second operand comes first."""


def elementwise_of(operation: Operation, generally: Computed) -> Computed:
    """Return what computes an elementwise operator.

    Args:
        operation: The operator.
        generally: Computes it whatever its operands are: where they lie on a device, are no float32 numbers, or are of
            shapes that are put together.
    """
    node = operation.node
    output = node.outputs[0]
    named = operation.named(list(node.args), dict(node.kwargs))
    settled = _FUNCTIONS.get((node.entry.kind, named.get("alpha", 1)))
    ordinary = len(node.args) == 2 and len(node.outputs) == 1 and set(dict(node.kwargs)) <= {"alpha"}
    if settled is None or output is None or not ordinary:
        return generally
    function, exchanged = settled
    (one, one_number), (other, other_number) = ((given, _number(given)) for given in node.args[:2])
    shape = torch.Size(output.shape)
    empty = buffers.empty if buffers.is_large(shape, torch.float32) else torch.empty

    def compute(args: list[Any], kwargs: dict[str, Any]) -> Any:
        first, second = args[0], args[1]
        # By identity: zeros of both signs are equal.
        if one_number is not None and first is one:
            first = one_number
        if other_number is not None and second is other:
            second = other_number
        if not (_is_plain(first, shape) and _is_plain(second, shape)) or (
            first.shape != shape and second.shape != shape
        ):
            return generally(args, kwargs)
        if exchanged:
            first, second = second, first
        return function(first, second, out=empty(shape, dtype=torch.float32))

    return compute


def _number(value: Any) -> Tensor | None:
    """A number of the program as a tensor on the CPU; None where it is no number."""
    return elementwise.number(value, torch.device("cpu")) if isinstance(value, (int, float)) else None


def _is_plain(operand: Any, shape: torch.Size) -> bool:
    """Whether an operand is float32, on the CPU, in order, and of the shape of the result or of a single number."""
    return (
        isinstance(operand, Tensor)
        and operand.dtype is torch.float32
        and (operand.shape == shape or not operand.shape)
        and operand.is_cpu
        and operand.is_contiguous()
    )
