"""Capture of a training step that several shares make, as two programs.

The gradient program runs once for each share, on the share's rows, and gives its gradients, its loss and its count.
What all of them gave is combined. The update program runs once: it has all that a step does with its gradient, such as
clipping it, and the optimizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, apply_optimizer, batch_inputs, captured_step, scalar_inputs
from counterfoil.program.passes import Objective, Parts, Passes, Weigh, equal_parts
from counterfoil.program.statetensors import Held, hold
from counterfoil.program.steadily import Named, Results, Surroundings, Tracer
from counterfoil.program.update import UpdateRule
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import BUFFER, GRADIENT, Input, Program

LOSS, COUNT = "loss", "count"
"""Names of what each share gives besides its gradients and buffers."""
Buffers = Literal["first", "mean"]
"""What becomes of the buffers of a model, such as running statistics: those of the first share, or the mean of all."""


def capture_shares(
    model: nn.Module,
    objective: Objective,
    rule: UpdateRule,
    batch: Mapping[str, TensorType],
    *,
    shares: int,
    micro_batches: int = 1,
    parts: Parts | None = None,
    weigh: Weigh = "parts",
    buffers: Buffers = "first",
    stacked: bool = False,
    exact: ExactPrecision | None = None,
    ignore_autocast: bool = False,
) -> CapturedStep:
    """Capture one training step that several shares make.

    Args:
        model: As for :func:`counterfoil.program.capture.capture`; so are all that are not named here.
        objective: The same.
        rule: The optimizer's update rule. Where shares are stacked it is given all their gradients of a parameter, the
            first axis counting shares.
        batch: Dtype and shape of each array that a share reads.
        shares: How many shares a step has.
        micro_batches: Into how many equal parts a share splits its rows.
        parts: The same.
        weigh: The same: with ``parts`` all micro-batches of all shares are weighed alike.
        buffers: What becomes of the model's floating-point buffers that a step changes; others are those of the first
            share. Each share starts from the same.
        stacked: Whether the update program finds what shares give side by side. A share's gradient is that of its own
            mean loss then.
        exact: The same.
        ignore_autocast: The same.

    Returns:
        The step: its program is the gradient program.

    Raises:
        ProgramError, DataError: As :func:`counterfoil.program.capture.capture`; or a module sees all rows of a step at
            once.
    """
    _check_modules(model)
    held = hold(model, rule)
    passes = Passes(
        model, objective, held, tuple(batch), parts or equal_parts(batch, micro_batches), micro_batches, weigh
    )
    tracer = Tracer(model, objective, held, exact=exact, ignore_autocast=ignore_autocast)
    inputs = held.inputs([*held.parameters, *held.frozen, *held.buffers])
    share = _Share(passes, shares, buffers, stacked)
    program = tracer.program(share, [*inputs, *batch_inputs(batch)])
    given = combined_inputs(program, shares if stacked else None)
    changed = [item.name.removeprefix(BUFFER) for item in given if item.name.startswith(BUFFER)]
    learning = [item.name.removeprefix(GRADIENT) for item in given if item.name.startswith(GRADIENT)]
    inputs = held.inputs([*learning, *held.slots, *changed])
    update = tracer.program(_Update(held, rule, shares, stacked), [*inputs, *given, *scalar_inputs(rule)])
    step = captured_step(model, held, tracer, program, micro_batches)
    return replace(step, update=update, shares=shares, stacked=stacked)


def combined_inputs(program: Program, side_by_side: int | None) -> list[Input]:
    """Return what an update program finds of what shares give, sorted by name.

    Args:
        program: The gradient program.
        side_by_side: How many shares there are where they are stacked; None where they are added.
    """
    found = []
    for name, value in sorted(program.combined.items()):
        described = program.types[value.number]
        assert described is not None
        axes = () if side_by_side is None else (side_by_side,)
        found.append(Input(name, "combined", TensorType(described.dtype, (*axes, *described.shape))))
    return found


@dataclass(frozen=True)
class _Share:
    """What one share does, as a function of its inputs."""

    passes: Passes  #: Its forward and backward passes.
    shares: int  #: How many shares there are.
    buffers: Buffers  #: What becomes of buffers.
    stacked: bool  #: Whether shares are stacked.

    def __call__(self, named: Named, around: Surroundings) -> Results:
        """Return the share's loss, the buffers that are state already, and what is combined."""
        held, parts = self.passes.held, self.passes.micro_batches
        everywhere = 1.0 / (self.shares * parts)
        passed = self.passes.run(named, 1.0 / parts if self.stacked else everywhere, around)
        combined = {f"{GRADIENT}{name}": passed.gradients[name] for name in held.parameters if name in passed.gradients}
        around.location.at_gradient("")
        with torch.no_grad():
            loss = passed.loss
            if passed.counts:
                combined |= {LOSS: loss, COUNT: passed.count}
            else:
                combined[LOSS] = _times(loss, everywhere)
                loss = _times(loss, 1.0 / parts)
        averaged = {
            name: tensor
            for name, tensor in passed.buffers.items()
            if self.buffers == "mean" and tensor.is_floating_point()
        }
        combined |= {f"{BUFFER}{name}": tensor for name, tensor in averaged.items()}
        return Results(loss, {name: passed.buffers[name] for name in passed.buffers if name not in averaged}, combined)


@dataclass(frozen=True)
class _Update:
    """What a step does with what its shares gave, as a function of its inputs."""

    held: Held  #: What the step starts from.
    rule: UpdateRule  #: The update rule.
    shares: int  #: How many shares there are.
    stacked: bool  #: Whether what they gave lies side by side, and is not added.

    def __call__(self, named: Named, around: Surroundings) -> Results:
        """Return the loss of the step, and the new state: buffers, and what the optimizer updates."""
        given = {name: value for (kind, name), value in named.items() if kind == "combined"}
        gradients = self._named(given, GRADIENT)
        at_slot = around.location.at_slot
        at_slot("")
        with torch.no_grad():
            loss, count = self._summed(given[LOSS]), given.get(COUNT)
            if count is not None:
                loss = loss / self._summed(count)
                for name, gradient in gradients.items():
                    at_slot(name)
                    own = count.reshape(-1, *([1] * (gradient.dim() - 1))) if self.stacked else count
                    gradients[name] = gradient / own
            new = {}
            for name, total in self._named(given, BUFFER).items():
                at_slot(name)
                new[name] = _times(total, 1.0 / self.shares)
            weights = {name: named["state", name] for name in self.held.parameters if name in gradients}
            new |= apply_optimizer(self.rule, self.held, named, weights, gradients, around)
        return Results(loss, new)

    def _summed(self, value: Tensor) -> Tensor:
        return value.sum() if self.stacked else value

    def _named(self, given: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): value for name, value in given.items() if name.startswith(prefix)}


def _times(value: Tensor, factor: float) -> Tensor:
    return value if factor == 1.0 else value * factor


def _check_modules(model: nn.Module) -> None:
    """Check that no module sees all rows of a step at once; raises ProgramError."""
    for path, module in model.named_modules():
        if isinstance(module, nn.SyncBatchNorm) and (module.training or module.running_mean is None):
            raise ProgramError(
                f"The module {path!r} is a SyncBatchNorm, whose statistics are those of all devices' rows; a share is "
                "computed from its own rows alone.",
                remedy="Use BatchNorm1d, BatchNorm2d or BatchNorm3d, as each device has under DistributedDataParallel, "
                "and say with buffers what becomes of their statistics; or order micro_batches without shares.",
            )
