"""A port of the paper's published method, to be measured beside ours.

Srivastava, Arora and Boneh, "Optimistic Verifiable Training by Controlling Hardware Nondeterminism" (NeurIPS 2024), as
its released code does it (github.com/meghabyte/verifiable-training), written anew: training in float64; hooks on all
modules without children round their outputs, and the gradients of their inputs, to float32; of every such value a
symbol of three is logged, "down" or "up" where the value lies far enough from where it was rounded to, else "not
logged", five of them in a byte; an auditor whose own value is logged in the other direction takes the trainer's. What
is no module (functions, the optimizer) is not rounded, as there. Weights are committed to as float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

PIVOT = 0.25
"""The released code's threshold: a quarter of float32's spacing, by the power of ten below the value."""
_SPACING = 2.0**-23
_PLACES = torch.tensor([1, 3, 9, 27, 81], dtype=torch.uint8)
_DOWN, _NOT_LOGGED, _UP = 0, 1, 2


def symbols_of(values: Tensor, rounded: Tensor) -> Tensor:
    """Return the symbol of each value.

    Args:
        values: float64 ``[n]``.
        rounded: float64 ``[n]``: the same as float32 has them.

    Returns:
        uint8 ``[n]``: 0 rounded down, 2 rounded up, 1 not logged.
    """
    decade = torch.pow(10.0, torch.floor(torch.log10(values.abs())))
    logged = (values - rounded).abs() > decade * (PIVOT * _SPACING)
    direction = torch.sign(rounded - values).to(torch.int8) + 1
    return torch.where(logged, direction, torch.ones_like(direction)).to(torch.uint8)


def pack(symbols: Tensor) -> bytes:
    """Return symbols uint8 ``[n]`` as bytes, five in each."""
    padded = nn.functional.pad(symbols, (0, -len(symbols) % 5))
    return (padded.view(-1, 5) * _PLACES).sum(1, dtype=torch.uint8).numpy().tobytes()


def unpack(data: bytes, count: int) -> Tensor:
    """Return the first ``count`` symbols of bytes."""
    groups = torch.from_numpy(np.frombuffer(data, np.uint8).copy())
    return torch.stack([groups // place % 3 for place in _PLACES.tolist()], 1).flatten()[:count]


def correct(values: Tensor, log: bytes) -> tuple[Tensor, Tensor]:
    """Round values as an auditor does; returns float64 ``[n]`` and the own symbols.

    Args:
        values: float64 ``[n]``.
        log: The trainer's symbols, packed.
    """
    nearest = values.to(torch.float32)
    own, theirs = symbols_of(values, nearest.double()), unpack(log, len(values))
    infinity = torch.tensor(torch.inf)
    nearest = torch.where((own == _UP) & (theirs == _DOWN), torch.nextafter(nearest, -infinity), nearest)
    nearest = torch.where((own == _DOWN) & (theirs == _UP), torch.nextafter(nearest, infinity), nearest)
    return nearest.double(), own


class _Straight(torch.autograd.Function):
    """Puts rounded values in the place of a tensor; the gradient passes unchanged."""

    @staticmethod
    def forward(_: Any, tensor: Tensor, rounded: Tensor) -> Tensor:
        return rounded.view_as(tensor)

    @staticmethod
    def backward(_: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0], None


class Hooks:
    """Rounds what a float64 model computes.

    Args:
        model: The model; its leaves get hooks.
    """

    def __init__(self, model: nn.Module) -> None:
        self.log: list[bytes] = []
        """Of the step so far, by rounded tensor."""
        self.values = 0
        """How many values these are."""
        self._followed: Iterator[bytes] | None = None
        for module in model.modules():
            if not any(True for _ in module.children()):
                module.register_forward_hook(self._forward)
                module.register_full_backward_hook(self._backward)

    def begin(self, followed: list[bytes] | None = None) -> None:
        """Begin a step: a trainer's, or an auditor's who follows a trainer's log."""
        self.log, self.values = [], 0
        self._followed = None if followed is None else iter(followed)

    def _forward(self, _: nn.Module, __: Any, output: Tensor) -> Tensor:
        result: Tensor = _Straight.apply(output, self._rounded(output.detach()))  # type: ignore[no-untyped-call]
        return result

    def _backward(self, _: nn.Module, grad_input: tuple[Tensor | None, ...], __: Any) -> tuple[Tensor | None, ...]:
        return tuple(None if gradient is None else self._rounded(gradient) for gradient in grad_input)

    def _rounded(self, tensor: Tensor) -> Tensor:
        values = tensor.flatten()
        if self._followed is None:
            rounded = values.to(torch.float32).double()
            symbols = symbols_of(values, rounded)
        else:
            rounded, symbols = correct(values, next(self._followed))
        self.log.append(pack(symbols))
        self.values += len(values)
        return rounded.view_as(tensor)
