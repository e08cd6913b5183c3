"""Operators that are given a tensor in the place of a number: for numbers that change from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.noform import NoFormError

_aten = torch.ops.aten


def _add(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return torch.add(x, y * alpha)


def _add_(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return x.add_(y * alpha)


def _sub(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return torch.sub(x, y * alpha)


def _sub_(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    return x.sub_(y * alpha)


_FORMS: Mapping[Any, Callable[..., Any]] = {
    _aten.add.Tensor: _add,
    _aten.add_.Tensor: _add_,
    _aten.sub.Tensor: _sub,
    _aten.sub_.Tensor: _sub_,
    _aten.rsub.Scalar: lambda x, y, alpha=1: y - x * alpha,
    _aten.addcmul.default: lambda x, y, z, value=1: x + y * z * value,
    _aten.addcmul_.default: lambda x, y, z, value=1: x.add_(y * z * value),
    _aten.addcdiv.default: lambda x, y, z, value=1: x + y / z * value,
    _aten.addcdiv_.default: lambda x, y, z, value=1: x.add_(y / z * value),
    _aten.lerp.Scalar: _aten.lerp.Tensor,
    _aten.lerp_.Scalar: _aten.lerp_.Tensor,
    _aten.fill.Scalar: _aten.fill.Tensor,
    _aten.fill_.Scalar: _aten.fill_.Tensor,
    _aten.full_like.default: lambda x, value, **_: torch.zeros_like(x) + value,
    _aten.pow.Tensor_Scalar: _aten.pow.Tensor_Tensor,
    **{
        getattr(_aten, name).Scalar: getattr(_aten, name).Tensor
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "mul", "mul_", "div", "div_")
    },
}
"""What computes the same with a tensor, where the operator itself takes a number alone."""


def with_tensors(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call an operator, some of whose numbers may be tensors.

    Args:
        function: The operator.
        args: Its arguments.
        kwargs: Its keyword arguments.

    Raises:
        NoFormError: It cannot be given a tensor there.
    """
    declared = function._schema.arguments
    given = [*zip(declared, args, strict=False), *((item, kwargs.get(item.name)) for item in declared)]
    if not any(isinstance(value, Tensor) and "Tensor" not in str(item.type) for item, value in given):
        return function(*args, **kwargs)
    form = _FORMS.get(function)
    if form is None:
        raise NoFormError(
            f"gives {function} a number that changes from step to step",
            remedy="Give it as a tensor: torch.tensor(number).",
        )
    return form(*args, **kwargs)
