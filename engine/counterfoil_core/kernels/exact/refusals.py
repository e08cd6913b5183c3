"""What is wrong with values is refused at once, or noted on their device until the step is done.

To look at a flag on a CUDA device is to wait for it. Whoever computes a step without waiting looks at one flag when
the step is done, and where it is raised computes the step again: then every operator looks, and the one at fault is
named.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from counterfoil_core.base.errors import DIVERGED, NonFiniteError
from counterfoil_core.base.sentence import say


def not_finite() -> NonFiniteError:
    """The error for an element that has no exponent."""
    return NonFiniteError(
        say("A value that is added or multiplied exactly is infinite or not a number."), remedy=DIVERGED
    )


class Noted:
    """Whether something was wrong, on each device: a flag that is raised there and looked at later."""

    def __init__(self) -> None:
        self._flags: dict[torch.device, Tensor] = {}

    def flag(self, device: torch.device) -> Tensor:
        """Return the flag of a device: int32 ``[1]``, 0 until something writes another number there."""
        if device not in self._flags:
            self._flags[device] = torch.zeros(1, dtype=torch.int32, device=device)
        return self._flags[device]

    def raised(self) -> list[Tensor]:
        """Return whether each flag is raised: bool ``[]`` on its device."""
        return [flag[0] != 0 for flag in self._flags.values()]


_noted: ContextVar[Noted | None] = ContextVar("noted", default=None)


@contextmanager
def note_refusals(noted: Noted | None) -> Iterator[None]:
    """Note meanwhile what is wrong; None: refuse it at once."""
    token = _noted.set(noted)
    try:
        yield
    finally:
        _noted.reset(token)


@contextmanager
def refusal_flag(device: torch.device) -> Iterator[Tensor]:
    """Provide a flag, int32 ``[1]`` on a device, for kernels to raise; it is looked at afterwards, or noted.

    Raises:
        NonFiniteError: It was raised, and nobody looks later.
    """
    noted = _noted.get()
    if noted is not None:
        yield noted.flag(device)
        return
    flag = torch.zeros(1, dtype=torch.int32, device=device)
    yield flag
    if int(flag):
        raise not_finite()


def note(wrong: Tensor) -> bool:
    """Note what is wrong with a step, where somebody looks later; returns whether somebody does.

    Args:
        wrong: bool ``[]``.
    """
    noted = _noted.get()
    if noted is not None:
        noted.flag(wrong.device).bitwise_or_(wrong)
    return noted is not None


def refuse(wrong: Tensor) -> None:
    """Refuse values at once, or note that they are to be refused.

    Args:
        wrong: bool ``[]``: whether one of them is not finite.

    Raises:
        NonFiniteError: One is, and nobody looks later.
    """
    if not note(wrong) and bool(wrong):
        raise not_finite()
