"""The recorder: executes an order as the trainer, and writes down everything that an auditor needs.

Finished steps go into a folder beside the run (:mod:`counterfoil.training.recording`). From it the run is made when the
last step is done, and from it an interrupted recording goes on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.base.behind import LEAST_BEHIND, Behind
from counterfoil.base.joberrors import RecordingError, SignerError, UnequalStatesError
from counterfoil.base.wholefiles import check_room, check_target
from counterfoil.bundle.writer import BundleWriter, order_bytes, run_bytes
from counterfoil.commit.frontier import MerkleFrontier
from counterfoil.distributed.direct import direct_group
from counterfoil.distributed.outside import Connect
from counterfoil.distributed.ranks import join_ranks
from counterfoil.training.admission import admitted_in_box
from counterfoil.training.assistant import assist, record_started
from counterfoil.training.execution import Executor, Recorded, Recorders, Restoring, open_executor, with_data
from counterfoil.training.orderfile import prepare_order
from counterfoil.training.peers import NoPeers, Peers, peers_of
from counterfoil.training.recording import Recording
from counterfoil.training.recordingevents import (
    OperatorRecorded,
    RecordEvent,
    RecordFinished,
    RecordingResumed,
    RunAssembled,
    StepRecorded,
    StepRestored,
)
from counterfoil.training.recordingfolder import discard_recording, is_unfinished
from counterfoil.training.stepfile import StoredStep, stored_step
from counterfoil.training.tamper import Tamper
from counterfoil.training.together import exchange_of
from counterfoil.training.tree_head_file import TreeHeadFile, sign_head
from counterfoil_core.arithmetic.compute.interpreter import StepResult
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.machine import Machine, OpenMachine, open_machine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, FileWriteError, ObstacleError, SignatureError
from counterfoil_core.base.obstacles import file_changed
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.reader import BundleReader, OrderContents
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.commit.statedigest import root_of, root_on_device
from counterfoil_core.order.admission import places_of
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.limits import Limits
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder, check_same_client
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import open_said, sign_said

HEADS_EVERY = 10
"""Steps between two published tree heads, unless told otherwise."""


def _arrays(state: Mapping[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    """State tensors as arrays in the memory of the CPU; those that lie there already are not copied."""
    return {name: tensor.cpu().numpy() for name, tensor in state.items()}


def record(
    order_path: str | os.PathLike[str],
    run_path: str | os.PathLike[str],
    key: SigningKey | None,
    *,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    share_keys: Mapping[int, SigningKey] | None = None,
    tamper: Tamper | None = None,
    heads: str | os.PathLike[str] | None = None,
    heads_every: int = HEADS_EVERY,
    resume: bool = False,
    fresh: bool = False,
    limits: Limits | None = None,
    machines: OpenMachine = open_machine,
    states: bool = False,
    initial_in_order: bool = False,
    connect: Connect | None = None,
) -> Generator[RecordEvent, None, None]:
    """Execute an order and write the signed run.

    What is finished lies in a folder beside the run until the run is complete, and stays there when the recording is
    stopped by whatever: with ``resume`` it goes on from there, and on the same machine the run root is that of a
    recording that nothing stopped.

    Processes that torchrun started, or that are a process group of ``torch.distributed``, record a run of an order with
    shares together. All call it alike; rank 0 writes.

    Args:
        order_path: The order; a run works too, its recording is ignored.
        run_path: Where the run goes; appears only when it is complete.
        key: The trainer's key; None on a rank that is not rank 0.
        data: The data file, for an order that keeps data outside; it is checked before anything is computed.
        device: ``cpu`` or ``cuda:0``; ``cuda`` for each rank's own.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.
        share_keys: The keys of the parties that answer for shares, by the numbers of these, where the order names some.
        tamper: Depart from the order (:mod:`counterfoil.training.tamper`).
        heads: Where signed tree heads go, one a line, to be published while training goes on; what was written stays.
        heads_every: Sign one after so many steps, and after the last.
        resume: Go on with the unfinished recording, if there is one.
        fresh: Throw the unfinished recording away, if there is one.
        limits: How large the program may be; the default limits unless given.
        machines: Sets up the machine that computes; it may imitate other hardware.
        states: Whether StepRecorded has the state after the step.
        initial_in_order: Leave the initial weights out of the run, which names them by their digest: whoever audits it
            needs the order.
        connect: Brings the ranks together; in this process unless given.

    Yields:
        RecordStarted, DataChecked while a data file is checked, RecordingChecked while an unfinished recording is
        checked, and RecordingResumed; then OperatorRecorded now and then, StepRestored for each finished step that is
        computed again, StepRecorded for each new one, RunAssembled while the run is written, and RecordFinished; on a
        rank that is not rank 0 RankFinished.

    Raises:
        GivenFileError: There is no file where the order should be, or not the data file that the order needs.
        RefusedError: The order is damaged or not supported.
        RecordingError: An unfinished recording lies there and neither ``resume`` nor ``fresh`` is given; or it is of
            another order or key, or cannot be gone on with here; or the key of a party that answers for a share is not
            given.
        NonFiniteError: Training diverged; the message names the operator.
        CancelledError: ``cancel`` was set; what is finished is kept.
        FileWriteError: The disk is full or cannot be written; what is finished is kept.
        DeviceError: There is no such device.
        LimitError: The program is larger than the limits; nothing was computed.
        RankError: A rank is lost, has failed, or does not go with the others; what is finished is kept.
        ObstacleError: Memory is short, the device failed, or a file changed or could not be read; the same holds.
    """
    started, run_path = time.perf_counter(), Path(run_path)
    with ExitStack() as stack:
        ranks = stack.enter_context(join_ranks(device, cancel, connect or direct_group))
        stack.enter_context(obstacles_noticed())
        machine = machines(device if ranks is None else ranks.device, threads)
        if ranks is None or not ranks.rank:
            check_target(run_path, what="the bundle")
        admitted = stack.enter_context(admitted_in_box(order_path, limits, cancel))
        opened = _open(order_path, stack, limits, cancel)
        if admitted not in (None, opened.order.manifest.digest):
            raise file_changed(os.fspath(order_path), say("the order"))
        exchange = exchange_of(ranks, opened.order.manifest.shares)
        if ranks is not None and ranks.rank:
            order = replace(opened.order, stored=opened.first.pop())
            executor = open_executor(order, machine, tamper, exchange, cancel, share_keys)
            return (yield from assist(ranks, executor, machine, data, stack, states=states))
        executor = open_executor(opened.order, machine, tamper, exchange, cancel, share_keys)
        if fresh:
            discard_recording(run_path)
        peers = peers_of(ranks, opened.order.manifest.digest)
        session = _Session(run_path, _needed(key), machine, opened, peers, initial_in_order)
        claim = yield from session.run(executor, stack, data, heads, heads_every, resume=resume, states=states)
    seconds, ordered = time.perf_counter() - started, opened.order.manifest.steps
    yield RecordFinished(run_path, claim.run_root, seconds, claim.steps, ordered)


def _needed(key: SigningKey | None) -> SigningKey:
    if key is None:
        raise SignerError(say("Rank 0 signs the run, and was given no key."), remedy=say("Give it the trainer's key."))
    return key


@dataclass(frozen=True)
class _Opened:
    """An order as it was opened: what it holds, checked, ready to be executed, and its client's DSSE envelope."""

    #: The order file: what is read of it again is what was checked, or it is said that the file changed.
    reader: BundleReader
    #: What it holds; in the place of the initial state what takes no memory and has its types and shapes.
    contents: OrderContents
    order: LoadedOrder  #: The same, without an initial state.
    signature: bytes | None  #: The DSSE envelope.
    #: The initial state, until somebody takes it: it is not held beside later ones, and read again for the run.
    first: list[Mapping[str, npt.NDArray[Any]]]


