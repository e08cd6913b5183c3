"""Orders of a model that several optimizers train in turns, such as a generative adversarial network.

Each optimizer has a program of its own; the pattern of the order says whose turn a step is. All of them share the
model, its state, the data and the schedule. docs/bundle-format.md, section 14.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import BundleError, DataError, ProgramError
from counterfoil.base.precision import AnyPrecision, is_exact
from counterfoil.base.turns import Turns
from counterfoil.bundle.pattern import MAX_PATTERN
from counterfoil.bundle.schema import MAX_PROGRAMS, ModuleNames, check_name
from counterfoil.commit.state import tensor_digest
from counterfoil.operators.node import TensorType
from counterfoil.program.capture import CapturedStep, Objective, capture
from counterfoil.program.graph import Input, Program
from counterfoil.program.recompute import Segments
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.torchs import AnyRule, optimizer_within, trained_names
from counterfoil.training.custom import (
    RECIPE,
    ClientJob,
    CustomJob,
    JobOptimizer,
    check_counts,
    check_data,
    check_kinds,
    check_model,
    chosen_rows,
    only_training,
    optimizer_of,
    schedule_of,
    steps_per_epoch,
)
from counterfoil.training.order import OrderDraft, assemble_order, describe_optimizer, module_names
from counterfoil.training.preparing import CAPTURING, Preparing
from counterfoil.training.rows import Keep, Rows, read_rows
from counterfoil.training.schedules import Every, Pace, SchedulerFactory

_SHOWN = 8
"""Names of parameters that a sentence lists."""
_SHOWN_TURNS = 300
"""Turns of a pattern that the order says in words; it has room for no more than 2,000 characters."""


@dataclass(frozen=True)
class Turn:
    """What one of several optimizers does when it is its turn.

    Attributes:
        name: Its name in the pattern, for instance ``d``.
        objective: ``objective(model, batch)`` returns the loss of a step.
        rule: The optimizer, as in :class:`CustomJob`.
        parameters: The parameters that it trains: a pattern of names such as ``discriminator.*``, or a function that
            says so of a name; an optimizer of torch holds its own. The others are constants in its steps. No two turns
            train the same parameter.
        learning_rate: The learning rate, or one for each of its steps; an optimizer of torch has its own.
        scheduler: As in :class:`CustomJob`.
        micro_batches: Into how many equal parts a step splits its batch.
        scheduler_every: After what it moves on: ``step``, one of this optimizer's own, or ``epoch`` of the data.
    """

    name: str
    objective: Objective
    rule: AnyRule
    parameters: str | Callable[[str], bool] | None = None
    learning_rate: float | Sequence[float] | None = None
    scheduler: LRScheduler | SchedulerFactory | None = None
    micro_batches: int = 1
    scheduler_every: Every | None = None

    def trains(self, parameter: str) -> bool:
        """Whether a parameter of this name is one that it trains; without ``parameters`` none is."""
        if self.parameters is None:
            return False
        return (
            fnmatchcase(parameter, self.parameters) if isinstance(self.parameters, str) else self.parameters(parameter)
        )


@dataclass(frozen=True)
class TurnsJob(ClientJob):
    """A training job of a client's own model in which several optimizers take turns.

    Attributes:
        title: The client's name for the job.
        model: One module that holds all that is trained, for instance ``model.generator`` and ``model.discriminator``.
        turns: The optimizers.
        pattern: Their names in the order of the steps, for instance ``"d, d, g"`` or a list of names; it starts again
            when it is through.
        data: As in :class:`CustomJob`; so are all that follow.
        steps: Number of steps, those of all optimizers together.
        batch_size: Rows per step.
        schedule: int64 ``[steps, batch_size]``, the rows of each step; shuffled epochs by the seed unless given.
        seed: Seed of shuffling and of every random draw of the step, 0 to 2^64 - 1.
        recompute_activations: As in :class:`CustomJob`.
        precision: The precision profile; float64 to 24 significand bits by default.
        commit_every: The state is digested every so many steps.
        checkpoint_every: The state is stored every so many steps; a multiple of ``commit_every``.
        keep: As in :class:`CustomJob`.
    """

    title: str
    model: nn.Module
    turns: Sequence[Turn]
    pattern: str | Sequence[str]
    data: Any
    steps: int
    batch_size: int | None = None
    schedule: npt.NDArray[np.int64] | None = None
    seed: int = 0
    recompute_activations: Segments | None = None
    precision: AnyPrecision | None = None
    commit_every: int = 1
    checkpoint_every: int = 10
    keep: Keep | None = None

    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order; raises as :func:`order_turns`.

        Args:
            precision: The precision profile; the job's own unless given.
            recompute_activations: Segments of the forward pass; the job's own unless given.
            cancel: Looked at between stages.
        """
        segments = recompute_activations or self.recompute_activations
        job = replace(self, precision=precision or self.precision, recompute_activations=segments)
        return _drafting(job, cancel)


