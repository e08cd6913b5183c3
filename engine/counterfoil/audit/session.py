"""The session of an auditor: opens a run, admits it, plans, has the segments replayed, judges and concludes."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

from counterfoil.arithmetic.compute.devices import environment, open_device
from counterfoil.arithmetic.machine import Machine, OpenMachine, open_machine
from counterfoil.arithmetic.selftest import run_selftest
from counterfoil.audit.beacons import check_beacon
from counterfoil.audit.inspection import Inspection, make_checks, recorded
from counterfoil.audit.keeping import (
    Basis,
    Keeper,
    KeptAudit,
    misfit,
    place_of,
)
from counterfoil.audit.known import Progress
from counterfoil.audit.outside import Outside
from counterfoil.audit.parts.crew import patience_for
from counterfoil.audit.parts.helpers import open_helpers
from counterfoil.audit.parts.result import Identity
from counterfoil.audit.segments import Replay
from counterfoil.audit.signatures import read_client_order
from counterfoil.audit.step.replayer import (
    step_replayer,
)
from counterfoil.audit.step.steering import SteeringAccount
from counterfoil.audit.values.events import (
    IMITATION,
    AuditFinished,
    AuditStarted,
    CheckChanged,
    Event,
)
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState
from counterfoil.audit.values.report import Kept
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.sampling import Sample, planned_steps, segment_count
from counterfoil.audit.values.steptable import StepTable
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import DIGEST_BYTES, Digest
from counterfoil.base.errors import (
    CancelledError,
    CounterfoilError,
    DeviceError,
    FileChangedError,
    GivenFileError,
    ProgressError,
    RefusedError,
)
from counterfoil.base.generators import ByPercent, relay
from counterfoil.base.precision import Precision
from counterfoil.base.sentence import say
from counterfoil.base.trouble import obstacles_noticed
from counterfoil.bundle.datafile import a_slip_of_the_giver, open_data_file
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import OrderManifest, RunClaim
from counterfoil.bundle.steady import SteadyFile
from counterfoil.training.loaded import LoadedOrder

_LONG_BYTES = 2**28
"""Hashing a file of more than this takes so long that it is shown."""


def run_audit(
    request: AuditRequest,
    cancel: CancelToken | None = None,
    outside: Outside | None = None,
    machines: OpenMachine = open_machine,
) -> Iterator[Event]:
    """Audit a run: inspect it, replay it, and conclude.

    Whatever the bundle holds and whatever happens to the replay ends in a report, never in an exception of ours.

    Args:
        request: What to audit.
        cancel: Stops it.
        outside: How it reaches what lies outside of a box; unless given, this process does all itself.
        machines: Sets up the machine that computes. Of one that imitates other hardware the report's environment names
            that, no verdict can be made of it, and no progress is kept.

    Yields:
        AuditStarted, then what happens, then AuditFinished. Before that, for a large file, how far it is hashed.

    Raises:
        GivenFileError: A file that the auditor named is not there, or is none of its kind: the client's order, the data
            file. That is the auditor's slip and says nothing of the run, so there is no report that could be signed.
        ValueError: Progress is to be kept of an audit on imitated hardware.
    """
    yield from _run(Progress(request, outside or Outside()), cancel or CancelToken(), machines)


def _run(progress: Progress, token: CancelToken, machines: OpenMachine) -> Iterator[Event]:
    request = progress.request
    try:
        # A slip is said before a large file is read.
        with obstacles_noticed():
            given = read_client_order(request.order, request.run)
            progress.client_order = None if given is None else given.digest
        with obstacles_noticed(), SteadyFile.open(request.run) as file:
            # Before a byte is looked at: whatever is judged from here on is what the verdict names.
            progress.bundle_digest = yield from _settle(file, progress, token)
            try:
                with obstacles_noticed():
                    inspection = progress.inspection = Inspection(BundleReader(file))
                    make_checks(
                        inspection, request.order, request.trainer_key, token, request.heads, request.limits,
                        request.client_key,
                    )  # fmt: skip
                    yield from _audit(request, inspection, progress, token, machines)
            except FileChangedError:
                raise
            except CounterfoilError:
                file.check_unchanged()
                raise
            file.check_unchanged()
    except CancelledError:
        progress.cancelled = True
    except GivenFileError:
        raise
    except CounterfoilError as error:
        progress.error = error
        if isinstance(error, FileChangedError):
            progress.bundle_digest = None
    if not progress.started:
        yield AuditStarted(0, (), request.device, progress.checks())
    report = progress.report()
    progress.settle_keeping()
    keeper = progress.keeper
    kept, problem = (keeper.kept if progress.interrupted else None, keeper.problem) if keeper else (None, "")
    problem = problem or ("" if progress.nonce is None else progress.nonce.problem)
    leftover = progress.leftover()
    yield AuditFinished(report, progress.evidence, kept, problem, progress.steps, leftover, progress.interrupted)


def _settle(file: SteadyFile, progress: Progress, cancel: CancelToken) -> Generator[Event, None, Digest]:
    """Hash the file; says how far it is where that takes long."""

    def hashing(percent: int) -> CheckChanged:
        return CheckChanged(Check(CheckNumber.FORMAT, CheckState.RUNNING, say("Hashing the file: {0} %.", percent)))

    return (yield from relay(file.settle(cancel), ByPercent(hashing, above=_LONG_BYTES)))


def _audit(
    request: AuditRequest, inspection: Inspection, progress: Progress, cancel: CancelToken, machines: OpenMachine
) -> Iterator[Event]:
    if inspection.failure is not None:
        raise inspection.failure
    if not inspection.reader.has_run:
        raise RefusedError(
            say("The file is an order that nobody has run, so there is nothing to audit."),
            remedy=say("Open the trainer's run of it."),
        )
    order = inspection.order
    assert order is not None
    machine = machines(request.device, request.threads)
    progress.environment = machine.environment_of_a_judge
    if machine.imitates is not None:
        if request.progress is not None or request.resume:
            raise ValueError("no progress is kept of an audit on imitated hardware")
        progress.environment = tuple(sorted((*progress.environment, (IMITATION, machine.imitates))))
    machine.check_memory(order.programs.all, order.manifest.precision)
    manifest = order.manifest
    assert inspection.claim is not None
    progress.steps = StepTable(recorded(inspection.reader))
    kept = _take_up(request, progress, inspection.claim.run_root, manifest)
    progress.sample, drawn_before = _choose(request, progress, inspection.claim, manifest, kept)
    planned = planned_steps(manifest, progress.sample)
    progress.started = True
    yield AuditStarted(
        manifest.steps,
        tuple(sorted(order.initial)),
        request.device,
        progress.checks(),
        planned,
        progress.sample,
        progress.keeper.kept if progress.keeper else None,
        drawn_before,
    )
    with ExitStack() as stack:
        if order.manifest.outside:
            order = yield from _with_data(order, request, progress, stack, cancel)
        yield from _judge(request, inspection, order, progress, machine, cancel, kept)


def _choose(
    request: AuditRequest, progress: Progress, claim: RunClaim, manifest: OrderManifest, kept: KeptAudit | None
) -> tuple[Sample, bool]:
    """Choose the segments, and keep a nonce that is drawn until the audit comes to its end.

    Returns:
        The sample, and whether it was drawn by an earlier audit that did not come to its end.

    Raises:
        DataError: The run has no such segments, or the beacon's round is not what it should be.
    """
    asked = request.segments
    if asked.beacon is not None:
        check_beacon(asked.beacon, claim.signed_at)
    nonce = ""
    if asked.draws and request.progress is not None:
        progress.nonce = progress.outside.nonce(request.progress, manifest.digest, claim.run_root, asked)
        nonce = progress.nonce.find()
    if kept is not None:
        return kept.sample, asked.draws
    if progress.nonce is None or nonce:
        return asked.resolve(manifest, claim.run_root, nonce), bool(nonce)
    # What cannot be drawn is said before a nonce is.
    asked.resolve(manifest, claim.run_root)
    return asked.resolve(manifest, claim.run_root, progress.nonce.draw()), False


def find_progress(
    request: AuditRequest, order: Digest, run_root: Digest, outside: Outside | None = None
) -> Kept | None:
    """Return what an audit could go on from, as far as can be said without reading the run; None when there is none.

    Args:
        request: The audit; ``progress`` says where to look.
        order: Digest of the order.
        run_root: The run root that the run is signed with.
        outside: As for :func:`run_audit`.

    Raises:
        DeviceError: There is no such device on this machine.
    """
    if request.progress is None:
        return None
    file = Digest(bytes(DIGEST_BYTES))  # not known: it is hashed when the audit begins
    basis = _basis(request, file, order, run_root, environment(open_device(request.device)))
    return (outside or Outside()).shelf.find(request.progress, basis, Path(request.run))


def _basis(
    request: AuditRequest, file: Digest, order: Digest, run_root: Digest, machine: tuple[tuple[str, str], ...]
) -> Basis:
    return Basis.of(
        file=file,
        order=order,
        run_root=run_root,
        environment=dict(machine),
        segments=request.segments,
        continue_after_dispute=request.continue_after_dispute,
    )


def _take_up(request: AuditRequest, progress: Progress, run_root: Digest, manifest: OrderManifest) -> KeptAudit | None:
    """Say where progress is kept, and return what the audit is to go on from; raises ProgressError."""
    if request.progress is None:
        if request.resume:
            raise ProgressError(
                say("No file or folder for the progress of the audit was given."),
                remedy=say("Start the audit anew, or give the file or folder of its progress."),
            )
        return None
    assert progress.bundle_digest is not None
    basis = _basis(request, progress.bundle_digest, manifest.digest, run_root, progress.environment)
    progress.basis = basis
    path, shelf = place_of(request.progress, basis), progress.outside.shelf
    if request.resume:
        kept = shelf.fitting(request.progress, basis, begin=request.begin)
        progress.keeper = Keeper(path, shelf=shelf)
        if kept is not None:
            if not kept.fits(manifest.steps, segment_count(manifest)):
                raise misfit("it names steps or segments that the run does not have")
            progress.evidence = shelf.evidence(path, kept)
            progress.keeper.adopt(kept, progress.evidence)
        return kept
    progress.keeper = Keeper(path, shelf=shelf)
    earlier = shelf.earlier(path, basis)
    if earlier is not None:
        progress.keeper.adopt(earlier)
    return None


def _with_data(
    order: LoadedOrder, request: AuditRequest, progress: Progress, stack: ExitStack, cancel: CancelToken
) -> Generator[Event, None, LoadedOrder]:
    """Finish check 3 for an order that keeps data outside, and add the data; the stack keeps the file open.

    Raises:
        GivenFileError: There is no such file, or it is not the one that the order names.
    """
    number, manifest = CheckNumber.ORDER_CONTENTS, order.manifest
    inside = progress.checks()[number - 1]

    def checking(percent: int) -> CheckChanged:
        return progress.note(number, CheckState.RUNNING, say("Checking the data file: {0} %.", percent))

    try:
        with a_slip_of_the_giver():
            file = open_data_file(manifest, request.data, stack)
            assert file is not None, "the order keeps data outside"
            checked = yield from relay(file.check(manifest, cancel), ByPercent(checking))
        detail = say(
            "Program, schedule, scalars, {0} data arrays (those in {1} too) and the initial state match the order.",
            len(manifest.data),
            file.path.name,
        )
        yield progress.note(number, CheckState.PASSED, detail)
        return order.with_data(checked)
    except CancelledError:
        yield progress.note(number, inside.state, inside.detail)
        raise


def _judge(
    request: AuditRequest,
    inspection: Inspection,
    order: LoadedOrder,
    progress: Progress,
    machine: Machine,
    cancel: CancelToken,
    kept: KeptAudit | None,
) -> Iterator[Event]:
    """The self-test and the replay: checks 7 to 10."""
    yield progress.note(CheckNumber.SELF_TEST, CheckState.RUNNING, "")
    try:
        sentence = run_selftest(machine, order.manifest.precision)
    except DeviceError as error:
        yield progress.note(CheckNumber.SELF_TEST, CheckState.FAILED, error.sentence)
        raise
    yield progress.note(CheckNumber.SELF_TEST, CheckState.PASSED, sentence)
    for number in (CheckNumber.REPLAY, CheckNumber.LOG, CheckNumber.COVERAGE):
        yield progress.note(number, CheckState.RUNNING, "")
    begun = time.perf_counter()
    try:
        with step_replayer(order, machine, cancel=cancel) as steps:
            precision = order.manifest.precision
            if isinstance(precision, Precision):
                progress.account = SteeringAccount(order.programs, precision.significand_bits)
            replay = Replay(request, inspection, order, progress, progress.account, steps)
            if kept is not None:
                yield from replay.restore(kept)
            assert progress.bundle_digest is not None
            assert inspection.claim is not None
            identity = Identity(progress.bundle_digest, order.manifest.digest, inspection.claim.run_root)
            patience = patience_for(inspection.estimate.flops if inspection.estimate is not None else 0)
            executor = progress.outside.executor
            with open_helpers(request, replay.left, identity, cancel, executor, patience) as helpers:
                yield from replay.run(helpers)
    finally:
        progress.seconds += time.perf_counter() - begun
