"""Learning-rate schedules and index schedules: plain functions evaluated when the order is written."""

from __future__ import annotations

import copy
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil_core.base.errors import DataError
from counterfoil_core.kernels.exact.philox import philox4x32

Every = Literal["step", "epoch"]
"""After what a scheduler moves on."""
SchedulerFactory = Callable[[Optimizer], LRScheduler]
"""Makes a scheduler of torch for an optimizer: ``lambda optimizer: CosineAnnealingLR(optimizer, T_max=100)``."""
_MOMENTUM = 0.9
_VANISHED = 1e-6
"""Training does not go on for epochs at less than this share of its highest learning rate."""


@dataclass(frozen=True)
class Pace:
    """When a scheduler moves on."""

    moves: Sequence[int]  #: How often it has moved on before each step; the first is 0.
    epoch: int = 0  #: Steps of an epoch, where nobody said whether the scheduler counts steps or epochs; 0 otherwise.

    @classmethod
    def of(cls, every: Every | None, epoch: int | None, steps: Sequence[int]) -> Pace:
        """Return the pace of a job.

        Args:
            every: What the job says; None is after each step, unless the scheduler itself suggests epochs.
            epoch: Steps of an epoch of the data; None where it has none.
            steps: The numbers of the steps, from 0; of several optimizers that take turns those of one.

        Raises:
            DataError: ``every`` is neither, or the data has no epochs.
        """
        if every not in (None, "step", "epoch"):
            raise DataError(
                f"The job's scheduler_every is {every!r}.",
                remedy="Say 'step' or 'epoch': when scheduler.step() is called.",
            )
        if every != "epoch":
            return cls(range(len(steps)), 0 if every or epoch is None else epoch)
        if not epoch:
            raise DataError(
                "The job's scheduler moves on after each epoch, and its schedule does not say where one ends.",
                remedy="Leave schedule out, or give a scheduler that counts steps.",
            )
        return cls([step // epoch for step in steps])


def cosine(base: float, steps: int) -> list[float]:
    """Cosine annealing from ``base`` to 0 (Loshchilov and Hutter 2017), one value for each step."""
    return [base * 0.5 * (1.0 + math.cos(math.pi * step / steps)) for step in range(steps)]


def warmup_linear(base: float, steps: int, warmup: int) -> list[float]:
    """Rise linearly to ``base`` over ``warmup`` steps, then fall linearly to 0.

    Args:
        base: The highest learning rate.
        steps: Number of steps.
        warmup: Number of steps in which it rises.

    Returns:
        The learning rate of each step.
    """
    rising = [base * (step + 1) / warmup for step in range(min(warmup, steps))]
    falling = max(steps - warmup, 1)
    return rising + [base * (1.0 - step / falling) for step in range(steps - len(rising))]


def warmup_cosine(base: float, steps: int, warmup: int) -> list[float]:
    """Rise as :func:`warmup_linear`, then anneal as :func:`cosine`.

    Args:
        base: The highest learning rate.
        steps: Number of steps.
        warmup: Number of steps in which it rises.
    """
    rising = warmup_linear(base, steps, warmup)[:warmup]
    return rising + cosine(base, max(steps - warmup, 0))


def warmup_constant(base: float, steps: int, warmup: int) -> list[float]:
    """Rise as :func:`warmup_linear`, then stay.

    Args:
        base: The highest learning rate.
        steps: Number of steps.
        warmup: Number of steps in which it rises.
    """
    return (warmup_linear(base, steps, warmup)[:warmup] + [base] * steps)[:steps]


def from_scheduler(base: float, pace: Pace, scheduler: LRScheduler | SchedulerFactory) -> list[float]:
    """Drive a scheduler of ``torch.optim.lr_scheduler`` and list the learning rates that it sets.

    Args:
        base: The learning rate that the optimizer is made with, for a scheduler that is still to be made.
        pace: When the scheduler moves on.
        scheduler: The scheduler, or what makes it. The optimizer that it is given stands in for the real one and has
            one parameter group.

    Returns:
        The learning rate of each step.

    Raises:
        DataError: The scheduler needs a metric, changes something else than the learning rate, fails (for instance
            because it was made for fewer steps), has an optimizer of several parameter groups, or sets what is no
            learning rate.
    """
    # Has a momentum, because some schedulers refuse an optimizer without; a momentum that they move shows below.
    optimizer: Optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(()))], lr=base, momentum=_MOMENTUM)
    if isinstance(scheduler, LRScheduler):
        optimizer = scheduler.optimizer
    rates = rates_of_groups(optimizer, scheduler, pace)
    if len(rates) > 1:
        raise DataError(
            f"The scheduler's optimizer has {len(rates)} parameter groups, and the job's rule has one learning rate.",
            remedy="Give that optimizer to the job as its rule.",
        )
    return rates[0]


