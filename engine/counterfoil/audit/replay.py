"""The replay: executes what was ordered, step by step, and compares every Merkle leaf with the trainer's."""

from __future__ import annotations

import secrets
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import torch

from counterfoil.arithmetic.compute.devices import environment, environment_after, open_device
from counterfoil.arithmetic.compute.perturbed import perturbed
from counterfoil.arithmetic.machine import Machine, open_machine
from counterfoil.arithmetic.profiles import arithmetic_of
from counterfoil.arithmetic.selftest import run_selftest
from counterfoil.audit.beacons import check_beacon
from counterfoil.audit.chain import Agreed, Drifting, Ended, Lost, Reached, after, match_of
from counterfoil.audit.conclusion import Coverage, conclude
from counterfoil.audit.evidence import gather
from counterfoil.audit.inspection import Inspection, make_checks, recorded
from counterfoil.audit.kept import (
    Basis,
    Keeper,
    KeptAudit,
    KeptDivergence,
    all_tensors,
    kept_divergence,
    misfit,
    place_of,
)
from counterfoil.audit.nonces import KeptNonce
from counterfoil.audit.outside import Outside
from counterfoil.audit.parts.check import SignedStep, unfit
from counterfoil.audit.parts.crew import Found, Missing, patience_for
from counterfoil.audit.parts.helpers import Helpers, open_helpers
from counterfoil.audit.parts.result import Identity, SegmentResult
from counterfoil.audit.parts.work import Opened, here, replay_segment
from counterfoil.audit.signatures import read_client_order
from counterfoil.audit.step.compare import compare_states, detail_difference
from counterfoil.audit.step.judgement import (
    Omissions,
    SecondLook,
    dispute_of,
    look_at_end,
    look_at_state,
    no_result,
    second_look,
    unreadable,
)
from counterfoil.audit.step.replayer import (
    Ahead,
    Arrays,
    Logs,
    ReplayedStep,
    State,
    StepEndedError,
    StepReplayer,
    differing_parts,
    read_log,
    step_replayer,
)
from counterfoil.audit.step.steering import SteeringAccount
from counterfoil.audit.values.dispute import Dispute, TensorDivergence
from counterfoil.audit.values.events import (
    IMITATION,
    AuditFinished,
    AuditStarted,
    CheckChanged,
    DisputeLocated,
    DivergenceMeasured,
    Event,
    ProgressRestored,
    ResumedFromCheckpoint,
    StepReplayed,
)
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, OrderSource
from counterfoil.audit.values.report import AuditReport, Kept, Steering
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.sampling import Sample, Segment, planned_steps, ranges, segment, segment_count
from counterfoil.audit.values.steptable import StepMatch, StepRow, StepTable, unpack
from counterfoil.audit.values.workers import ReplayedAt, ReplayedBy, Where, by_place, elsewhere, segment_places
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import DIGEST_BYTES, Digest
from counterfoil.base.errors import (
    CancelledError,
    CommitmentError,
    CounterfoilError,
    DeviceError,
    FileChangedError,
    GivenFileError,
    LogError,
    NonFiniteError,
    ProgramError,
    ProgressError,
    RefusedError,
    WorkerError,
)
from counterfoil.base.generators import ByPercent, relay
from counterfoil.base.precision import ExactPrecision, Precision
from counterfoil.base.sentence import Sentence, enumeration, joined, say
from counterfoil.base.trouble import obstacles_noticed
from counterfoil.bundle.capsule import CapsuleContents
from counterfoil.bundle.datafile import a_slip_of_the_giver, open_data_file
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import OrderManifest, RunClaim
from counterfoil.bundle.steady import SteadyFile
from counterfoil.commit.merkle import MerkleComparison, MerkleTree, first_difference
from counterfoil.kernels.counts import Counts
from counterfoil.training.loaded import LoadedOrder

_LONG_BYTES = 2**28
"""Hashing a file of more than this takes so long that it is shown."""
Result = TypeVar("Result")
Chain = Agreed[State] | Drifting[State] | Ended
NAMED_STATES = 8
"""Damaged stored states that are named one by one."""
DETAILED = 32
"""Differing tensors of a dispute that are described down to single elements."""


def run_audit(
    request: AuditRequest, cancel: CancelToken | None = None, outside: Outside | None = None
) -> Iterator[Event]:
    """Audit a run: inspect it, replay it, and conclude.

    Whatever the bundle holds and whatever happens to the replay ends in a report, never in an exception of ours.

    Args:
        request: What to audit.
        cancel: Stops it.
        outside: How it reaches what lies outside of a box; unless given, this process does all itself.

    Yields:
        AuditStarted, then what happens, then AuditFinished. Before that, for a large file, how far it is hashed.

    Raises:
        GivenFileError: A file that the auditor named is not there, or is none of its kind: the client's order, the data
            file. That is the auditor's slip and says nothing of the run, so there is no report that could be signed.
    """
    yield from _run(_Progress(request, outside or Outside()), cancel or CancelToken())


