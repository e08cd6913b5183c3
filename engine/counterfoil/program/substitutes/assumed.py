"""What a step is captured under: that what a check asks for holds, in every step.

Libraries check what they are given, and ask whether numbers are finite. A capture follows the usual answer, with which
the check passes, and the answer goes into the program: where it is another one, the loss is not a number and recording
stops. Which questions may be answered so stands here; any other decision by values is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from counterfoil.program.substitutes.checks import passing_answer

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


@dataclass
class Assumptions:
    """Tensors that are true in a step for which the capture holds."""

    held: list[Tensor] = field(default_factory=list)

    def hold(self, truth: Tensor) -> None:
        """Assume that every element is true."""
        with torch.no_grad():
            self.held.append(truth.detach().all() if truth.dim() else truth.detach())

    def stopping(self, loss: Tensor) -> Tensor:
        """The loss, or what is not a number in a step for which the capture does not hold."""
        for truth in self.held:
            loss = torch.where(truth, loss, torch.full_like(loss, torch.nan))
        return loss


_current: ContextVar[Assumptions | None] = ContextVar("counterfoil_assumptions", default=None)


@contextmanager
def collecting(assumptions: Assumptions) -> Iterator[None]:
    """Let :func:`hold` add to these."""
    token = _current.set(assumptions)
    try:
        yield
    finally:
        _current.reset(token)


def hold(truth: Tensor) -> None:
    """Assume that every element is true in every step.

    Raises:
        RuntimeError: No step is being captured.
    """
    assumptions = _current.get()
    if assumptions is None:
        raise RuntimeError("assumptions have a meaning only inside a step that is being captured")
    assumptions.hold(truth)


def noted(func: Any, args: tuple[Any, ...], result: Tensor) -> Tensor:
    """Mark the answer to a question that has a usual one."""
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
        usual = passing_answer()
    if usual is None:
        return None
    hold(args[0] != 0 if usual else args[0] == 0)
    return bool(usual)


def all_places(mask: Tensor) -> Any:
    """Places of a mask of integers that are not negative, of which none usually is: the number of them is known then."""
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
