"""The forward and backward passes of a training step, of one part of its rows after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call

from counterfoil.program import whereabouts
from counterfoil.program.attribution import label_line
from counterfoil.program.devices import OneDevice
from counterfoil.program.philoxdraws import PhiloxDropout
from counterfoil.program.sparse import DenseConstants
from counterfoil.program.statetensors import Held
from counterfoil.program.steadily import Named, Surroundings
from counterfoil.program.substitutes import Substitutes
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.operators.node import TensorType

Objective = Callable[[nn.Module, Mapping[str, Tensor]], Any]
"""Computes the loss from the model and the batch: ``objective(model, {"images": ..., "labels": ...})``.

Weighed by tokens it returns a sum and a count."""
Parts = Callable[[Mapping[str, Tensor], int], Mapping[str, Tensor]]
"""Returns the rows of a part of a batch by name, from those of the batch and the number of the part."""
Weigh = Literal["parts", "tokens"]
"""How the parts of a batch are weighed in the loss of a step: alike, or by what they count."""


@dataclass(frozen=True)
class Passed:
    """What the passes of a step gave."""

    weights: Mapping[str, Tensor]  #: The trained parameters that they started from.
    losses: list[Tensor]  #: The loss of each part.
    counts: list[Tensor]  #: Of how many numbers each is the sum, where parts are weighed by tokens; else none.
    gradients: dict[str, Tensor]  #: The sums of the parts' gradients, of the parameters that have one.
    buffers: Mapping[str, Tensor]  #: The buffers behind the last part.

    @property
    def loss(self) -> Tensor:
        """The sum of the parts' losses."""
        return sum(self.losses[1:], self.losses[0])

    @property
    def count(self) -> Tensor:
        """The sum of the parts' counts."""
        return sum(self.counts[1:], self.counts[0])


@dataclass(frozen=True)
class Passes:
    """The passes of a step, or of a share of one."""

    model: nn.Module  #: The model.
    objective: Objective  #: Computes the loss of a part.
    held: Held  #: What the step starts from, for its names.
    arrays: tuple[str, ...]  #: Names of the arrays of a batch.
    parts: Parts  #: Says what each part has of its rows.
    micro_batches: int  #: How many parts there are.
    weigh: Weigh  #: How they are weighed.

    def run(self, named: Named, factor: float, around: Surroundings) -> Passed:
        """Run all of them.

        Args:
            named: The inputs of the step.
            factor: What the loss of each part is multiplied by before its backward pass; where parts are weighed by
                tokens nothing is.
            around: Of the trace.
        """
        weights = {name: named["state", name].detach().requires_grad_() for name in self.held.parameters}
        buffers = {name: named["state", name] for name in self.held.buffers}
        fixed = {name: named["state", name].detach() for name in self.held.frozen}
        losses: list[Tensor] = []
        counts: list[Tensor] = []
        summed: dict[str, Tensor] = {}
        for part in range(self.micro_batches):
            rows = self.parts({name: named["batch", name] for name in self.arrays}, part)
            loss, count, buffers = self._forward({**weights, **fixed}, buffers, rows, around)
            losses.append(around.decisions.stopping(loss.detach()))
            if count is not None:
                counts.append(count.detach().to(loss.dtype))
            if weights:
                scaled = loss if count is not None or factor == 1.0 else loss * factor
                _backward(scaled, weights, summed, around)
        return Passed(weights, losses, counts, summed, buffers)

    def _forward(
        self,
        weights: Mapping[str, Tensor],
        buffers: Mapping[str, Tensor],
        rows: Mapping[str, Tensor],
        around: Surroundings,
    ) -> tuple[Tensor, Tensor | None, dict[str, Tensor]]:
        """Compute the loss of a part of the batch, how many numbers it is the sum of, and the buffers after it."""
        model, objective = self.model, self.objective

        class Step(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self) -> tuple[Any, dict[str, Tensor]]:
                loss = objective(self.model, rows)
                # Read the buffers while the replacement still holds: a module may have assigned a new tensor.
                return loss, dict(self.model.named_buffers())

        replaced = {f"model.{name}": tensor for name, tensor in {**weights, **buffers}.items()}
        attributed = around.location.attribute_forward(model)
        labelled, dense, here = (
            whereabouts.LineLabels(label_line),
            DenseConstants(around.notes),
            OneDevice(around.notes),
        )
        with attributed, labelled, PhiloxDropout(), dense, here, around.asked, Substitutes(around.decisions):
            loss, after = functional_call(Step(), replaced, ())
        count = None
        if self.weigh == "tokens":
            loss, count = _sum_and_count(loss)
        _check_loss(loss, trained=bool(self.held.parameters))
        # The next part starts from the values of the buffers, not from how they came about.
        return loss, count, {name: after[name].detach() for name in buffers}


def _backward(loss: Tensor, weights: Mapping[str, Tensor], summed: dict[str, Tensor], around: Surroundings) -> None:
    """Add the gradients of a part's loss to the sums."""
    around.location.attribute_backward(loss)
    gradients = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
    with torch.no_grad():
        for name, gradient in zip(weights, gradients, strict=True):
            if gradient is not None:
                around.location.at_gradient(name)
                summed[name] = summed[name] + gradient.detach() if name in summed else gradient.detach()


def equal_parts(batch: Mapping[str, TensorType], micro_batches: int) -> Parts:
    """Return what says that each part has as many rows, the first part the first ones.

    Args:
        batch: Dtype and shape of each array of a batch.
        micro_batches: How many parts there are.

    Raises:
        DataError: They cannot have as many rows.
    """
    for name, described in batch.items():
        rows = described.shape[0] if described.shape else 0
        if micro_batches < 1 or rows % micro_batches:
            raise DataError(
                f"A batch of {rows} rows of {name!r} cannot be split into {micro_batches} equal parts.",
                remedy="Choose a number of micro-batches that divides the batch size, or the rows of a share.",
            )
    return partial(_equal_part, parts=micro_batches)


def _equal_part(batch: Mapping[str, Tensor], part: int, parts: int) -> Mapping[str, Tensor]:
    if parts == 1:
        return batch
    found = {}
    for name, rows in batch.items():
        length = rows.shape[0] // parts
        found[name] = rows[part * length : (part + 1) * length]
    return found


def _sum_and_count(given: Any) -> tuple[Any, Tensor]:
    if not isinstance(given, tuple) or len(given) != 2:
        raise ProgramError(
            f"The objective returned {type(given).__name__}; weighed by tokens it must return a sum and a count.",
            remedy="Return (loss.sum(), mask.sum()), for instance, and not their quotient.",
        )
    loss, count = given
    count = count if isinstance(count, Tensor) else torch.full((), float(count))
    if count.dim() != 0 or count.requires_grad:
        raise ProgramError(
            f"The count that the objective returned is of shape {tuple(count.shape)}"
            f"{', and depends on parameters' if count.requires_grad else ''}; it must be one number of the data alone.",
            remedy="Count what the sum is of, for instance (labels != -100).sum().",
        )
    return loss, count


def _check_loss(loss: Any, *, trained: bool) -> None:
    if not isinstance(loss, Tensor):
        raise ProgramError(f"The objective returned {type(loss).__name__}; it must return a tensor that is one number.")
    if loss.dim() != 0 or not loss.is_floating_point():
        raise ProgramError(
            f"The objective returned {loss.dtype} of shape {tuple(loss.shape)}; it must be one number.",
            remedy="Reduce it, for instance with mean().",
        )
    if trained and not loss.requires_grad:
        raise ProgramError("The objective does not depend on any parameter of the model.")
