"""The replay: executes what was ordered, step by step, and compares every Merkle leaf with the trainer's."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.audit.compare import compare_states
from counterfoil.audit.conclusion import Tally, conclude
from counterfoil.audit.events import (
    AuditFinished,
    AuditReport,
    AuditStarted,
    CheckChanged,
    Dispute,
    DisputeLocated,
    DivergenceMeasured,
    Event,
    OperatorDone,
    ResumedFromCheckpoint,
    StepMatch,
    StepReplayed,
    StepRow,
    TensorDivergence,
)
from counterfoil.audit.inspection import Inspection, open_inspection
from counterfoil.audit.locate import first_differing_operator
from counterfoil.audit.outcome import Check, CheckNumber, CheckState
from counterfoil.audit.selftest import run_selftest
from counterfoil.bundle.datafile import DataFile, missing_data
from counterfoil.bundle.schema import StepRecord
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import MerkleTree, first_difference, leaf_hash
from counterfoil.commit.state import state_root
from counterfoil.errors import CancelledError, CounterfoilError, DeviceError, LogError, NonFiniteError, RefusedError
from counterfoil.execution.devices import check_memory, environment, open_device, set_determinism
from counterfoil.execution.interpreter import (
    COMPUTE_DTYPES,
    Compute,
    Interpreter,
    StepResult,
    native,
    with_progress,
)
from counterfoil.execution.perturbed import perturbed
from counterfoil.rounding.log import SiteLog, decode
from counterfoil.rounding.rounder import Kernels, ReplayingRounder, SiteCounts, step_key
from counterfoil.signing import PublicKey
from counterfoil.training.order import LoadedOrder

State = Mapping[str, Tensor]
Arrays = dict[str, npt.NDArray[Any]]
_CONFIRMATION = "reversed"


@dataclass(frozen=True)
class AuditRequest:
    """What to audit and how.

    Attributes:
        run: The trainer's run.
        order: The client's own order; None takes the order from the run, and the verdict says so.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        continue_after_dispute: Go on from the trainer's next checkpoint after a dispute, to judge later steps too.
        trainer_key: The trainer's public key, when it is known.
        data: The data file, for an order that keeps data outside.
        perturbation: Imitate other hardware while replaying (:mod:`counterfoil.execution.perturbed`).
    """

    run: Path
    order: Path | None = None
    device: str = "cpu"
    threads: int | None = None
    continue_after_dispute: bool = True
    trainer_key: PublicKey | None = None
    data: Path | None = None
    perturbation: str | None = None


def run_audit(request: AuditRequest, cancel: CancelToken | None = None) -> Iterator[Event]:
    """Audit a run: inspect it, replay it, and conclude.

    Whatever happens to the bundle or to the replay ends in a report, never in an exception of ours.

    Yields:
        AuditStarted, then what happens, then AuditFinished.
    """
    token = cancel or CancelToken()
    progress = _Progress(request)
    try:
        with open_inspection(request.run, request.order, request.trainer_key, token) as inspection:
            progress.inspection = inspection
            progress.bundle_digest = inspection.reader.file_digest(token)
            yield from _audit(request, inspection, progress, token)
    except CancelledError:
        progress.cancelled = True
    except CounterfoilError as error:
        progress.error = error
        if progress.inspection is None:
            # No bundle, but perhaps a file: then the verdict says which file was refused.
            with suppress(OSError):
                progress.bundle_digest = Digest.of_file(request.run)
    if not progress.started:
        yield AuditStarted(0, (), request.device, progress.checks())
    yield AuditFinished(progress.report())


@dataclass
class _Progress:
    """What is known so far; becomes the report."""

    request: AuditRequest
    inspection: Inspection | None = None
    bundle_digest: Digest | None = None
    started: bool = False
    cancelled: bool = False
    error: CounterfoilError | None = None
    tally: Tally = field(default_factory=Tally)
    environment: tuple[tuple[str, str], ...] = ()
    later_checks: dict[CheckNumber, Check] = field(default_factory=dict)

    def note(self, number: CheckNumber, state: CheckState, detail: str) -> CheckChanged:
        check = Check(number, state, detail)
        self.later_checks[number] = check
        return CheckChanged(check)

    def checks(self, rest: CheckState = CheckState.PENDING) -> tuple[Check, ...]:
        known = {**(self.inspection.checks if self.inspection else {}), **self.later_checks}
        return tuple(known.get(number, Check(number, rest)) for number in CheckNumber)

    def report(self) -> AuditReport:
        inspection, tally = self.inspection, self.tally
        manifest = inspection.reader.manifest if inspection else None
        if inspection is None and isinstance(self.error, RefusedError):
            self.note(CheckNumber.FORMAT, CheckState.FAILED, self.error.sentence)
        outcome, reason, changed = conclude(
            tally,
            steps_ordered=manifest.steps if manifest else 0,
            error=self.error,
            cancelled=self.cancelled,
        )
        for check in changed:
            self.later_checks.setdefault(check.number, check)
            if self.later_checks[check.number].state is CheckState.RUNNING:
                self.later_checks[check.number] = check
        claim = inspection.claim if inspection else None
        return AuditReport(
            outcome=outcome,
            reason=reason,
            checks=self.checks(CheckState.SKIPPED),
            order_digest=manifest.digest if manifest else None,
            order_source=inspection.order_source if inspection else "bundle",
            run_root=claim.run_root if claim else None,
            bundle_digest=self.bundle_digest,
            bundle_name=Path(self.request.run).name,
            trainer_key=inspection.trainer_key if inspection else "",
            title=manifest.title if manifest else "",
            steps_ordered=manifest.steps if manifest else 0,
            steps_replayed=tally.judged,
            mismatched_steps=tuple(tally.mismatched),
            dispute=tally.dispute,
            corrections=tally.corrections,
            contradictions=tally.contradictions,
            omissions=tally.omissions,
            log_entries=tally.log_entries,
            log_bytes=tally.log_bytes,
            rounded_values=tally.rounded_values,
            seconds=tally.seconds,
            environment=self.environment,
            trainer_environment=claim.environment if claim else (),
        )


def _audit(request: AuditRequest, inspection: Inspection, progress: _Progress, cancel: CancelToken) -> Iterator[Event]:
    if inspection.failure is not None:
        raise inspection.failure
    if not inspection.reader.has_run:
        raise RefusedError(
            "The file is an order that nobody has run, so there is nothing to audit.",
            remedy="Open the trainer's run of it.",
        )
    order = inspection.order
    assert order is not None
    device = open_device(request.device)
    threads = set_determinism(request.threads)
    progress.environment = environment(device)
    check_memory(device, order.program.least_memory(COMPUTE_DTYPES[order.manifest.precision.compute].itemsize))
    progress.started = True
    yield AuditStarted(order.manifest.steps, tuple(sorted(order.initial)), request.device, progress.checks())
    with ExitStack() as stack:
        if order.manifest.outside:
            order = yield from _with_data(order, request, progress, stack, cancel)
        yield from _judge(request, inspection, order, progress, device, threads, cancel)


def _with_data(
    order: LoadedOrder, request: AuditRequest, progress: _Progress, stack: ExitStack, cancel: CancelToken
) -> Generator[Event, None, LoadedOrder]:
    """Finish check 3 for an order that keeps data outside, and add the data; the stack keeps the file open."""
    number, manifest = CheckNumber.ORDER_CONTENTS, order.manifest
    inside = progress.checks()[number - 1]
    try:
        if request.data is None:
            raise missing_data(manifest)
        file = stack.enter_context(DataFile.open(request.data))
        checking = file.check(manifest, cancel)
        shown = -1
        while True:
            try:
                done, total = next(checking)
            except StopIteration as end:
                detail = f"Program, schedule, scalars, {len(manifest.data)} data arrays (those in {file.path.name} "
                yield progress.note(number, CheckState.PASSED, f"{detail}too) and the initial state match the order.")
                return order.with_data(end.value)
            percent = 100 * done // total if total else 100
            if percent > shown:
                shown = percent
                yield progress.note(number, CheckState.RUNNING, f"Checking the data file: {percent} %.")
    except RefusedError as error:
        yield progress.note(number, CheckState.FAILED, error.sentence)
        raise
    except CancelledError:
        yield progress.note(number, inside.state, inside.detail)
        raise


def _judge(
    request: AuditRequest,
    inspection: Inspection,
    order: LoadedOrder,
    progress: _Progress,
    device: torch.device,
    threads: int,
    cancel: CancelToken,
) -> Iterator[Event]:
    """The self-test and the replay: checks 7 to 10."""
    yield progress.note(CheckNumber.SELF_TEST, CheckState.RUNNING, "")
    try:
        sentence = run_selftest(request.device)
    except DeviceError as error:
        yield progress.note(CheckNumber.SELF_TEST, CheckState.FAILED, error.sentence)
        raise
    yield progress.note(CheckNumber.SELF_TEST, CheckState.PASSED, sentence)
    for number in (CheckNumber.REPLAY, CheckNumber.LOG, CheckNumber.COVERAGE):
        yield progress.note(number, CheckState.RUNNING, "")
    kernels = Kernels(device, threads)
    begun = time.perf_counter()
    try:
        yield from _Replay(request, inspection, order, progress.tally, kernels, device, cancel).run()
    finally:
        kernels.close()
        progress.tally.seconds = time.perf_counter() - begun


@dataclass(frozen=True)
class _Step:
    """One replayed step: the new state, the leaf's record, and what the log brought to light."""

    result: StepResult
    record: StepRecord
    arrays: Arrays
    counts: tuple[SiteCounts, ...]
    entries: int
    fingerprints: npt.NDArray[np.uint64]
    own_log: tuple[SiteLog, ...]

    @property
    def leaf(self) -> Digest:
        return leaf_hash(self.record.to_bytes())


