"""Orders of a client's own model: the client's code runs on the client's machine, once, to capture the step.

Trainer and auditor never run it: they interpret the program that it was turned into.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.amp.grad_scaler import GradScaler
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, IterableDataset

from counterfoil.program.autocast import NO_SCALING
from counterfoil.program.capture import CapturedStep
from counterfoil.program.passes import Objective, Weigh
from counterfoil.program.recompute import Segments, check_segments
from counterfoil.program.remedies import Notes
from counterfoil.program.sharecapture import Buffers
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.rule import Wrapper
from counterfoil.program.update.torchs import AnyRule, as_rule, optimizers_within, trained_names
from counterfoil.signing.partykeys import Party
from counterfoil.training.batches import Batches, Last
from counterfoil.training.capture import capture_form, capture_forms, find_step_scalars
from counterfoil.training.division import Division, divide
from counterfoil.training.forms import Combination
from counterfoil.training.leaves import check_dtype
from counterfoil.training.mixtailor import MIXTAILOR, drawn_pattern, interleave, mixed_rules
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.padding import fit_batches
from counterfoil.training.rows import Keep, Rows, read_rows
from counterfoil.training.schedules import (
    Every,
    Pace,
    SchedulerFactory,
    check_rates,
    from_scheduler,
    rates_of_optimizers,
    shuffled_epochs,
)
from counterfoil.training.stages import Preparing
from counterfoil.training.windows import find_windows
from counterfoil.training.wrappers import unwrap_job
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision, exact_profile
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.bundle.schema import check_name

RECIPE = "custom"


class ClientJob(ABC):
    """What a client's code returns to be ordered."""

    @abstractmethod
    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order, and report how far it is.

        Args:
            precision: A precision profile in the place of the job's own.
            recompute_activations: A number of segments, or ``auto``, in the place of the job's own.
            cancel: Looked at between rows, and between plans of recomputation.

        Raises:
            DataError: Something in the job cannot be used; the message says what.
            ProgramError: A step cannot be captured; the message names module, file and line.
            CancelledError: ``cancel`` was set.
        """

    def draft(self, precision: AnyPrecision | None = None) -> OrderDraft:
        """Draft the order; :meth:`drafting` without the reports."""
        return finish(self.drafting(precision))

    def divided(self, shares: int) -> ClientJob:
        """Return the job with steps that so many shares make.

        Raises:
            DataError: Its steps cannot be divided.
        """
        raise DataError(
            f"The steps of a {type(self).__name__} cannot be divided into {shares} shares.",
            remedy="Order a CustomJob, whose steps have one optimizer.",
        )


@dataclass(frozen=True)
class CustomJob(ClientJob):
    """A training job of a client's own model."""

    title: str  #: The client's name for the job.
    model: nn.Module  #: The model, float32, on the CPU, in training mode or not, with the weights to begin with.
    #: ``objective(model, batch)`` returns the loss; ``batch`` holds the rows of each data array by name.
    objective: Objective
    rule: AnyRule  #: The optimizer: one that holds the model's parameters, a list of such, or a rule of ours.
    #: The data: arrays or tensors by name, a single one, a Dataset or a list of rows, or a DataLoader; the first axis
    #: of each array is the row. The batches have the form that a DataLoader gives them.
    data: Any
    steps: int  #: Number of steps.
    batch_size: int | None = None  #: Rows per step; a DataLoader has its own.
    #: The learning rate, or one for each step; an optimizer of torch has its own.
    learning_rate: float | Sequence[float] | None = None
    #: A scheduler of ``torch.optim.lr_scheduler`` for the optimizer, or a function that makes one for an optimizer, or
    #: a list of those; for a rule of ours ``learning_rate`` is that which it is made with.
    scheduler: LRScheduler | SchedulerFactory | Sequence[LRScheduler] | None = None
    #: int64 ``[steps, batch_size]``, the rows of each step; unless given, what a DataLoader draws, or shuffled epochs
    #: by the seed.
    schedule: npt.NDArray[np.int64] | None = None
    seed: int = 0  #: Seed of shuffling and of every random draw of the step, 0 to 2^64 - 1.
    micro_batches: int = 1  #: Into how many equal parts a step splits its batch; their gradients are accumulated.
    #: Whether a step computes activations again in its backward pass instead of keeping them: the number of segments
    #: into which the forward pass is cut, or ``auto``. Less memory, more time, the same training
    #: (:mod:`counterfoil.program.recompute`).
    recompute_activations: Segments | None = None
    precision: AnyPrecision | None = None  #: The precision profile; float64 to 24 significand bits by default.
    commit_every: int = 1  #: The state is digested every so many steps.
    checkpoint_every: int = 10  #: The state is stored every so many steps; a multiple of ``commit_every``.
    #: After what the scheduler moves on: ``step`` or ``epoch``. By default a step, unless its own arguments suggest
    #: epochs: then the job must say.
    scheduler_every: Every | None = None
    #: Of a Dataset ``rows``, each read once, or ``batches``, each as it is drawn: for what is drawn at random in each
    #: epoch anew. By default rows; a Dataset that draws at random is asked about where rows are read again.
    keep: Keep | None = None
    accumulate: int = 1  #: Batches of the DataLoader that make a step, whose gradients are accumulated.
    #: How the parts of a step are weighed: ``parts`` alike; with ``tokens`` the objective returns a sum and how many
    #: numbers it is of, and the loss is that of all sums divided by all numbers.
    weigh: Weigh = "parts"
    #: What becomes of a shorter batch at the end of an epoch, and of batches too few for a step: ``keep``, where the
    #: latter make a step of their own, or ``drop``. By default a shorter batch is kept, and the job must say what
    #: becomes of too few.
    last: Last | None = None
    #: What the rows of a batch are padded with, by the name of the array, where batches have more shapes than an order
    #: has programs; by default what ``collate_fn`` pads with, if that changes no loss.
    pad: Mapping[str, float] | None = None
    #: The rule by which the run ends before its last step; None where it must have all.
    may_stop_early: StopRule | None = None
    #: Into how many shares a step divides its batch, so that several devices may train it: their gradients are combined
    #: exactly. Each is then split into the ``micro_batches``. None for a step that is one program.
    shares: int | None = None
    #: With shares: what becomes of the model's floating-point buffers, such as running statistics. ``first`` keeps
    #: those of the first share, as DistributedDataParallel does; ``mean`` takes the mean of all shares'.
    buffers: Buffers = "first"
    #: With shares of parties that may lie: the rule that makes one gradient of theirs, for instance ``krum``, or with
    #: settings ``centred-clipping,radius=5`` (docs/aggregation.md), or ``mixtailor`` for one that is drawn for each
    #: step; None to add them.
    aggregate: str | None = None
    faulty: int = 0  #: How many shares the rule should bear with.
    #: How much of its momentum each share keeps at each step, before the rule; 0 for none.
    worker_momentum: float = 0.0
    #: With shares of several parties: of each share the public key of the party that answers for it, or the file that
    #: holds it, or None. Each signs what its shares gave; a dispute about one then names its key.
    signers: Sequence[Party | None] = ()

    @property
    def division(self) -> Division:
        """How its steps are divided; raises DataError."""
        shares = None if self.shares is None else int(self.shares)
        return Division.of(
            shares, int(self.micro_batches), self.buffers, self.aggregate, int(self.faulty), self.worker_momentum
        )

    def divided(self, shares: int) -> CustomJob:
        """Return the job with so many shares in the place of its own."""
        return replace(self, shares=shares)

    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order; raises as :func:`order_custom`.

        Args:
            precision: The precision profile; the job's own unless given.
            recompute_activations: Segments of the forward pass; the job's own unless given.
            cancel: Looked at between stages.
        """
        segments = recompute_activations or self.recompute_activations
        job = replace(self, precision=precision or self.precision, recompute_activations=segments)
        return _mixing(job, cancel) if job.aggregate == MIXTAILOR else _drafting(job, cancel)


def order_custom(job: CustomJob) -> OrderDraft:
    """Draft an order of a client's own model.

    Args:
        job: The job.

    Raises:
        DataError: Something in the job cannot be used; the message says what.
        ProgramError: The step cannot be captured; the message names module, file and line.
    """
    return job.draft()


def _mixing(job: CustomJob, cancel: CancelToken | None) -> Generator[Preparing, None, OrderDraft]:
    """Draft an order for each rule that is drawn, and put them together: the rules take turns."""
    check_kinds(job)
    pattern = drawn_pattern(mixed_rules(job.shares or 1, int(job.faulty)), int(job.steps), int(job.seed))
    drafts = {}
    for name in sorted(set(pattern)):
        drafts[name] = yield from _drafting(replace(job, aggregate=name), cancel)
    return interleave(drafts, pattern)


def _drafting(job: CustomJob, cancel: CancelToken | None) -> Generator[Preparing, None, OrderDraft]:
    notes = Notes()
    job = unwrap_job(job, notes)
    check_kinds(job)
    check_counts(job)
    check_model(job.model)
    division = job.division
    optimizer = optimizer_of(job, Pace.of(job.scheduler_every, steps_per_epoch(job), range(job.steps)))
    rule = division.updating(optimizer.rule)
    rows = yield from read_rows(
        job.data, job.steps, lambda count: chosen_rows(job, count), job.keep, cancel, batches=batches_of(job)
    )
    count = check_data(rows.arrays)
    schedule = schedule_of(job, rows, count)
    rows, stored = find_windows(rows, job.steps // job.checkpoint_every + 1)
    rows, padded = fit_batches(rows, job.model, job.objective, job.data, job.pad, schedule)
    rows, schedule = divide(rows, schedule, division.shares)

    def capture_one(form: Combination | None) -> CapturedStep:
        with only_training(job.model, optimizer.trained):
            return capture_form(
                job.model,
                job.objective,
                rule,
                rows,
                schedule,
                form,
                division=division,
                accumulate=int(job.accumulate),
                weigh=job.weigh,
                exact=exact_profile(job.precision),
                ignore_autocast=job.precision is not None,
            )

    yield from find_step_scalars(rule, cancel)
    captured = yield from capture_forms(rows, capture_one, cancel)
    draft = draft_order(
        title=job.title,
        recipe=RECIPE,
        captured=captured,
        rule=rule,
        learning_rates=optimizer.rates,
        schedule=schedule,
        data=rows.arrays,
        seed=int(job.seed),
        precision=job.precision,
        commit_every=int(job.commit_every),
        checkpoint_every=int(job.checkpoint_every),
        notes=(*notes.sentences, *stored, *padded),
    )
    draft = draft.stopping_early(job.may_stop_early).signed_by_parties(job.signers)
    return (yield from draft.recomputing_in_stages(job.recompute_activations, cancel))


@dataclass(frozen=True)
class JobOptimizer:
    """The optimizer of a job, ready for the capture."""

    rule: UpdateRule  #: The update rule.
    #: The learning rate of each step; of an optimizer of torch with several parameter groups that of the first, as the
    #: rule holds the others'.
    rates: Sequence[float]
    trained: frozenset[str] | None  #: Names of the parameters that it trains; None for all that require a gradient.


def optimizer_of(job: CustomJob, pace: Pace) -> JobOptimizer:
    """Return the optimizer of a job, one of torch as a rule of ours; raises DataError."""
    rates = rates_of_job(job, pace)
    if not rates:
        return JobOptimizer(as_rule(job.rule, job.model, ()), learning_rates(job, pace), None)
    trained = trained_names(optimizers_within(job.rule), job.model)
    return JobOptimizer(as_rule(job.rule, job.model, rates), rates[0], trained)


def rates_of_job(job: CustomJob, pace: Pace) -> list[list[float]]:
    """Return the learning rates of each parameter group of a job's optimizers of torch; raises DataError.

    Those of several optimizers stand one behind the other; there are none where the job has a rule of ours.
    """
    given = optimizers_within(job.rule)
    if given and job.learning_rate is not None:
        raise DataError(
            f"The job has a learning rate, and its optimizer {type(given[0]).__name__} has one, too.",
            remedy="Leave learning_rate out, and give the optimizer its lr; a list of rates becomes a scheduler, for "
            "instance LambdaLR.",
        )
    return rates_of_optimizers(given, job.scheduler, pace)


def batches_of(job: CustomJob) -> Batches:
    """Return how the batches of a job's DataLoader become those of steps; raises DataError."""
    if job.last not in (None, "keep", "drop"):
        raise DataError(f"The job's last is {job.last!r}.", remedy="Say 'keep' or 'drop'.")
    if job.weigh not in ("parts", "tokens"):
        raise DataError(f"The job's weigh is {job.weigh!r}.", remedy="Say 'parts' or 'tokens'.")
    if job.accumulate > 1 and not isinstance(job.data, DataLoader):
        raise DataError(
            f"The job accumulates {job.accumulate} batches, and its data is no DataLoader.",
            remedy="Say micro_batches, and the batch_size of the whole step.",
        )
    return Batches(int(job.accumulate), job.last)


