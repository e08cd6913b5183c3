"""Mixed precision of torch while a step is captured: a program says what is computed, and a profile how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.amp.autocast_mode import autocast
from torch.amp.grad_scaler import GradScaler

from counterfoil.program.whereabouts import client_line, in_brackets
from counterfoil_core.base.errors import ProgramError

NO_SCALING = "Leave the scaler out: no profile computes in float16, so no gradient vanishes without it."
"""What to do about loss scaling."""


def in_float32(dtype: torch.dtype) -> str:
    """Return the remedy for tensors of a dtype that a program does not have."""
    if dtype is torch.bfloat16:
        return (
            "Write the model in float32 (model.float()). The profile float32-bfloat16 computes with bfloat16's 8 bits: "
            "--precision float32-bfloat16, or precision=counterfoil.PROFILES['float32-bfloat16']."
        )
    if dtype is torch.float64:
        return (
            "Write the model in float32 (model.float()), and cast a table where it comes in, for instance "
            "torch.from_numpy(table).float(); the order's profile says how it is computed (docs/profiles.md)."
        )
    return "Write the model in float32 (model.float()); the order's profile says how it is computed (docs/profiles.md)."


@contextmanager
def without_mixed_precision(*, autocast_too: bool | Callable[[torch.dtype], bool]) -> Iterator[None]:
    """Keep torch's mixed precision out of a step that is being captured.

    Args:
        autocast_too: Whether ``torch.autocast`` is without effect, because the order names a profile; else it is
            refused. Or what says so of a dtype.

    Raises:
        ProgramError: The step runs under ``torch.autocast``, or scales its loss.
    """
    enter, leave, scale = autocast.__enter__, autocast.__exit__, GradScaler.scale
    ignored: list[autocast] = []

    def entered(self: autocast) -> Any:
        if not self._enabled:
            return enter(self)  # type: ignore[no-untyped-call]
        if not (autocast_too(self.fast_dtype) if callable(autocast_too) else autocast_too):
            raise _refused(self.fast_dtype)
        ignored.append(self)
        return self

    def left(self: autocast, *error: Any) -> Any:
        if ignored and ignored[-1] is self:
            ignored.pop()
            return None
        return leave(self, *error)

    def scaled(self: GradScaler, outputs: Any) -> Any:
        if not self.is_enabled():
            return scale(self, outputs)
        raise ProgramError(
            f"The step scales its loss by a {type(self).__name__}{in_brackets(client_line())}.", remedy=NO_SCALING
        )

    if torch.is_autocast_enabled("cpu") and not autocast_too:
        raise _refused(torch.get_autocast_dtype("cpu"))
    try:
        autocast.__enter__, autocast.__exit__ = entered, left  # type: ignore[method-assign]
        GradScaler.scale = scaled  # type: ignore[method-assign]
        with torch._C._DisableAutocast():
            yield
    finally:
        autocast.__enter__, autocast.__exit__ = enter, leave  # type: ignore[method-assign]
        GradScaler.scale = scale  # type: ignore[method-assign]


def _refused(dtype: torch.dtype) -> ProgramError:
    name = str(dtype).removeprefix("torch.")
    near = "float32-bfloat16 has bfloat16's 8 bits, " if dtype is torch.bfloat16 else ""
    return ProgramError(
        f"The step runs under torch.autocast to {name}{in_brackets(client_line())}, but how a step is computed is said "
        "by the order's profile.",
        remedy=f"Name a profile, and autocast is left out: {near}float64-24 keeps 24 bits (--precision, or "
        "precision=counterfoil.PROFILES[...]; docs/profiles.md).",
    )
