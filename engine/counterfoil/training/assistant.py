"""A rank that records nothing: it executes its shares of every step, and rank 0 writes what all of them did."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import ExitStack

from counterfoil.distributed.ranks import Ranks
from counterfoil.training.execution import Executor, Recorders, with_data
from counterfoil.training.peers import Follower
from counterfoil.training.recordingevents import RankFinished, RecordEvent, RecordStarted, StepRecorded
from counterfoil_core.arithmetic.machine import Machine


def assist(
    ranks: Ranks,
    executor: Executor,
    machine: Machine,
    data: str | os.PathLike[str] | None,
    stack: ExitStack,
    *,
    states: bool,
) -> Generator[RecordEvent, None, None]:
    """Execute the shares of a rank that is not rank 0 to the end of a recording.

    Args:
        ranks: The ranks.
        executor: Executes steps.
        machine: Its machine.
        data: The data file of this rank.
        stack: Keeps it open.
        states: Whether StepRecorded has the state after the step.

    Yields:
        RecordStarted, DataChecked, OperatorRecorded, StepRecorded and RankFinished.

    Raises:
        CounterfoilError: As :func:`counterfoil.training.recorder.record`.
    """
    order = executor.order
    follower = Follower(ranks, order.manifest.digest)
    yield record_started(executor, machine, ranks.size, None)
    executor = yield from with_data(executor, data, stack)
    recorders = Recorders(executor, stack.enter_context(machine.kernels()))
    step, state, ends = follower.begin(order.initial, machine.title)
    while not ends:
        step, begun = step + 1, time.perf_counter()
        result = yield from recorders.record(step, state)
        state = result.state
        ends = follower.settle(step, state)
        seconds, shown = time.perf_counter() - begun, state if states else None
        yield StepRecorded(step, order.manifest.steps, result.loss, 0, 0, seconds, shown)
    yield RankFinished(ranks.rank, step, order.manifest.steps)


def record_started(executor: Executor, machine: Machine, ranks: int, client: str | None) -> RecordStarted:
    """Return the first event of a recording; ``client`` is the key id of who signed the order."""
    manifest = executor.order.manifest
    shares = 1 if manifest.shares is None else manifest.shares.count
    return RecordStarted(manifest.steps, str(machine.device), client, ranks, shares)