def steps_per_epoch(job: CustomJob) -> int | None:
    """Return how many steps the rows of a job's data make; None where its own schedule says which rows a step has."""
    if isinstance(job.data, DataLoader):
        if isinstance(job.data.dataset, IterableDataset):
            return None
        whole = job.last == "drop" and job.data.batch_size
        batches = len(job.data.sampler) // whole if whole else len(job.data)  # type: ignore[arg-type]
        return -(-batches // job.accumulate) if job.last == "keep" else batches // job.accumulate or None
    arrays = list(job.data.values()) if isinstance(job.data, Mapping) else [job.data]
    single = not arrays or getattr(arrays[0], "shape", None) == () or not hasattr(arrays[0], "__len__")
    if job.schedule is not None or not job.batch_size or single:
        return None
    return int(len(arrays[0]) // job.batch_size) or None


@contextmanager
def only_training(model: nn.Module, trained: Collection[str] | None) -> Iterator[None]:
    """Let no parameter but those of these names require a gradient, which they must; None changes nothing."""
    before = {name: parameter.requires_grad for name, parameter in model.named_parameters()}
    try:
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(before[name] and (trained is None or name in trained))
        yield
    finally:
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(before[name])


_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "title": (str, "a text"),
    "model": (nn.Module, "a torch.nn.Module"),
    "objective": (Callable, "a function of model and batch that returns the loss"),  # type: ignore[dict-item]
    "steps": (numbers.Integral, "a whole number"),
    "batch_size": ((numbers.Integral, type(None)), "a whole number"),
    "micro_batches": (numbers.Integral, "a whole number"),
    "shares": ((numbers.Integral, type(None)), "a whole number"),
    "faulty": (numbers.Integral, "a whole number"),
    "aggregate": ((str, type(None)), "the name of a rule"),
    "worker_momentum": (numbers.Real, "a number"),
    "signers": ((list, tuple), "a list of keys, one or None for each share"),
    "accumulate": (numbers.Integral, "a whole number"),
    "commit_every": (numbers.Integral, "a whole number"),
    "checkpoint_every": (numbers.Integral, "a whole number"),
    "seed": (numbers.Integral, "a whole number"),
    "precision": ((Precision, ExactPrecision, type(None)), "a Precision or an ExactPrecision"),
    "may_stop_early": ((StopRule, type(None)), "a StopRule"),
}
"""What the fields of a job must be, and that in words."""


def check_kinds(job: object) -> None:
    """Check that each field of a job is of its kind; raises DataError."""
    for name, (kind, words) in _KINDS.items():
        value = getattr(job, name, None)
        if hasattr(job, name) and (not isinstance(value, kind) or isinstance(value, bool)):
            raise DataError(
                f"The job's {name} is of the type {type(value).__name__}; it must be {words}.",
                remedy=NO_SCALING if isinstance(value, GradScaler) else f"Give {words} as {name}.",
            )
    rule = getattr(job, "rule", None)
    while isinstance(rule, Wrapper):
        rule = rule.rule
    listed = rule if isinstance(rule, (list, tuple)) else [rule]
    if (
        hasattr(job, "rule")
        and not (listed and all(isinstance(one, Optimizer) for one in listed))
        and not (
            not isinstance(rule, type) and all(hasattr(rule, name) for name in ("scalar_names", "slots", "update"))
        )
    ):
        what = f"the class {rule.__name__}" if isinstance(rule, type) else f"of the type {type(rule).__name__}"
        raise DataError(
            f"The job's rule is {what}; it must be an optimizer.",
            remedy=NO_SCALING
            if isinstance(rule, GradScaler)
            else "Give an optimizer, made of the model's parameters, a list of such, or a rule of counterfoil.",
        )


def check_counts(job: CustomJob) -> None:
    """Check the numbers of a job; raises DataError."""
    for name in ("steps", "batch_size", "commit_every", "checkpoint_every", "micro_batches", "accumulate"):
        value = getattr(job, name)
        if value is not None and value < 1:
            raise DataError(f"The job's {name} is {value}; it must be at least 1.")
    _ = job.division
    if job.recompute_activations is not None:
        check_segments(job.recompute_activations)
    if job.checkpoint_every % job.commit_every:
        raise DataError(
            f"The job's checkpoint_every ({job.checkpoint_every}) is not a multiple of its commit_every "
            f"({job.commit_every}).",
            remedy="Choose a multiple: a state that is stored is digested as well.",
        )


def check_model(model: nn.Module, spelled: Callable[[str], str] = lambda name: name) -> None:
    """Check that an order can hold the tensors of a model; raises DataError.

    Args:
        model: The model.
        spelled: Returns what the order calls a tensor, by the model's own name for it.
    """
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if is_lazy(tensor):
            raise DataError(
                f"The tensor {name!r} of the model has no shape yet.", remedy="Run one batch through the model first."
            )
        if tensor.device.type != "cpu":
            raise DataError(
                f"The tensor {name!r} of the model lies on {tensor.device}.",
                remedy="Move the model to the CPU with model.cpu(); the trainer chooses where to compute.",
            )
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise DataError(
                f"The tensor {name!r} of the model holds a value that is infinite or not a number.",
                remedy="Make a mask of minus infinity in forward, for instance with masked_fill.",
            )
        _check_name(spelled(name), "tensor of the model")


def check_data(data: Mapping[str, Array]) -> int:
    """Check that an order can hold the data, and return the number of rows; raises DataError."""
    if not data:
        raise DataError("The job has no data.", remedy="Give at least one array, for instance data={'images': ...}.")
    for name, array in data.items():
        _check_name(name, "data array")
        check_dtype(name, array)
        if not array.ndim:
            raise DataError(
                f"The data array {name!r} is of shape {array.shape}; the first axis must be the row.",
                remedy="What is no row need not be data: let the objective refer to it.",
            )
    lengths = {name: len(array) for name, array in data.items()}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{name} {count}" for name, count in lengths.items())
        raise DataError(f"The data arrays have different numbers of rows: {counted}.")
    return next(iter(lengths.values()))


def _check_name(name: str, what: str) -> None:
    try:
        check_name(name)
    except BundleError as error:
        raise DataError(
            f"The {what} named {name!r} is not allowed in an order.",
            remedy="Order the script that trains the model, with counterfoil order --script: a job computes with other "
            "tensors in the place of the model's, which layers of Keras do not ask for."
            if "/" in name and what == "tensor of the model"
            else "Use at most 200 letters, digits and the characters _ . - : in names.",
        ) from error


def learning_rates(job: CustomJob, pace: Pace) -> list[float]:
    """Return the learning rate of each step of a job; raises DataError."""
    given = job.learning_rate
    if isinstance(job.scheduler, Sequence):
        raise DataError("The job lists several schedulers for its rule.", remedy="Give it one scheduler.")
    if isinstance(job.scheduler, LRScheduler):
        if given is not None:
            raise DataError(
                "The job has a learning rate, and the optimizer of its scheduler has one, too.",
                remedy="Leave learning_rate out.",
            )
        return from_scheduler(0.0, pace, job.scheduler)
    if given is None:
        raise DataError(
            "The job has no learning rate.", remedy="Give learning_rate, or an optimizer of torch as the rule."
        )
    if not isinstance(given, (numbers.Real, Sequence, np.ndarray)) or isinstance(given, str):
        raise DataError(
            f"The job's learning_rate is of the type {type(given).__name__}.",
            remedy="Give one number, or one for each step.",
        )
    if not isinstance(given, numbers.Real):
        if job.scheduler is not None:
            raise DataError(
                "The job has a scheduler and a list of learning rates.", remedy="Give one learning rate to begin with."
            )
        if len(given) != job.steps:
            raise DataError(f"The job lists {len(given)} learning rates for {job.steps} steps.")
        rates = [float(rate) for rate in given]
    else:
        check_rates([float(given)])
        rates = [float(given)] * job.steps
        if job.scheduler is not None:
            return from_scheduler(float(given), pace, job.scheduler)
    check_rates(rates)
    return rates


def schedule_of(job: CustomJob, rows: Rows, count: int) -> npt.NDArray[np.int64]:
    """Return which rows each step of a job reads.

    Args:
        job: The job.
        rows: Its data, for which the rows may be drawn already.
        count: How many rows the data has.

    Returns:
        int64 ``[steps, batch_size]``.

    Raises:
        DataError: The job says nothing of it, or contradicts its data.
    """
    drawn = rows.schedule
    if drawn is not None:
        said = job.schedule is not None or job.batch_size not in (None, drawn.shape[1])
        if said and isinstance(job.data, DataLoader):
            raise DataError(
                f"The job's DataLoader gives batches of {drawn.shape[1]} rows, and the job says which rows as well.",
                remedy="Leave schedule and batch_size out.",
            )
        return drawn
    return chosen_rows(job, count)


def chosen_rows(job: CustomJob, count: int) -> npt.NDArray[np.int64]:
    """Return which of so many rows each step of a job reads, int64 ``[steps, batch_size]``; raises DataError."""
    if job.schedule is None and job.batch_size is None:
        raise DataError("The job has no batch_size.", remedy="Say how many rows a step has.")
    if job.schedule is None:
        assert job.batch_size is not None
        return shuffled_epochs(count, job.batch_size, job.steps, job.seed)
    given = np.asarray(job.schedule)
    size = given.shape[-1] if job.batch_size is None and given.ndim == 2 else job.batch_size
    if given.shape != (job.steps, size) or not np.issubdtype(given.dtype, np.integer):
        raise DataError(
            f"The job's schedule is {given.dtype} of shape {given.shape}; it must hold integers of shape "
            f"({job.steps}, {size or 'batch_size'}), the rows of each step."
        )
    return given.astype(np.int64)
