"""The recorder: executes an order as the trainer, and writes down everything that an auditor needs."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt
from torch import Tensor

from counterfoil.bundle.datafile import DataFile, missing_data
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import RunClaim, StepRecord
from counterfoil.bundle.writer import BundleWriter
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import MerkleFrontier, leaf_hash
from counterfoil.commit.state import state_root
from counterfoil.execution.devices import check_memory, environment, open_device, set_determinism
from counterfoil.execution.interpreter import COMPUTE_DTYPES, Interpreter, native, with_progress
from counterfoil.execution.perturbed import perturbed
from counterfoil.execution.trouble import obstacles_noticed
from counterfoil.program.limits import Limits
from counterfoil.rounding.log import encode
from counterfoil.rounding.rounder import Kernels, RecordingRounder, step_key
from counterfoil.signing import SigningKey, sign_claim
from counterfoil.training.heads import TreeHeadFile
from counterfoil.training.order import LoadedOrder, prepare_order
from counterfoil.training.tamper import Tamper

HEADS_EVERY = 10
"""Steps between two published tree heads, unless told otherwise."""


@dataclass(frozen=True)
class RecordStarted:
    """First event of a recording: the number of steps, and the device."""

    steps: int
    device: str


@dataclass(frozen=True)
class DataChecked:
    """Progress of the check of the data file: bytes done and their total."""

    done: int
    total: int


@dataclass(frozen=True)
class OperatorRecorded:
    """Progress inside a step: operators done and their total."""

    step: int
    done: int
    total: int


@dataclass(frozen=True)
class StepRecorded:
    """A step was executed and recorded.

    Attributes:
        step: Step number, from 1.
        steps: Number of steps.
        loss: Its loss.
        log_entries: Logged rounding decisions.
        log_bytes: Size of its log.
        seconds: Wall-clock time, hashing and writing included.
    """

    step: int
    steps: int
    loss: float
    log_entries: int
    log_bytes: int
    seconds: float


@dataclass(frozen=True)
class RecordFinished:
    """Last event: where the run lies, its run root, and the time it took in seconds."""

    path: Path
    run_root: Digest
    seconds: float


RecordEvent = RecordStarted | DataChecked | OperatorRecorded | StepRecorded | RecordFinished


def _with_data(
    order: LoadedOrder, file: DataFile, cancel: CancelToken | None
) -> Generator[DataChecked, None, LoadedOrder]:
    """Check a data file and add its arrays to the order that names them."""
    checking = file.check(order.manifest, cancel)
    while True:
        try:
            done, total = next(checking)
        except StopIteration as end:
            return order.with_data(end.value)
        yield DataChecked(done, total)


def _operator_recorded(step: int, total: int, done: int) -> OperatorRecorded:
    return OperatorRecorded(step, done, total)


def numpy_state(state: Mapping[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    """Return state tensors as arrays in the memory of the CPU; those that lie there already are not copied."""
    return {name: tensor.cpu().numpy() for name, tensor in state.items()}


def record(
    order_path: str | os.PathLike[str],
    run_path: str | os.PathLike[str],
    key: SigningKey,
    *,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    perturbation: str | None = None,
    tamper: Tamper | None = None,
    heads: str | os.PathLike[str] | None = None,
    heads_every: int = HEADS_EVERY,
    limits: Limits | None = None,
) -> Iterator[RecordEvent]:
    """Execute an order and write the signed run.

    Args:
        order_path: The order; a run works too, its recording is ignored.
        run_path: Where the run goes; appears only when it is complete.
        key: The trainer's key.
        data: The data file, for an order that keeps data outside; it is checked before anything is computed.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.
        perturbation: Imitate other hardware (:mod:`counterfoil.execution.perturbed`).
        tamper: Depart from the order (:mod:`counterfoil.training.tamper`).
        heads: Where signed tree heads go, one a line, to be published while training goes on; what was written stays.
        heads_every: Sign one after so many steps, and after the last.
        limits: How large the program may be; the default limits unless given.

    Yields:
        RecordStarted, DataChecked while a data file is checked, then OperatorRecorded now and then and StepRecorded
        for each step, then RecordFinished.

    Raises:
        RefusedError: The order is damaged or not supported, or its data file is missing or not the one it names.
        NonFiniteError: Training diverged; the message names the operator.
        CancelledError: ``cancel`` was set; nothing is left of the run.
        DeviceError: There is no such device.
        LimitError: The program is larger than the limits; nothing was computed.
        ObstacleError: Memory is short, the device failed, or a file changed or could not be read; nothing is left.
    """
    started = time.perf_counter()
    torch_device = open_device(device)
    used_threads = set_determinism(threads)
    compute = native if perturbation is None else perturbed(perturbation)
    with ExitStack() as stack:
        stack.enter_context(obstacles_noticed())
        reader = stack.enter_context(BundleReader.open(order_path))
        writer = stack.enter_context(BundleWriter.create(run_path))
        # What goes into the run is what was checked and is executed, not what the file holds by then.
        contents = reader.check_order_contents(cancel)
        order = prepare_order(reader.manifest, contents, limits, cancel)
        manifest, program = order.manifest, order.program
        dtype = COMPUTE_DTYPES[manifest.precision.compute]
        check_memory(torch_device, program.least_memory(dtype.itemsize))
        interpreter = Interpreter(program, torch_device, dtype)
        writer.write_order(
            manifest, contents.program, contents.schedule, contents.scalars, contents.data, contents.initial
        )
        writer.begin_run(len(program.places))
        if manifest.outside and data is None:
            raise missing_data(manifest)
        yield RecordStarted(manifest.steps, device)
        if manifest.outside and data is not None:
            order = yield from _with_data(order, stack.enter_context(DataFile.open(data)), cancel)

        published = None if heads is None else stack.enter_context(TreeHeadFile(heads, manifest.digest, key))
        history = MerkleFrontier()
        history.append(leaf_hash(StepRecord(0, manifest.initial_root, None, None, None).to_bytes()))
        state: Mapping[str, Tensor] = order.initial
        kernels = Kernels(torch_device, used_threads)
        try:
            rounder = RecordingRounder(program, manifest.precision, kernels)
            for step in range(1, manifest.steps + 1):
                begun = time.perf_counter()
                rounder.begin_step(step_key(manifest.digest, step))
                inputs = order.inputs(step, state)
                if tamper is not None:
                    inputs = tamper(inputs)
                execution = interpreter.execute(inputs, rounder=rounder, compute=compute, cancel=cancel)
                result = yield from with_progress(execution, partial(_operator_recorded, step, len(program.nodes)))
                state = result.state
                log = encode(rounder.logs)
                arrays = numpy_state(state) if manifest.is_committed(step) else {}
                root = state_root(arrays) if arrays else None
                fingerprints = Digest.of(rounder.fingerprints.astype("<u8").tobytes())
                history.append(leaf_hash(StepRecord(step, root, Digest.of(log), fingerprints, result.loss).to_bytes()))
                entries = sum(len(site.indices) for site in rounder.logs)
                writer.append_step(
                    step,
                    log=log,
                    log_entries=entries,
                    fingerprints=rounder.fingerprints,
                    loss=result.loss,
                    state_root=root,
                )
                if manifest.is_checkpoint(step):
                    writer.write_checkpoint(step, arrays)
                if published is not None and (step % heads_every == 0 or step == manifest.steps):
                    published.append(history)
                yield StepRecorded(step, manifest.steps, result.loss, entries, len(log), time.perf_counter() - begun)
        finally:
            kernels.close()
        claim = RunClaim(
            order=manifest.digest,
            run_root=history.root,
            steps=manifest.steps,
            environment=environment(torch_device),
            signed_at=datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            public_key=key.public.pem,
        )
        writer.finish_run(sign_claim(claim, key))
        run_root = claim.run_root
    yield RecordFinished(Path(run_path), run_root, time.perf_counter() - started)