def order_turns(job: TurnsJob) -> OrderDraft:
    """Draft an order of a model that several optimizers train in turns.

    Args:
        job: The job.

    Raises:
        DataError: Something in the job cannot be used; the message says what.
        ProgramError: A step cannot be captured; the message names module, file and line.
    """
    return job.draft()


def _drafting(job: TurnsJob, cancel: CancelToken | None) -> Generator[Preparing, None, OrderDraft]:
    check_kinds(job)
    for turn in job.turns:
        check_kinds(turn)
    job = replace(job, turns=[_with_parameters(turn, job.model) for turn in job.turns])
    turns = Turns({turn.name: turn for turn in job.turns}, _pattern(job))
    whole = _alone(job, next(iter(turns.parts.values())), job.steps) if turns.parts else None
    if whole is None:
        raise DataError("The job has no turns.", remedy="Give one for each optimizer.")
    check_counts(whole)
    _check_turns(job, turns)
    check_model(job.model)
    optimizers: dict[str, JobOptimizer] = {}
    captured: dict[str, CapturedStep] = {}
    for name, turn in turns.parts.items():
        with _about(turn):
            own = [step - 1 for step in range(1, job.steps + 1) if turns.name(step) == name]
            pace = Pace.of(turn.scheduler_every, steps_per_epoch(whole), own)
            optimizers[name] = optimizer_of(_alone(job, turn, len(own)), pace)
            _trained(job.model, turn)
    rows = yield from read_rows(job.data, job.steps, lambda count: chosen_rows(whole, count), job.keep, cancel)
    schedule = schedule_of(whole, rows, check_data(rows.arrays))
    yield CAPTURING
    for name, turn in turns.parts.items():
        with _about(turn):
            captured[name] = _capture(job, turn, optimizers[name].rule, rows, schedule.shape[1])
    programs, state, module = united(captured)
    names, scalars = _scalars(job.steps, turns, optimizers)
    described = (f"{name}: {describe_optimizer(captured[name], optimizers[name].rule)}" for name in turns.parts)
    draft = assemble_order(
        title=job.title,
        recipe=RECIPE,
        optimizer=f"{'; '.join(described)}; in turns: {_in_words(turns.pattern)}",
        programs=Turns(programs, turns.pattern),
        scalar_names=names,
        scalars=scalars,
        state=state,
        module=module,
        schedule=schedule,
        data=rows.arrays,
        seed=int(job.seed),
        precision=job.precision,
        commit_every=int(job.commit_every),
        checkpoint_every=int(job.checkpoint_every),
        rates={name: optimizer.rates for name, optimizer in optimizers.items()},
    )
    return (yield from draft.recomputing_in_stages(job.recompute_activations, cancel))


def _with_parameters(turn: Turn, model: nn.Module) -> Turn:
    optimizer = optimizer_within(turn.rule)
    if turn.parameters is not None or optimizer is None:
        return turn
    return replace(turn, parameters=trained_names(optimizer, model).__contains__)


def _pattern(job: TurnsJob) -> tuple[str, ...]:
    given = job.pattern.split(",") if isinstance(job.pattern, str) else job.pattern
    return tuple(name.strip() for name in given)


def _in_words(pattern: Sequence[str]) -> str:
    return ", ".join(pattern[:_SHOWN_TURNS]) + ", ..." * (len(pattern) > _SHOWN_TURNS)


def _check_turns(job: TurnsJob, turns: Turns[Turn]) -> None:
    if len(turns.parts) != len(job.turns):
        raise DataError("Two turns of the job have the same name.", remedy="Give each a name of its own.")
    if not 2 <= len(turns.parts) <= MAX_PROGRAMS:
        raise DataError(
            f"The job has {len(turns.parts)} turns; it must have 2 to {MAX_PROGRAMS}.",
            remedy="A model with one optimizer is a CustomJob.",
        )
    for name in turns.parts:
        try:
            check_name(name)
        except BundleError as error:
            raise DataError(
                f"A turn cannot be called {name!r}.", remedy="Use letters, digits and the characters _ . - : in names."
            ) from error
    pattern = ", ".join(turns.pattern[:20])
    if len(turns.pattern) > MAX_PATTERN or set(turns.pattern) != turns.parts.keys():
        raise DataError(
            f"The job's pattern ({pattern}) must name each turn ({', '.join(turns.parts)}) and nothing else, in at "
            f"most {MAX_PATTERN:,} steps.",
            remedy="Write the names in the order of the steps, for instance 'd, d, g'.",
        )
    if len(turns.pattern) > job.steps:
        raise DataError(
            f"The job's pattern has {len(turns.pattern)} steps, more than the job, which has {job.steps}.",
            remedy="Order as many steps as the pattern has, or more.",
        )
    for parameter, _ in job.model.named_parameters():
        trained = [turn.name for turn in job.turns if turn.trains(parameter)]
        if len(trained) > 1:
            raise DataError(
                f"The parameter {parameter!r} is trained by the turns {' and '.join(trained)}: it would have two "
                "optimizers, each with a state of its own.",
                remedy="Choose by name, in the turns' parameters, which of them trains it.",
            )