class _Replay:
    """Sequential replay from the initial state; after a dispute, on from the trainer's next checkpoint."""

    def __init__(
        self,
        request: AuditRequest,
        inspection: Inspection,
        order: LoadedOrder,
        tally: Tally,
        kernels: Kernels,
        device: torch.device,
        cancel: CancelToken,
    ) -> None:
        assert inspection.tree is not None
        self._request = request
        self._reader = inspection.reader
        self._records = inspection.records
        self._tree = inspection.tree
        self._order = order
        self._tally = tally
        self._kernels = kernels
        self._interpreter = Interpreter(order.program, device, COMPUTE_DTYPES[order.manifest.precision.compute])
        self._compute = native if request.perturbation is None else perturbed(request.perturbation)
        self._cancel = cancel
        self._elements = [site.elements for site in order.program.sites]
        self._leaves = [self._tree.leaf(index) for index in range(self._tree.size)]

    def run(self) -> Iterator[Event]:
        manifest = self._order.manifest
        state: State = self._order.initial
        drifting = False
        for step in range(1, manifest.steps + 1):
            begun = time.perf_counter()
            logs = self._log(step)
            outcome = yield from self._attempt(step, state, logs, drifting)
            if outcome is None:  # the drifting chain ended before the next checkpoint
                row = self._row(step, StepMatch.UNJUDGED, None, begun)
            else:
                equal = outcome.leaf == self._tree.leaf(step)
                match = StepMatch.UNJUDGED if drifting else StepMatch.MATCH if equal else StepMatch.MISMATCH
                row = self._row(step, match, outcome, begun)
            self._tally.add(row)
            yield StepReplayed(row)
            if row.match is StepMatch.MISMATCH:
                assert outcome is not None
                self._leaves[step] = outcome.leaf
                if self._tally.dispute is None:
                    self._tally.dispute = yield from self._dispute(step, state, logs, outcome)
                    yield DisputeLocated(self._tally.dispute)
                drifting = self._records[step].state_root != outcome.record.state_root
            if manifest.is_checkpoint(step):
                trainer = self._checkpoint(step)
                if outcome is not None:
                    yield from self._measure(step, trainer, outcome)
                if drifting:
                    if not self._request.continue_after_dispute:
                        return
                    if step < manifest.steps:
                        yield ResumedFromCheckpoint(step)
                    state, drifting = {name: torch.from_numpy(array) for name, array in trainer.items()}, False
                    continue
            if outcome is not None:
                state = outcome.result.state

    def _log(self, step: int) -> tuple[SiteLog, ...]:
        try:
            return decode(self._reader.log(step), self._elements)
        except LogError as error:
            raise LogError(
                f"The rounding log of step {step} is malformed, although the trainer signed it. {error.sentence}",
                remedy="Ask the trainer for the run again; without the log the step cannot be replayed.",
            ) from error

    def _attempt(
        self, step: int, state: State, logs: tuple[SiteLog, ...], drifting: bool
    ) -> Generator[Event, None, _Step | None]:
        """Replay a step; None when a chain that has parted from the trainer's runs out of numbers."""
        try:
            return (yield from self._step(step, state, logs, self._compute, keep_log=False))
        except NonFiniteError as error:
            if drifting:
                return None
            raise NonFiniteError(
                f"Step {step} cannot be replayed, although the trainer recorded it. {error.sentence}",
                remedy="Replay the run on another machine; if it ends there too, ask the trainer how it went on.",
            ) from error

    def _step(
        self, step: int, state: State, logs: tuple[SiteLog, ...], compute: Compute, *, keep_log: bool
    ) -> Generator[Event, None, _Step]:
        order, manifest = self._order, self._order.manifest
        rounder = ReplayingRounder(order.program, manifest.precision, self._kernels, keep_log=keep_log)
        rounder.follow(step_key(manifest.digest, step), logs)
        execution = self._interpreter.execute(
            order.inputs(step, state), rounder=rounder, compute=compute, cancel=self._cancel
        )
        total = len(order.program.nodes)
        result = yield from with_progress(execution, lambda done: OperatorDone(step, done, total))
        trainer = self._records[step]
        needed = manifest.is_committed(step)
        arrays = {name: tensor.cpu().numpy() for name, tensor in result.state.items()} if needed else {}
        record = StepRecord(
            step=step,
            state_root=state_root(arrays) if needed else None,
            log=trainer.log,
            fingerprints=Digest.of(rounder.fingerprints.astype("<u8").tobytes()),
            loss=result.loss,
        )
        entries = sum(len(log.indices) for log in logs)
        return _Step(
            result, record, arrays, tuple(rounder.counts), entries, rounder.fingerprints, tuple(rounder.own_logs)
        )

    def _row(self, step: int, match: StepMatch, outcome: _Step | None, begun: float) -> StepRow:
        counts = outcome.counts if outcome is not None else ()
        trainer_loss = self._records[step].loss
        return StepRow(
            step=step,
            match=match,
            trainer_leaf=self._tree.leaf(step),
            replay_leaf=outcome.leaf if outcome is not None else self._tree.leaf(step),
            trainer_loss=float("nan") if trainer_loss is None else trainer_loss,
            replay_loss=outcome.result.loss if outcome is not None else float("nan"),
            log_entries=outcome.entries if outcome is not None else 0,
            log_bytes=len(self._reader.log(step)),
            corrections=sum(count.corrections for count in counts),
            contradictions=sum(count.contradictions for count in counts),
            omissions=sum(count.omissions for count in counts),
            rounded_values=sum(self._elements),
            seconds=time.perf_counter() - begun,
            steerable=sum(count.steerable for count in counts),
            steered=sum(count.steered for count in counts),
        )

    def _checkpoint(self, step: int) -> Arrays:
        trainer = self._reader.checkpoint(step)
        self._reader.check_checkpoint(step, trainer)
        return trainer

    def _measure(self, step: int, trainer: Arrays, outcome: _Step) -> Iterator[Event]:
        tensors = compare_states(trainer, outcome.arrays)
        yield DivergenceMeasured(step, tensors)
        dispute = self._tally.dispute
        if dispute is not None and dispute.compared_at is None:
            self._tally.dispute = replace(dispute, compared_at=step, tensors=_differing(tensors))
            yield DisputeLocated(self._tally.dispute)

    def _dispute(
        self, step: int, state: State, logs: tuple[SiteLog, ...], outcome: _Step
    ) -> Generator[Event, None, Dispute]:
        trainer = self._records[step]
        _, path = first_difference(self._tree, MerkleTree(self._leaves))
        parts = tuple(
            name
            for name, theirs, ours in (
                ("state", trainer.state_root, outcome.record.state_root),
                ("loss", _loss_bits(trainer.loss), _loss_bits(outcome.record.loss)),
                ("fingerprints", trainer.fingerprints, outcome.record.fingerprints),
            )
            if theirs != ours
        )
        return Dispute(
            step=step,
            trainer_leaf=self._tree.leaf(step),
            replay_leaf=outcome.leaf,
            parts=parts,
            path=path,
            inclusion_proof=self._tree.inclusion_proof(step),
            compared_at=None,
            tensors=(),
            trainer_loss=float("nan") if trainer.loss is None else trainer.loss,
            replay_loss=outcome.result.loss,
            confirmed=(yield from self._confirm(step, state, logs, outcome)),
            operator=first_differing_operator(
                self._order.program, self._reader.fingerprints(step), outcome.fingerprints
            ),
        )

    def _confirm(
        self, step: int, state: State, logs: tuple[SiteLog, ...], outcome: _Step
    ) -> Generator[Event, None, bool]:
        """Whether this machine gives the same leaf again with every reduction in another order.

        The trainer's log belongs to other values, so it cannot carry the second replay: the first one writes a log of
        its own. If even that does not carry it, this machine's arithmetic lies outside the margin.
        """
        again = yield from self._step(step, state, logs, self._compute, keep_log=True)
        other = yield from self._step(step, state, again.own_log, perturbed(_CONFIRMATION), keep_log=False)
        return again.leaf == outcome.leaf == other.leaf


def _differing(tensors: tuple[TensorDivergence, ...]) -> tuple[TensorDivergence, ...]:
    return tuple(sorted((t for t in tensors if t.differing), key=lambda t: (-t.max_abs, t.name)))


def _loss_bits(loss: float | None) -> bytes | None:
    return None if loss is None else np.float64(loss).tobytes()