def rates_of_optimizers(
    optimizers: Sequence[Optimizer],
    scheduler: LRScheduler | SchedulerFactory | Sequence[LRScheduler] | None,
    pace: Pace,
) -> list[list[float]]:
    """List the learning rates of each parameter group of several optimizers, one behind the other.

    Args:
        optimizers: The optimizers.
        scheduler: A scheduler of one of them, several of them, what makes one for each, or None.
        pace: When schedulers move on.

    Raises:
        DataError: As :func:`rates_of_groups`.
    """
    listed = list(scheduler) if isinstance(scheduler, (list, tuple)) else [scheduler]
    own = {id(one.optimizer): one for one in listed if isinstance(one, LRScheduler)}
    for one in own.values():
        if not any(one.optimizer is optimizer for optimizer in optimizers):
            raise _of_another(one)
    everybodys = None if len(own) == len(listed) else scheduler
    return [
        rates
        for optimizer in optimizers
        for rates in rates_of_groups(optimizer, own.get(id(optimizer), everybodys), pace)  # type: ignore[arg-type]
    ]


def rates_of_groups(
    optimizer: Optimizer, scheduler: LRScheduler | SchedulerFactory | None, pace: Pace
) -> list[list[float]]:
    """List the learning rates of each parameter group of an optimizer. Neither it nor its scheduler is changed.

    Args:
        optimizer: The optimizer.
        scheduler: A scheduler of it, what makes one, or None for learning rates that stay.
        pace: When the scheduler moves on.

    Returns:
        For each group the learning rate of each step.

    Raises:
        DataError: As :func:`from_scheduler`; or the scheduler is that of another optimizer.
    """
    if isinstance(scheduler, ReduceLROnPlateau):
        raise metric_scheduler_error(scheduler)
    # Copies, in which a number stands for each parameter.
    known: dict[int, Any] = {id(p): nn.Parameter(torch.zeros(())) for g in optimizer.param_groups for p in g["params"]}
    known[id(optimizer.state)] = defaultdict(dict)
    if scheduler is None:
        # What has no learning rate of this name makes its own.
        return [[float(group.get("lr") or 0.0)] * len(pace.moves) for group in optimizer.param_groups]
    if isinstance(scheduler, LRScheduler):
        if scheduler.optimizer is not optimizer:
            raise _of_another(scheduler)
        driven = copy.deepcopy(scheduler, known)
        return _driven(driven, driven.optimizer, pace)
    stand_in = copy.deepcopy(optimizer, known)
    return _driven(_made(scheduler, stand_in), stand_in, pace)


def _of_another(scheduler: LRScheduler) -> DataError:
    return DataError(
        f"The scheduler {type(scheduler).__name__} was made for another optimizer than the job's rule.",
        remedy="Make it for the optimizer that the job has.",
    )


def _made(make: SchedulerFactory, optimizer: Optimizer) -> LRScheduler:
    if not callable(make):
        raise DataError(
            f"The job's scheduler is of the type {type(make).__name__}.",
            remedy="Give a scheduler of torch.optim.lr_scheduler, or a function that makes one for an optimizer.",
        )
    try:
        scheduler = make(optimizer)
    except BaseException as error:
        theirs(error)
        raise DataError(
            f"The learning-rate scheduler cannot be made: {describe_error(error)}.",
            remedy="It is called with one argument, an optimizer like the job's; it has one parameter group where the "
            "rule is no optimizer of torch.",
        ) from error
    if isinstance(scheduler, ReduceLROnPlateau):
        raise metric_scheduler_error(scheduler)
    if not isinstance(scheduler, LRScheduler):
        raise DataError(
            f"The scheduler's factory returned {type(scheduler).__name__}, which is not a scheduler of "
            "torch.optim.lr_scheduler.",
            remedy="Return the scheduler object itself.",
        )
    return scheduler


def metric_scheduler_error(scheduler: ReduceLROnPlateau) -> DataError:
    """Return the error for a scheduler that waits for a metric."""
    return DataError(
        f"The scheduler {type(scheduler).__name__} sets the learning rate from the losses of the training, but an "
        "order lists the learning rates beforehand.",
        remedy="Choose a scheduler that depends on the step alone, such as CosineAnnealingLR.",
    )


