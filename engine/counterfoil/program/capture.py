"""Capture of a training step from an ordinary ``nn.Module``, a loss and an optimizer.

Runs on the client's machine, once, with fake tensors: no arithmetic happens and no accelerator is needed. The whole
step (forward, loss, ``torch.autograd.grad``, optimizer) is traced (:mod:`counterfoil.program.tracing`), and
:mod:`counterfoil.program.lowering` turns the result into a program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call

from counterfoil.base.dtypes import STATE_DTYPES
from counterfoil.base.errors import DataError, ProgramError
from counterfoil.operators.node import TensorType
from counterfoil.operators.random import PhiloxDropout
from counterfoil.program import mixed, tracing, whereabouts
from counterfoil.program.asked import Again, AskedValues, PlainNames
from counterfoil.program.attribution import META_KEY, Location, label_line
from counterfoil.program.branches import Answers, check_branches
from counterfoil.program.decisions import Decisions
from counterfoil.program.devices import OneDevice
from counterfoil.program.graph import Input, Program
from counterfoil.program.lowering import lower
from counterfoil.program.notes import Notes
from counterfoil.program.restoring import Reached, Snapshot
from counterfoil.program.sparse import DenseConstants
from counterfoil.program.steadiness import (
    at_another_moment,
    check_drew_nothing,
    check_same,
    generators_kept,
    moments_asked,
    positions,
)
from counterfoil.program.substitutes import Substitutes
from counterfoil.program.torchdtypes import TORCH_DTYPES
from counterfoil.program.update import UpdateRule

Objective = Callable[[nn.Module, Mapping[str, Tensor]], Any]
"""Computes the loss from the model and the batch: ``objective(model, {"images": ..., "labels": ...})``.

