"""Learning-rate schedules and index schedules: plain functions evaluated when the order is written."""

from __future__ import annotations

import copy
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from counterfoil.base.errors import DataError
from counterfoil.base.raised import theirs, told
from counterfoil.kernels.cpu.philox import philox4x32

SchedulerFactory = Callable[[Optimizer], LRScheduler]
"""Makes a scheduler of torch for an optimizer: ``lambda optimizer: CosineAnnealingLR(optimizer, T_max=100)``."""
_MOMENTUM = 0.9


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


def from_scheduler(base: float, steps: int, scheduler: LRScheduler | SchedulerFactory) -> list[float]:
    """Drive a scheduler of ``torch.optim.lr_scheduler`` and list the learning rates that it sets.

    Args:
        base: The learning rate that the optimizer is made with, for a scheduler that is still to be made.
        steps: Number of steps; the scheduler moves on once after each.
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
    rates = rates_of_groups(optimizer, scheduler, steps)
    if len(rates) > 1:
        raise DataError(
            f"The scheduler's optimizer has {len(rates)} parameter groups, and the job's rule has one learning rate.",
            remedy="Give that optimizer to the job as its rule.",
        )
    return rates[0]


def rates_of_groups(
    optimizer: Optimizer, scheduler: LRScheduler | SchedulerFactory | None, steps: int
) -> list[list[float]]:
    """List the learning rates of each parameter group of an optimizer. Neither it nor its scheduler is changed.

    Args:
        optimizer: The optimizer.
        scheduler: A scheduler of it, what makes one, or None for learning rates that stay.
        steps: Number of steps; the scheduler moves on once after each.

    Returns:
        For each group the learning rate of each step.

    Raises:
        DataError: As :func:`from_scheduler`; or the scheduler is that of another optimizer.
    """
    if isinstance(scheduler, ReduceLROnPlateau):
        raise _waiting(scheduler)
    # Copies, in which a number stands for each parameter.
    known: dict[int, Any] = {id(p): nn.Parameter(torch.zeros(())) for g in optimizer.param_groups for p in g["params"]}
    known[id(optimizer.state)] = defaultdict(dict)
    if scheduler is None:
        return [[float(group["lr"])] * steps for group in optimizer.param_groups]
    if isinstance(scheduler, LRScheduler):
        if scheduler.optimizer is not optimizer:
            raise DataError(
                f"The scheduler {type(scheduler).__name__} was made for another optimizer than the job's rule.",
                remedy="Make it for the optimizer that the job has.",
            )
        driven = copy.deepcopy(scheduler, known)
        return _driven(driven, driven.optimizer, steps)
    stand_in = copy.deepcopy(optimizer, known)
    return _driven(_made(scheduler, stand_in), stand_in, steps)


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
            f"The learning-rate scheduler cannot be made: {told(error)}.",
            remedy="It is called with one argument, an optimizer like the job's; it has one parameter group where the "
            "rule is no optimizer of torch.",
        ) from error
    if isinstance(scheduler, ReduceLROnPlateau):
        raise _waiting(scheduler)
    if not isinstance(scheduler, LRScheduler):
        raise DataError(
            f"The scheduler's factory returned {type(scheduler).__name__}, which is not a scheduler of "
            "torch.optim.lr_scheduler.",
            remedy="Return the scheduler object itself.",
        )
    return scheduler


def _waiting(scheduler: ReduceLROnPlateau) -> DataError:
    return DataError(
        f"The scheduler {type(scheduler).__name__} sets the learning rate from the losses of the training, but an "
        "order lists the learning rates beforehand.",
        remedy="Choose a scheduler that depends on the step alone, such as CosineAnnealingLR.",
    )


def _driven(scheduler: LRScheduler, optimizer: Optimizer, steps: int) -> list[list[float]]:
    name = type(scheduler).__name__
    rates: list[list[float]] = [[] for _ in optimizer.param_groups]
    before = [_others(group) for group in optimizer.param_groups]
    with warnings.catch_warnings():
        # A copy does not know that its optimizer made steps.
        warnings.simplefilter("ignore")
        for step in range(1, steps + 1):
            if before != [_others(group) for group in optimizer.param_groups]:
                raise DataError(
                    f"The scheduler {name} moves the momentum as well as the learning rate; a program has one "
                    "momentum.",
                    remedy="Make it with cycle_momentum=False.",
                )
            for listed, group in zip(rates, optimizer.param_groups, strict=True):
                listed.append(float(group["lr"]))
            if step < steps:
                try:
                    scheduler.step()
                except BaseException as error:
                    theirs(error)
                    raise DataError(
                        f"The scheduler {name} fails after step {step} of {steps}: {told(error)}.",
                        remedy="Make it for as many steps as the job has.",
                    ) from error
    for listed in rates:
        check_rates(listed)
    return rates


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
