"""Computes the operators of an optimizer's step on other tensors, with tensors in the place of numbers that change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program import whereabouts
from counterfoil.program.update.calls import Call, Fixed, Number, Ref, numeric, with_leaves
from counterfoil_core.base.errors import ProgramError

AtCall = Callable[[Call], None]
"""Told which operator follows."""
NumberOf = Callable[[Number, bool], "float | Tensor"]
"""Returns what stands for a number: itself, or a float32 tensor without axes; with True for its reciprocal."""


def replay(
    calls: Iterable[Call], given: Mapping[Ref, Tensor], number: NumberOf, at_call: AtCall = lambda _: None
) -> dict[Ref, Tensor]:
    """Compute the operators of a step.

    Args:
        calls: The operators.
        given: The tensors that the step is given; those that it changes are changed.
        number: What stands for a number.
        at_call: Told which operator follows.

    Returns:
        All tensors of the step.

    Raises:
        ProgramError: A number that changes is where a tensor cannot be.
    """
    values = dict(given)
    for call in calls:
        at_call(call)
        with whereabouts.at_line(call.line):
            made = _computed(call, values, number)
        results = made if isinstance(made, (list, tuple)) else () if made is None else (made,)
        for ref, value in zip(call.results, results, strict=True):
            values.setdefault(ref, value)
    return values


def takes_reciprocal(call: Call, number: Number) -> bool:
    """Whether an operator divides by a number: a product is correctly rounded on all hardware, a quotient is not."""
    return call.kind == "div" and call.args[1] == number and not call.kwargs.get("rounding_mode")


def _computed(call: Call, values: Mapping[Ref, Tensor], number: NumberOf) -> Any:
    changing = False

    def value(item: Any) -> Any:
        nonlocal changing
        if isinstance(item, Ref):
            return values[item]
        if isinstance(item, Fixed):
            return item.tensor
        if not isinstance(item, Number):
            return item
        found = number(item, takes_reciprocal(call, item))
        if isinstance(found, Tensor):
            changing = True
            return found if not item.shape else found.reshape(item.shape)
        if item.shape is not None:
            return torch.full(item.shape, found)
        return found

    args = [with_leaves(item, value) for item in call.args]
    kwargs = {name: with_leaves(item, value) for name, item in call.kwargs.items()}
    if not changing:
        return call.func(*args, **kwargs)
    return _with_tensors(call, args, kwargs)


def _with_tensors(call: Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Compute an operator in which tensors without axes stand for numbers."""
    takes = numeric(call.func)
    kinds = [argument.type.kind() for argument in call.func._schema.arguments]
    at_numbers = any(isinstance(item, Tensor) and kinds[place] != "TensorType" for place, item in enumerate(args))
    at_numbers |= any(isinstance(item, Tensor) and takes[name] for name, item in kwargs.items() if name != "out")
    divides = call.kind == "div" and isinstance(call.args[1], Number)
    if not at_numbers and not divides:
        return call.func(*args, **kwargs)
    form = _FORMS.get(call.kind)
    if form is None:
        raise ProgramError(
            f"The optimizer gives the operator {call.func} a number that changes from step to step"
            f"{whereabouts.in_brackets(call.line)}.",
            remedy="Multiply or divide a tensor by it, or add it, instead.",
        )
    made = form(*args, **{name: item for name, item in kwargs.items() if name not in _PLACES})
    return kwargs.get("out", args[0]).copy_(made) if call.written else made


_PLACES = frozenset({"dtype", "layout", "device", "pin_memory", "memory_format", "out"})
"""Arguments that say where a result lies."""


def _filled(value: Tensor, shape: Iterable[int]) -> Tensor:
    return value.reshape(()).expand(tuple(shape)).clone()


def _clamped(x: Tensor, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
    for bound, choose in ((low if min is None else min, torch.maximum), (high if max is None else max, torch.minimum)):
        if bound is not None:
            x = choose(x, bound if isinstance(bound, Tensor) else torch.full((), float(bound)))
    return x


_FORMS: Mapping[str, Callable[..., Tensor]] = {
    "add": lambda x, y, alpha=1: x + (y if isinstance(alpha, (int, float)) and alpha == 1 else y * alpha),
    "sub": lambda x, y, alpha=1: x - (y if isinstance(alpha, (int, float)) and alpha == 1 else y * alpha),
    "rsub": lambda x, y, alpha=1: y - (x if isinstance(alpha, (int, float)) and alpha == 1 else x * alpha),
    "mul": lambda x, y: x * y,
    # Given the reciprocal.
    "div": lambda x, y: x * y,
    "addcmul": lambda x, y, z, value=1: x + y * z * value,
    "addcdiv": lambda x, y, z, value=1: x + y / z * value,
    "lerp": lambda x, y, weight: x + (y - x) * weight,
    "pow": torch.pow,
    "clamp": _clamped,
    "clamp_min": torch.maximum,
    "clamp_max": torch.minimum,
    "fill": lambda x, value: _filled(value, x.shape),
    "full_like": lambda x, value: _filled(value, x.shape),
    "new_full": lambda x, shape, value: _filled(value, shape),
    "full": lambda shape, value: _filled(value, shape),
    "scalar_tensor": lambda value: value,
    "masked_fill": lambda x, mask, value: torch.where(mask, value, x),
    "where": torch.where,
    "addmm": lambda x, y, z, beta=1, alpha=1: x * beta + (y @ z) * alpha,
    "addmv": lambda x, y, z, beta=1, alpha=1: x * beta + (y @ z) * alpha,
    "baddbmm": lambda x, y, z, beta=1, alpha=1: x * beta + (y @ z) * alpha,
    **{name: getattr(torch, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
"""Operators that take a number, with a tensor without axes in its place."""
