"""Operators of class exact that are computed by their definition, where the library's own result is not that.

Most exact operators leave the library no choice. These do: which zero a maximum of -0 and +0 is, what a number beyond
an integer's range becomes, what happens at a division by zero, in which parts a range is counted. ``docs/numerics.md``
says what each is defined to be; :mod:`counterfoil_core.operators.judge` says it again in integers and rationals, and a
test compares the two bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.exact.refusals import note
from counterfoil_core.operators.facts import OperatorClass

if TYPE_CHECKING:
    from counterfoil_core.arithmetic.compute.operation import Operation
    from counterfoil_core.operators.node import Node

Definition = Callable[["Operation", list[Any], dict[str, Any]], Any]
"""Computes one operator from its arguments, as the library's function would be called."""


def definition_of(node: Node) -> Definition | None:
    """Return what computes an operator in place of the library; None where the library's result is the defined one."""
    entry = node.entry
    return _DEFINITIONS.get(entry.kind) if entry.operator_class is OperatorClass.EXACT else None


def to_dtype(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert a tensor as the program's operators do.

    Args:
        x: Any dtype.
        dtype: float64 or float32: rounds to nearest, ties to even. An integer: numbers lose their fraction, stop at
            the smallest and largest integer, and what is no number becomes 0; integers wrap modulo 2^n. bool: whether
            the element differs from zero, as what is no number does.

    Returns:
        The converted tensor; a copy, unless the dtype is the same.
    """
    if dtype is torch.bool:
        return x != 0
    if dtype.is_floating_point or not x.is_floating_point():
        return x.to(dtype)
    limits = torch.iinfo(dtype)
    # The largest integer plus one is a power of two, which every floating dtype holds; the largest itself need not be.
    above = x >= float(limits.max + 1)
    below = x < float(limits.min)
    # What is no number is neither, and is left out with them: a conversion of it is undefined in C.
    inside = torch.where(above | below | torch.isnan(x), torch.zeros_like(x), x).to(dtype)
    return inside.masked_fill(above, limits.max).masked_fill(below, limits.min)


def _positive_zero(result: Any) -> Any:
    """Give every zero of fresh floating-point results the sign +: which one a selection returns is not defined."""
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        if tensor.is_floating_point():
            tensor.add_(0.0)
    return result


def _selection(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return _positive_zero(operation.function(*args, **kwargs))


def _max_pool(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    # The library has another algorithm for channels that come last.
    return _positive_zero(operation.function(args[0].contiguous(), *args[1:], **kwargs))


def _sort(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Sort with one zero and one NaN: a sort by bits would tell the two of each apart."""
    x = args[0]
    if x.is_floating_point():
        x = torch.where(torch.isnan(x), torch.full_like(x, torch.nan), x + 0.0)
    return operation.function(x, *args[1:], **kwargs)


def _scatter(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Write values; of several for one place the last along the axis stays, on every device."""
    named = operation.named(args, kwargs)
    if "src" not in named or _is_fake(named["index"]):
        return operation.function(*args, **kwargs)
    x, index, source = (one if one.dim() else one[None] for one in (named["self"], named["index"], named["src"]))
    axis = named["dim"] % x.dim()
    if not index.numel():
        return named["self"].clone()
    values = source[tuple(slice(0, length) for length in index.shape)]
    # Rows along the axis, in which equal places lie side by side in their order after a stable sort.
    places, order = index.movedim(axis, -1).sort(dim=-1, stable=True)
    last = torch.ones_like(places, dtype=torch.bool)
    last[..., :-1] = places[..., 1:] != places[..., :-1]
    shape = list(x.shape)
    shape[axis] += 1
    room = x.new_empty(shape)
    room.narrow(axis, 0, x.shape[axis]).copy_(x)
    # What does not stay goes to one place more, which is cut off.
    places = torch.where(last, places, x.shape[axis]).movedim(-1, axis)
    room.scatter_(axis, places, values.gather(axis, order.movedim(-1, axis)))
    return room.narrow(axis, 0, x.shape[axis]).reshape(named["self"].shape).clone()


def _hardtanh_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The gradient, and zero where the input is not between the ends; a NaN is between them."""
    named = operation.named(args, kwargs)
    x = named["self"]
    outside = (x <= named["min_val"]) | (x >= named["max_val"])
    return named["grad_output"].masked_fill(outside, 0)


def _convert(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    dtype = kwargs.get("dtype") or args[0].dtype
    if dtype == args[0].dtype or dtype.is_floating_point:
        return operation.function(*args, **kwargs)
    return to_dtype(args[0], dtype)


def _copy(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The source in the target's type and shape; torch's own function clones the whole storage behind the target."""
    named = operation.named(args, kwargs)
    target = named["self"]
    return to_dtype(named["src"], target.dtype).expand(target.shape).clone(memory_format=torch.contiguous_format)


def _arange(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Count in integers and convert; programs have integers only (:mod:`counterfoil_core.operators.uses`)."""
    dtype = kwargs["dtype"]
    counted = operation.function(*args, **{**kwargs, "dtype": torch.int64})
    return to_dtype(counted, dtype)


def _integer_reduction(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    dtype = kwargs.get("dtype")
    if dtype is not None and args[0].is_floating_point():
        args = [to_dtype(args[0], dtype), *args[1:]]
    return operation.function(*args, **kwargs)


def _integer_product(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Matrix products of integers, on the CPU: CUDA has none."""
    device = args[0].device
    return operation.function(*(arg.cpu() if isinstance(arg, Tensor) else arg for arg in args), **kwargs).to(device)


# Division.


def _operands(args: list[Any]) -> tuple[Tensor, Tensor]:
    """Dividend and divisor in their common dtype, a number as a tensor: CUDA multiplies by reciprocals of numbers."""
    x, y = args[0], args[1]
    dtype = torch.result_type(x, y)
    if not isinstance(y, Tensor):
        # By way of int64, so that an integer that the dtype does not hold wraps as it does in other operators.
        wide = dtype if dtype.is_floating_point else torch.int64
        y = torch.full((), y, dtype=wide, device=x.device)
    return x.to(dtype), y.to(dtype)


def _checked_divisor(operation: Operation, y: Tensor) -> Tensor:
    """Return integers to divide by, with 1 for -1: the smallest integer divided by -1 stops some processors.

    With 1 for 0 too, where nobody waits for the device to say that there is one.
    """
    if _is_fake(y):
        return y
    zero = y == 0
    wrong = zero.any()
    if not note(wrong) and bool(wrong):
        raise NonFiniteError(
            say("The operator {0} divides an integer by zero, which has no result.", operation.node.where),
            remedy=say("Keep the divisor away from zero, for instance with clamp(min=1)."),
        )
    return y.masked_fill(zero if y.dtype == torch.uint8 else zero | (y == -1), 1)


def _divide(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The correctly rounded quotient without its fraction; the smallest integer divided by -1 is itself."""
    x, y = _operands(args)
    mode = kwargs["rounding_mode"]
    if x.is_floating_point():
        quotient = torch.div(x, y)
        return quotient.floor_() if mode == "floor" else quotient.trunc_()
    divisor = _checked_divisor(operation, y)
    quotient = torch.div(x, divisor, rounding_mode=mode)
    return quotient if y.dtype == torch.uint8 else torch.where(y == -1, -x, quotient)


def _fmod(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a division that rounds towards zero leaves; a zero has the dividend's sign."""
    x, y = _operands(args)
    return _left_over(x, y) if x.is_floating_point() else torch.fmod(x, _checked_divisor(operation, y))


def _remainder(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a division that rounds down leaves: its sign is the divisor's; a zero is +0."""
    x, y = _operands(args)
    if not x.is_floating_point():
        return torch.remainder(x, _checked_divisor(operation, y))
    left = _left_over(x, y)
    return torch.where((left != 0) & ((left < 0) != (y < 0)), left + y, left) + 0.0


def _left_over(x: Tensor, y: Tensor) -> Tensor:
    if x.device.type != "cpu" or _is_fake(x):
        return torch.fmod(x, y)
    # C's fmod has no error; the vectorised one that torch uses on the CPU may, where the quotient is large.
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.asarray(np.fmod(x.numpy(), y.numpy())))


def _is_fake(tensor: Tensor) -> bool:
    return type(tensor).__name__ == "FakeTensor"


_INFINITE = 0x7FF << 52
"""The bits of float64's infinity: all of its exponent, and nothing else."""


def _row_scale(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The exponent of the largest magnitude of each row, as a power of two."""
    x: Tensor = args[0]
    largest = x.abs().amax(-1, keepdim=True) if x.shape[-1] else x.new_zeros((*x.shape[:-1], 1))
    # Every float32 number that is not zero is a normal number of float64, whose exponent field is the power of two.
    wide = largest.to(torch.float64).clamp_(min=2.0**-149).view(torch.int64)
    return wide.bitwise_and_(_INFINITE).view(torch.float64).to(x.dtype)


_DEFINITIONS: Mapping[str, Definition] = {
    **dict.fromkeys(
        (
            "relu", "maximum", "minimum", "clamp", "clamp_min", "clamp_max", "hardtanh", "max", "min", "amax", "amin",
            "adaptive_max_pool2d", "scatter_reduce",
        ),
        _selection,
    ),
    **dict.fromkeys(("max_pool2d_with_indices", "max_pool3d_with_indices"), _max_pool),
    "row_scale": _row_scale,
    "sort": _sort,
    "scatter": _scatter,
    "hardtanh_backward": _hardtanh_backward,
    "_to_copy": _convert,
    "copy": _copy,
    "arange": _arange,
    **dict.fromkeys(("sum", "prod", "cumsum"), _integer_reduction),
    **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), _integer_product),
    "div": _divide,
    "fmod": _fmod,
    "remainder": _remainder,
}  # fmt: skip
"""By operator kind. Kinds that are rounded for floating-point numbers stand here for integers."""
