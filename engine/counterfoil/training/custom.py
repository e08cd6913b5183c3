"""Orders of a client's own model: the client's code runs on the client's machine, once, to capture the step.

Trainer and auditor never run it: they interpret the program that it was turned into.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.parameter import is_lazy

from counterfoil.bundle.precision import AnyPrecision, ExactPrecision
from counterfoil.bundle.schema import check_name
from counterfoil.dtypes import DATA_DTYPES
from counterfoil.errors import BundleError, CounterfoilError, DataError
from counterfoil.program.capture import Objective, capture
from counterfoil.program.graph import TensorType
from counterfoil.program.update import UpdateRule
from counterfoil.training.order import Array, OrderDraft, draft_order
from counterfoil.training.schedules import SchedulerFactory, check_rates, from_scheduler, shuffled_epochs

RECIPE = "custom"


class ClientJob(ABC):
    """What a client's code returns to be ordered."""

    @abstractmethod
    def draft(self, precision: AnyPrecision | None = None) -> OrderDraft:
        """Draft the order.

        Args:
            precision: A precision profile in the place of the job's own.

        Raises:
            DataError: Something in the job cannot be used; the message says what.
            ProgramError: A step cannot be captured; the message names the module of the model.
        """


@dataclass(frozen=True)
class CustomJob(ClientJob):
    """A training job of a client's own model.

    Attributes:
        title: The client's name for the job.
        model: The model, float32, on the CPU, in training mode or not, with the weights to begin with.
        objective: ``objective(model, batch)`` returns the loss; ``batch`` holds the rows of each data array by name.
        rule: The optimizer.
        data: The data arrays by name (float32, int64, int32 or uint8); the first axis of each is the row.
        steps: Number of steps.
        batch_size: Rows per step.
        learning_rate: The learning rate, or one for each step.
        scheduler: Makes a scheduler of ``torch.optim.lr_scheduler`` for an optimizer; ``learning_rate`` is then the one
            that the optimizer is made with.
        schedule: int64 ``[steps, batch_size]``, the rows of each step; shuffled epochs by the seed unless given.
        seed: Seed of shuffling and of every random draw of the step, 0 to 2^64 - 1.
        micro_batches: Into how many equal parts a step splits its batch; their gradients are accumulated.
        precision: The precision profile; float64 to 24 significand bits by default.
        commit_every: The state is digested every so many steps.
        checkpoint_every: The state is stored every so many steps; a multiple of ``commit_every``.
    """

    title: str
    model: nn.Module
    objective: Objective
    rule: UpdateRule
    data: Mapping[str, Array]
    steps: int
    batch_size: int
    learning_rate: float | Sequence[float]
    scheduler: SchedulerFactory | None = None
    schedule: npt.NDArray[np.int64] | None = None
    seed: int = 0
    micro_batches: int = 1
    precision: AnyPrecision | None = None
    commit_every: int = 1
    checkpoint_every: int = 10

    def draft(self, precision: AnyPrecision | None = None) -> OrderDraft:
        """Draft the order, under another precision profile if one is given; raises as :func:`order_custom`."""
        return order_custom(replace(self, precision=precision or self.precision))


def order_custom(job: CustomJob) -> OrderDraft:
    """Draft an order of a client's own model.

    Args:
        job: The job.

    Raises:
        DataError: Something in the job cannot be used; the message says what.
        ProgramError: The step cannot be captured; the message names the module of the model.
    """
    check_counts(job)
    check_model(job.model)
    rows = check_data(job.data)
    rates = learning_rates(job)
    schedule = schedule_of(job, rows)
    batch = {n: TensorType(array.dtype.name, (job.batch_size, *array.shape[1:])) for n, array in job.data.items()}
    captured = capture(
        job.model,
        job.objective,
        job.rule,
        batch,
        micro_batches=job.micro_batches,
        exact=isinstance(job.precision, ExactPrecision),
    )
    return draft_order(
        title=job.title,
        recipe=RECIPE,
        captured=captured,
        rule=job.rule,
        learning_rates=rates,
        schedule=schedule,
        data=job.data,
        seed=job.seed,
        precision=job.precision,
        commit_every=job.commit_every,
        checkpoint_every=job.checkpoint_every,
    )


def check_counts(job: CustomJob) -> None:
    """Check the numbers of a job; raises DataError."""
    for name in ("steps", "batch_size", "commit_every", "checkpoint_every", "micro_batches"):
        if getattr(job, name) < 1:
            raise DataError(f"The job's {name} is {getattr(job, name)}; it must be at least 1.")
    if job.checkpoint_every % job.commit_every:
        raise DataError(
            f"The job's checkpoint_every ({job.checkpoint_every}) is not a multiple of its commit_every "
            f"({job.commit_every}).",
            remedy="Choose a multiple: a state that is stored is digested as well.",
        )


def check_model(model: nn.Module) -> None:
    """Check that an order can hold the tensors of a model; raises DataError."""
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
        _check_name(name, "tensor of the model")