Weighed by tokens it returns a sum and a count."""
Parts = Callable[[Mapping[str, Tensor], int], Mapping[str, Tensor]]
"""Returns the rows of a part of a batch by name, from those of the batch and the number of the part."""
Weigh = Literal["parts", "tokens"]
"""How the parts of a batch are weighed in the loss of a step: alike, or by what they count."""

DTYPE_NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items() if name in STATE_DTYPES}
"""Names of the dtypes that a program may hold."""


@dataclass(frozen=True)
class CapturedStep:
    """A captured step and the state it starts from.

    Attributes:
        program: The program.
        initial_state: State tensors by name: parameters, buffers, optimizer slots (``slot:parameter``), and constant
            tensors that the step met without their being buffers (``constant.1`` and so on).
        parameters: Names of the trainable ones among them.
        micro_batches: Into how many parts the step splits its batch.
        tied: Second names that the model has for tensors of the state, each with the name in the state.
        unsaved: State tensors that a file of the model does not hold, sorted: buffers that are not persistent, and
            the constants.
        notes: What was left out of the client's code, in sentences.
    """

    program: Program
    initial_state: Mapping[str, Tensor]
    parameters: tuple[str, ...]
    micro_batches: int = 1
    tied: Mapping[str, str] = field(default_factory=dict)
    unsaved: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def capture(
    model: nn.Module,
    objective: Objective,
    rule: UpdateRule,
    batch: Mapping[str, TensorType],
    *,
    micro_batches: int = 1,
    parts: Parts | None = None,
    weigh: Weigh = "parts",
    exact: bool = False,
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
        exact: Whether composite operators become single operations (:mod:`counterfoil.program.composites`), as the
            program of an order with an exact profile needs it; operations that occur twice are then one.
        ignore_autocast: Whether ``torch.autocast`` is without effect in the step; else it is refused.

    Raises:
        ProgramError: The step uses an operator outside the allow-list, values decide its control flow, it holds what
            cannot be captured, or it is not the same at another moment; the message names the module, or the line.
        DataError: The model's tensors have a dtype that a bundle cannot hold, or the batch cannot be split.
    """
    held = _hold(model, rule)
    if parts is None:
        _check_split(batch, micro_batches)
        parts = partial(_equal_part, parts=micro_batches)
    inputs = held.inputs()
    inputs += [Input(name, "batch", batch[name]) for name in sorted(batch)]
    inputs += [Input(name, "scalar", TensorType("float32", ())) for name in rule.scalar_names]
    steady = {*held.frozen, *held.buffers}

    kept, reached, names, notes = Snapshot(model), Reached(objective, model), PlainNames(), Notes()

    def trace(answers: Answers | None = None, *, again: bool = True) -> _Traced:
        location = Location()
        decisions = Decisions(location.at_line, held.storages)
        answers = answers or Answers()
        asked = AskedValues(
            lambda place: answers.decide(place, location.sentence), names, known=decisions.knows, hold=decisions.hold
        )
        step = _Step(
            model,
            objective,
            rule,
            held,
            inputs,
            tuple(batch),
            parts,
            micro_batches,
            weigh,
            location,
            decisions,
            asked,
            notes,
        )
        try:
            return _trace(
                step,
                inputs,
                held.state,
                steady,
                location,
                decisions,
                answers,
                exact=exact,
                ignore_autocast=ignore_autocast,
                again=again,
            )
        except Again:
            return trace(answers, again=again)
        finally:
            # What a run left behind is fake; but whether it is read by the next one must be seen there.
            kept.settle(decisions.knows)
            reached.settle()

    with generators_kept(), moments_asked() as asked:
        try:
            before = positions()
            traced = trace(again=False)
            check_drew_nothing(before, trace)
            moments = asked()
            for number in range(1, moments.count + 1):
                with at_another_moment(number):
                    check_same(traced.written, trace().written, META_KEY, moments)
            check_branches(traced.written, traced.answers.places, lambda answers: trace(answers).written)
        finally:
            kept.restore()
            reached.restore()
    decisions = traced.decisions
    assert traced.pure is not None
    program, constants = lower(
        traced.pure, tuple(inputs), traced.names, META_KEY, DTYPE_NAMES, held.storages, single=exact
    )
    for name in sorted(decisions.relied_on & set(program.updates)):
        raise ProgramError(
            f"The step decides control flow or a shape by the values of the buffer {name!r}, and changes them.",
            remedy="A program does the same in every step: choose with torch.where, and keep shapes fixed.",
        )
    unsaved = tuple(sorted(unsaved_names(model) & set(held.buffers) | set(constants)))
    initial, tied = {**held.state, **constants}, tied_names(model, held.state)
    return CapturedStep(program, initial, tuple(held.parameters), micro_batches, tied, unsaved, notes.sentences)


@dataclass(frozen=True)
class _Held:
    """What is held from one step to the next, by name: what is trained, what stays, buffers, the optimizer's slots."""

    parameters: dict[str, Tensor]
    frozen: dict[str, Tensor]
    buffers: dict[str, Tensor]
    slots: dict[str, Tensor]

    @property
    def state(self) -> dict[str, Tensor]:
        """All of it."""
        return {**self.parameters, **self.frozen, **self.buffers, **self.slots}

    @property
    def storages(self) -> set[int]:
        """Addresses of the memory of the model's own tensors."""
        # A tensor without elements has no memory, and no address.
        own = (*self.parameters.values(), *self.frozen.values(), *self.buffers.values())
        return {tensor.untyped_storage().data_ptr() for tensor in own} - {0}

    def inputs(self) -> list[Input]:
        """Return the program's state inputs, sorted by name."""
        state = self.state
        return [Input(name, "state", tensor_type(name, state[name])) for name in sorted(state)]


def _hold(model: nn.Module, rule: UpdateRule) -> _Held:
    parameters = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    if not parameters:
        raise DataError(
            "The model has no parameter that requires a gradient, so there is nothing to train.",
            remedy="Register its weights as nn.Parameter with requires_grad=True.",
        )
    for name, buffer in model.named_buffers():
        if buffer.layout is not torch.strided:
            raise DataError(
                f"The buffer {name!r} of the model is sparse, and an order holds dense tensors.",
                remedy="Register it as it is dense, to_dense(), or let the model refer to it without registering it.",
            )
    frozen = {name: p.detach() for name, p in model.named_parameters() if not p.requires_grad}
    buffers = {name: b.detach() for name, b in model.named_buffers()}
    return _Held(parameters, frozen, buffers, dict(rule.slots(parameters)))


