"""The programs of a client's data: the step is captured once for each form that its batches have."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.passes import Objective, Parts, Weigh
from counterfoil.program.sharecapture import capture_shares
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.torchs import captured_within
from counterfoil.training.division import WHOLE, Division
from counterfoil.training.forms import Combination
from counterfoil.training.rows import Rows
from counterfoil.training.stages import CAPTURING, Preparing, run_stage
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.schema import ModuleNames
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Input, Program

CaptureForm = Callable[[Combination | None], CapturedStep]
"""Captures the step for one combination of parts; None is the only one there is."""


def capture_form(
    model: nn.Module,
    objective: Objective,
    rule: UpdateRule,
    rows: Rows,
    schedule: npt.NDArray[np.int64],
    form: Combination | None,
    *,
    division: Division = WHOLE,
    accumulate: int = 1,
    weigh: Weigh = "parts",
    exact: ExactPrecision | None = None,
    ignore_autocast: bool = False,
) -> CapturedStep:
    """Capture the step for one form of its batches.

    Args:
        model: The model.
        objective: Computes the loss from the model and a batch, in the form that the client's data gives it.
        rule: The update rule.
        rows: The client's data.
        schedule: The rows of each step.
        form: The form, a combination of parts, of a step or of a share of one; None where all steps have the same.
        division: Into how many shares a step is divided, and into how many equal pieces each batch is split.
        accumulate: Batches of a step.
        weigh: As for :func:`counterfoil.program.capture.capture`, and so are the others.
        exact: The exact profile that it is for; None for one that rounds.
        ignore_autocast: Whether ``torch.autocast`` is without effect.

    Raises:
        DataError, ProgramError: As :func:`counterfoil.program.capture.capture`.
    """
    width = schedule.shape[1]
    batch = {name: TensorType(array.dtype.name, (width, *array.shape[1:])) for name, array in rows.arrays.items()}
    forms, parts = rows.forms, None
    if forms is None or form is None:
        division = division.accumulating(accumulate)
    else:
        forms.check_pieces(division.micro_batches)
        parts = _cutting(rows, form, division.micro_batches)
        division = replace(division, micro_batches=division.micro_batches * len(form))
    return capture_step(
        model,
        lambda model, given: objective(model, rows.batch(given)),
        rule,
        batch,
        division,
        parts=parts,
        weigh=weigh,
        exact=exact,
        ignore_autocast=ignore_autocast,
    )


def capture_step(
    model: nn.Module,
    objective: Objective,
    rule: UpdateRule,
    batch: Mapping[str, TensorType],
    division: Division = WHOLE,
    *,
    parts: Parts | None = None,
    weigh: Weigh = "parts",
    exact: ExactPrecision | None = None,
    ignore_autocast: bool = False,
) -> CapturedStep:
    """Capture a step, divided into shares or not.

    Args:
        model: As for :func:`counterfoil.program.capture.capture`; so are all that are not named here.
        objective: The same.
        rule: The same.
        batch: Dtype and shape of each array that a step reads, all shares of it together.
        division: How it is divided; where it names a rule of aggregation ``rule`` is behind that
            (:meth:`Division.updating`).
        parts: Says what each micro-batch has of the rows of a share.
        weigh: The same.
        exact: The same.
        ignore_autocast: The same.

    Raises:
        DataError, ProgramError: As the same, or the rows cannot be divided.
    """
    common = _Common(parts=parts, weigh=weigh, exact=exact, ignore_autocast=ignore_autocast)
    if division.whole:
        return capture(model, objective, rule, batch, micro_batches=division.micro_batches, **common)
    return capture_shares(
        model,
        objective,
        rule,
        division.of_share(batch),
        shares=division.shares,
        micro_batches=division.micro_batches,
        buffers=division.buffers,
        stacked=division.aggregation is not None,
        **common,
    )


class _Common(TypedDict):
    """What both captures take alike."""

    parts: Parts | None
    weigh: Weigh
    exact: ExactPrecision | None
    ignore_autocast: bool


def _cutting(rows: Rows, form: Combination, pieces: int) -> Parts:
    def parts(batch: Mapping[str, Tensor], number: int) -> Mapping[str, Tensor]:
        assert rows.forms is not None
        return rows.forms.cut(batch, form, number, pieces)

    return parts


def capture_forms(
    rows: Rows, each: CaptureForm, cancel: CancelToken | None = None
) -> Generator[Preparing, None, Turns[CapturedStep]]:
    """Capture the step for each form that the batches of a client's data have.

    Args:
        rows: The data.
        each: Captures one of them.
        cancel: Looked at between two of them.

    Raises:
        DataError, ProgramError: As :func:`capture_form`.
        CancelledError: ``cancel`` was set.
    """
    if rows.forms is None:
        yield CAPTURING
        return Turns.alone(each(None))
    captured: dict[str, CapturedStep] = {}
    for form, name in rows.forms.names.items():
        if cancel is not None:
            cancel.check()
        yield Preparing(CAPTURING.stage, "programs", len(captured), len(rows.forms.names))
        captured[name] = each(form)
    if len(captured) == 1:
        return Turns.alone(next(iter(captured.values())))
    return Turns(captured, rows.forms.pattern)


def find_step_scalars(rule: UpdateRule, cancel: CancelToken | None) -> Iterator[Preparing]:
    """Find the per-step scalars of captured optimizers, and report how far that is; raises as they do."""
    for captured in captured_within(rule):
        yield from run_stage("Making the optimizer's steps", "steps", captured.foretelling(cancel))


# Captured steps that take turns in one order: one state for all of them.


def module_names(tied: Mapping[str, str], unsaved: Sequence[str]) -> ModuleNames | None:
    """Return how files of a module name its tensors; None where that goes without saying."""
    return ModuleNames(tied, tuple(sorted(unsaved))) if tied or unsaved else None


@dataclass(frozen=True)
class United:
    """What captured steps are as one order."""

    programs: dict[str, Program]  #: The program of each step, by name.
    updates: dict[str, Program]  #: The update program of each, where steps have shares; else none.
    state: dict[str, Tensor]  #: The state of all of them.
    module: ModuleNames | None  #: How files of the module name its tensors.


def unite_turns(captured: Mapping[str, CapturedStep]) -> United:
    """Return the programs, the state of all of them, and how files of the module name its tensors.

    Constants that a program met have names by number (``constant.1``): where another program's of that name is
    another, it is called after its own.

    Args:
        captured: The captured steps by the names of their programs.
    """
    programs: dict[str, Program] = {}
    updates: dict[str, Program] = {}
    state: dict[str, Tensor] = {}
    tied: dict[str, str] = {}
    unsaved: set[str] = set()
    for turn, step in captured.items():
        names = {
            name: f"{turn}.{name}" for name, tensor in step.initial_state.items() if not _same(state.get(name), tensor)
        }
        programs[turn] = _renamed(step.program, names)
        if step.update is not None:
            updates[turn] = _renamed(step.update, names)
        state |= {names.get(name, name): tensor for name, tensor in step.initial_state.items()}
        tied |= step.tied
        unsaved |= {names.get(name, name) for name in step.unsaved}
    return United(programs, updates, state, module_names(tied, tuple(unsaved)))


def _same(known: Tensor | None, tensor: Tensor) -> bool:
    """Whether a state tensor is not known under its name, or is known to be this one."""
    if known is None:
        return True
    same_type = (known.dtype, known.shape) == (tensor.dtype, tensor.shape)
    return same_type and tensor_digest("", known.numpy()) == tensor_digest("", tensor.numpy())


def _renamed(program: Program, names: Mapping[str, str]) -> Program:
    def new(item: Input) -> Input:
        return replace(item, name=names[item.name]) if item.kind == "state" and item.name in names else item

    updates = {names.get(name, name): value for name, value in program.updates.items()}
    return replace(program, inputs=tuple(map(new, program.inputs)), updates=updates) if names else program