def _driven(scheduler: LRScheduler, optimizer: Optimizer, pace: Pace) -> list[list[float]]:
    name = type(scheduler).__name__
    if pace.epoch and (words := _suggested(scheduler, pace)):
        raise _ask(words, pace.epoch)
    rates: list[list[float]] = [[] for _ in optimizer.param_groups]
    before = [_others(group) for group in optimizer.param_groups]
    moved = 0
    with warnings.catch_warnings():
        # A copy does not know that its optimizer made steps.
        warnings.simplefilter("ignore")
        for step, moves in enumerate(pace.moves, start=1):
            while moved < moves:
                try:
                    scheduler.step()
                except BaseException as error:
                    theirs(error)
                    raise DataError(
                        f"The scheduler {name} fails after step {step - 1} of {len(pace.moves)}: "
                        f"{describe_error(error)}.",
                        remedy="Make it for as many steps as the job has, or for as many epochs, and say "
                        "scheduler_every='epoch'.",
                    ) from error
                moved += 1
            if before != [_others(group) for group in optimizer.param_groups]:
                raise DataError(
                    f"The scheduler {name} moves the momentum as well as the learning rate; a program has one "
                    "momentum.",
                    remedy="Make it with cycle_momentum=False.",
                )
            for listed, group in zip(rates, optimizer.param_groups, strict=True):
                listed.append(float(group["lr"]))
    for listed in rates:
        check_rates(listed)
        if 0 < pace.epoch < len(listed) and max(listed[pace.epoch :]) < _VANISHED * max(listed):
            reached = max(listed[pace.epoch :])
            raise _ask(f"{name} brings the learning rate to {reached:.3g} in one epoch", pace.epoch)
    return rates


def _ask(words: str, epoch: int) -> DataError:
    return DataError(
        f"The scheduler {words}, and an epoch has {epoch} steps: it seems to be made for scheduler.step() after each "
        "epoch.",
        remedy="Say scheduler_every='epoch', or scheduler_every='step' where it is called after each step indeed.",
    )


def _suggested(scheduler: LRScheduler, pace: Pace) -> str:
    """Return in words which argument of a scheduler suggests that it counts epochs; empty if none does."""
    steps = len(pace.moves)
    if pace.epoch < 2 or steps <= pace.epoch:
        return ""
    epochs = -(-steps // pace.epoch)
    for part in _parts(scheduler):
        for argument, few in (
            ("step_size", pace.epoch - 1),
            ("milestones", pace.epoch - 1),
            ("T_0", pace.epoch - 1),
            ("T_max", epochs + 1),
            ("total_iters", epochs + 1),
        ):
            given = getattr(part, argument, None)
            given = sorted(given) if argument == "milestones" and given else given
            last = given[-1] if isinstance(given, list) else given
            if isinstance(last, int) and 0 < last <= few:
                return f"{type(part).__name__} has {argument} {given}"
    return ""


def _parts(scheduler: LRScheduler) -> Iterator[LRScheduler]:
    """The schedulers that one is made of, itself if it is made of none."""
    within = getattr(scheduler, "_schedulers", None)
    for part in within or ():
        yield from _parts(part)
    if not within:
        yield scheduler


def _others(group: dict[str, Any]) -> list[Any]:
    """The settings of a parameter group that no scheduler of learning rates may move."""
    return [group.get(name) for name in ("momentum", "betas", "weight_decay")]


def check_rates(rates: Sequence[float]) -> None:
    """Check that learning rates are finite and not negative.

    Raises:
        DataError: One is not; the message names its step, from 1.
    """
    for step, rate in enumerate(rates, start=1):
        if not 0.0 <= rate < math.inf:
            raise DataError(f"The learning rate of step {step} is {rate:g}; it must be 0 or a positive number.")


def shuffled_epochs(rows: int, batch_size: int, steps: int, seed: int) -> npt.NDArray[np.int64]:
    """Return an index schedule that visits the rows in a new random order each epoch.

    Args:
        rows: Number of dataset rows.
        batch_size: Rows per step; what is left at the end of an epoch is dropped.
        steps: Number of steps.
        seed: Keys the Philox generator that shuffles.

    Returns:
        int64 ``[steps, batch_size]``.

    Raises:
        DataError: There are fewer rows than a batch needs.
    """
    if batch_size < 1 or steps < 1:
        raise DataError("A schedule needs at least one step and one row per step.")
    if rows < batch_size:
        raise DataError(
            f"The data has {rows} rows, too few for a batch of {batch_size}.", remedy="Choose a smaller batch."
        )
    per_epoch = rows // batch_size
    epochs = -(-steps // per_epoch)
    batches = []
    for epoch in range(epochs):
        index = torch.arange(rows, dtype=torch.int64)
        # Sorting by 64 random bits, ties by row: a permutation that every machine computes alike.
        words = philox4x32((index, 0, epoch, 0xC0DE), (seed & 0xFFFFFFFF, seed >> 32))
        keys = (np.asarray(words[0], np.uint64) << np.uint64(32)) | np.asarray(words[1], np.uint64)
        order = np.argsort(keys, kind="stable")[: per_epoch * batch_size]
        batches.append(order.reshape(per_epoch, batch_size))
    return np.concatenate(batches)[:steps].astype(np.int64)