def check_data(data: Mapping[str, Array]) -> int:
    """Check that an order can hold the data, and return the number of rows; raises DataError."""
    if not data:
        raise DataError("The job has no data.", remedy="Give at least one array, for instance data={'images': ...}.")
    for name, array in data.items():
        _check_name(name, "data array")
        if not isinstance(array, np.ndarray):
            raise DataError(
                f"The data array {name!r} is of the type {type(array).__name__}, not a numpy array.",
                remedy="Convert it, for instance with tensor.numpy().",
            )
        if array.dtype.name not in DATA_DTYPES or not array.ndim:
            raise DataError(
                f"The data array {name!r} is {array.dtype.name} of shape {array.shape}; an order holds arrays of "
                f"{', '.join(DATA_DTYPES)} whose first axis is the row.",
                remedy="Convert it, for instance with array.astype('float32').",
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
            remedy="Use at most 200 letters, digits and the characters _ . - : in names.",
        ) from error


def learning_rates(job: CustomJob) -> list[float]:
    """Return the learning rate of each step of a job; raises DataError."""
    given = job.learning_rate
    if not isinstance(given, (int, float)):
        if job.scheduler is not None:
            raise DataError(
                "The job has a scheduler and a list of learning rates.", remedy="Give one learning rate to begin with."
            )
        if len(given) != job.steps:
            raise DataError(f"The job lists {len(given)} learning rates for {job.steps} steps.")
        rates = [float(rate) for rate in given]
    else:
        check_rates([given])
        rates = [float(given)] * job.steps
        if job.scheduler is not None:
            return from_scheduler(float(given), job.steps, job.scheduler)
    check_rates(rates)
    return rates


def schedule_of(job: CustomJob, rows: int) -> npt.NDArray[np.int64]:
    """Return the rows of each step of a job, int64 ``[steps, batch_size]``; raises DataError."""
    if job.schedule is None:
        return shuffled_epochs(rows, job.batch_size, job.steps, job.seed)
    given = np.asarray(job.schedule)
    if given.shape != (job.steps, job.batch_size) or not np.issubdtype(given.dtype, np.integer):
        raise DataError(
            f"The job's schedule is {given.dtype} of shape {given.shape}; it must hold integers of shape "
            f"({job.steps}, {job.batch_size}), the rows of each step."
        )
    return given.astype(np.int64)


def load_job(reference: str) -> ClientJob:
    """Import a module of the client's and call the function in it that makes the job.

    While that happens the current folder is the first in which modules are looked for.

    Args:
        reference: ``package.module:function``.

    Raises:
        DataError: There is no such module or function, it fails, or it does not return a CustomJob; the message names
            file and line where it failed.
        CounterfoilError: What the client's code got from Counterfoil itself.
    """
    name, _, attribute = reference.partition(":")
    if not attribute.isidentifier() or not all(part.isidentifier() for part in name.split(".")):
        raise DataError(
            f"{reference!r} does not name a function.", remedy="Write package.module:function, for instance job:make."
        )
    with _current_folder_first():
        module = _import(name)
        make = _function(module, attribute)
        try:
            job = make()
        except CounterfoilError:
            raise
        except (Exception, SystemExit) as error:
            raise DataError(
                f"{reference} failed: {_what(error)}{_place(error)}",
                remedy="Correct the code; it must return a counterfoil.CustomJob when called without arguments.",
                detail=traceback.format_exc(),
            ) from error
    if not isinstance(job, ClientJob):
        raise DataError(
            f"{reference} returned {type(job).__name__}, not a CustomJob.",
            remedy="Return counterfoil.CustomJob(...); docs/bring-your-own-model.md has an example.",
        )
    return job


@contextmanager
def _current_folder_first() -> Iterator[None]:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise DataError(
                f"There is no module {name!r} in the folder {Path.cwd()} or among the installed packages.",
                remedy="Run the command in the folder that holds it.",
            ) from error
        raise DataError(
            f"The module {name!r} imports {error.name!r}, which is not installed{_place(error)}",
            remedy="Install it in the environment that Counterfoil runs in.",
        ) from error
    except (Exception, SystemExit) as error:
        raise DataError(
            f"The module {name!r} cannot be imported: {_what(error)}{_place(error)}",
            remedy="Correct the code.",
            detail=traceback.format_exc(),
        ) from error


def _function(module: ModuleType, attribute: str) -> Callable[[], Any]:
    found = getattr(module, attribute, None)
    if callable(found):
        function: Callable[[], Any] = found
        return function
    what = "is no function" if hasattr(module, attribute) else "does not exist"
    raise DataError(
        f"{attribute!r} {what} in the module {module.__name__!r} ({module.__file__}).",
        remedy="Name a function without arguments that returns a counterfoil.CustomJob.",
    )


def _what(error: BaseException) -> str:
    # The text of a SyntaxError repeats the place.
    text = error.msg if isinstance(error, SyntaxError) else error
    return f"{type(error).__name__}: {text}"


def _place(error: BaseException) -> str:
    """The end of a sentence: file and line of the client's code that an error comes from."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})."
    ours = Path(__file__)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    frames = [f for f in frames if Path(f.filename) != ours]
    # The last line outside of installed libraries, else the first: the client's code may be installed itself.
    outside = [f for f in frames if f"{os.sep}site-packages{os.sep}" not in f.filename]
    for frame in (*outside[-1:], *frames[:1]):
        return f" ({frame.filename}, line {frame.lineno})."
    return "."
