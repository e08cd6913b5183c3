"""Capture of a training step from an ordinary ``nn.Module``, a loss and an optimizer.

Runs on the client's machine, once, with fake tensors: no arithmetic happens and no accelerator is needed. The whole
step (forward, loss, ``torch.autograd.grad``, optimizer) is traced (:mod:`counterfoil.program.steadily`), and
:mod:`counterfoil.program.lowering` turns the result into a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from counterfoil.program.passes import Objective, Parts, Passes, Weigh, equal_parts
from counterfoil.program.statetensors import Held, hold, tied_names, unsaved_names
from counterfoil.program.steadily import Named, Results, Surroundings, Tracer
from counterfoil.program.update import UpdateRule
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Input, Program


@dataclass(frozen=True)
class CapturedStep:
    """A captured step and the state it starts from."""

    program: Program  #: The program.
    #: State tensors by name: parameters, buffers, optimizer slots (``slot:parameter``), and constant tensors that the
    #: step met without their being buffers (``constant.1`` and so on).
    initial_state: Mapping[str, Tensor]
    parameters: tuple[str, ...]  #: Names of the trainable ones among them.
    micro_batches: int = 1  #: Into how many parts the step splits its batch.
    #: Second names that the model has for tensors of the state, each with the name in the state.
    tied: Mapping[str, str] = field(default_factory=dict)
    #: State tensors that a file of the model does not hold, sorted: buffers that are not persistent, and the constants.
    unsaved: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  #: What was left out of the client's code, in sentences.
    #: Where the step has shares: the update program; ``program`` is the gradient program then.
    update: Program | None = None
    shares: int = 1  #: Into how many shares the step divides its batch.
    stacked: bool = False  #: Whether the update program finds what they give side by side, and not added.


def capture(
    model: nn.Module,
    objective: Objective,
    rule: UpdateRule,
    batch: Mapping[str, TensorType],
    *,
    micro_batches: int = 1,
    parts: Parts | None = None,
    weigh: Weigh = "parts",
    exact: ExactPrecision | None = None,
    ignore_autocast: bool = False,
) -> CapturedStep:
    """Capture one training step.

    Args:
        model: The model, in training mode or not, as it should be trained; float32. A parameter that requires no
            gradient is state that stays as it is.
        objective: Computes the zero-dimensional loss.
        rule: The optimizer's update rule.
        batch: Dtype and shape (with the batch axis first) of each array that a step reads, by name.
        micro_batches: Into how many equal parts a step splits its batch. Each has a forward and a backward pass of its
            own, in order; the loss is the mean of theirs, and the gradients of ``loss / micro_batches`` are added one
            after the other, as torch accumulates them.
        parts: Says what each of them has; equal parts of the rows unless given.
        weigh: ``parts`` as just said; with ``tokens`` the objective returns a sum and how many numbers it is of, both
            zero-dimensional, and loss and gradients are those of all sums divided by all numbers.
        exact: The exact profile that the program is for; None for one that rounds. Composite operators become single
            operations (:mod:`counterfoil.program.composites`), those that occur twice one, and products by rows where
            the profile is (:mod:`counterfoil.program.rows`).
        ignore_autocast: Whether ``torch.autocast`` is without effect in the step; else it is refused.

    Raises:
        ProgramError: The step uses an operator outside the allow-list, values decide its control flow, it holds what
            cannot be captured, or it is not the same at another moment; the message names the module, or the line.
        DataError: The model's tensors have a dtype that a bundle cannot hold, or the batch cannot be split.
    """
    held = hold(model, rule)
    passes = Passes(
        model, objective, held, tuple(batch), parts or equal_parts(batch, micro_batches), micro_batches, weigh
    )
    tracer = Tracer(model, objective, held, exact=exact, ignore_autocast=ignore_autocast)
    program = tracer.program(_Step(passes, rule), [*held.inputs(), *batch_inputs(batch), *scalar_inputs(rule)])
    return captured_step(model, held, tracer, program, micro_batches)


@dataclass(frozen=True)
class _Step:
    """A training step as a function of its inputs."""

    passes: Passes  #: Its forward and backward passes.
    rule: UpdateRule  #: The update rule.

    def __call__(self, named: Named, around: Surroundings) -> Results:
        """Return the loss, and the new state: buffers, and what the optimizer updates."""
        held, parts = self.passes.held, self.passes.micro_batches
        passed = self.passes.run(named, 1.0 / parts, around)
        gradients = passed.gradients
        with torch.no_grad():
            loss = passed.loss
            if passed.counts:
                total = passed.count
                loss = loss / total
                for name in gradients:
                    around.location.at_gradient(name)
                    gradients[name] = gradients[name] / total
            elif parts > 1:
                loss = loss * (1.0 / parts)
            # What has no gradient stays as it is, without weight decay, as with torch's optimizers.
            weights = {name: weight.detach() for name, weight in passed.weights.items() if name in gradients}
            new = apply_optimizer(self.rule, held, named, weights, gradients, around)
        return Results(loss, {**passed.buffers, **new})


def apply_optimizer(
    rule: UpdateRule,
    held: Held,
    named: Named,
    weights: Mapping[str, Tensor],
    gradients: Mapping[str, Tensor],
    around: Surroundings,
) -> dict[str, Tensor]:
    """Return what an optimizer makes of parameters and of its slots, by name.

    Args:
        rule: The update rule.
        held: What the step starts from.
        named: The inputs of the step.
        weights: The parameters that have a gradient.
        gradients: Their gradients.
        around: Of the trace.
    """
    return rule.update(
        weights,
        {name: gradients[name] for name in weights},
        {name: named["state", name] for name in held.slots},
        {name: named["scalar", name] for name in rule.scalar_names},
        around.location.at_slot,
    )


def batch_inputs(batch: Mapping[str, TensorType]) -> list[Input]:
    """Return the inputs of a program that are rows of data, sorted by name."""
    return [Input(name, "batch", batch[name]) for name in sorted(batch)]


def scalar_inputs(rule: UpdateRule) -> list[Input]:
    """Return the inputs of a program that are the scalars of an update rule."""
    return [Input(name, "scalar", TensorType("float32", ())) for name in rule.scalar_names]


def captured_step(model: nn.Module, held: Held, tracer: Tracer, program: Program, micro_batches: int) -> CapturedStep:
    """Put a captured step together.

    Args:
        model: The client's model.
        held: What the step starts from.
        tracer: What made its programs.
        program: The program.
        micro_batches: Into how many parts the step splits its batch.
    """
    constants = tracer.constants
    unsaved = tuple(sorted(unsaved_names(model) & set(held.buffers) | set(constants)))
    initial, tied = {**held.state, **constants}, tied_names(model, held.state)
    return CapturedStep(program, initial, tuple(held.parameters), micro_batches, tied, unsaved, tracer.notes.sentences)