def imitated_audit(request: AuditRequest, perturbation: str, cancel: CancelToken | None = None) -> Iterator[Event]:
    """Audit as :func:`run_audit` does, on imitated hardware, to measure what honest machines do to a replay.

    The report's environment names the perturbation, and no verdict can be made of it. Nothing is kept of its progress.

    Args:
        request: What to audit.
        perturbation: The hardware to imitate (:mod:`counterfoil.arithmetic.compute.perturbed`).
        cancel: Stops it.

    Raises:
        ValueError: There is no such perturbation, or the request asks for progress to be kept.
    """
    perturbed(perturbation)
    if request.progress is not None or request.resume:
        raise ValueError("no progress is kept of an audit on imitated hardware")
    return _run(_Progress(request, Outside(), imitation=perturbation), cancel or CancelToken())


def _run(progress: _Progress, token: CancelToken) -> Iterator[Event]:
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
                    yield from _audit(request, inspection, progress, token)
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


def _settle(file: SteadyFile, progress: _Progress, cancel: CancelToken) -> Generator[Event, None, Digest]:
    """Hash the file; says how far it is where that takes long."""

    def hashing(percent: int) -> CheckChanged:
        return CheckChanged(Check(CheckNumber.FORMAT, CheckState.RUNNING, say("Hashing the file: {0} %.", percent)))

    return (yield from relay(file.settle(cancel), ByPercent(hashing, above=_LONG_BYTES)))


