"""Measures on this machine what each way to audit a run would cost: replays a few steps for their time alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import fmean

import numpy as np

from counterfoil.arithmetic.compute.devicelist import device_advice
from counterfoil.audit.values.plan import Plan, PlanProgress, make_plan
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import LogError, RefusedError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import profile_name
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.hearing.inspection import open_inspection
from counterfoil_core.kernels.grid import ZERO_SCALE
from counterfoil_core.order.executable import LoadedOrder, with_data_file
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import Limits
from counterfoil_core.replay.sharedreplay import read_logs, step_replayer
from counterfoil_core.replay.shares import AnyLogs, Logs, SharedLogs, State

MEASURED_STEPS = 6
_ENOUGH_SECONDS = 5.0


def plan_audit(
    run: str | os.PathLike[str],
    *,
    order: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    bad_fraction: float = 0.01,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
) -> Iterator[PlanProgress | Plan]:
    """Replay a few steps of a run and say what audits of it would cost.

    Nothing is judged: the steps are replayed for their time alone. A program larger than the ``limits`` is not.

    Yields:
        PlanProgress, then the Plan.

    Raises:
        RefusedError: The bundle cannot be audited; the sentence says why.
        NonFiniteError: One of its first steps leads to a value that does not fit float32.
        CancelledError: ``cancel`` was set.
        DeviceError: There is no such device.
        LimitError: The program is larger than the limits.
        ObstacleError: The file changed while it was read, or this machine cannot read or hold it.
    """
    with ExitStack() as stack:
        stack.enter_context(obstacles_noticed())
        inspection = stack.enter_context(open_inspection(run, order, cancel=cancel, limits=limits))
        if inspection.failure is not None:
            raise inspection.failure
        admitted = inspection.order
        if admitted is None or inspection.estimate is None or not inspection.reader.has_run:
            raise RefusedError(
                say("The file is an order that nobody has run."), remedy=say("Open the trainer's run of it.")
            )
        loaded = LoadedOrder.of(admitted)
        machine = open_machine(device, threads)
        machine.check_memory(loaded.all_programs, loaded.manifest.precision, loaded.combining_bytes()[1])
        loaded = with_data_file(loaded, data, stack, cancel)
        steps = stack.enter_context(step_replayer(loaded, machine, cancel=cancel))
        times: list[float] = []
        turns = loaded.programs
        extent = inspection.reader.extent
        count = min(MEASURED_STEPS, extent.steps)
        # Each program has its turn, however long it takes, unless that is far off.
        needed = turns.complete_after if turns.complete_after <= count else 1
        state: State = loaded.initial
        yield PlanProgress(0, count)
        while len(times) < count and (len(times) < needed or sum(times) < _ENOUGH_SECONDS):
            record = inspection.records[len(times) + 1]
            begun = time.perf_counter()
            logs = _logs(loaded, record, inspection.reader)
            state = finish(steps.replay(record, state, logs)).result.state
            times.append(time.perf_counter() - begun)
            yield PlanProgress(len(times), count)
        # The first step of a program compiles kernels and fills caches.
        measured = {name: [s for step, s in enumerate(times, 1) if turns.name(step) == name] for name in turns.parts}
        steady = {name: fmean(found[1:] or found or times) for name, found in measured.items()}
        begun = time.perf_counter()
        checkpoint = extent.checkpoint_steps[0]
        inspection.reader.checkpoint(checkpoint)
        load_seconds = time.perf_counter() - begun
        yield make_plan(
            extent,
            device=device,
            bad_fraction=bad_fraction,
            profile=profile_name(loaded.manifest.precision),
            log_bits=_log_bits(loaded, inspection.reader, len(times)),
            advice=next(iter(device_advice(loaded.manifest.precision.compute, inspection.estimate, device)), ""),
            step_seconds=fmean(steady[name] for name in turns.pattern),
            load_seconds=load_seconds,
            measured_steps=len(times),
            estimate=inspection.estimate,
        )


def _log_bits(order: LoadedOrder, reader: BundleReader, steps: int) -> float:
    """Size of the log for each rounded value of the first steps; of steps of shares, whose logs lie together, too."""
    shares = 1 if order.manifest.shares is None else order.manifest.shares.count
    values = 0
    for step in range(1, steps + 1):
        values += shares * sum(site.elements for site in order.programs.of(step).sites)
        if order.updates is not None:
            values += sum(site.elements for site in order.updates.of(step).sites)
    return 8 * sum(reader.log_size(step) for step in range(1, steps + 1)) / values if values else 0.0


def _logs(order: LoadedOrder, record: StepRecord, reader: BundleReader) -> AnyLogs:
    """The trainer's log; where it cannot be read, as the audit will say, one without entries costs about the same."""
    try:
        return read_logs(order, record, reader)
    except LogError:
        shares = reader.shares(record.step)
        if shares is None or order.updates is None:
            return _without_entries(order.programs.of(record.step))
        share = _without_entries(order.programs.of(record.step))
        return SharedLogs(shares, (share,) * len(shares.records), _without_entries(order.updates.of(record.step)))


def _without_entries(program: Program) -> Logs:
    return (SiteLog(ZERO_SCALE, np.empty(0, np.int64), np.empty(0, np.bool_)),) * len(program.sites)