def _alone(job: TurnsJob, turn: Turn, steps: int) -> CustomJob:
    """The job as it would be with one optimizer alone, for so many steps."""
    return CustomJob(
        title=job.title,
        model=job.model,
        objective=turn.objective,
        rule=turn.rule,
        data=job.data,
        steps=steps,
        keep=job.keep,
        batch_size=job.batch_size,
        learning_rate=turn.learning_rate,
        scheduler=turn.scheduler,
        scheduler_every=turn.scheduler_every,
        schedule=job.schedule,
        seed=job.seed,
        micro_batches=turn.micro_batches,
        recompute_activations=job.recompute_activations,
        precision=job.precision,
        commit_every=job.commit_every,
        checkpoint_every=job.checkpoint_every,
    )


def _capture(job: TurnsJob, turn: Turn, rule: UpdateRule, rows: Rows, batch_size: int) -> CapturedStep:
    with only_training(job.model, _trained(job.model, turn)):
        return capture(
            job.model,
            lambda model, given: turn.objective(model, rows.batch(given)),
            rule,
            {n: TensorType(array.dtype.name, (batch_size, *array.shape[1:])) for n, array in rows.arrays.items()},
            micro_batches=int(turn.micro_batches),
            exact=is_exact(job.precision),
            ignore_autocast=job.precision is not None,
        )


def _trained(model: nn.Module, turn: Turn) -> set[str]:
    """Return the names of the parameters that a turn trains; raises DataError when there is none."""
    parameters = dict(model.named_parameters())
    chosen = {name for name, parameter in parameters.items() if parameter.requires_grad and turn.trains(name)}
    if not chosen:
        raise DataError(
            "There is no parameter to train: none that requires a gradient has such a name.",
            remedy=f"The model has {', '.join(list(parameters)[:_SHOWN])}{' and others' * (len(parameters) > _SHOWN)}.",
        )
    return chosen


@contextmanager
def _about(turn: Turn) -> Iterator[None]:
    """Name the turn in what is said of its objective, its optimizer and its learning rates."""
    try:
        yield
    except (DataError, ProgramError) as error:
        sentence = f"In the turn {turn.name!r}: {error.sentence}"
        raise type(error)(sentence, remedy=error.remedy, detail=error.detail) from error


def united(
    captured: Mapping[str, CapturedStep],
) -> tuple[dict[str, Program], dict[str, Tensor], ModuleNames | None]:
    """Return the programs, the state of all of them, and how files of the module name its tensors.

    Constants that a program met have names by number (``constant.1``): where another program's of that name is
    another, it is called after its turn.
    """
    programs: dict[str, Program] = {}
    state: dict[str, Tensor] = {}
    tied: dict[str, str] = {}
    unsaved: set[str] = set()
    for turn, step in captured.items():
        names = {
            name: f"{turn}.{name}" for name, tensor in step.initial_state.items() if not _same(state.get(name), tensor)
        }
        programs[turn] = _renamed(step.program, names)
        state |= {names.get(name, name): tensor for name, tensor in step.initial_state.items()}
        tied |= step.tied
        unsaved |= {names.get(name, name) for name in step.unsaved}
    return programs, state, module_names(tied, tuple(unsaved))


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


def _scalars(
    steps: int, turns: Turns[Turn], optimizers: Mapping[str, JobOptimizer]
) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
    """Return the names of the per-step scalars, and float64 ``[steps, scalars]``; 0 where a step does not read one.

    An optimizer's own steps count for it: its bias corrections and its schedule know nothing of the others' turns.
    """
    names = tuple(dict.fromkeys(name for turn in turns.parts for name in optimizers[turn].rule.scalar_names))
    columns = {name: column for column, name in enumerate(names)}
    scalars = np.zeros((steps, len(names)), np.float64)
    for step in range(1, steps + 1):
        turn = turns.of(step)
        own, optimizer = turns.count(turn.name, step), optimizers[turn.name]
        values = optimizer.rule.scalars(own, optimizer.rates[own - 1])
        scalars[step - 1, [columns[name] for name in optimizer.rule.scalar_names]] = values
    return names, scalars