@dataclass
class _Progress:
    """What is known so far; becomes the report."""

    request: AuditRequest
    outside: Outside
    inspection: Inspection | None = None
    client_order: Digest | None = None
    bundle_digest: Digest | None = None
    sample: Sample | None = None
    started: bool = False
    cancelled: bool = False
    error: CounterfoilError | None = None
    steps: StepTable = field(default_factory=StepTable)
    dispute: Dispute | None = None
    seconds: float = 0.0
    evidence: CapsuleContents | None = None
    account: SteeringAccount | None = None
    environment: tuple[tuple[str, str], ...] = ()
    later_checks: dict[CheckNumber, Check] = field(default_factory=dict)
    keeper: Keeper | None = None
    basis: Basis | None = None
    nonce: KeptNonce | None = None
    imitation: str | None = None
    places: dict[int, Where] = field(default_factory=dict)
    """Who replayed each segment, and where, by number."""

    @property
    def interrupted(self) -> bool:
        """Whether the audit did not come to its end, for no reason that lies in the run."""
        return self.cancelled or not isinstance(self.error, (RefusedError, NonFiniteError, type(None)))

    def settle_keeping(self) -> None:
        """Keep the progress of an audit that was interrupted; one that came to its end needs none."""
        staying = self.interrupted or self.request.retain
        if self.nonce is not None and not staying:
            self.nonce.remove()
        if self.keeper is not None and staying:
            self.keeper.flush()
        elif self.keeper is not None:
            self.keeper.remove()

    def leftover(self) -> tuple[Path, ...]:
        """What is left of the progress of an audit that came to its end."""
        if self.interrupted or not self.request.retain:
            return ()
        kept = () if self.keeper is None else self.keeper.files
        return kept if self.nonce is None else (*kept, self.nonce.path)

    def note(self, number: CheckNumber, state: CheckState, detail: str) -> CheckChanged:
        check = Check(number, state, detail)
        self.later_checks[number] = check
        return CheckChanged(check)

    def checks(self, rest: CheckState = CheckState.PENDING) -> tuple[Check, ...]:
        known = {**(self.inspection.checks if self.inspection else {}), **self.later_checks}
        return tuple(known.get(number, Check(number, rest)) for number in CheckNumber)

    def final_checks(self) -> tuple[Check, ...]:
        """The checks when nothing goes on any more: one that had begun and has no result was not made."""
        open_ones = (CheckState.PENDING, CheckState.RUNNING)
        return tuple(
            Check(check.number, CheckState.SKIPPED) if check.state in open_ones else check for check in self.checks()
        )

    def _coverage(self, manifest: OrderManifest | None) -> Coverage:
        if manifest is None:
            return Coverage(0, 0)
        planned = manifest.steps if self.sample is None else planned_steps(manifest, self.sample)
        return Coverage(manifest.steps, planned, self.sample)

    def report(self) -> AuditReport:
        inspection, tally = self.inspection, self.steps.tally()
        manifest = inspection.reader.manifest if inspection else None
        if inspection is None and isinstance(self.error, RefusedError):
            self.note(CheckNumber.FORMAT, CheckState.FAILED, self.error.sentence)
        coverage = self._coverage(manifest)
        outcome, reason, changed = conclude(
            tally,
            dispute=self.dispute,
            coverage=coverage,
            error=self.error,
            cancelled=self.cancelled,
            steering=self._steering(),
            exact=self._exact_bits(manifest) is not None,
        )
        for check in changed:
            self.later_checks.setdefault(check.number, check)
            if self.later_checks[check.number].state is CheckState.RUNNING:
                self.later_checks[check.number] = check
        claim = inspection.claim if inspection else None
        # Check 2 reads the client's order again; what it compared is what counts.
        client = (inspection.client_order if inspection else None) or self.client_order
        known = self.request.client_key
        if inspection is not None and inspection.broken_signature and client == inspection.reader.manifest.digest:
            client = None  # check 2 ended before it could compare them
        held = manifest.digest if manifest else None
        return AuditReport(
            outcome=outcome,
            reason=reason,
            checks=self.final_checks(),
            order_digest=client or held,
            order_source=self._order_source(client),
            run_order=held,
            run_root=claim.run_root if claim else None,
            bundle_digest=self.bundle_digest,
            bundle_name=Path(self.request.run).name,
            trainer_key=inspection.trainer_key if inspection else "",
            given_key=self.request.trainer_key.key_id if self.request.trainer_key else "",
            title=manifest.title if manifest else "",
            steps_ordered=coverage.ordered,
            steps_planned=coverage.planned,
            steps_replayed=tally.judged,
            mismatched_steps=tally.mismatched,
            dispute=self.dispute,
            corrections=tally.corrections,
            contradictions=tally.contradictions,
            omissions=tally.omissions,
            log_entries=tally.log_entries,
            log_bytes=tally.log_bytes,
            rounded_values=tally.rounded_values,
            seconds=self.seconds,
            environment=environment_after(self.environment),
            trainer_environment=claim.environment if claim else (),
            client_key=inspection.client_key if inspection else "",
            given_client_key=known.key_id if known else "",
            accepted_at=inspection.acceptance.accepted_at if inspection and inspection.acceptance else "",
            accepted_client=(inspection.acceptance.client_key or "") if inspection and inspection.acceptance else "",
            sample=self.sample,
            steering=self._steering(),
            without_bound=self._without_bound(),
            exact_bits=self._exact_bits(manifest),
            replayed_at=self.replayed_at,
        )

    @property
    def replayed_at(self) -> tuple[ReplayedAt, ...]:
        """Where the segments were replayed; empty when this machine replayed them all."""
        return by_place(self.places) if elsewhere(self.places, here(self.environment)) else ()

    @staticmethod
    def _exact_bits(manifest: OrderManifest | None) -> int | None:
        precision = None if manifest is None else manifest.precision
        return precision.bits if isinstance(precision, ExactPrecision) else None

    def _order_source(self, client: Digest | None) -> OrderSource:
        if client is not None:
            return "client"
        whose = None if self.inspection is None else self.inspection.whose
        return "bundle" if whose is None else whose.source

    def _without_bound(self) -> tuple[str, ...] | None:
        order = self.inspection.order if self.inspection else None
        return (
            None if order is None else arithmetic_of(order.manifest.precision).kinds_without_proof(order.programs.all)
        )

    def _steering(self) -> Steering | None:
        return self.account.result() if self.account is not None and self.steps.judged else None


def _audit(request: AuditRequest, inspection: Inspection, progress: _Progress, cancel: CancelToken) -> Iterator[Event]:
    if inspection.failure is not None:
        raise inspection.failure
    if not inspection.reader.has_run:
        raise RefusedError(
            say("The file is an order that nobody has run, so there is nothing to audit."),
            remedy=say("Open the trainer's run of it."),
        )
    order = inspection.order
    assert order is not None
    machine = open_machine(request.device, request.threads)
    progress.environment = machine.environment_of_a_judge
    if progress.imitation is not None:
        progress.environment = tuple(sorted((*progress.environment, (IMITATION, progress.imitation))))
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
    request: AuditRequest, progress: _Progress, claim: RunClaim, manifest: OrderManifest, kept: KeptAudit | None
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


def _take_up(request: AuditRequest, progress: _Progress, run_root: Digest, manifest: OrderManifest) -> KeptAudit | None:
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
    order: LoadedOrder, request: AuditRequest, progress: _Progress, stack: ExitStack, cancel: CancelToken
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
    progress: _Progress,
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
        with step_replayer(order, machine, perturbation=progress.imitation, cancel=cancel) as steps:
            precision = order.manifest.precision
            if isinstance(precision, Precision):
                progress.account = SteeringAccount(order.programs, precision.significand_bits)
            replay = _Replay(request, inspection, order, progress, progress.account, steps)
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


