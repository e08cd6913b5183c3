"""What is open, and what the replay found so far.

It holds what the engine reported and draws no conclusions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil import (
    AuditReport,
    BundleSummary,
    Check,
    CheckNumber,
    CheckState,
    Dispute,
    Kept,
    OrderSource,
    Sample,
    SegmentRequest,
    StepTable,
    Trust,
    trust_of,
)
from counterfoil.audit.values.summary import RunSummary
from counterfoil_app.engine.snapshot import Snapshot
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.divergence_table import DivergenceTable
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.otherwindows import Replaying
from counterfoil_app.model.progress import Progress, ProgressMeter
from counterfoil_app.model.replayresult import Finished, VerdictMaterial
from counterfoil_app.model.step_data import StepData


class Phase(Enum):
    """Where the work on a bundle stands."""

    EMPTY = "empty"
    LOADING = "loading"
    UNREADABLE = "unreadable"
    READY = "ready"
    REPLAYING = "replaying"
    PAUSED = "paused"
    STOPPING = "stopping"
    CONCLUDED = "concluded"
    FAILED = "failed"
    """The replay ended without a report."""


RUNNING = (Phase.REPLAYING, Phase.PAUSED, Phase.STOPPING)


def same_run(one: BundleSummary, other: BundleSummary) -> bool:
    """Whether two overviews are of one run, of which one may know the Merkle leaves before the other does."""
    if one.run is None or other.run is None:
        return one.run is other.run
    return replace(one.run, recorded=other.run.recorded) == other.run


class OpenBundle(QObject):
    """The state of the work on one bundle, and signals that tell of its changes; :class:`Session` does the work."""

    phase_changed = Signal()
    bundle_changed = Signal()
    checks_changed = Signal()
    rows_changed = Signal(int, int)
    """First and last step of which :attr:`steps` has a new row."""
    sample_chosen = Signal()
    """Some steps turned out not to be among those that will be replayed."""
    divergence_changed = Signal()
    progress_changed = Signal()
    dispute_changed = Signal()
    step_selected = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._meter = ProgressMeter()
        self.phase = Phase.EMPTY
        self.path: Path | None = None
        self.order: Path | None = None
        self.data: Path | None = None
        self.heads: Path | None = None
        self.replaying: Replaying | None = None
        self.cases: Cases | None = None
        self.keys: KeyBook | None = None
        self.segments = SegmentRequest()
        self.allow_large = False
        self.failure: Failure | None = None
        self.verdict_file: Path | None = None
        self.earlier_verdict: Path | None = None
        """A signed verdict from before more was compared; it stands, and does not say so."""
        self.result_file: Path | None = None
        self.handed_over: Path | None = None
        """The folder, or the zip, that was made of the signed result for others."""
        self.selected_step: int | None = None
        self._clear_bundle()

    def _clear_bundle(self) -> None:
        self.summary: BundleSummary | None = None
        self.client: BundleSummary | None = None
        self.step_data = StepData()
        self._clear_replay()

    def _clear_replay(self) -> None:
        self.checks: dict[CheckNumber, Check] = {
            number: Check(number, CheckState.PENDING) for number in list(CheckNumber)
        }
        self._take_checks(self.summary.checks if self.summary is not None else ())
        self.step_data.restart()
        self.divergence = DivergenceTable()
        self.dispute: Dispute | None = None
        self.resumed_from: int | None = None
        self.report: AuditReport | None = None
        self.verdict_file = self.earlier_verdict = self.result_file = self.handed_over = None
        self.failure = None
        self.selected_step = None
        self.sample: Sample | None = None
        self.was_stopped = False
        self.kept: Kept | None = None
        self._meter.forget()

    def files_read(self) -> tuple[Path, ...]:
        """The files that are open, over which nothing is written."""
        return tuple(path for path in (self.path, self.order, self.data, self.heads) if path is not None)

    @property
    def steps(self) -> StepTable:
        """What is known of each step."""
        return self.step_data.table

    @property
    def running(self) -> bool:
        """Whether a replay is under way."""
        return self.phase in RUNNING

    @property
    def refused_so_far(self) -> bool:
        """Whether a check failed before any replay, so that a replay can only conclude REFUSED."""
        return self.phase is Phase.UNREADABLE or any(c.state is CheckState.FAILED for c in self.checks.values())

    @property
    def only_refuses(self) -> bool:
        """Whether a replay would compute nothing, and conclude REFUSED: the file cannot be read, or a check failed."""
        before = list(CheckNumber)[: CheckNumber.COMMITMENTS]
        failed = any(self.checks[number].state is CheckState.FAILED for number in before)
        return self.can_replay and (self.phase is Phase.UNREADABLE or failed)

    @property
    def unsigned(self) -> bool:
        """Whether there is a result that could be signed, and was not.

        A replay that the user stopped is one only if it found a dispute: it can be gone on with.
        """
        report = self.report
        if report is None or report.bundle_digest is None or self.verdict_file or self.earlier_verdict:
            return False
        return not self.was_stopped or report.dispute is not None

    @property
    def known_order(self) -> Path | None:
        """A file that held the order which the open bundle names, when the user last gave it as the client's."""
        if self.cases is None or self.summary is None or self.summary.run is None:
            return None
        found = self.cases.order_file(self.summary.order.digest)
        return found if found != self.path else None

    @property
    def other_order_given(self) -> bool:
        """Whether the order that it is compared with is another one than the order in the open bundle."""
        return self.order is not None and self.checks[CheckNumber.ORDER].state is CheckState.FAILED

    @property
    def run(self) -> RunSummary | None:
        """What was run; None for an order that nobody has run, and while nothing is known."""
        return None if self.summary is None else self.summary.run

    @property
    def run_file(self) -> Path | None:
        """The open file, where it holds a run; None for any other."""
        return self.path if self.run is not None else None

    @property
    def trainer_key(self) -> str:
        """Fingerprint of the key whose signature of the open run holds; empty for none."""
        run = self.run
        signed = self.checks[CheckNumber.SIGNATURE].state in (CheckState.PASSED, CheckState.WARNING)
        return run.trainer_key if run is not None and signed else ""

    @property
    def trainer_name(self) -> str:
        """The name that the user has given that key; empty for none."""
        return "" if self.keys is None else self.keys.name_of(self.trainer_key)

    @property
    def trust(self) -> Trust | None:
        """What a conclusion on the open run rests on; None while there is none."""
        run = self.run
        if run is None:
            return None
        found = trust_of(
            self.checks.values(),
            self.trainer_key,
            named=False,
            order_source=self.order_source,
            client_key=self.client_key,
        )
        if self.keys is None:
            return found
        order_signed = "" if self.summary is None else self.summary.order.signed_at
        return self.keys.seen(
            found,
            self.trainer_key,
            run.order_digest.hex,
            self.client_key,
            run_signed=run.signed_at,
            order_signed=order_signed,
        )

    @property
    def order_source(self) -> OrderSource:
        """How it is known whose order the open run is of."""
        if self.report is not None:
            return self.report.order_source
        return "bundle" if self.summary is None else self.summary.order_source

    @property
    def client_key(self) -> str:
        """Fingerprint of the key that signed the order of the open bundle as its client; empty for an unsigned one."""
        if self.report is not None:
            return self.report.client_key
        return "" if self.summary is None else self.summary.order.client_key

    @property
    def data_file(self) -> str | None:
        """Name of the data file that the open bundle needs, as the client called it; None when it needs none."""
        arrays = self.summary.order.data if self.summary is not None else ()
        return next((array.file for array in arrays if array.file is not None), None)

    @property
    def lacks_data(self) -> bool:
        """Whether the open bundle needs a data file and none was chosen."""
        return self.data_file is not None and self.data is None

    @property
    def can_replay(self) -> bool:
        """Whether :meth:`replay` would start."""
        if self.phase in (Phase.EMPTY, Phase.LOADING) or self.running:
            return False
        return self.phase is Phase.UNREADABLE or self.run is not None

    @property
    def progress(self) -> Progress:
        """Where the replay stands."""
        return self._meter.progress(self.steps.done, self.steps.last)

    @property
    def can_export_capsule(self) -> bool:
        """Whether the replay ended with a step that accuses the trainer, which anybody can check from a capsule."""
        return self.report is not None and self.report.dispute is not None and self.report.dispute.stands_alone

    def material(self) -> VerdictMaterial | None:
        """What a verdict on the open run is made from; None while there is no report."""
        if self.report is None:
            return None
        found = (self.report, self.summary, self.steps.snapshot())
        return VerdictMaterial(*found, self.order, self.trust)

    def select_step(self, step: int) -> None:
        """Mark a step in all views."""
        if step != self.selected_step:
            self.selected_step = step
            self.step_selected.emit(step)

    def keep(self) -> Finished | None:
        """What the replay of the open bundle left; None while there is nothing."""
        if self.path is None or self.running or self.phase in (Phase.EMPTY, Phase.LOADING):
            return None
        return Finished(
            self.path, self.order, self.data, self.summary, self.client, self.steps.snapshot(), self.divergence,
            self.dispute,
            self.resumed_from, self.sample, self.report, self.failure, self.verdict_file, self.kept,
            self.result_file, self.was_stopped, self.earlier_verdict,
        )  # fmt: skip

    # What comes in; for the session

    def _put_back(self, finished: Finished) -> None:
        """Know again what a replay left."""
        self.path, self.order, self.data = finished.path, finished.order, finished.data
        self.summary, self.client = finished.summary, finished.client
        self._clear_replay()
        self.step_data = StepData.of(finished.summary, finished.steps)
        self._leave_out(finished.sample)
        self.divergence = finished.divergence
        self.dispute, self.resumed_from = finished.dispute, finished.resumed_from
        self.sample, self.report, self.failure = finished.sample, finished.report, finished.failure
        self.verdict_file, self.kept, self.result_file = finished.verdict_file, finished.kept, finished.file
        self.was_stopped, self.earlier_verdict = finished.stopped, finished.earlier_verdict
        self._take_checks(self.report.checks if self.report is not None else ())

    def _take_checks(self, checks: Iterable[Check]) -> None:
        self.checks.update({check.number: plain(check) for check in checks})

    def _end_checks(self) -> None:
        """What was being checked when the engine came to its end is not checked any more."""
        for number, check in self.checks.items():
            if check.state is CheckState.RUNNING:
                self.checks[number] = Check(number, CheckState.PENDING)

    def _take_summary(self, summary: BundleSummary) -> BundleSummary | None:
        """Know an overview; returns what was known before."""
        before, self.summary = self.summary, summary
        if before is None or before.run != summary.run:
            self.step_data = StepData(summary)
            if before is not None and same_run(before, summary):  # whose leaves are known by now
                self.rows_changed.emit(1, self.step_data.count)
        self._take_checks(summary.checks)
        return before

    def _take_report(self) -> None:
        """The checks and the dispute are what the report says, if there is one."""
        if self.report is not None:
            self._take_checks(self.report.checks)
            self.dispute = plain(self.report.dispute) or self.dispute

    def _absorb(self, snapshot: Snapshot) -> None:
        """Know what happened in the replay."""
        if snapshot.started is not None:
            self.sample = snapshot.started.sample
            self._leave_out(self.sample)
            self._take_checks(snapshot.started.checks)
        self._take_checks(snapshot.checks)
        if snapshot.started is not None or snapshot.checks:
            self.checks_changed.emit()
        if snapshot.resumed is not None:
            self.resumed_from = snapshot.resumed
        if (new := self.step_data.add(snapshot.rows)) is not None:
            self.rows_changed.emit(*new)
        if snapshot.divergences:
            for measured in snapshot.divergences:
                self.divergence.add(measured)
            self.divergence_changed.emit()
        if self._meter.note(snapshot, self.steps.done, self.steps.last, moving=self.phase is Phase.REPLAYING):
            self.progress_changed.emit()
        if snapshot.dispute is not None:
            self.dispute = plain(snapshot.dispute)
            self.dispute_changed.emit()
        if snapshot.report is not None:
            self.report, self.kept = snapshot.report, snapshot.kept

    def _leave_out(self, sample: Sample | None) -> None:
        """Mark the steps that a sample leaves out."""
        if sample is None or sample.whole or self.summary is None:
            return
        order, run = self.summary.order, self.summary.run
        steps = order.steps if run is None else run.steps
        self.step_data.choose(sample.step_spans(order.checkpoint_every, steps))
        self.sample_chosen.emit()

    @property
    def replayed_elsewhere(self) -> bool:
        """Whether another window replays the open run at this moment."""
        about = None if self.run is None else self.run.about
        if self.replaying is None or about is None or self.running:
            return False
        return self.replaying.elsewhere(about)

    def _set_phase(self, phase: Phase) -> None:
        was, self.phase, about = self.running, phase, None if self.run is None else self.run.about
        if self.replaying is not None and self.running != was:
            if self.running and about is not None:
                self.replaying.hold(about)
            else:
                self.replaying.release()
        self.phase_changed.emit()

    def _announce_all(self) -> None:
        self.bundle_changed.emit()
        self.checks_changed.emit()
        self.divergence_changed.emit()
        self.dispute_changed.emit()
        self.progress_changed.emit()
