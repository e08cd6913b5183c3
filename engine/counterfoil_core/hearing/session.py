"""The session of an auditor: opens a run, admits it, plans, has the segments replayed, judges and concludes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext

from counterfoil_core.arithmetic.machine import Machine, OpenMachine, open_machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import (
    CancelledError,
    CounterfoilError,
    DataError,
    DeviceError,
    FileChangedError,
    GivenFileError,
    ProgressError,
    RefusedError,
)
from counterfoil_core.base.generators import ByPercent, relay
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.datafile import a_slip_of_the_giver, open_data_file
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.farfile import FetchedFile
from counterfoil_core.bundle.openfile import OpenFile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.hearing.company import Company
from counterfoil_core.hearing.inspection import Inspection, file_digest, make_checks, trainer_columns
from counterfoil_core.hearing.keptaudit import Basis, KeptAudit, misfit
from counterfoil_core.hearing.knowledge import Ledger, all_checks
from counterfoil_core.hearing.outside import Helpers, Keeper, Nonce, Outside
from counterfoil_core.hearing.report import report_of
from counterfoil_core.hearing.result import Identity
from counterfoil_core.hearing.segments import SegmentReplay
from counterfoil_core.hearing.work import Opened
from counterfoil_core.order.evaluation import score_names
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.parties.beacons import check_beacon
from counterfoil_core.parties.signatures import read_client_order
from counterfoil_core.remote.address import Address
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.values.events import IMITATION, AuditFinished, AuditStarted, CheckChanged, Event
from counterfoil_core.values.outcome import CheckNumber, CheckState
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import Sample, planned_steps, segment_count
from counterfoil_core.values.steptable import StepTable


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
        outside: How it reaches what lies beside the files: progress, nonces, workers, addresses, facts.
        machines: Sets up the machine that computes. Of one that imitates other hardware the report's environment names
            that, no verdict can be made of it, and no progress is kept.

    Yields:
        AuditStarted, then what happens, then AuditFinished. Before that, for a large file, how far it is hashed.

    Raises:
        GivenFileError: A file that the auditor named is not there, or is none of its kind: the client's order, the data
            file. That is the auditor's slip and says nothing of the run, so there is no report that could be signed.
        ValueError: Progress is to be kept of an audit on imitated hardware; or the request names what lies outside,
            and ``outside`` is not given.
    """
    asked = request.progress, request.workers, request.facts or None
    if outside is None and (any(each is not None for each in asked) or isinstance(request.run, Address)):
        raise ValueError("progress, workers, facts and addresses lie outside, and nobody reaches them")
    yield from _Audit(request, outside, cancel or CancelToken(), machines).events()


