"""Adafactor, which keeps the mean squares of a matrix's rows and columns in the place of those of its elements.

What transformers computes divides by the root of 1e-30 where a row has no gradient. A grid as fine as the largest
number asks for has no such numbers beside ordinary ones, so means and roots are taken here by parts of like size; in
real numbers, and for every gradient, it is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.program.update.rule import ParameterRule, check_not_negative, check_positive

_PARTS = (2.0**-24, 2.0**-48, 2.0**-72)
"""Below which parts of the largest number roots have another grid."""


@dataclass(frozen=True)
class Adafactor(ParameterRule):
    """Adafactor (Shazeer and Stern 2018), as ``transformers.optimization.Adafactor`` computes it."""

    #: Added to squared gradients; the least size of a parameter that rates are scaled by.
    eps: tuple[float, float] = (1e-30, 1e-3)
    clip_threshold: float = 1.0  #: Largest root mean square of an update before the rate.
    decay_rate: float = -0.8  #: Exponent of the step, of which one minus is the weight of older squares.
    beta1: float | None = None  #: Decay of the first moment; None for none.
    weight_decay: float = 0.0  #: Decoupled weight decay, scaled by the rate.
    scale_parameter: bool = True  #: Whether rates are scaled by the root mean square of the parameter.
    relative_step: bool = True  #: Whether rates follow from the step.
    warmup_init: bool = False  #: Whether they then rise at first.

    def __post_init__(self) -> None:
        for value in self.eps:
            check_positive("eps", value)
        check_positive("clip threshold", self.clip_threshold)
        check_not_negative("weight decay", self.weight_decay)

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """The rate, the weight of older squares, and that of the new one."""
        return ("lr", "beta2", "rest2")

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        """As transformers computes them."""
        if self.relative_step:
            lr = min(1e-6 * step if self.warmup_init else 1e-2, 1.0 / math.sqrt(step))
        beta2 = 1.0 - math.pow(step, self.decay_rate)
        return (lr, beta2, 1.0 - beta2)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Mean squares of rows and columns, or of elements where there is one axis; the moment if there is one."""
        return ("rows", "columns", "square", *(() if self.beta1 is None else ("moment1",)))

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Those that a parameter has; see :meth:`ParameterRule.slots`."""
        made = {}
        for name, parameter in parameters.items():
            shape = parameter.shape
            shapes = (
                {"rows": shape[:-1], "columns": (*shape[:-2], *shape[-1:])} if len(shape) > 1 else {"square": shape}
            )
            if self.beta1 is not None:
                shapes["moment1"] = shape
            made.update({f"{slot}:{name}": parameter.new_zeros(size) for slot, size in shapes.items()})
        return made

    def update_one(
        self, parameter: Tensor, gradient: Tensor, slots: Mapping[str, Tensor], scalars: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the new parameter and slots; see :meth:`ParameterRule.update_one`."""
        squares = gradient * gradient + self.eps[0]
        means = (
            {"square": squares} if "square" in slots else {"rows": _means(squares, -1), "columns": _means(squares, -2)}
        )
        new = {slot: slots[slot] * scalars["beta2"] + mean * scalars["rest2"] for slot, mean in means.items()}
        if "rows" in new:
            roots = self._roots(new["rows"]).unsqueeze(-1) * self._roots(new["columns"]).unsqueeze(-2)
            update = gradient / roots * torch.sqrt(new["rows"].mean(-1, keepdim=True)).unsqueeze(-1)
        else:
            update = gradient / self._roots(new["square"])
        update = update / torch.clamp(_size(update) / self.clip_threshold, min=1.0)
        rate = scalars["lr"]
        if self.scale_parameter:
            rate = torch.clamp(_size(parameter), min=self.eps[1]) * rate
        update = update * rate
        if self.beta1 is not None:
            update = new["moment1"] = slots["moment1"] * self.beta1 + update * (1.0 - self.beta1)
        if self.weight_decay:
            parameter = parameter - parameter * (rate * self.weight_decay)
        return parameter - update, new

    def _roots(self, squares: Tensor) -> Tensor:
        """Square roots, small ones on grids of their own."""
        roots, top = torch.sqrt(squares), squares.amax()
        for part in _PARTS:
            bound = top * part
            roots = torch.where(squares < bound, torch.sqrt(torch.minimum(squares, bound)), roots)
        return torch.clamp(roots, min=math.sqrt(self.eps[0]))

    def describe(self) -> str:
        """The rule in words."""
        rates = "rates of its own" if self.relative_step else "given rates"
        scaled = ", scaled by the parameter" if self.scale_parameter else ""
        moment = "" if self.beta1 is None else f", beta1 {self.beta1:g}"
        return (
            f"Adafactor, {rates}{' with warm-up' if self.warmup_init else ''}{scaled}, decay {self.decay_rate:g}"
            f"{moment}, clip threshold {self.clip_threshold:g}, epsilon {self.eps[0]:g} and {self.eps[1]:g}, "
            f"weight decay {self.weight_decay:g}"
        )


def _means(squares: Tensor, axis: int) -> Tensor:
    """Means of positive numbers along an axis, each in units of its own largest one."""
    largest = squares.amax(axis, keepdim=True)
    return (squares / largest).mean(axis) * largest.squeeze(axis)


def _size(tensor: Tensor) -> Tensor:
    """The root mean square."""
    size: Tensor = torch.linalg.vector_norm(tensor) / math.sqrt(tensor.numel())
    return size