@dataclass(frozen=True)
class _Step:
    """A training step as a function of its inputs, which is called with fake tensors.

    Attributes:
        held: What it starts from, for its names.
        inputs: Its inputs, in the order of the arguments.
        arrays: Names of the arrays of a batch.
        parts: Says what each part has of its rows.
        location: Is told what is computed, and where.
        decisions: Notes what the step decides by values.
        asked: Answers what it asks of values that are not known.
        notes: Is told what was left out.
    """

    model: nn.Module
    objective: Objective
    rule: UpdateRule
    held: _Held
    inputs: list[Input]
    arrays: tuple[str, ...]
    parts: Parts
    micro_batches: int
    weigh: Weigh
    location: Location
    decisions: Decisions
    asked: AskedValues
    notes: Notes

    def __call__(self, values: list[Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the loss, and the new state by name: buffers, and what the optimizer updates."""
        named = dict(zip([(item.kind, item.name) for item in self.inputs], values, strict=True))
        weights = {name: named["state", name].detach().requires_grad_() for name in self.held.parameters}
        buffers = {name: named["state", name] for name in self.held.buffers}
        fixed = {name: named["state", name].detach() for name in self.held.frozen}
        losses: list[Tensor] = []
        counts: list[Tensor] = []
        summed: dict[str, Tensor] = {}
        for part in range(self.micro_batches):
            rows = self.parts({name: named["batch", name] for name in self.arrays}, part)
            loss, count, buffers = self._forward({**weights, **fixed}, buffers, rows)
            losses.append(self.decisions.stopping(loss.detach()))
            if count is not None:
                counts.append(count.detach().to(loss.dtype))
            mean_of_parts = self.micro_batches > 1 and count is None
            self._backward(loss * (1.0 / self.micro_batches) if mean_of_parts else loss, weights, summed)
        with torch.no_grad():
            mean = sum(losses[1:], losses[0])
            if counts:
                total = sum(counts[1:], counts[0])
                mean = mean / total
                for name in summed:
                    self.location.at_gradient(name)
                    summed[name] = summed[name] / total
            elif len(losses) > 1:
                mean = mean * (1.0 / len(losses))
            # What has no gradient stays as it is, without weight decay, as with torch's optimizers.
            new = self.rule.update(
                {name: weight.detach() for name, weight in weights.items() if name in summed},
                {name: summed[name] for name in weights if name in summed},
                {name: named["state", name] for name in self.held.slots},
                {name: named["scalar", name] for name in self.rule.scalar_names},
                self.location.at_slot,
            )
        return mean, {**buffers, **new}

    def _forward(
        self, weights: Mapping[str, Tensor], buffers: Mapping[str, Tensor], rows: Mapping[str, Tensor]
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
        attributed = self.location.attribute_forward(model)
        labelled, dense, here = whereabouts.LineLabels(label_line), DenseConstants(self.notes), OneDevice(self.notes)
        with attributed, labelled, PhiloxDropout(), dense, here, self.asked, Substitutes(self.decisions):
            loss, after = functional_call(Step(), replaced, ())
        count = None
        if self.weigh == "tokens":
            loss, count = _sum_and_count(loss)
        _check_loss(loss)
        # The next part starts from the values of the buffers, not from how they came about.
        return loss, count, {name: after[name].detach() for name in buffers}

    def _backward(self, loss: Tensor, weights: Mapping[str, Tensor], summed: dict[str, Tensor]) -> None:
        """Add the gradients of a part's loss to the sums."""
        self.location.attribute_backward(loss)
        gradients = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        with torch.no_grad():
            for name, gradient in zip(weights, gradients, strict=True):
                if gradient is not None:
                    self.location.at_gradient(name)
                    summed[name] = summed[name] + gradient.detach() if name in summed else gradient.detach()


def tied_names(model: nn.Module, state: Collection[str]) -> dict[str, str]:
    """Return the names of tensors that the model has under another name as well, each with the one in the state.

    Args:
        model: The model.
        state: The names in the state.
    """
    names: dict[int, str] = {}
    tied = {}
    for listed in (model.named_parameters, model.named_buffers):
        for name, tensor in listed(remove_duplicate=False):
            if names.setdefault(id(tensor), name) != name and name not in state:
                tied[name] = names[id(tensor)]
    return tied


def unsaved_names(model: nn.Module) -> set[str]:
    """Return the names of the buffers that ``state_dict`` leaves out."""
    return {
        f"{path}.{name}" if path else name
        for path, module in model.named_modules()
        for name in module._non_persistent_buffers_set
    }


def _check_split(batch: Mapping[str, TensorType], micro_batches: int) -> None:
    for name, described in batch.items():
        rows = described.shape[0] if described.shape else 0
        if micro_batches < 1 or rows % micro_batches:
            raise DataError(
                f"A batch of {rows} rows of {name!r} cannot be split into {micro_batches} equal parts.",
                remedy="Choose a number of micro-batches that divides the batch size.",
            )


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


def _check_loss(loss: Any) -> None:
    if not isinstance(loss, Tensor):
        raise ProgramError(f"The objective returned {type(loss).__name__}; it must return a tensor that is one number.")
    if loss.dim() != 0 or not loss.is_floating_point():
        raise ProgramError(
            f"The objective returned {loss.dtype} of shape {tuple(loss.shape)}; it must be one number.",
            remedy="Reduce it, for instance with mean().",
        )
    if not loss.requires_grad:
        raise ProgramError("The objective does not depend on any parameter of the model.")


@dataclass(frozen=True)
class _Traced:
    """A step that was traced.

    Attributes:
        written: As it is written, with what it changes in place.
        pure: Without mutations; None where it was traced only to be compared.
        names: Names of the state that it gives, in their order.
        decisions: What it decided by values.
        answers: What it was answered where it asked for values.
    """

    written: torch.fx.GraphModule
    pure: torch.fx.Graph | None
    names: list[str]
    decisions: Decisions
    answers: Answers


def _trace(
    step: _Step,
    inputs: list[Input],
    state: Mapping[str, Tensor],
    steady: Collection[str],
    location: Location,
    decisions: Decisions,
    answers: Answers,
    *,
    exact: bool,
    ignore_autocast: bool,
    again: bool,
) -> _Traced:
    names: list[str] = []

    def flat(*values: Tensor) -> list[Tensor]:
        for item, value in zip(inputs, values, strict=True):
            if item.kind == "state" and item.name in steady:
                decisions.know(item.name, value, state[item.name])
        with decisions:
            loss, new = step(list(values))
        names[:] = list(new)
        return [loss, *new.values()]

    with tracing.explained(location), tracing.without_values(ignore_autocast=ignore_autocast, notes=step.notes) as mode:
        examples = [
            mode.from_tensor(state[item.name])
            if item.kind == "state"
            else torch.empty(item.type.shape, dtype=TORCH_DTYPES[item.type.dtype])
            for item in inputs
        ]
        traced = tracing.written(flat, examples, exact=exact)
        pure = None if again else tracing.without_mutations(traced, examples, exact=exact)
    return _Traced(traced, pure, names, decisions, answers)


def tensor_type(name: str, tensor: Tensor) -> TensorType:
    """Return dtype and shape of a tensor of a model; raises DataError where a bundle cannot hold it."""
    if tensor.dtype not in DTYPE_NAMES:
        raise DataError(
            f"The tensor {name!r} of the model has the dtype {tensor.dtype}, which a bundle cannot hold.",
            remedy=mixed.in_float32(tensor.dtype),
        )
    return TensorType(DTYPE_NAMES[tensor.dtype], tuple(tensor.shape))