class _Replay:
    """Replays segments, ascending; each from the agreed state before it, which is the replay's own where it has one."""

    def __init__(
        self,
        request: AuditRequest,
        inspection: Inspection,
        order: LoadedOrder,
        progress: _Progress,
        account: SteeringAccount | None,
        steps: StepReplayer,
    ) -> None:
        assert inspection.tree is not None
        self._request = request
        self._inspection = inspection
        self._reader = inspection.reader
        self._records = inspection.records
        self._tree = inspection.tree
        self._order = order
        self._progress = progress
        self._account = account
        self._steps = steps
        # Under an exact profile nothing is rounded to a grid.
        self._rounded_values = order.programs.map(
            lambda program: 0 if account is None else sum(site.elements for site in program.sites)
        )
        self._agreed: tuple[int, State] = (0, order.initial)
        self._ahead: Ahead | None = None
        """The replay of the next step, where it was begun before this one was judged."""
        self._omissions = Omissions()
        self._begun = time.perf_counter()
        self._divergences: list[KeptDivergence] = []
        self._segments = 0
        """How many of the chosen segments are judged."""
        self._not_replayed = ""
        """Why a segment was replayed by nobody, as a sentence."""
        self._here: Where = ReplayedBy.AUDIT, here(progress.environment)
        self._log_entries = self._reader.log_entries()
        """What the run says of the length of each log, which nothing signed binds."""
        self._miscounted: list[tuple[int, int]] = []
        """Steps of which it says something else than their log, with the entries of that."""
        self._damaged: list[int] = []
        """Steps whose stored state is not the one that the run commits to."""
        self._ended: NonFiniteError | ProgramError | None = None
        """Why the first step that came to no result, and accuses nobody, did not."""
        self._unreached: list[int] = []
        """Chosen steps before which no state to start from was left."""

    def _chosen(self, first: int, end: int | None) -> Iterator[Segment]:
        """Yield the chosen segments, counted from 0, from one on to before another."""
        assert self._progress.sample is not None
        for number in islice(self._progress.sample.numbers(), first, end):
            yield segment(self._order.manifest, number)

    def restore(self, kept: KeptAudit) -> Iterator[Event]:
        """Take over what an earlier audit kept, and report it again.

        Raises:
            ProgressError: It does not fit the run after all.
        """
        judged = [step for part in self._chosen(0, kept.segments) for step in range(part.first, part.last + 1)]
        try:
            rows = list(unpack(kept.steps, self._tree.leaf))
            if self._account is not None:
                self._account.restore(kept.steering_steps, kept.steering_sums)
        except (IndexError, ValueError) as error:
            raise misfit(str(error)) from error
        if [row.step for row in rows] != judged:
            raise misfit("its steps are not those of its segments")
        shapes = self._shapes
        for row in rows:
            yield self._judged(row)
        for divergence in kept.divergences:
            self._divergences.append(divergence)
            yield DivergenceMeasured(divergence.step, all_tensors(divergence, shapes))
        if kept.dispute is not None:
            self._progress.dispute = kept.dispute
            yield DisputeLocated(kept.dispute)
        self._progress.seconds = kept.seconds
        self._omissions = Omissions(kept.omissions)
        self._segments = kept.segments
        self._progress.places = segment_places(kept.replayed_at)
        assert self._progress.keeper is not None
        assert self._progress.keeper.kept is not None
        yield ProgressRestored(self._progress.keeper.kept, len(rows))

    @property
    def left(self) -> tuple[int, ...]:
        """The numbers of the chosen segments that are not judged yet."""
        return tuple(part.number for part in self._chosen(self._segments, None))

    def run(self, helpers: Helpers | None = None) -> Iterator[Event]:
        """Judge the chosen segments that are not judged yet, ascending.

        Args:
            helpers: Who replays segments too. What came out right there is taken; all else is replayed here.

        What keeps one segment from being judged does not keep the others: it is raised when these are judged.

        Raises:
            CommitmentError: A stored state is not the one that the run commits to.
            NonFiniteError: A step comes to no result, although the trainer recorded one.
            ProgramError: The same, since an operator rejects its arguments.
            WorkerError: No worker is left, one is refuted, or a segment was replayed by nobody.
        """
        drawn = () if helpers is None else self._drawn(helpers.offered(self.left))
        for part in self._chosen(self._segments, None):
            if self._is_settled and not self._request.continue_after_dispute:
                return
            if helpers is None:
                yield from self._here_alone(part)
            else:
                yield from self._helped(part, helpers, part.number in drawn)
            self._segments += 1
            if not (self._not_replayed or self._damaged or self._ended):  # what is kept ends before it
                self._keep(part.last)
        if helpers is not None:
            yield from helpers.report()
        if self._damaged:
            raise CommitmentError(self._damage, remedy=say("Ask the trainer for the file again."))
        if self._ended is not None:
            raise self._ended
        if self._not_replayed:
            raise WorkerError(
                self._not_replayed,
                remedy=say("Go on with --resume without workers, or on machines with more memory."),
            )
        self._check_counted()

    def _check_counted(self) -> None:
        """Refuse a run that says another number of log entries than its logs have; raises CommitmentError.

        Nothing signed binds the number, so it accuses nobody, and it comes last, so that it hides nothing.
        """
        for step, entries in self._miscounted[:1]:
            sentence = say(
                "The file says that the rounding log of step {0} has {1} entries, and the log itself, which the "
                "trainer signed, has {2}. Nobody signed that number: the file was altered or damaged, or was not "
                "recorded by Counterfoil.",
                step,
                int(self._log_entries[step - 1]),
                entries,
            )
            self._progress.note(CheckNumber.LOG, CheckState.FAILED, sentence)
            raise CommitmentError(sentence, remedy=say("Ask the trainer for the file again."))

    def _here_alone(self, part: Segment) -> Generator[Event, None, None]:
        """Judge a segment here, and note that it was."""
        yield from self._segment(part)
        self._progress.places[part.number] = self._here

    @property
    def _is_settled(self) -> bool:
        """Whether a step was found that accuses by itself; a difference that does not is no reason to stop."""
        return self._progress.dispute is not None and self._progress.dispute.stands_alone

    def _drawn(self, numbers: Sequence[int]) -> frozenset[int]:
        """Draw the segments that are replayed here too; whoever replays them does not know it."""
        return frozenset(secrets.SystemRandom().sample(numbers, min(self._request.recheck, len(numbers))))

    def _helped(self, part: Segment, helpers: Helpers, again: bool) -> Iterator[Event]:
        """Judge a segment that somebody else has replayed; ``again`` says that it is replayed here too."""
        found = yield from helpers.result(part.number)
        if isinstance(found, Missing) and found.left_out:
            self._not_replayed = self._not_replayed or found.why
            for step in range(part.first, part.last + 1):
                yield self._judged(self._row(step, StepMatch.UNJUDGED, None, time.perf_counter()))
            return
        if isinstance(found, Missing) or self._unfit(found.result, part):
            if isinstance(found, Missing):
                yield self._progress.note(CheckNumber.REPLAY, CheckState.RUNNING, found.why)
            yield from _attended(self._here_alone(part), helpers)
            return
        if again:
            yield from self._again(part, found, helpers)
        yield from self._take(part, found.result)
        self._progress.places[part.number] = found.by, found.place

    def _unfit(self, result: SegmentResult, part: Segment) -> str:
        """Why what was found elsewhere cannot be taken, in a few words; empty when it can."""
        try:
            return unfit(result, part, None if self._account is None else self._account.sites, self._signed)
        except LogError as error:  # the audit's own replay says what that means
            return error.sentence

    def _signed(self, step: int) -> SignedStep:
        """Return what the trainer signed of a step, as it stands in the run; raises LogError."""
        logs, loss = read_log(self._order, self._records[step], self._reader.log(step)), self._records[step].loss
        first = 0 if self._account is None else self._account.first_site(step)
        entries = tuple(len(log.indices) for log in logs)
        return SignedStep(self._tree.leaf(step), float("nan") if loss is None else loss, first, entries)

    def _again(self, part: Segment, found: Found, helpers: Helpers) -> Iterator[Event]:
        """Replay a segment that came out right elsewhere; raises WorkerError when it does not come out so here."""
        progress, machine = self._progress, found.place.machine
        doing = say("Replaying segment {0} here too, as a check of {1}.", part.number, machine)
        yield progress.note(CheckNumber.REPLAY, CheckState.RUNNING, doing)
        opened = Opened(self._reader, self._records, self._tree, self._order, self._steps)
        own = yield from _attended(relay(replay_segment(opened, part), lambda _: None), helpers)
        # Whatever all machines agree on is bound by the run already; a fault of the log shows in the replay alone.
        where = self._unfit(own, part)
        yield progress.note(CheckNumber.REPLAY, CheckState.RUNNING, "")
        if where:
            # What this machine finds counts, a dispute too.
            yield from self._here_alone(part)
            raise WorkerError(
                say(
                    "Segment {0} came out right on the machine {1}, it said, and here it does not ({2}). What the "
                    "workers say cannot be relied on.",
                    part.number,
                    machine,
                    where,
                ),
                remedy=say("Audit the run again without workers, and look what is wrong with that machine."),
            )

    def _take(self, part: Segment, result: SegmentResult) -> Iterator[Event]:
        """Take a segment that came out right elsewhere: leaves, and so states, are the trainer's."""
        for step in result.steps:
            leaf, counts = Digest(step.leaf), step.counted
            yield self._judged(self._row_of(step.step, StepMatch.MATCH, leaf, step.loss, counts, step.seconds))
        if self._account is not None:
            self._account.take(range(part.first, part.last + 1), result.sums)
        # What is stored after it lies in the audit's own file, so nobody needs to be believed about it.
        if (yield from self._stored(part.last)) is not None:
            divergence = KeptDivergence(part.last, ())
            self._divergences.append(divergence)
            yield DivergenceMeasured(part.last, all_tensors(divergence, self._shapes))

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(tensor.shape) for name, tensor in sorted(self._order.initial.items())}

    def _keep(self, step: int) -> None:
        """Note what is known between two segments; the next one can start from a state that the trainer signed."""
        progress = self._progress
        keeper, basis, sample = progress.keeper, progress.basis, progress.sample
        if keeper is None or basis is None or sample is None:
            return
        segments, divergences = self._segments, len(self._divergences)
        dispute, omissions, sums = (
            progress.dispute,
            self._omissions.steps,
            ((), ()) if self._account is None else self._account.sums,
        )
        seconds = progress.seconds + time.perf_counter() - self._begun
        replayed_at = by_place(progress.places)

        def data(capsule: Digest | None) -> KeptAudit:
            return KeptAudit(
                basis=basis,
                sample=sample,
                segments=segments,
                steps=progress.steps.pack(step),
                divergences=tuple(self._divergences[:divergences]),
                dispute=dispute,
                omissions=omissions,
                steering_steps=sums[0],
                steering_sums=sums[1],
                seconds=seconds,
                capsule=None if capsule is None else capsule.value,
                replayed_at=replayed_at,
            )

        keeper.keep(segments, sample.count, step, data, progress.evidence)

    def _segment(self, part: Segment) -> Generator[Event, None, None]:
        """Replay a segment from the agreed state before it, and compare what it comes to with the stored state."""
        state = yield from self._state_before(part)
        chain: Chain = Ended() if state is None else Agreed(state, state)
        outcome: ReplayedStep | None = None
        first = part.first
        look = None if state is None or first == 1 else look_at_state(self._order, first - 1, state)
        if look is not None:
            yield self._judged(self._row(first, StepMatch.MISMATCH, None, time.perf_counter()))
            if self._asks_arbiter:
                yield from self._dispute(first, None, look, state)
            chain, first = Ended(), first + 1
        for step in range(first, part.last + 1):
            chain, outcome = yield from self._step(step, chain, part.last)
        trainer = yield from self._stored(part.last)
        # Nothing is compared where the last step was not replayed: there is no state of the replay's to compare.
        if outcome is not None and trainer is not None:
            yield from self._measure(part, trainer, outcome)
        # Otherwise the next segment starts from the trainer's stored state, so that one lie is not counted again and
        # again, and a later one is still found.
        if isinstance(chain, Agreed):
            self._agreed = part.last, chain.state

    def _step(self, step: int, chain: Chain, last: int) -> Generator[Event, None, tuple[Chain, ReplayedStep | None]]:
        """Replay and judge a step of a segment that ends with ``last``.

        While its new state is digested the next step is replayed on, which is of use if this one turns out right.

        Returns:
            Where the replay stands then, and what the step gave, if anything.
        """
        begun = time.perf_counter()
        try:
            logs = read_log(self._order, self._records[step], self._reader.log(step))
        except LogError as error:
            yield from self._unreadable(step, error, chain.committed if isinstance(chain, Agreed) else None, begun)
            return after(chain, Lost()), None
        # A step after the end of its chain has no state to start from; it says nothing of the trainer.
        outcome = None if isinstance(chain, Ended) else (yield from self._attempt(step, chain, logs))
        if isinstance(outcome, CounterfoilError):
            assert isinstance(chain, Agreed)
            return (yield from self._no_result(step, chain, logs, outcome, begun))
        if outcome is None:
            yield self._judged(self._row(step, StepMatch.UNJUDGED, None, begun))
            return after(chain, Lost()), None
        ahead: Ahead | None = None
        if isinstance(chain, Agreed) and step < last:
            following = partial(self._reader.log, step + 1)
            ahead = self._steps.look_ahead(outcome, self._records[step + 1], following)
        match = match_of(chain, outcome.leaf == self._tree.leaf(step))
        if match is StepMatch.MATCH and self._account is not None:
            self._account.add(step, outcome.counts)
        self._ahead = ahead if match is StepMatch.MATCH else None
        yield self._judged(self._row(step, match, outcome, begun))
        # A step that matches has the trainer's state. One of a drifting chain never leads back: ``after`` sees to it.
        agrees = True
        if match is StepMatch.MISMATCH:
            assert isinstance(chain, Agreed)
            outcome, agrees = yield from self._differs(step, chain, logs, outcome)
        found: Reached[State] = Reached(outcome.result.state, agrees, self._order.manifest.is_committed(step))
        return after(chain, found), outcome

    def _differs(
        self, step: int, chain: Agreed[State], logs: Logs, outcome: ReplayedStep
    ) -> Generator[Event, None, tuple[ReplayedStep, bool]]:
        """Look closer at a step that differs; returns what to go on from, and whether that is the trainer's."""
        if self._asks_arbiter:
            reached = yield from self._locate(step, chain, logs, outcome)
            if reached is not None:  # rounding explains the difference, and this is the trainer's own state
                return reached, True
        # Where the state is not digested, fingerprints that differ are the sign that it differs too.
        sign = "state" if outcome.record.state_root is not None else "fingerprints"
        return outcome, sign not in differing_parts(self._records[step], outcome.record)

    def _judged(self, row: StepRow) -> StepReplayed:
        self._progress.steps.put([row])
        if row.replay_leaf is not None and row.log_entries != int(self._log_entries[row.step - 1]):
            self._miscounted.append((row.step, row.log_entries))
        return StepReplayed(row)

    def _unreadable(self, step: int, error: LogError, committed: State | None, begun: float) -> Iterator[Event]:
        """A log that the trainer signed and nobody can read; ``committed`` is the agreed state before it, if any."""
        yield self._judged(self._row(step, StepMatch.MISMATCH, None, begun))
        if self._asks_arbiter:
            yield from self._dispute(step, None, unreadable(step, error), committed)

    def _no_result(
        self, step: int, chain: Agreed[State], logs: Logs, error: NonFiniteError | ProgramError, begun: float
    ) -> Generator[Event, None, tuple[Chain, ReplayedStep | None]]:
        """A step that comes to no result from the agreed state, although the trainer signed one; returns as _step."""
        look = None
        if isinstance(error, StepEndedError) and self._asks_arbiter:
            record, theirs = self._records[step], self._reader.fingerprints(step)
            look = self._omissions.note(step, (yield from look_at_end(self._steps, record, chain.state, logs, theirs)))
        if look is None or not (look.accuses or look.reached):
            yield self._judged(self._row(step, StepMatch.UNJUDGED, None, begun))
            self._ended = self._ended or no_result(step, error, look)
            return after(chain, Lost()), None
        yield self._judged(self._row(step, StepMatch.MISMATCH, None, begun))
        yield from self._dispute(step, None, look, chain.committed)
        if look.reached is None:
            return after(chain, Lost()), None
        found: Reached[State] = Reached(look.reached.result.state, True, self._order.manifest.is_committed(step))
        return after(chain, found), look.reached

    def _state_before(self, part: Segment) -> Generator[Event, None, State | None]:
        """Return the agreed state before a segment: the one that the replay came to, or the trainer's stored one.

        None where the replay did not come to it, and what is stored is not what the run commits to.
        """
        step, state = self._agreed
        if step == part.first - 1:
            return state
        stored = yield from self._stored(part.first - 1)
        if stored is None:
            self._unreached += range(part.first, part.last + 1)
            return None
        yield ResumedFromCheckpoint(part.first - 1)
        return {name: torch.from_numpy(array) for name, array in stored.items()}

    def _attempt(
        self, step: int, chain: Agreed[State] | Drifting[State], logs: Logs
    ) -> Generator[Event, None, ReplayedStep | NonFiniteError | ProgramError | None]:
        """Replay a step; returns the error where it comes to no result, or None if it need not come to one.

        It need not where the replay has parted from the trainer.
        """
        ahead, self._ahead = self._ahead, None
        try:
            if ahead is not None:
                return (yield from ahead.finish())
            return (yield from self._steps.replay(self._records[step], chain.state, logs))
        except (NonFiniteError, ProgramError) as error:
            return error if isinstance(chain, Agreed) else None

    def _row(self, step: int, match: StepMatch, outcome: ReplayedStep | None, begun: float) -> StepRow:
        leaf, loss = (None, float("nan")) if outcome is None else (outcome.leaf, outcome.result.loss)
        counts = outcome.total if outcome is not None else Counts()
        return self._row_of(step, match, leaf, loss, counts, time.perf_counter() - begun)

    def _row_of(
        self, step: int, match: StepMatch, leaf: Digest | None, loss: float, counts: Counts, seconds: float
    ) -> StepRow:
        trainer_loss = self._records[step].loss
        return StepRow(
            step=step,
            match=match,
            trainer_leaf=self._tree.leaf(step),
            replay_leaf=leaf,
            trainer_loss=float("nan") if trainer_loss is None else trainer_loss,
            replay_loss=loss,
            log_entries=counts.entries,
            log_bytes=self._reader.log_size(step),
            corrections=counts.corrections,
            contradictions=counts.contradictions,
            omissions=counts.omissions,
            rounded_values=self._rounded_values.of(step) if leaf is not None else 0,
            seconds=seconds,
            steerable=counts.steerable,
            steered=counts.steered,
        )

    def _stored(self, step: int) -> Generator[Event, None, Arrays | None]:
        """Return the trainer's stored state after a step; None where it is not the one that the run commits to."""
        trainer = self._reader.checkpoint(step)
        try:
            self._reader.check_checkpoint(step, trainer)
        except CommitmentError:
            # A file that is being written to may show anything.
            self._reader.file.check_unchanged()
            if step not in self._damaged:
                self._damaged.append(step)
            yield self._progress.note(CheckNumber.COMMITMENTS, CheckState.FAILED, self._damage)
            return None
        return trainer

    @property
    def _damage(self) -> Sentence:
        """What is wrong with the stored states, and what could not be judged for it."""
        steps = enumeration([str(step) for step in self._damaged[:NAMED_STATES]])
        what = (
            say("The stored state of step {0} differs from the state root of that step.", steps)
            if len(self._damaged) == 1
            else say("{0} stored states differ from the state roots of their steps ({1}).", len(self._damaged), steps)
        )
        unreached = ", ".join(
            str(first) if first == last else f"{first}-{last}" for first, last in ranges(self._unreached)
        )
        return joined(
            what,
            say(
                "The file was damaged or altered after it was signed, or the trainer signed another state than it "
                "stored."
            ),
            say("Steps that could not be judged for it: {0}.", unreached) if unreached else "",
        )

    def _measure(self, part: Segment, trainer: Arrays, outcome: ReplayedStep) -> Iterator[Event]:
        tensors = compare_states(trainer, outcome.arrays)
        self._divergences.append(kept_divergence(part.last, tensors))
        yield DivergenceMeasured(part.last, tensors)
        dispute = self._progress.dispute
        # The state at the end of this segment says nothing of a dispute in an earlier one, whose chain was lost.
        if dispute is not None and dispute.compared_at is None and dispute.step >= part.first:
            self._progress.dispute = replace(
                dispute,
                compared_at=part.last,
                tensors=_differing(tensors, trainer, outcome.arrays),
                trainer_state=self._records[part.last].state_root,
                replay_state=outcome.record.state_root,
            )
            yield DisputeLocated(self._progress.dispute)

    @property
    def _asks_arbiter(self) -> bool:
        """Whether to look closer at a step that differs: until one accuses by itself.

        A trainer whose first differences are rounding, honest or left out of its log, must not get away with a later
        one that is not, however many there are; and only a step that stands alone can be handed on in a capsule.
        """
        return not self._is_settled

    def _locate(
        self, step: int, chain: Agreed[State], logs: Logs, outcome: ReplayedStep
    ) -> Generator[Event, None, ReplayedStep | None]:
        """Look closer at a step that differs; returns the step as the trainer has it, if rounding explains it all."""
        fingerprints = self._reader.fingerprints(step)
        look = yield from second_look(self._steps, self._records[step], chain.state, logs, outcome, fingerprints)
        look = self._omissions.note(step, look)
        yield from self._dispute(step, outcome, look, chain.committed)
        return look.reached

    def _dispute(
        self, step: int, outcome: ReplayedStep | None, look: SecondLook, committed: State | None
    ) -> Iterator[Event]:
        """Keep what a closer look brought, if it is the first, the first that accuses, or one that stands alone."""
        found = self._progress.dispute
        if found is not None and not look.stands_alone and (found.accuses or not look.accuses):
            return
        dispute = dispute_of(
            self._order.programs.of(step),
            self._records[step],
            self._tree.inclusion_proof(step),
            self._reader.fingerprints(step),
            outcome,
            look,
            () if outcome is None else self._path(step, outcome.leaf),
        )
        self._progress.dispute = dispute
        yield DisputeLocated(dispute)
        if dispute.stands_alone and committed is not None:
            self._progress.evidence = gather(self._inspection, self._order, step, committed)

    def _path(self, step: int, leaf: Digest) -> tuple[MerkleComparison, ...]:
        """Return the comparisons that lead from the run root to the leaf of a step."""
        leaves = [self._tree.leaf(index) for index in range(self._tree.size)]
        leaves[step] = leaf
        return first_difference(self._tree, MerkleTree(leaves))[1]


def _attended(work: Generator[Event, None, Result], helpers: Helpers) -> Generator[Event, None, Result]:
    """Do work here, while helpers are kept busy."""
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield event
        yield from helpers.pump()


def _differing(tensors: tuple[TensorDivergence, ...], trainer: Arrays, replay: Arrays) -> tuple[TensorDivergence, ...]:
    """Return the differing tensors, worst first, the worst of them in detail: a detail costs hashing both sides."""
    found = sorted((t for t in tensors if t.differing), key=lambda t: (-t.max_abs, t.name))
    detailed = (replace(t, detail=detail_difference(t.name, trainer[t.name], replay[t.name])) for t in found[:DETAILED])
    return (*detailed, *found[DETAILED:])
