"""Answers that a step is captured under: that numbers are finite, and that labels are not negative.

Libraries ask, and do something else where it is not so. A capture follows the usual answer, and that it holds becomes a
part of the step, as a check does (:mod:`counterfoil.program.decisions`). Any other decision by values is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

_MARK = "_counterfoil_usual"
"""Attribute of a tensor of truth values: the usual one of each of its elements."""
_QUESTIONS = {
    torch.isfinite: True,
    Tensor.isfinite: True,
    torch.isnan: False,
    Tensor.isnan: False,
    torch.isinf: False,
    Tensor.isinf: False,
}
_GATHERED = {torch.all: True, Tensor.all: True, torch.any: False, Tensor.any: False}
_NOT_NEGATIVE = {torch.ge, Tensor.ge, Tensor.__ge__}
_NEGATED = {torch.logical_not, Tensor.logical_not, Tensor.__invert__, torch.bitwise_not}


class StepInCapture(Protocol):
    """The step that is being captured."""

    def hold(self, truth: Tensor) -> None:
        """Let training end where a truth value does not hold."""

    def knows(self, tensor: Tensor) -> bool:
        """Whether the value of a tensor is known."""


_step: ContextVar[StepInCapture | None] = ContextVar("counterfoil_step", default=None)


@contextmanager
def capture_scope(step: StepInCapture) -> Iterator[None]:
    """Let :func:`hold` and :func:`knows` be about this step."""
    token = _step.set(step)
    try:
        yield
    finally:
        _step.reset(token)


def _current() -> StepInCapture:
    step = _step.get()
    if step is None:
        raise RuntimeError("assumptions have a meaning only inside a step that is being captured")
    return step


def knows(tensor: Tensor) -> bool:
    """Whether the value of a tensor is known in the step that is being captured."""
    return _current().knows(tensor)


def hold(truth: Tensor) -> None:
    """Assume that every element is true in every step.

    Raises:
        RuntimeError: No step is being captured.
    """
    with torch.no_grad():
        _current().hold(truth.detach().all() if truth.dim() else truth.detach())


def note_answer(func: Any, args: tuple[Any, ...], result: Tensor) -> Tensor:
    """Mark the answer to a question that has a usual one.

    Args:
        func: The function that was called.
        args: What it was called with.
        result: What it gave.

    Returns:
        ``result`` itself.
    """
    usual = _QUESTIONS.get(func)
    if func in _NOT_NEGATIVE and not args[0].is_floating_point() and type(args[1]) is int and args[1] == 0:
        usual = True
    elif usual is None and args and isinstance(args[0], Tensor):
        known = getattr(args[0], _MARK, None)
        if func in _NEGATED and known is not None:
            usual = not known
        elif known is not None and _GATHERED.get(func) is known:
            usual = known
    if usual is not None and isinstance(result, FakeTensor):
        setattr(result, _MARK, usual)
    return result


def answer(func: Any, args: tuple[Any, ...]) -> bool | None:
    """The usual answer where a truth value is asked for, and what it assumes; None where there is none."""
    if func is not Tensor.__bool__ or not args or not isinstance(args[0], FakeTensor):
        return None
    usual = getattr(args[0], _MARK, None)
    if usual is None:
        return None
    hold(args[0] != 0 if usual else args[0] == 0)
    return bool(usual)


def all_places(mask: Tensor) -> Any:
    """Places of a mask of integers that are not negative, as all usually are, so that their number is known."""
    if getattr(mask, _MARK, None) is not True:
        return NotImplemented
    hold(mask)
    numbers = torch.arange(mask.numel())
    places = []
    for length in reversed(mask.shape):
        places.append(numbers % length)
        numbers = numbers // length
    return torch.stack(places[::-1], 1)


TABLE: Mapping[Any, Any] = {Tensor.nonzero: all_places, torch.nonzero: all_places}
