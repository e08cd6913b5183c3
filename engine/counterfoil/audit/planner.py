"""What each way to audit a run would cost on this machine, from a short measurement."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from counterfoil.audit.inspection import open_inspection
from counterfoil.audit.sampling import bad_segments, passing_probability, sample_size, segment_count
from counterfoil.audit.steps import State, decode_log, last, step_replayer
from counterfoil.bundle.datafile import DataFile, missing_data
from counterfoil.bundle.schema import OrderManifest
from counterfoil.cancel import CancelToken
from counterfoil.errors import RefusedError
from counterfoil.execution.devices import check_memory, open_device, set_determinism
from counterfoil.execution.interpreter import COMPUTE_DTYPES

CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)
"""The confidences that a plan lists."""
MEASURED_STEPS = 6
_ENOUGH_SECONDS = 5.0


@dataclass(frozen=True)
class PlanProgress:
    """Steps measured so far, and how many will be at most."""

    done: int
    total: int


@dataclass(frozen=True)
class PlanRow:
    """One way to audit the run.

    Attributes:
        confidence: Least probability that a run with so many bad segments is caught; 1.0 for the whole run.
        segments: Number of segments to replay.
        steps: Number of steps in them, on average.
        seconds: Time that their replay would take.
        passing: Probability that a run with so many bad segments passes.
    """

    confidence: float
    segments: int
    steps: int
    seconds: float
    passing: float


@dataclass(frozen=True)
class Plan:
    """What auditing a run would cost.

    Attributes:
        device: Where it was measured.
        steps: Number of steps of the run.
        segments: Number of its segments.
        bad_fraction: The share of bad segments that must not pass.
        bad: The same as a number of segments.
        step_seconds: Measured time of a step.
        load_seconds: Measured time to read and check a checkpoint, once for each segment of a sample.
        measured_steps: How many steps were measured.
        rows: One for each confidence, then the whole run.
    """

    device: str
    steps: int
    segments: int
    bad_fraction: float
    bad: int
    step_seconds: float
    load_seconds: float
    measured_steps: int
    rows: tuple[PlanRow, ...]


def plan_audit(
    run: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    bad_fraction: float = 0.01,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[PlanProgress | Plan]:
    """Replay a few steps of a run and say what audits of it would cost.

    Nothing is judged: the steps are replayed for their time alone.

    Yields:
        PlanProgress, then the Plan.

    Raises:
        RefusedError: The bundle cannot be audited; the sentence says why.
        NonFiniteError: One of its first steps leads to a value that does not fit float32.
        CancelledError: ``cancel`` was set.
        DeviceError: There is no such device.
    """
    with ExitStack() as stack:
        inspection = stack.enter_context(open_inspection(run, cancel=cancel))
        if inspection.failure is not None:
            raise inspection.failure
        order = inspection.order
        if order is None or not inspection.reader.has_run:
            raise RefusedError("The file is an order that nobody has run.", remedy="Open the trainer's run of it.")
        torch_device = open_device(device)
        used_threads = set_determinism(threads)
        check_memory(
            torch_device, order.program.least_memory(COMPUTE_DTYPES[order.manifest.precision.compute].itemsize)
        )
        if order.manifest.outside:
            if data is None:
                raise missing_data(order.manifest)
            file = stack.enter_context(DataFile.open(data))
            order = order.with_data(last(file.check(order.manifest, cancel)))
        steps = stack.enter_context(step_replayer(order, torch_device, used_threads, cancel=cancel))
        times: list[float] = []
        count = min(MEASURED_STEPS, order.manifest.steps)
        state: State = order.initial
        yield PlanProgress(0, count)
        while len(times) < count and sum(times) < _ENOUGH_SECONDS:
            record = inspection.records[len(times) + 1]
            begun = time.perf_counter()
            log = decode_log(order.program, record.step, inspection.reader.log(record.step))
            state = last(steps.replay(record, state, log)).result.state
            times.append(time.perf_counter() - begun)
            yield PlanProgress(len(times), count)
        # The first step compiles kernels and fills caches.
        steady = times[1:] or times
        begun = time.perf_counter()
        checkpoint = order.manifest.checkpoint_steps[0]
        inspection.reader.check_checkpoint(checkpoint, inspection.reader.checkpoint(checkpoint))
        load_seconds = time.perf_counter() - begun
        yield make_plan(
            order.manifest,
            device=device,
            bad_fraction=bad_fraction,
            step_seconds=sum(steady) / len(steady),
            load_seconds=load_seconds,
            measured_steps=len(times),
        )


def make_plan(
    manifest: OrderManifest,
    *,
    device: str,
    bad_fraction: float,
    step_seconds: float,
    load_seconds: float,
    measured_steps: int,
) -> Plan:
    """Return the plan that follows from measured times; pure."""
    total = segment_count(manifest)
    bad = bad_segments(total, bad_fraction)
    rows = []
    for confidence in CONFIDENCES:
        count = sample_size(total, bad, confidence)
        steps = round(count * manifest.steps / total)
        seconds = steps * step_seconds + count * load_seconds
        rows.append(PlanRow(confidence, count, steps, seconds, passing_probability(total, bad, count)))
    rows.append(PlanRow(1.0, total, manifest.steps, manifest.steps * step_seconds, 0.0))
    return Plan(
        device, manifest.steps, total, bad_fraction, bad, step_seconds, load_seconds, measured_steps, tuple(rows)
    )