class _Audit:
    """One audit; its methods come in the order in which it goes: open, inspect, admit, plan, replay, conclude."""

    def __init__(
        self, request: AuditRequest, outside: Outside | None, cancel: CancelToken, machines: OpenMachine
    ) -> None:
        self._request = request
        self._outside = outside
        self._cancel = cancel
        self._machines = machines
        self._ledger = Ledger()
        self._note, self._learn = self._ledger.note, self._ledger.learn
        self._keeper: Keeper | None = None
        self._nonce: Nonce | None = None

    def events(self) -> Iterator[Event]:
        """Audit; see :func:`run_audit`."""
        try:
            yield from self._open()
        except GivenFileError:
            raise
        except FileChangedError as error:
            # A verdict would name a file that is no more.
            self._learn(error=error, bundle_digest=None)
        except CounterfoilError as error:
            self._learn(error=error)
        if not self._ledger.known.started:
            inspection = self._ledger.known.inspection
            checks = all_checks({} if inspection is None else inspection.checks)
            yield self._note(AuditStarted(0, (), self._request.device, checks))
        yield self._concluded()

    def _open(self) -> Iterator[Event]:
        request = self._request
        # A slip is said before a large file is read.
        with obstacles_noticed():
            given = read_client_order(request.order, None if isinstance(request.run, Address) else request.run)
            if given is not None:
                self._learn(client_order=given.digest)
        with obstacles_noticed(), self._opened() as file:
            if isinstance(file, SteadyFile):
                # Before a byte is looked at: whatever is judged from here on is what the verdict names.
                self._learn(bundle_digest=(yield from file_digest(file, self._cancel)))
            try:
                with obstacles_noticed():
                    yield from self._audit(file)
            except FileChangedError:
                raise
            except CounterfoilError as error:
                file.stand_by(error)
                raise
            file.check_unchanged()

    def _opened(self) -> OpenFile:
        run = self._request.run
        if isinstance(run, Address):
            assert self._outside is not None
            return FetchedFile(self._outside.ranges(run, self._cancel))
        return SteadyFile.open(run)

    def _audit(self, file: OpenFile) -> Iterator[Event]:
        inspection = self._inspect(file)
        order, claim, machine = self._admit(inspection)
        # The score is what an evaluation is for.
        if self._outside is not None and (self._request.facts or score_names(order.programs.all)):
            self._learn(facts=self._outside.facts(inspection))
        kept = yield from self._plan(inspection, order, claim)
        with ExitStack() as stack:
            if order.manifest.outside:
                order = yield from self._with_data(order, stack)
            yield from self._self_test(machine, order.manifest)
            yield from self._replay(inspection, order, claim, machine, kept)

    def _inspect(self, file: OpenFile) -> Inspection:
        """Make checks 1 to 6."""
        request, inspection = self._request, Inspection(BundleReader(file))
        self._learn(inspection=inspection)
        make_checks(
            inspection, request.order, request.trainer_key, self._cancel, request.heads, request.limits,
            request.client_key,
        )  # fmt: skip
        if inspection.failure is not None:
            raise inspection.failure
        return inspection

    def _admit(self, inspection: Inspection) -> tuple[LoadedOrder, RunClaim, Machine]:
        """Return what is to be replayed, and the machine that can."""
        if not inspection.reader.has_run:
            raise RefusedError(
                say("The file is an order that nobody has run, so there is nothing to audit."),
                remedy=say("Open the trainer's run of it."),
            )
        assert inspection.order is not None
        assert inspection.claim is not None
        order, claim = LoadedOrder.of(inspection.order), inspection.claim
        self._check_shares(order.manifest)
        machine = self._machines(self._request.device, self._request.threads)
        environment = machine.environment_of_a_judge
        if machine.imitates is not None:
            if self._request.progress is not None or self._request.resume:
                raise ValueError("no progress is kept of an audit on imitated hardware")
            environment = tuple(sorted((*environment, (IMITATION, machine.imitates))))
        self._learn(environment=environment)
        machine.check_memory(order.all_programs, order.manifest.precision, order.combining_bytes()[1])
        self._learn(steps=StepTable(trainer_columns(inspection.reader)))
        return order, claim, machine

    def _check_shares(self, manifest: OrderManifest) -> None:
        """Check that the shares that are to be judged by themselves are there; raises DataError."""
        chosen, shares = self._request.shares, manifest.shares
        if not chosen:
            return
        if shares is None:
            raise DataError(
                say("Shares are to be judged, and the steps of this order have none."),
                remedy=say("Leave out which shares: whole steps are replayed then."),
            )
        if any(share >= shares.count for share in chosen) or len(set(chosen)) < len(chosen):
            raise DataError(
                say("The steps of this order have the shares 0 to {0}, and each can be chosen once.", shares.count - 1),
                remedy=say("Choose among these."),
            )
        if self._request.workers is not None:
            raise DataError(
                say("Workers replay whole steps, and single shares are to be judged."),
                remedy=say("Leave out the workers, or which shares."),
            )

    def _plan(
        self, inspection: Inspection, order: LoadedOrder, claim: RunClaim
    ) -> Generator[Event, None, KeptAudit | None]:
        """Choose the segments; returns what the audit is to go on from."""
        extent = inspection.reader.extent
        kept = self._take_up(claim, extent)
        sample, drawn_before = self._choose(claim, extent, kept)
        yield self._note(
            AuditStarted(
                extent.steps,
                tuple(sorted(order.initial)),
                self._request.device,
                all_checks(inspection.checks),
                planned_steps(extent, sample),
                sample,
                self._keeper.kept if self._keeper else None,
                drawn_before,
            )
        )
        return kept

    def _take_up(self, claim: RunClaim, extent: Extent) -> KeptAudit | None:
        """Say where progress is kept, and return what the audit is to go on from; raises ProgressError."""
        request, known = self._request, self._ledger.known
        if request.progress is None:
            if request.resume:
                raise ProgressError(
                    say("No file or folder for the progress of the audit was given."),
                    remedy=say("Start the audit anew, or give the file or folder of its progress."),
                )
            return None
        if known.bundle_digest is None:
            if request.resume:
                raise ProgressError(
                    say("No progress is kept of an audit of a run that lies elsewhere."),
                    remedy=say("Start the audit anew, or download the run and give the path of the copy."),
                )
            return None
        basis = Basis.of(request, known.bundle_digest, claim.order, claim.run_root, known.environment)
        assert self._outside is not None
        keeper = self._outside.keeper(request.progress, basis)
        if not request.resume:
            self._keeper = keeper
            earlier = keeper.earlier()
            if earlier is not None:
                keeper.adopt(earlier)
            return None
        kept = keeper.fitting(begin=request.begin)
        self._keeper = keeper
        if kept is not None:
            if not kept.fits(extent.steps, segment_count(extent)):
                raise misfit("it names steps or segments that the run does not have")
            evidence = keeper.evidence(kept)
            self._learn(evidence=evidence)
            keeper.adopt(kept, evidence)
        return kept

    def _choose(self, claim: RunClaim, extent: Extent, kept: KeptAudit | None) -> tuple[Sample, bool]:
        """Choose the segments, and keep a nonce that is drawn until the audit comes to its end.

        Returns:
            The sample, and whether it was drawn by an earlier audit that did not come to its end.

        Raises:
            DataError: The run has no such segments, or the beacon's round is not what it should be.
        """
        asked, place = self._request.segments, self._request.progress
        if asked.beacon is not None:
            check_beacon(asked.beacon, claim.signed_at)
        nonce = ""
        if asked.draws and place is not None:
            assert self._outside is not None
            self._nonce = self._outside.nonce(place, claim.order, claim.run_root, asked)
            nonce = self._nonce.find()
        if kept is not None:
            return kept.sample, asked.draws
        if self._nonce is None or nonce:
            return asked.resolve(extent, claim.run_root, nonce), bool(nonce)
        # What cannot be drawn is said before a nonce is.
        asked.resolve(extent, claim.run_root)
        return asked.resolve(extent, claim.run_root, self._nonce.draw()), False

    def _with_data(self, order: LoadedOrder, stack: ExitStack) -> Generator[Event, None, LoadedOrder]:
        """Finish check 3 for an order that keeps data outside, and add the data; the stack keeps the file open.

        Raises:
            GivenFileError: There is no such file, or it is not the one that the order names.
        """
        number, manifest = CheckNumber.ORDER_CONTENTS, order.manifest
        inside = self._ledger.known.checks[number - 1]

        def checking(percent: int) -> CheckChanged:
            return self._ledger.check(number, CheckState.RUNNING, say("Checking the data file: {0} %.", percent))

        try:
            with a_slip_of_the_giver():
                file = open_data_file(manifest, self._request.data, stack)
                assert file is not None, "the order keeps data outside"
                checked = yield from relay(file.check(manifest, self._cancel), ByPercent(checking))
            detail = say(
                "Program, schedule, scalars, {0} data arrays (those in {1} too) and the initial state match the order.",
                len(manifest.data),
                file.path.name,
            )
            yield self._ledger.check(number, CheckState.PASSED, detail)
            return order.with_data(checked)
        except CancelledError:
            yield self._note(CheckChanged(inside))
            raise

    def _self_test(self, machine: Machine, manifest: OrderManifest) -> Iterator[Event]:
        """Check 7."""
        yield self._ledger.check(CheckNumber.SELF_TEST, CheckState.RUNNING)
        try:
            sentence = run_selftest(machine, manifest.precision)
        except DeviceError as error:
            yield self._ledger.check(CheckNumber.SELF_TEST, CheckState.FAILED, error.sentence)
            raise
        yield self._ledger.check(CheckNumber.SELF_TEST, CheckState.PASSED, sentence)

    def _replay(
        self, inspection: Inspection, order: LoadedOrder, claim: RunClaim, machine: Machine, kept: KeptAudit | None
    ) -> Iterator[Event]:
        """Checks 8 to 10: replay the chosen segments, here and wherever somebody helps."""
        for number in (CheckNumber.REPLAY, CheckNumber.LOG, CheckNumber.COVERAGE):
            yield self._ledger.check(number, CheckState.RUNNING)
        assert inspection.tree is not None
        digest = self._ledger.known.bundle_digest
        # Nobody helps with a run that lies elsewhere, so that nothing is compared with the digest of its file.
        identity = Identity(digest or Digest(bytes(DIGEST_BYTES)), order.manifest.digest, claim.run_root)
        flops = inspection.estimate.flops if inspection.estimate is not None else 0
        self._ledger.start_clock()
        try:
            with step_replayer(order, machine, cancel=self._cancel) as steps:
                opened = Opened(inspection.reader, inspection.records, inspection.tree, order, steps)
                replay = SegmentReplay(inspection, opened, self._ledger, self._request.shares)
                company = Company(self._request, opened, replay, self._ledger, self._keeper)
                if kept is not None:
                    yield from company.restore(kept)
                with self._helpers(company.left, identity, flops) as helpers:
                    yield from company.judge(helpers)
        finally:
            self._ledger.look_at_clock()

    def _helpers(
        self, numbers: tuple[int, ...], identity: Identity, flops: float
    ) -> AbstractContextManager[Helpers | None]:
        if self._outside is None:
            return nullcontext()
        return self._outside.helpers(self._request, numbers, identity, self._cancel, flops)

    def _concluded(self) -> AuditFinished:
        """Report, and keep the progress of an audit that was interrupted; one that came to its end needs none."""
        known, keeper, nonce = self._ledger.known, self._keeper, self._nonce
        report = report_of(self._request, known)
        if known.interrupted or self._request.retain:
            if keeper is not None:
                keeper.flush()
        else:
            if nonce is not None:
                nonce.remove()
            if keeper is not None:
                keeper.remove()
        files = (*(() if keeper is None else keeper.files), *(() if nonce is None else (nonce.path,)))
        return AuditFinished(
            report,
            known.evidence,
            kept=keeper.kept if keeper is not None and known.interrupted else None,
            problem=(keeper.problem if keeper else "") or (nonce.problem if nonce else ""),
            steps=known.steps,
            leftover=files if self._request.retain and not known.interrupted else (),
            interrupted=known.interrupted,
        )
