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
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

from counterfoil.program.capture import CapturedStep
from counterfoil.program.passes import Objective
from counterfoil.program.recompute import Segments
from counterfoil.program.remedies import Notes
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.torchs import AnyRule, optimizers_within, trained_names
from counterfoil.training.capture import capture_form, find_step_scalars, unite_turns
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
from counterfoil.training.division import Division
from counterfoil.training.forms import Combination, pattern_of
from counterfoil.training.order import OrderDraft, assemble_order, describe_optimizer, notes_of
from counterfoil.training.rows import Keep, Rows, Schedule, read_rows
from counterfoil.training.schedules import Every, Pace, SchedulerFactory
from counterfoil.training.stages import CAPTURING, Preparing
from counterfoil.training.wrappers import unwrap_job
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, DataError, ProgramError
from counterfoil_core.base.precision import AnyPrecision, exact_profile
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.pattern import MAX_PATTERN
from counterfoil_core.bundle.schema import MAX_PROGRAMS, check_name

_SHOWN = 8
"""Names of parameters that a sentence lists."""
_SHOWN_TURNS = 300
"""Turns of a pattern that the order says in words; it has room for no more than 2,000 characters."""


@dataclass(frozen=True)
class Turn:
    """What one of several optimizers does when it is its turn."""

    name: str  #: Its name in the pattern, for instance ``d``.
    objective: Objective  #: ``objective(model, batch)`` returns the loss of a step.
    rule: AnyRule  #: The optimizer, as in :class:`CustomJob`.
    #: The parameters that it trains: a pattern of names such as ``discriminator.*``, or a function that says so of a
    #: name; an optimizer of torch holds its own. The others are constants in its steps. No two turns train the same
    #: parameter.
    parameters: str | Callable[[str], bool] | None = None
    #: The learning rate, or one for each of its steps; an optimizer of torch has its own.
    learning_rate: float | Sequence[float] | None = None
    scheduler: LRScheduler | SchedulerFactory | None = None  #: As in :class:`CustomJob`.
    micro_batches: int = 1  #: Into how many equal parts a step splits its batch.
    #: After what it moves on: ``step``, one of this optimizer's own, or ``epoch`` of the data.
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
    """A training job of a client's own model in which several optimizers take turns."""

    title: str  #: The client's name for the job.
    #: One module that holds all that is trained, for instance ``model.generator`` and ``model.discriminator``.
    model: nn.Module
    turns: Sequence[Turn]  #: The optimizers.
    #: Their names in the order of the steps, for instance ``"d, d, g"`` or a list of names; it starts again when it is
    #: through.
    pattern: str | Sequence[str]
    data: Any  #: As in :class:`CustomJob`; so are all that follow.
    steps: int  #: Number of steps, those of all optimizers together.
    batch_size: int | None = None  #: Rows per step.
    #: int64 ``[steps, batch_size]``, the rows of each step; shuffled epochs by the seed unless given.
    schedule: npt.NDArray[np.int64] | None = None
    seed: int = 0  #: Seed of shuffling and of every random draw of the step, 0 to 2^64 - 1.
    recompute_activations: Segments | None = None  #: As in :class:`CustomJob`.
    precision: AnyPrecision | None = None  #: The precision profile; float64 to 24 significand bits by default.
    commit_every: int = 1  #: The state is digested every so many steps.
    checkpoint_every: int = 10  #: The state is stored every so many steps; a multiple of ``commit_every``.
    keep: Keep | None = None  #: As in :class:`CustomJob`.

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
    notes = Notes()
    job = unwrap_job(job, notes)
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
    for name, turn in turns.parts.items():
        with _about(turn):
            own = [step - 1 for step in range(1, job.steps + 1) if turns.name(step) == name]
            pace = Pace.of(turn.scheduler_every, steps_per_epoch(whole), own)
            optimizers[name] = optimizer_of(_alone(job, turn, len(own)), pace)
            _trained(job.model, turn)
    rows = yield from read_rows(job.data, job.steps, lambda count: chosen_rows(whole, count), job.keep, cancel)
    schedule = schedule_of(whole, rows, check_data(rows.arrays))
    for name, turn in turns.parts.items():
        with _about(turn):
            yield from find_step_scalars(optimizers[name].rule, cancel)
    yield CAPTURING
    captured = _programs(job, turns, optimizers, rows, schedule)
    made = unite_turns(captured.parts)
    names, scalars = _scalars(job.steps, turns, optimizers)
    described = (
        f"{name}: {describe_optimizer(captured.of(turns.first(name)), optimizers[name].rule)}" for name in turns.parts
    )
    draft = assemble_order(
        title=job.title,
        recipe=RECIPE,
        optimizer=f"{'; '.join(described)}; in turns: {_in_words(turns.pattern)}",
        programs=Turns(made.programs, captured.pattern),
        scalar_names=names,
        scalars=scalars,
        state=made.state,
        module=made.module,
        schedule=schedule,
        data=rows.arrays,
        seed=int(job.seed),
        precision=job.precision,
        commit_every=int(job.commit_every),
        checkpoint_every=int(job.checkpoint_every),
        rates={name: optimizer.rates for name, optimizer in optimizers.items()},
        notes=notes_of(captured, notes.sentences),
    )
    return (yield from draft.recomputing_in_stages(job.recompute_activations, cancel))


def _with_parameters(turn: Turn, model: nn.Module) -> Turn:
    optimizers = optimizers_within(turn.rule)
    if turn.parameters is not None or not optimizers:
        return turn
    return replace(turn, parameters=trained_names(optimizers, model).__contains__)


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


def _capture(
    job: TurnsJob, turn: Turn, rule: UpdateRule, rows: Rows, schedule: Schedule, form: Combination | None
) -> CapturedStep:
    with _about(turn), only_training(job.model, _trained(job.model, turn)):
        return capture_form(
            job.model,
            turn.objective,
            rule,
            rows,
            schedule,
            form,
            division=Division(micro_batches=int(turn.micro_batches)),
            exact=exact_profile(job.precision),
            ignore_autocast=job.precision is not None,
        )


def _programs(
    job: TurnsJob, turns: Turns[Turn], optimizers: Mapping[str, JobOptimizer], rows: Rows, schedule: Schedule
) -> Turns[CapturedStep]:
    """Capture the step of each turn, and of each form that the batches of its steps have."""

    def captured(step: int, form: Combination | None) -> CapturedStep:
        turn = turns.of(step)
        return _capture(job, turn, optimizers[turn.name].rule, rows, schedule, form)

    if rows.forms is None:
        return Turns({name: captured(turns.first(name), None) for name in turns.parts}, turns.pattern)
    forms = rows.forms
    names = [f"{turns.name(step)}.{forms.names[form]}" for step, form in enumerate(forms.steps, start=1)]
    firsts = {name: names.index(name) + 1 for name in dict.fromkeys(names)}
    if len(firsts) > MAX_PROGRAMS:
        raise DataError(
            f"The turns of the job have batches of so many shapes that they needed {len(firsts)} programs; an order "
            f"has at most {MAX_PROGRAMS}.",
            remedy="Pad all batches to one length, and give the DataLoader drop_last=True.",
        )
    parts = {name: captured(step, forms.steps[step - 1]) for name, step in firsts.items()}
    return Turns(parts, pattern_of(names))


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