def _open(path: str | os.PathLike[str], stack: ExitStack, limits: Limits | None, cancel: CancelToken | None) -> _Opened:
    reader = stack.enter_context(BundleReader.open(path))
    # What goes into the run is what was checked and is executed, not what the file holds by then.
    contents = reader.check_order_contents(cancel)
    order = replace(prepare_order(reader.manifest, contents, limits, cancel), stored={})
    alike = {name: np.broadcast_to(array.dtype.type(0), array.shape) for name, array in contents.initial.items()}
    return _Opened(reader, replace(contents, initial=alike), order, reader.order_signature(), first=[contents.initial])


def _tensors(state: Mapping[str, npt.NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in state.items()}


@dataclass(frozen=True)
class _Session:
    """A recording, from an opened order to its run."""

    run_path: Path  #: Where the run goes.
    key: SigningKey  #: The trainer's key.
    machine: Machine  #: What executes the order.
    opened: _Opened  #: The order.
    peers: Peers | NoPeers  #: The ranks that record it with this one.
    initial_in_order: bool  #: Whether the initial weights are left out of the run.

    def run(
        self,
        executor: Executor,
        stack: ExitStack,
        data: str | os.PathLike[str] | None,
        heads: str | os.PathLike[str] | None,
        heads_every: int,
        *,
        resume: bool,
        states: bool,
    ) -> Generator[RecordEvent, None, RunClaim]:
        """Go through a recording; the arguments and events are those of :func:`record`."""
        contents, manifest, cancel = self.opened.contents, self.opened.order.manifest, executor.cancel
        resumed = resume and is_unfinished(self.run_path)
        open_recording = Recording.open if resumed else Recording.begin
        recording = stack.enter_context(open_recording(self.run_path, manifest, self.key.public))
        acceptance, client = _accept(recording, manifest, self.opened.signature, self.key)
        places = places_of(self.opened.order)
        initial = self.opened.first.pop()
        _check_room(self.run_path, recording, manifest, replace(contents, initial=initial), places)
        yield record_started(executor, self.machine, self.peers.size, client)
        executor = yield from with_data(executor, data, stack)

        history = yield from recording.check(cancel)
        last, stored = yield from recording.last_state(initial, cancel)
        if resumed:
            yield RecordingResumed(recording.steps, last)
        published = None if heads is None else stack.enter_context(TreeHeadFile(heads, recording.published))
        stack.enter_context(_kept(recording))
        state: Mapping[str, Tensor] = _tensors(stored)
        del initial, stored
        # The memory of the steps is given back before the run is made, which reads whole states again.
        with self.machine.kernels() as kernels:
            state = yield from _restore_all(executor, recording, last, state, kernels)
            complete = recording.steps == recording.extent.steps
            state = self.peers.begin(recording.steps, state, self.machine.title, ends=complete)
            if published is not None and complete:
                _publish(published, recording, manifest, history, self.key)
            keeper = _Keeper(manifest, recording, history, published, heads_every, self.key)
            with _agreed(recording, self.peers):
                recorded = _record_all(executor, recording, state, kernels, keeper, self.peers, states=states)
                # The first state is let go of with the first step.
                del state
                yield from recorded
        with_initial = not self.initial_in_order
        if with_initial:
            contents = replace(contents, initial=self.opened.reader.initial_state(cancel))
        signature = self.opened.signature
        with BundleWriter.create(self.run_path) as writer:
            yield from _assemble(
                writer, manifest, contents, recording, places, signature, cancel, with_initial=with_initial
            )
            if cancel is not None:
                cancel.check()
            # Last, and nothing looks at the token behind it: a signer signs one claim, and whoever stops a recording
            # whose claim is signed would go on with a signer that has none left.
            claim = self._claim(history.root, recording.extent.steps)
            writer.finish_run(sign_said(claim, self.key), acceptance)
        recording.discard()
        return claim

    def _claim(self, run_root: Digest, steps: int) -> RunClaim:
        manifest = self.opened.order.manifest
        return RunClaim(
            order=manifest.digest,
            run_root=run_root,
            steps=steps,
            environment=dict(sorted((*self.machine.environment, *self.peers.environment().items()))),
            signed_at=timestamp(),
            public_key=self.key.public.pem,
            steps_ordered=manifest.steps if steps < manifest.steps else None,
        )


def _record_all(
    executor: Executor,
    recording: Recording,
    state: Mapping[str, Tensor],
    kernels: Kernels,
    keeper: _Keeper,
    peers: Peers | NoPeers,
    *,
    states: bool,
) -> Generator[OperatorRecorded | StepRecorded, None, None]:
    """Execute the steps that are not finished and keep each of them, large ones while the next is executed.

    The last is the last that was ordered, or the first after which the order's rule ends the run.
    """
    order, recorders = executor.order, Recorders(executor, kernels)
    with Behind[StepRecorded]() as behind:
        for step in range(recording.steps + 1, recording.extent.steps + 1):
            begun = time.perf_counter()
            result = yield from _beside(recorders.record(step, state), behind)
            # One step at a time is kept, so that no more than one state is held for it.
            if behind.busy:
                yield behind.take()
            state = result.state
            stopped = recording.stops_after(result.loss)
            extent = order.manifest.extent_of(step) if stopped else order.manifest.extent
            committed, signed = extent.is_committed(step), extent.is_checkpoint(step) or keeper.publishes(step, extent)
            root = peers.settle(step, state, signed=signed, ends=step == extent.steps)
            # A device hashes its own state, which leaves it only where it is stored.
            root = (root or root_on_device(state)) if committed else None
            kept = committed if root is None else extent.is_checkpoint(step)
            arrays = _arrays(state) if kept else {}
            shown = state if states else None
            keep = partial(keeper.keep, step, extent, begun, result, arrays, root, shown)
            if sum(array.nbytes for array in arrays.values()) < LEAST_BEHIND:
                yield keep()
            else:
                behind.begin(keep)
            if stopped:
                break
        if behind.busy:
            yield behind.take()


def _accept(
    recording: Recording, manifest: OrderManifest, signature: bytes | None, key: SigningKey
) -> tuple[bytes, str | None]:
    """Sign that the order is accepted as it came, or take the acceptance that the recording was begun with.

    Returns:
        The acceptance's DSSE envelope, and the key id of the client who signed the order, if one did.

    Raises:
        SignatureError: The client's signature on the order does not hold: such an order is not begun with.
        RecordingError: The recording was begun with the order of another client's, or its acceptance is damaged.
    """
    client = None if signature is None else open_said(SignedOrder, signature, order=manifest.digest)
    kept = recording.acceptance()
    if kept is None:
        kept = sign_said(Acceptance.of(manifest.digest, client), key)
        recording.keep_acceptance(kept)
    try:
        check_same_client(open_said(Acceptance, kept, key.public, order=manifest.digest), client)
    except SignatureError as error:
        raise RecordingError(
            say(
                "The unfinished recording in {0} was begun with an order that another client had signed, or nobody; or "
                "its acceptance is damaged.",
                recording.folder,
            ),
            remedy=say("Give the order file that it was begun with, or discard the recording: --fresh."),
            detail=str(error),
        ) from error
    return kept, None if client is None else client.key_id


def _check_room(
    run_path: Path, recording: Recording, manifest: OrderManifest, contents: OrderContents, places: Turns[Places]
) -> None:
    """Check that there is room for the recording and for the run that is made of it; their logs have no known size."""
    state_bytes = sum(array.nbytes for array in contents.initial.values())
    order = order_bytes(contents.programs, contents.schedule, contents.scalars, contents.data, contents.initial)
    needed = 2 * run_bytes(manifest, manifest.extent, state_bytes, places) + order - recording.size_bytes
    check_room(run_path.parent, needed, "the recording and the run")


class _Keeper:
    """Keeps finished steps, one after the other: digests of the state, the history, the recording, the tree heads.

    It changes none of what it is given, and nobody else may while it works: the next step starts from the same tensors.
    """

    def __init__(
        self,
        manifest: OrderManifest,
        recording: Recording,
        history: MerkleFrontier,
        published: TreeHeadFile | None,
        heads_every: int,
        key: SigningKey,
    ) -> None:
        self._manifest = manifest
        self._recording = recording
        self._history = history
        self._published = published
        self._heads_every = heads_every
        self._key = key
        self._kept_at = 0.0

    def publishes(self, step: int, extent: Extent) -> bool:
        """Return whether a tree head is published after a step."""
        return self._published is not None and (step % self._heads_every == 0 or step == extent.steps)

    def keep(
        self,
        step: int,
        extent: Extent,
        begun: float,
        result: Recorded,
        arrays: Mapping[str, npt.NDArray[Any]],
        root: Digest | None,
        shown: Mapping[str, Tensor] | None,
    ) -> StepRecorded:
        """Keep the next step, which began at ``begun``; ``extent`` has the steps that the run will have.

        ``arrays`` are its new state where that is stored or is still to be digested; ``root`` is its digest where it is
        known; ``shown`` is the state for whoever asked for it.
        """
        manifest, recording, history = self._manifest, self._recording, self._history
        log, log_entries = result.log()
        done = stored_step(
            step,
            log=log,
            log_entries=log_entries,
            fingerprints=result.fingerprints,
            loss=result.loss,
            state_root=state_root(arrays) if root is None and arrays else root,
            shares=result.shares,
        )
        history.append(leaf_hash(done.record.to_bytes()))
        recording.check_published(history)
        recording.append(done, extent)
        if extent.is_checkpoint(step):
            recording.store_state(step, arrays)
        if self._published is not None and self.publishes(step, extent):
            _publish(self._published, recording, manifest, history, self._key)
        # A step begins before the one before it is kept: the times of all steps add up to that of the recording.
        now = time.perf_counter()
        seconds, self._kept_at = now - max(begun, self._kept_at), now
        return StepRecorded(step, extent.steps, result.loss, done.log_entries, len(done.log), seconds, shown)


def _beside(
    executing: Generator[OperatorRecorded, None, Recorded | StepResult], behind: Behind[StepRecorded]
) -> Generator[OperatorRecorded | StepRecorded, None, Recorded]:
    """Execute a step, and say when the one before it is kept, or could not be."""
    while True:
        try:
            event = next(executing)
        except StopIteration as end:
            result: Recorded = end.value
            return result
        if behind.ready:
            yield behind.take()
        yield event


def _publish(
    published: TreeHeadFile, recording: Recording, manifest: OrderManifest, history: MerkleFrontier, key: SigningKey
) -> None:
    """Publish a tree head over the history so far, unless that was done before."""
    if history.size not in recording.heads:
        head, line = sign_head(manifest.digest, history, key)
        recording.publish(head, line)
        published.append(line)


@contextmanager
def _kept(recording: Recording) -> Iterator[None]:
    """Say with whatever stops a recording that its finished steps are kept."""
    try:
        yield
    except CancelledError as error:
        if not recording.steps:
            raise
        kept = say("Stopped; the first {0} steps are kept in {1}.", recording.steps, recording.folder)
        if recording.steps == 1:
            kept = say("Stopped; the first step is kept in {0}.", recording.folder)
        raise CancelledError(kept, remedy=say("The same command with --resume goes on from there.")) from error
    except (FileWriteError, ObstacleError) as error:
        if recording.steps:
            kept = say("What was done is kept: --resume goes on from there.")
            error.remedy = say("{0} {1}", error.remedy, kept) if error.remedy else kept
        raise


@contextmanager
def _agreed(recording: Recording, peers: Peers | NoPeers) -> Iterator[None]:
    """Keep no step that ranks of different states made; nothing was signed of them."""
    try:
        yield
    except UnequalStatesError:
        recording.forget_after(peers.compared)
        raise


def _restore_all(
    executor: Executor, recording: Recording, last: int, state: Mapping[str, Tensor], kernels: Kernels
) -> Generator[OperatorRecorded | StepRestored, None, Mapping[str, Tensor]]:
    """Compute the finished steps behind step ``last``, whose state is ``state``, again; returns the state after."""
    extent = recording.extent
    for finished in recording.read(last + 1):
        state = yield from _restore(executor, finished, state, kernels)
        step = finished.record.step
        if extent.is_checkpoint(step):
            recording.store_state(step, _arrays(state))
        yield StepRestored(step, extent.steps)
    return state


def _restore(
    executor: Executor, finished: StoredStep, state: Mapping[str, Tensor], kernels: Kernels
) -> Generator[OperatorRecorded, None, Mapping[str, Tensor]]:
    """Compute a finished step again, following its log, for the state after it.

    Raises:
        RecordingError: It comes out otherwise than it was recorded.
    """
    record, restoring = finished.record, Restoring(executor, finished, kernels)
    result = yield from restoring.step(state)
    root = None if record.state_root is None else root_of(result.state)
    again = stored_step(
        record.step,
        log=finished.log,
        log_entries=finished.log_entries,
        fingerprints=result.fingerprints,
        loss=result.loss,
        state_root=root,
        shares=result.shares,
    )
    if again.record != record:
        raise RecordingError(
            say("Step {0} gives another result than was recorded, so the recording cannot go on here.", record.step),
            remedy=say(
                "Use the device, the number of threads and the versions that it was begun with; or start again: "
                "--fresh."
            ),
        )
    return result.state


def _assemble(
    writer: BundleWriter,
    manifest: OrderManifest,
    contents: OrderContents,
    recording: Recording,
    places: Turns[Places],
    signature: bytes | None,
    cancel: CancelToken | None,
    *,
    with_initial: bool,
) -> Generator[RunAssembled, None, None]:
    """Make the run from a complete recording, whose every byte is checked as it is read; its claim is still to come.

    ``signature`` is the client's DSSE envelope on the order, if there is one.
    """
    writer.write_order(
        manifest,
        contents.programs,
        contents.schedule,
        contents.scalars,
        contents.data,
        contents.initial,
        signature,
        contents.updates,
        row_key=contents.row_key,
        with_initial=with_initial,
    )
    extent = recording.extent
    writer.begin_run(places, recording.log_bytes, extent.steps)
    for step in recording.read(1):
        if cancel is not None:
            cancel.check()
        record = step.record
        assert record.loss is not None
        writer.append_step(
            record.step,
            log=step.log,
            log_entries=step.log_entries,
            fingerprints=step.fingerprints,
            loss=record.loss,
            state_root=record.state_root,
            shares=step.shares,
        )
        if extent.is_checkpoint(record.step):
            writer.write_checkpoint(record.step, recording.state(record.step, contents.initial))
        yield RunAssembled(record.step, extent.steps)
