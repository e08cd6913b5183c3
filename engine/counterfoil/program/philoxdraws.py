"""Random numbers inside a step that is being captured: each draw becomes one node of the program.

PyTorch's generators give different numbers on different instruction sets, so a captured step never uses them. It
calls :func:`uniform`, :func:`normal` or :func:`exponential`; at run time the numbers come from Philox4x32-10, keyed by
the order's seed, the step and the draw number (:mod:`counterfoil_core.arithmetic.compute.draws`). What PyTorch itself
draws is made of these three by :mod:`counterfoil.program.torchdraws`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

import counterfoil_core.operators.own  # noqa: F401  declares torch.ops.counterfoil

_next_draw: ContextVar[list[int] | None] = ContextVar("counterfoil_next_draw", default=None)


@contextmanager
def count_draws() -> Iterator[None]:
    """Number the draws of one captured step from 0."""
    token = _next_draw.set([0])
    try:
        yield
    finally:
        _next_draw.reset(token)


def _drawn(kind: str, size: Sequence[int]) -> torch.Tensor:
    counter = _next_draw.get()
    if counter is None:
        raise RuntimeError(f"counterfoil's {kind}() only has a meaning inside a step that is being captured")
    draw, counter[0] = counter[0], counter[0] + 1
    result: torch.Tensor = getattr(torch.ops.counterfoil, kind)(list(size), draw)
    return result


def uniform(size: Sequence[int]) -> torch.Tensor:
    """Draw numbers in [0, 1) inside a step that is being captured.

    Args:
        size: Shape of the result.

    Returns:
        float32 tensor of that shape, each element a multiple of 2^-24.

    Raises:
        RuntimeError: Called outside a capture, where no seed and step are known.
    """
    return _drawn("uniform", size)


def normal(size: Sequence[int]) -> torch.Tensor:
    """Draw numbers of the normal distribution of mean 0 and deviation 1; otherwise as :func:`uniform`.

    Returns:
        float32 tensor of that shape; no element is zero, or larger than 6.8 in magnitude.
    """
    return _drawn("normal", size)


def exponential(size: Sequence[int]) -> torch.Tensor:
    """Draw numbers of the exponential distribution of mean 1; otherwise as :func:`uniform`.

    Returns:
        float32 tensor of that shape, each element in 2^-33 to 22.9.
    """
    return _drawn("exponential", size)


def _drop(x: torch.Tensor, p: float, mask_shape: Sequence[int]) -> torch.Tensor:
    if p == 0.0:
        return x
    if p == 1.0:
        return torch.zeros_like(x)
    keep = uniform(mask_shape) < 1.0 - p
    # One product and one selection: both exact, so that dropout adds nothing to the log.
    return torch.where(keep, x * (1.0 / (1.0 - p)), torch.zeros_like(x))


def _dropout(x: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    return _drop(x, p, x.shape) if training else x


def _channel_dropout(x: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    return _drop(x, p, (*x.shape[:2], *(1 for _ in x.shape[2:]))) if training else x


_REPLACED: dict[Callable[..., Any], Callable[..., torch.Tensor]] = {
    functional.dropout: _dropout,
    functional.dropout1d: _channel_dropout,
    functional.dropout2d: _channel_dropout,
    functional.dropout3d: _channel_dropout,
}


def dropout_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what stands for a dropout function of torch and draws through :func:`uniform`; any other as it is."""
    return _REPLACED.get(function, function)


class PhiloxDropout(TorchFunctionMode):
    """While active, the dropout functions of ``torch.nn.functional`` draw through :func:`uniform`."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Replace a dropout function; pass on every other call."""
        return dropout_of(func)(*args, **(kwargs or {}))
