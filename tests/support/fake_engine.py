"""An engine that computes nothing: it reports the events of a made-up run, so that the window is tested by itself."""

from __future__ import annotations

import base64
import json
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

from counterfoil import (
    Adjudication,
    AdjudicationFinished,
    AdjudicationOutcome,
    AdjudicationReport,
    AdjudicationStarted,
    Afterwards,
    AuditFinished,
    AuditReport,
    AuditRequest,
    AuditStarted,
    BundleSummary,
    CancelToken,
    CapsuleSubject,
    Cause,
    Check,
    CheckChanged,
    CheckedRules,
    CheckNumber,
    CheckState,
    ComparedRun,
    CounterfoilError,
    DataPreview,
    DataUse,
    Device,
    Difference,
    DifferenceProgress,
    Digest,
    Dispute,
    DisputedOperator,
    DisputedRows,
    DisputeLocated,
    DivergenceMeasured,
    Estimate,
    Event,
    Expected,
    FactsProgress,
    FileUse,
    Finding,
    FollowEnded,
    FollowStarted,
    FollowState,
    Kept,
    Ledger,
    LedgerProgress,
    Located,
    LocateProgress,
    LookProgress,
    MachineFact,
    MachinePage,
    MachineProgress,
    MachineState,
    Member,
    NeighbourOperator,
    OperationCount,
    OperatorDone,
    OperatorElements,
    OperatorLook,
    OrderProgress,
    OrderSource,
    OrderWritten,
    Outcome,
    PanelAdmitted,
    PanelCompared,
    PanelEvent,
    PanelFinished,
    PanelReport,
    PanelRuled,
    Parting,
    Plan,
    PlanProgress,
    PlanRow,
    ProgressRestored,
    PublicKey,
    Recognised,
    ResumedFromCheckpoint,
    Revocation,
    RevocationList,
    Right,
    RowKind,
    RowsRead,
    RuleOutcome,
    RuleResult,
    Ruling,
    RunFacts,
    Sample,
    SegmentRequest,
    Selection,
    Standing,
    StateDifference,
    StepFollowed,
    StepJudged,
    StepMatch,
    StepReplayed,
    StepRow,
    StepSealed,
    StepTable,
    TensorDetail,
    TensorDivergence,
    TensorSides,
    TrustStore,
    Unlike,
    Verdict,
    WorkersReported,
    WorkerState,
    facts_as_json,
    key_id_of,
    pem_of,
    trust_of,
)
from counterfoil.audit.disputedrows import NOT_KNOWN
from counterfoil.audit.operatorlook import SAID, value_of
from counterfoil.audit.tensorsides import compare_sides
from counterfoil.audit.values.delivery import (
    ComparedTensor,
    DeliveryOutcome,
    DeliveryProgress,
    DeliveryReport,
    Relation,
    WeightsFile,
)
from counterfoil.audit.values.handed import HandedOut, HandedRows
from counterfoil.audit.values.summary import ArraySummary, OrderSummary, RunSummary
from counterfoil.signing.comparedsteps import FoundComparison, comparison_path
from counterfoil_app.engine.port import (
    NOTHING_LATER,
    BundlesRequest,
    DeliveryEvent,
    FactsRequest,
    KnownRequest,
    LedgerRequest,
    LocateRequest,
    LookRequest,
    ProvidersRequest,
    ReadRevocations,
    RulesRequest,
    Signable,
    VerdictReading,
)
from counterfoil_app.engine.recordings import (
    FollowingEvent,
    InsideStep,
    KnownFollow,
    Listing,
    RecordingBegun,
    RecordingEvent,
    RecordingResumed,
    RecordingSize,
    RecordingWork,
    RecordRequest,
    RunMade,
    Sign,
    StepMade,
    list_folder,
)
from counterfoil_app.engine.sample import SampleKind, SampleProgress, sample_files
from counterfoil_app.engine.search import SearchProgress, Wanted, search
from counterfoil_core.base import canonical
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.stopping import StopRule
from counterfoil_core.commit.merkle import MerkleTree, first_difference
from counterfoil_core.judge.compare import detail_difference
from counterfoil_core.panel.panel import conclude_panel, judge_members
from counterfoil_core.program.limits import LARGE
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import open_said, read_said
from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement
from counterfoil_core.statement.write import adjudication_statement, verdict_statement
from counterfoil_core.values.account import accusation
from counterfoil_core.values.dispute import listed_parts
from counterfoil_core.values.events import AdjudicationEvent
from counterfoil_core.values.orders import GivenOrder, HeldOrder, OrderFinding, accepted_by, compare_orders
from counterfoil_core.values.sampling import NonceSource
from counterfoil_core.values.steptable import Recorded
from support.ledgers import ledger_of, nothing_counts, places_of, weights_of
from support.reports import verified_report

ESTIMATE = Estimate(412, 520, 3 * 2**20, 2_500_000_000, 9 * 2**20)
TENSORS = {
    "blocks.0.bn1.running_mean": (16,),
    "blocks.0.conv1.weight": (16, 16, 3, 3),
    "blocks.0.conv2.weight": (16, 16, 3, 3),
    "head.bias": (10,),
    "head.weight": (10, 32),
    "sgd.momentum:head.weight": (10, 32),
}
OPERATORS = 40
KINDS = {
    ".age": FileUse.SEALED,
    "job.cfoil": FileUse.ORDER,
    ".capsule.cfoil": FileUse.CAPSULE,
    ".cfdata": FileUse.DATA,
    ".reply.json": FileUse.STATEMENT,
    ".json": FileUse.VERDICT,
    ".jsonl": FileUse.HEADS,
    ".pub.pem": FileUse.PUBLIC_KEY,
    ".pem": FileUse.PRIVATE_KEY,
    ".safetensors": FileUse.WEIGHTS,
    ".txt": FileUse.OTHER,
}
"""What a file is, by how its name ends; anything else is a run."""
AUDITOR = "ab" * 32
"""The public key that signs its verdicts."""
KEY_ID = key_id_of(AUDITOR)
# The sentences are the engine's own, so that their translations are tried too.
OTHER_ORDER = say("The file was made for the order {0}; the client's order is {1}.", "3eeb7e96e59c", "5f4dcc3b5aa7")
NOT_THE_ORDER = say("The file was made for another order than the client's, so its contents are not compared.")
SELF_TEST_SENTENCE = say("Known answers for SHA-256, Philox and a rounded training step came out right on {0}.", "cpu")


def digest(text: str) -> Digest:
    return Digest.of(text.encode())


def envelope_of(statement: bytes) -> bytes:
    """What looks like a signed statement; its signature is empty."""
    payload = base64.b64encode(statement).decode()
    return json.dumps({"payload": payload, "signatures": [{"keyid": KEY_ID, "sig": ""}]}).encode()


MACHINE = MachinePage(
    (
        MachineFact("Versions", "torch", "2.13.0"),
        MachineFact("Sandbox", "Box", "stays open", MachineState.NOTE, "Use a newer kernel."),
    )
)


FACTS = RunFacts(
    order=digest("order"),
    run_root=digest("run"),
    trainer_key=key_id_of(digest("key").hex),
    client_key="",
    title="Digits",
    steps=60,
    steps_ordered=60,
    batch_size=32,
    parameters=19642,
    optimizer="SGD, momentum 0.9",
    precision="float64 -> 24 significand bits, 8 guard bits, proven margins",
    compute="float64",
    exact_bits=None,
    program_digests=(("", digest("program")),),
    operations=(
        OperationCount("forward", "convolution", 2_048_655_360, "float64"),
        OperationCount("update", "other", 2**64 + 1, "integers"),
    ),
    data=(DataUse("images", "uint8", (1797, 8, 8), digest("images"), 1920, 1792, 122_880, 7),),
    started="2026-11-26T08:26:50Z",
    signed="2026-11-26T08:26:51Z",
    machine=(("device", "cpu"), ("torch", "2.13.0")),
    tokens=98_304,
    seconds=200,
)
RULES = CheckedRules(
    "Ordinary settings",
    digest("rules"),
    digest("run"),
    (
        RuleResult("compute.operations", RuleOutcome.HELD, say("It has {0}; {1} to {2} are allowed. Counted from the "
                   "order, which the trainer signed.", "6,162,605,880", "0", "1e+25")),
        RuleResult("data.must", RuleOutcome.BROKEN, say("No data array of the order has the digest {0}.", "00ff")),
        RuleResult("verdict", RuleOutcome.CANNOT_BE_TOLD, say(
            "No verdict was given that one of the auditors signed on this run and that verifies it.")),
    ),
)  # fmt: skip


@dataclass
class FakeEngine:
    """A made-up run of ``steps`` steps.

    Attributes:
        steps: Number of steps.
        ordered: Number of ordered steps, where the order's rule ended the run before the last of them.
        disputed: The step that comes out different; None for an honest run.
        shares: Into how many shares each step is divided; 0 for steps without shares.
        part: The part of the disputed step that lies, where steps have shares.
        lying_log: A matching step whose log holds contradictions; None for none.
        failing: Checks that fail before any replay.
        gate: The replay waits here before every step; set to let it run.
        halt: The gate closes before this step.
        crew: What workers do, if a replay is to have any.
        inspect_gate: Inspection waits here.
        checks_gate: Inspection waits here between its first summary and the whole one.
        plan_error: Raised at the end of a measurement.
        inspect_errors: Raised by inspection, by file name.
        order_errors: Raised where a file is read as the client's order, by file name.
        audit_error: Raised in the middle of the replay.
        data_file: The bundle needs a data file of this name.
        spans: Segments of a random sample, first and last of each run of neighbours; empty for the whole run.
        key: Names the key that signed.
        signer: The public key that signs verdicts.
        client: The public key that signed the order; empty for an unsigned one.
        later: What was said of the verdicts that it reads.
        statements: The statements that it was last given with a verdict.
        progress: What is kept of replays that were stopped, by device and chosen segments.
        recording_begun: A recording lies where one is followed.
        record_gate: A recording waits here before every step; set to let it run.
        record_halt: That gate closes before this step.
        recorded_steps: Steps that a recording has finished.
        place: The machine that it is said to work on; empty for this one.
        noted: Paths that were named as those of that machine.
        machine: What an examination of the machine finds.
        facts: What a run shows of itself.
        rules: What comes of rules.
        facts_gate: Counting, and checking rules, wait here; set to let them go on.
        facts_error: Raised there.
        recipe: The order's recipe.
        comparison: What lies beside the order as its comparison with a script.
    """

    steps: int = 60
    disputed: int | None = None
    lying_log: int | None = None
    failing: tuple[CheckNumber, ...] = ()
    has_run: bool = True
    gate: threading.Event = field(default_factory=threading.Event)
    halt: int | None = None
    crew: tuple[WorkerState, ...] = ()
    inspect_gate: threading.Event = field(default_factory=threading.Event)
    checks_gate: threading.Event = field(default_factory=threading.Event)
    inspect_errors: dict[str, Exception] = field(default_factory=dict)
    order_errors: dict[str, Exception] = field(default_factory=dict)
    audit_error: Exception | None = None
    data_file: str | None = None
    spans: tuple[tuple[int, int], ...] = ()
    key: str = "key"
    signer: str = AUDITOR
    client: str = ""
    later: Afterwards = NOTHING_LATER
    statements: tuple[Path, ...] = ()
    plan_error: Exception | None = None
    ordered: int | None = None
    shares: int = 0
    part: str = ""
    closed: int = 0
    plans_asked: list[tuple[str, float]] = field(default_factory=list)
    large_allowed: list[bool] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)
    plans: list[AuditRequest] = field(default_factory=list)
    progress: dict[tuple[str, SegmentRequest], Kept] = field(default_factory=dict)
    hearings: list[tuple[Path, Path | None]] = field(default_factory=list)
    deliveries: list[tuple[Path, Path, Path | None, bool]] = field(default_factory=list)
    recording_begun: threading.Event = field(default_factory=threading.Event)
    record_gate: threading.Event = field(default_factory=threading.Event)
    record_halt: int | None = None
    recorded_steps: int = 0
    place: str = ""
    noted: list[Path] = field(default_factory=list)
    machine: MachinePage = MACHINE
    facts: RunFacts = FACTS
    rules: CheckedRules = RULES
    facts_gate: threading.Event = field(default_factory=threading.Event)
    facts_error: Exception | None = None
    facts_asked: list[FactsRequest | RulesRequest] = field(default_factory=list)
    followed: list[KnownFollow] = field(default_factory=list)
    recorded: list[RecordRequest] = field(default_factory=list)
    handed_over: list[tuple[Path, Path | None, str, Path]] = field(default_factory=list)
    comparisons: list[ProvidersRequest] = field(default_factory=list)
    differences: list[BundlesRequest] = field(default_factory=list)
    looks: list[LookRequest] = field(default_factory=list)
    ledgers: list[LedgerRequest] = field(default_factory=list)
    located: list[LocateRequest] = field(default_factory=list)
    orders: list[tuple[tuple[str, ...], Path | None]] = field(default_factory=list)
    order_failure: CounterfoilError | None = None
    recipe: str = "digits-cnn"
    comparison: FoundComparison | None = None

    def __post_init__(self) -> None:
        self.open_gates()

    @property
    def trainer_public(self) -> str:
        """The public key that signed the run."""
        return digest(self.key).hex

    @property
    def trainer_key(self) -> str:
        """Its fingerprint."""
        return key_id_of(self.trainer_public)

    def open_gates(self) -> None:
        self.gate.set()
        self.inspect_gate.set()
        self.checks_gate.set()
        self.recording_begun.set()
        self.record_gate.set()
        self.facts_gate.set()

    # The engine's side of the port

    def devices(self) -> Sequence[Device]:
        return (
            Device("cpu", "CPU, 2 threads", "float64 at full speed"),
            Device("cuda:0", "NVIDIA H200", "float64 at half the speed of float32"),
        )

    def examine(self, cancel: CancelToken) -> Iterator[MachineProgress | MachinePage]:
        yield MachineProgress(0, 1, say("versions and folders"))
        cancel.check()
        yield self.machine

    def outline(self, path: Path) -> BundleSummary:
        return next(self.inspect(path, None, (), CancelToken()))

    @property
    def client_key(self) -> str:
        """Fingerprint of the key that signed the order; empty for an unsigned one."""
        return key_id_of(self.client) if self.client else ""

    def inspect(
        self, path: Path, order: Path | None, clients: Sequence[str], cancel: CancelToken
    ) -> Iterator[BundleSummary]:
        self.threads.add(threading.current_thread().name)
        assert self.inspect_gate.wait(30)
        if path.name in self.inspect_errors:
            raise self.inspect_errors[path.name]
        whole = self.summary(path, order, self.client in clients)
        first = {CheckNumber.FORMAT, CheckNumber.ORDER, CheckNumber.SIGNATURE}
        checks = tuple(c if c.number in first else Check(c.number, CheckState.PENDING) for c in whole.checks)
        yield replace(whole, checks=checks, order=replace(whole.order, operators=0), sentence="Still being read.")
        while not self.checks_gate.wait(0.01):
            cancel.check()
        yield whole

    def client_order(self, path: Path, audited: Path) -> BundleSummary:
        if path.name in self.order_errors:
            raise self.order_errors[path.name]
        held = self.summary(path, None)
        other = digest("other order") if path.name.startswith("other") else held.order.digest
        return replace(held, run=None, order=replace(held.order, digest=other))

    def plan(self, plan: AuditRequest, bad_fraction: float, cancel: CancelToken) -> Iterator[PlanProgress | Plan]:
        self.plans_asked.append((plan.device, bad_fraction))
        self.large_allowed.append(plan.limits == LARGE)
        for done in range(3):
            while not self.gate.wait(0.01):
                cancel.check()
            yield PlanProgress(done, 3)
        if self.plan_error is not None:
            raise self.plan_error
        total = self.steps // 5
        bad = max(1, round(bad_fraction * total))
        seconds = 2.0 if plan.device == "cpu" else 0.25
        rows = [
            PlanRow(0.5, total // 3, 5 * (total // 3), 5 * (total // 3) * seconds, 0.4),
            PlanRow(0.99, total - 1, 5 * (total - 1), 5 * (total - 1) * seconds, 0.01),
            PlanRow(1.0, total, self.steps, self.steps * seconds, 0.0),
        ]
        yield Plan(plan.device, self.steps, total, bad_fraction, bad, seconds, 0.1, 3, tuple(rows), ESTIMATE)

    def kept(self, plan: AuditRequest, order: Digest, run_root: Digest) -> Kept | None:
        self.threads.add(threading.current_thread().name)
        return self.progress.get((plan.device, plan.segments))

    def audit(self, plan: AuditRequest, cancel: CancelToken) -> Iterator[Event]:
        self.threads.add(threading.current_thread().name)
        self.plans.append(plan)
        found = self.progress.get((plan.device, plan.segments)) if plan.resume else None
        checks = self.checks(plan.order, isinstance(plan, KnownRequest) and plan.client == self.client)
        chosen = self.chosen(plan)
        sample = self.sample(plan, chosen)
        steps = self.steps_of(plan)
        yield AuditStarted(
            self.steps, tuple(TENSORS), plan.device, tuple(checks.values()), planned_steps=len(steps), sample=sample
        )
        if self.failing:
            yield AuditFinished(self.report(plan, checks, 0, Outcome.REFUSED))
            return
        yield CheckChanged(Check(CheckNumber.SELF_TEST, CheckState.RUNNING))
        checks[CheckNumber.SELF_TEST] = Check(CheckNumber.SELF_TEST, CheckState.PASSED, SELF_TEST_SENTENCE)
        yield CheckChanged(checks[CheckNumber.SELF_TEST])
        for number in (CheckNumber.REPLAY, CheckNumber.LOG, CheckNumber.COVERAGE):
            checks[number] = Check(number, CheckState.RUNNING)
            yield CheckChanged(checks[number])
        if plan.workers is not None:
            yield WorkersReported(self.crew)
        done = judged = 0
        for step in steps:
            if step == self.halt:
                self.gate.clear()
            while (found is None or step > found.step) and not self.gate.wait(0.01) and not cancel.cancelled:
                continue
            try:
                cancel.check()
            except CounterfoilError:
                if done >= 5:
                    self.progress[plan.device, plan.segments] = Kept(
                        Path("progress"), done // 5, len(chosen), steps[done // 5 * 5 - 1], done // 5 * 5
                    )
                kept = self.progress.get((plan.device, plan.segments))
                yield AuditFinished(self.report(plan, checks, judged, Outcome.INCONCLUSIVE, sample), kept=kept)
                return
            if self.audit_error is not None and step > self.steps // 2:
                raise self.audit_error
            yield OperatorDone(step, OPERATORS // 2, OPERATORS)
            yield StepReplayed(self.row(step))
            done += 1
            judged += self.row(step).match is not StepMatch.UNJUDGED
            if found is not None and step == found.step:
                yield ProgressRestored(found, done)
            if step == self.disputed:
                # The step is replayed once more, and what differs is known at the checkpoint.
                yield OperatorDone(step, OPERATORS, OPERATORS)
                yield DisputeLocated(replace(self.dispute(step), compared_at=None, tensors=()))
            if step % 5 == 0:
                yield DivergenceMeasured(step, self.divergence(step))
                if self.disputed is not None and self.disputed <= step < self.disputed + 5:
                    yield DisputeLocated(self.dispute(self.disputed))
                    if step < self.steps:
                        yield ResumedFromCheckpoint(step)
        outcome = Outcome.DISPUTED if self.disputed is not None else Outcome.VERIFIED
        self.progress.pop((plan.device, plan.segments), None)
        yield AuditFinished(self.report(plan, checks, judged, outcome, sample))

    def chosen(self, plan: AuditRequest) -> tuple[int, ...]:
        """The segments of 5 steps that are replayed: the first ones of a sample."""
        total, asked = self.steps // 5, plan.segments
        if self.spans:
            return tuple(number for first, last in self.spans for number in range(first, last + 1))
        if asked.numbers:
            return asked.numbers
        count = asked.count or (max(1, round(asked.confidence * total) - 1) if asked.confidence else total)
        return tuple(range(1, count + 1)) if self.steps % 5 == 0 or count < total else ()

    def steps_of(self, plan: AuditRequest) -> list[int]:
        """The steps of these segments; all where the run has none."""
        chosen = self.chosen(plan)
        steps = [step for number in chosen for step in range(5 * number - 4, min(5 * number, self.steps) + 1)]
        return steps or list(range(1, self.steps + 1))

    def selection(self, plan: AuditRequest) -> tuple[Selection, str, int, NonceSource | None]:
        if plan.segments.numbers:
            return Selection.LISTED, "", 0, None
        if plan.segments.count or plan.segments.confidence:
            return Selection.RANDOM, "ab" * 32, 1, NonceSource.DRAWN
        return Selection.ALL, "", 0, None

    def close(self) -> None:
        self.closed += 1

    def sample(self, plan: AuditRequest, chosen: tuple[int, ...]) -> Sample | None:
        """What was chosen; None in a run that has no segments."""
        total = -(-self.steps // 5)
        if self.spans:
            return Sample(total, self.spans, Selection.RANDOM, digest("nonce").hex, 1, NonceSource.DRAWN)
        return Sample(total, tuple((n, n) for n in chosen), *self.selection(plan)) if self.steps >= 5 else None

    def recognise(self, path: Path) -> Recognised:
        if path.name in self.order_errors and not path.exists():
            raise self.order_errors[path.name]
        kind = next((kind for ending, kind in KINDS.items() if path.name.endswith(ending)), FileUse.RUN)
        held = kind in (FileUse.RUN, FileUse.ORDER, FileUse.CAPSULE)
        other = digest("other order") if path.name.startswith("other") else digest("order")
        return Recognised(path, kind, other if held else None)

    def find(self, place: Path, wanted: Wanted, cancel: CancelToken) -> Iterator[SearchProgress]:
        """The real search, over what this engine says of files."""
        for found in search(self, place, wanted, cancel):
            yield found
            while not self.gate.wait(0.01):
                cancel.check()

    def verify_weights(
        self,
        weights: Path,
        run: Path,
        verdict: Path | None,
        store: TrustStore,
        replay: AuditReport | None,
        cancel: CancelToken,
    ) -> Iterator[DeliveryEvent]:
        self.deliveries.append((weights, run, verdict, replay is not None))
        for done in range(3):
            yield DeliveryProgress(say("Comparing {0}", "head.bias"), done, 3)
            while not self.gate.wait(0.01):
                cancel.check()
        if verdict is not None and self.signer not in store.auditors:
            raise CounterfoilError(
                say("The verdict {0} was signed with a key that you have not confirmed.", verdict.name),
                remedy=say("Drop the auditor's public key on the window, and confirm it."),
            )
        judged = verdict is not None or replay is not None
        own = verdict is not None and self.signer == self.trainer_public
        checks = tuple(self.checks(None if replay is None or replay.order_source == "bundle" else Path()).values())
        key_id = key_id_of(self.signer) if verdict is not None else ""
        bad = weights.name.startswith("other")
        differing = (
            ComparedTensor(
                "blocks.0.conv1.weight",
                "blocks.0.conv1.weight",
                Relation.SAME,
                2304,
                1,
                1.49e-8,
                (3, 1, 0, 2),
                0.25,
                0.5,
            ),
        )
        yield DeliveryReport(
            outcome=DeliveryOutcome.DIFFERENT
            if bad
            else DeliveryOutcome.DELIVERED
            if judged and not own
            else DeliveryOutcome.INCONCLUSIVE,
            sentence=say("The weights are not the final state of the run; {0}.", say("tensors that differ: {0}", 1))
            if bad
            else say(
                "The weights are the final state of the verified run, after step {0}: {1} tensors, each {2}.",
                self.steps,
                5,
                Relation.SAME.words,
            )
            if judged
            else say(
                "The weights are the final state of the run, after step {0}, and no verdict says that the run is "
                "verified.",
                self.steps,
            ),
            warnings=(),
            run_root=digest("run"),
            order_digest=digest("order"),
            step=self.steps,
            steps_ordered=self.steps,
            headline="VERIFIED" if judged else "",
            key_id=key_id,
            trust=trust_of(checks, self.trainer_key, named=False, auditor_key=key_id) if judged else None,
            trainer_key=self.trainer_key if judged else "",
            files=(WeightsFile("model.safetensors", 21_904, digest("weights")),),
            relations={"bit for bit": 4 if bad else 5},
            tensors=6 if bad else 5,
            elements=5_400,
            differing=differing if bad else (),
            missing=(),
            surplus=("backdoor.weight",) if bad else (),
            tied=(),
            infinite=(),
            largest_merge=None,
            others=("config.json", "tokenizer.json"),
        )

    # Recordings

    def has_begun(self, folder: Path, run: Path) -> bool:
        return self.recording_begun.is_set()

    def follow(self, request: KnownFollow, cancel: CancelToken) -> Iterator[FollowingEvent]:
        self.followed.append(request)
        yield CheckChanged(Check(CheckNumber.SELF_TEST, CheckState.RUNNING))
        yield CheckChanged(Check(CheckNumber.SELF_TEST, CheckState.PASSED, SELF_TEST_SENTENCE))
        yield FollowStarted(
            self.steps, self.steps // 5, request.device, "Digits, small residual network", self.trainer_key,
            "2026-11-20T16:00:00Z",
        )  # fmt: skip
        replayed = 0
        for first in range(1, self.steps + 1, 5):
            for step in range(first, first + 5):
                if step == self.halt:
                    self.gate.clear()
                while not self.gate.wait(0.01):
                    if cancel.cancelled:
                        yield FollowEnded(
                            Outcome.INCONCLUSIVE,
                            say("The work was cancelled; nothing was concluded."),
                            step - 1,
                            replayed,
                        )
                        return
                yield StepSealed(step, self.loss(step))
            yield FollowState(first + 4, replayed, first // 5 + 1 if request.replays else 0, first + 4, "")
            yield RecordingSize(20_000 + 40_000 * (first + 4), (first + 4) // 10)
            for step in range(first, first + 5) if request.replays else ():
                row = self.row(step)
                yield StepFollowed(step, row.trainer_loss, row.replay_loss, row.match is StepMatch.MATCH, row.seconds)
                if row.match is not StepMatch.MATCH:
                    dispute = self.dispute(step)
                    yield DisputeLocated(dispute)
                    reason = joined(accusation(dispute), say("A verdict takes the run: audit it when it is made."))
                    yield FollowEnded(Outcome.DISPUTED, reason, first + 4, replayed, dispute)
                    return
                replayed = step
            waiting = say("Waiting until step {0} is recorded.", first + 5)
            yield FollowState(first + 4, replayed, 0 if not request.replays else first // 5 + 2, first + 9, waiting)
        yield FollowEnded(None, say("The run was made; its audit concludes."), self.steps, replayed)

    def audit_followed(self, request: KnownFollow, cancel: CancelToken) -> Iterator[Event]:
        return self.audit(request.audit(Path("followed.part")), cancel)

    def record_run(self, request: RecordRequest, sign: Sign, cancel: CancelToken) -> Iterator[RecordingEvent]:
        self.recorded.append(request)
        yield RecordingBegun(self.steps, request.device, self.client_key, request.public)
        if self.recorded_steps:
            yield RecordingResumed(self.recorded_steps, self.recorded_steps // 5 * 5)
            yield RecordingWork(say("Finished steps are computed again."), 1, 1)
        for step in range(self.recorded_steps + 1, self.steps + 1):
            if step == self.record_halt:
                self.record_gate.clear()
            while not self.record_gate.wait(0.01):
                if cancel.cancelled:
                    break
            if cancel.cancelled:
                raise CounterfoilError(say("The work was cancelled; nothing was concluded."))
            yield InsideStep(step, 1, 2)
            yield StepMade(step, self.steps, self.loss(step))
            self.recorded_steps = step
            yield RecordingSize(20_000 + 40_000 * step, step // 10)
        yield RecordingWork(say("The run is written."), self.steps, self.steps)
        yield RunMade(request.run, digest("run"), self.steps, self.steps)

    def hand_over_run(self, run: Path, heads: Path | None, public: str, folder: Path) -> Path:
        self.handed_over.append((run, heads, public, folder))
        return folder

    def list_folder(self, folder: Path) -> Listing:
        return list_folder(folder)

    def carry_capsule(self, report: AuditReport, cancel: CancelToken) -> Iterator[bytes]:
        yield b"a dispute capsule"

    def version(self) -> str:
        return "0"

    @property
    def where(self) -> str:
        return self.place

    def note_file(self, path: Path) -> None:
        self.noted.append(path)

    def another(self) -> FakeEngine:
        return self

    def capsule_subject(self, capsule: Path) -> CapsuleSubject:
        if capsule.name in self.inspect_errors:
            raise self.inspect_errors[capsule.name]
        return CapsuleSubject("Digits", digest("order"), self.steps, 35, 38, self.part)

    def run_facts(self, asked: FactsRequest, cancel: CancelToken) -> Iterator[FactsProgress | RunFacts]:
        self.facts_asked.append(asked)
        yield FactsProgress(say("Comparing the recorded steps with the signed run root"), 2, 4)
        self._wait_for_facts(cancel)
        yield self.facts

    def facts_as_json(self, facts: RunFacts) -> bytes:
        return facts_as_json(facts)

    def check_rules(self, asked: RulesRequest, cancel: CancelToken) -> Iterator[FactsProgress | CheckedRules]:
        self.facts_asked.append(asked)
        yield FactsProgress(say("Counting"), 3, 4)
        self._wait_for_facts(cancel)
        yield self.rules

    def _wait_for_facts(self, cancel: CancelToken) -> None:
        while not self.facts_gate.wait(0.01):
            cancel.check()
        if self.facts_error is not None:
            raise self.facts_error

    def handed_out(self, capsule: Path) -> HandedOut:
        if capsule.name in self.inspect_errors:
            raise self.inspect_errors[capsule.name]
        return HandedOut(
            35, 52, 2_900_000, (HandedRows("images", 32, 1792, 1797), HandedRows("labels", 32, 1797, 1797))
        )

    def adjudicate(
        self, capsule: Path, order: Path | None, device: str, threads: int | None, cancel: CancelToken
    ) -> Iterator[AdjudicationEvent]:
        self.hearings.append((capsule, order))
        checks = self.checks(order)
        for check in checks.values():
            yield CheckChanged(check)
        yield AdjudicationStarted(36, 38)
        for step in range(36, 39):
            while not self.gate.wait(0.01):
                cancel.check()
            yield OperatorDone(step, OPERATORS, OPERATORS)
        report = AdjudicationReport(
            outcome=AdjudicationOutcome.CONFIRMED,
            reason="The step is not what was ordered.",
            checks=tuple(checks.get(number, Check(number, CheckState.PASSED)) for number in CheckNumber),
            capsule_name=capsule.name,
            capsule_digest=digest("capsule"),
            order_digest=digest("order"),
            order_source="bundle" if order is None else "client",
            run_order=digest("order"),
            run_root=digest("run"),
            trainer_key=self.trainer_key,
            accepted_at="2026-11-20T16:00:00Z",
            title="Digits",
            steps_ordered=self.steps,
            steps_recorded=self.steps,
            steps_replayed=3,
            agreed_step=35,
            step=38,
            dispute=self.dispute(38),
        )
        yield AdjudicationFinished(report)

    def compare_providers(self, asked: ProvidersRequest, cancel: CancelToken) -> Iterator[PanelEvent]:
        """Runs are honest but those whose names begin with "lying", from the middle on; "broken" ones take no part."""
        self.comparisons.append(asked)
        members = []
        for number, run in enumerate(asked.runs):
            members.append(self.member(run))
            yield PanelAdmitted(number, members[-1])
        taking = [number for number, member in enumerate(members) if member.standing is not Standing.REFUSED]
        lying = tuple(number for number in taking if asked.runs[number].name.startswith("lying"))
        honest = tuple(number for number in taking if number not in lying)
        step = self.steps // 2
        same, other = bytes(self.steps + 1), bytes(int(at >= step) for at in range(self.steps + 1))
        results = tuple(
            b"" if number not in taking else other if number in lying else same for number in range(len(members))
        )
        partings = (Parting(honest, lying, step, (), step - 3),) if lying and honest else ()
        yield PanelCompared(partings, 3 * len(partings), tuple(members), results)
        if partings and not asked.replay:
            return
        for at in range(step - 2, step + 1):
            while partings and not self.gate.wait(0.01):
                cancel.check()
            yield OperatorDone(at, OPERATORS, OPERATORS)
            if at < step:
                yield StepJudged(at)
        rulings = tuple(self.ruling(number, step, wrong=number in lying) for number in taking)
        ruled = tuple(replace(parting, ruled_step=step, rulings=rulings) for parting in partings)
        for parting in ruled:
            yield PanelRuled(parting)
        standings = judge_members(len(members), ruled)
        final = tuple(
            member if member.standing is Standing.REFUSED else replace(member, standing=standings[number])
            for number, member in enumerate(members)
        )
        groups = tuple(group for group in (honest, lying) if group)
        outcome, reason = conclude_panel(final, groups, ruled)
        yield PanelFinished(PanelReport(outcome, reason, digest("order"), self.steps, final, groups, ruled))

    def member(self, run: Path) -> Member:
        if run.name.startswith("broken"):
            return Member(run.name, Standing.REFUSED, "", None, say("The file is an order that nobody has run."))
        return Member(run.name, Standing.UNTESTED, key_id_of(digest(run.name).hex), digest(run.name))

    def ruling(self, number: int, step: int, *, wrong: bool) -> Ruling:
        leaf = digest(f"leaf {step}")
        return Ruling(
            provider=number,
            step=step,
            right=not wrong,
            confirmed=True,
            trainer_leaf=digest(f"other {step}") if wrong else leaf,
            replay_leaf=leaf,
            parts=("state", "loss", "fingerprints") if wrong else (),
            operator=self.operator() if wrong else None,
            corrections=3,
            contradictions=0,
            finding=self.dispute(step).finding if wrong else None,
        )

    def read_ledger(self, asked: LedgerRequest, cancel: CancelToken) -> Iterator[LedgerProgress | Ledger]:
        self.ledgers.append(asked)
        if asked.folder.name in self.inspect_errors:
            raise self.inspect_errors[asked.folder.name]
        for done in range(1, 4):
            yield LedgerProgress(done, 3)
            while not self.gate.wait(0.01):
                cancel.check()
        if asked.folder.name == "empty":
            yield Ledger((), ())
        else:
            yield ledger_of(asked.policy, KEY_ID) if self.signer in asked.keys else nothing_counts()

    def locate(self, asked: LocateRequest, cancel: CancelToken) -> Iterator[LocateProgress | Located]:
        self.located.append(asked)
        for done in range(3):
            yield LocateProgress(done, 3)
            while not self.gate.wait(0.01):
                cancel.check()
        if isinstance(asked.wanted, Digest):
            yield places_of(asked.wanted)
        elif asked.wanted.name in self.inspect_errors:
            raise self.inspect_errors[asked.wanted.name]
        else:
            yield weights_of(asked.wanted.name)

    def compare_bundles(self, asked: BundlesRequest, cancel: CancelToken) -> Iterator[DifferenceProgress | Difference]:
        """A run is equal to itself; one whose name begins with "other" is of another order."""
        self.differences.append(asked)
        yield DifferenceProgress(say("Hashing {0}", asked.first.name), 1, 2)
        while not self.gate.wait(0.01):
            cancel.check()
        yield self.difference(asked)

    def difference(self, asked: BundlesRequest) -> Difference:
        sides = asked.first, asked.second
        machines = (("device", "cpu"), ("torch", "2.13.0")), (("device", "cuda:0"), ("torch", "2.13.0"))
        equal = asked.first == asked.second
        runs = tuple(
            ComparedRun(side.name, digest("order"), digest(side.name), self.steps, machines[not equal and number])
            for number, side in enumerate(sides)
        )
        other = any(side.name.startswith("other") for side in sides)
        step = None if equal else self.steps // 2
        elements = OperatorElements((True, True), 320, 40, (0, 3), 0.5, 0.5 + 2.0**-20, 2.0**-20)
        state = StateDifference(
            self.steps // 2 + 5, self.divergence(self.disputed or 0) or (), 2, ("head.extra",), None
        )
        return Difference(
            sentence=say("All {0} steps that were compared are equal.", self.steps)
            if step is None
            else say(
                "The first step that differs is {0} of {1}: {2}.", step, self.steps, listed_parts(("state", "loss"))
            ),
            runs=(runs[0], runs[1]),
            orders=(Unlike("seed", "1", "2"),) if other else (),
            machines=() if equal else (Unlike("device", "cpu", "cuda:0"),),
            compared=self.steps,
            step=step,
            path=(),
            parts=() if step is None else ("state", "loss", "fingerprints"),
            losses=None if step is None else (1.5, 1.25),
            log_step=None if step is None else 3,
            inputs=(),
            operator=None if step is None or other else self.operator(),
            elements=elements if asked.replay else None,
            state=None if step is None else state,
        )

    def disputed_rows(self, asked: LookRequest, cancel: CancelToken) -> Iterator[LookProgress | DisputedRows]:
        """Two images, whose labels were read as 9 - x, a text, and an array of which nothing is known."""
        self.looks.append(asked)
        yield LookProgress(say("Looking for the rows that were read"), 0, 1)
        while not self.gate.wait(0.01):
            cancel.check()
        images = np.arange(2 * 64, dtype=np.float64).reshape(2, 64)
        labels, nothing = np.array([[3.0], [7.0]]), np.zeros((0, 0))
        said = say("Every value x was read as {0} - x.", 9)
        yield DisputedRows(
            asked.step,
            32,
            (0, 1),
            (17, 4),
            (
                RowsRead("images", RowKind.IMAGE, (8, 8), True, "", images, images),
                RowsRead("labels", RowKind.NUMBERS, (), False, said, labels, 9 - labels),
                RowsRead("texts", RowKind.TEXT, (5,), True, "", images[:, :5], images[:, :5], ("hello", "world")),
                RowsRead("weights", RowKind.NUMBERS, (3,), False, NOT_KNOWN, images[:, :3], nothing),
            ),
        )

    def operator_look(self, asked: LookRequest, cancel: CancelToken) -> Iterator[LookProgress | OperatorLook]:
        self.looks.append(asked)
        yield LookProgress(say("Replaying step {0}", asked.step), 0, 1)
        while not self.gate.wait(0.01):
            cancel.check()
        weights = torch.linspace(-1, 1, 320).reshape(10, 32)
        values = value_of("weight", weights), value_of("stride", [1, 1]), value_of("", weights.sum())
        yield OperatorLook(asked.step, 55, self.operator().where, SAID, values)

    def tensor_sides(self, asked: LookRequest, cancel: CancelToken) -> Iterator[LookProgress | TensorSides]:
        self.looks.append(asked)
        yield LookProgress(say("Replaying step {0}", asked.step), 0, 1)
        while not self.gate.wait(0.01):
            cancel.check()
        before = np.zeros(TENSORS[asked.tensor], np.float32)
        replay = np.linspace(-0.5, 0.5, before.size, dtype=np.float32).reshape(before.shape)
        trainer = replay.copy()
        trainer.reshape(-1)[:7] += np.float32(2.0**-12)
        yield compare_sides(asked.tensor, (asked.step - 5, asked.step), before, trainer, replay)

    def preview(self, report: Signable, signed_at: datetime) -> bytes:
        if isinstance(report, AdjudicationReport):
            return canonical.encode(statement_of(adjudication_statement(report, signed_at)))
        return canonical.encode(statement_of(verdict_statement(report, signed_at)))

    def read_key(self, path: Path) -> str:
        """The auditor's key, or the trainer's, or another one, by the name of the file."""
        if path.name.startswith("list"):
            return PublicKey.from_pem(path.read_bytes()).public
        if path.name.startswith("trainer"):
            return self.trainer_public
        return self.signer if path.name.startswith("auditor") else digest(path.name).hex

    def read_revocations(self, path: Path, key: str) -> ReadRevocations:
        """Checked as the engine does; a list of one key for a file that is not there."""
        if not path.exists():
            gone = Revocation(key_id_of(key), "2026-01-01T00:00:00Z", Cause.RETIRED, "")
            said = RevocationList(1, (gone,), issued_at="2026-01-01T00:00:00Z", public_key=pem_of(key))
            return ReadRevocations(b"{}", said)
        envelope = path.read_bytes()
        return ReadRevocations(envelope, open_said(RevocationList, envelope, PublicKey.from_pem(pem_of(key).encode())))

    def read_verdict(
        self, path: Path, store: TrustStore, bundle: Path | None, statements: Sequence[Path]
    ) -> VerdictReading:
        self.statements = tuple(statements)
        content = json.loads(path.read_bytes())
        key_id = key_id_of(self.signer)
        if self.signer not in store.auditors:
            return VerdictReading((key_id,))
        if content.get("forged"):
            raise CounterfoilError(say("The signature does not hold for the key {0}.", "abababababab"))
        if b"adjudication:v2" in (statement := base64.b64decode(content.get("payload", ""))):
            said = read_said(AdjudicationStatement, json.loads(statement))
            return VerdictReading((key_id,), Adjudication(said, key_id), self.signer)
        report = replace(
            verified_report(), bundle_name="honest.cfoil", reason="All is well.", trainer_key=self.trainer_key
        )
        fields = statement_of(verdict_statement(report, datetime(2026, 11, 21, 12, tzinfo=UTC)))
        verdict = Verdict(read_said(VerdictStatement, fields), key_id)
        matches = None if bundle is None else bundle.name == "honest.cfoil"
        return VerdictReading((key_id,), verdict, self.signer, matches, self.later)

    def write_steps(self, steps: StepTable, path: Path) -> None:
        path.write_text("".join(f"{row.step}\n" for row in steps.rows()))

    def make_sample(self, folder: Path, kind: SampleKind, cancel: CancelToken) -> Iterator[SampleProgress]:
        self.threads.add(threading.current_thread().name)
        self.disputed = self.steps // 2 if kind is SampleKind.TAMPERED else None
        for step in range(1, 4):
            yield SampleProgress(step, 3)
            while not self.gate.wait(0.01) and not cancel.cancelled:
                continue
            cancel.check()
        files = sample_files(folder, kind)
        folder.mkdir(parents=True, exist_ok=True)
        files.order.touch()
        files.run.touch()

    def preview_data(self, form: str, path: Path | None) -> DataPreview:
        if form == "hf":
            return DataPreview("table", np.zeros((0, 1, 1, 1), np.uint8), ("text",), (("one",), ("two",)), "", None)
        if path is not None and path.suffix == ".txt":
            return DataPreview("text", np.zeros((0, 1, 1, 1), np.uint8), (), (), path.read_text(), path.stat().st_size)
        if path is not None and not path.is_dir():
            raise CounterfoilError(f"{path} cannot be looked at.", remedy="Choose another.")
        pixels = np.arange(12 * 64, dtype=np.uint8).reshape(12, 1, 8, 8)
        return DataPreview("images", pixels, ("label",), tuple((str(n % 10),) for n in range(12)), "", 1797)

    def order(
        self, arguments: Sequence[str], folder: Path | None, cancel: CancelToken
    ) -> Iterator[OrderProgress | OrderWritten]:
        self.orders.append((tuple(arguments), folder))
        if self.order_failure is not None:
            raise self.order_failure
        for done in range(5):
            yield OrderProgress("First step", "operators", done, 4)
            while not self.gate.wait(0.01) and not cancel.cancelled:
                continue
            cancel.check()
        out = Path(arguments[list(arguments).index("--out") + 1])
        out.write_bytes(b"order")
        if "--script" in arguments and "--compare 0" not in " ".join(arguments):
            comparison_path(out).write_bytes(b"comparison")
        steps = int(arguments[list(arguments).index("--steps") + 1]) if "--steps" in arguments else 60
        expected = Expected(193, 665_452, 6_940_930, 195_361, 2112, 8.6, 2.87, 2.4257)
        yield OrderWritten(
            digest(" ".join(arguments)).hex, "Handwritten digits, small residual network", "SGD, momentum 0.9",
            "float64-24", steps, 32, 0, 0, 5, ("images: uint8 [1797, 8, 8]", "labels: int64 [1797]"), 5, 0, expected,
            (), ("Learning rate: first 0.1, highest 0.1 at step 1, last 0.025",),
        )  # fmt: skip

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        if not path.parent.is_dir():
            raise CounterfoilError(f"There is no folder {path.parent}.", remedy="Choose another.")
        assert report.dispute is not None
        path.write_text(f"step {report.dispute.step}")

    # What it reports

    def loss(self, step: int) -> float:
        return 2.3 * 0.97**step + 0.05 * ((step * 7919) % 13) / 13

    def order_source(self, order: Path | None, client_known: bool) -> OrderSource:
        return self._compared(order, client_known).source

    def _compared(self, order: Path | None, client_known: bool) -> OrderFinding:
        given = None if order is None else GivenOrder(digest("order"))
        held = HeldOrder(digest("order"), self.client_key)
        return compare_orders(held, given, self.client_key if client_known else "")

    def checks(self, order: Path | None, client_known: bool = False) -> dict[CheckNumber, Check]:
        signed = say("Signed by {0}, {1}.", "7d1f6a0c4b92", "2026-11-20T16:42:07Z")
        details = {
            CheckNumber.FORMAT: say("Every rule of the format is kept."),
            CheckNumber.ORDER_CONTENTS: (
                say("Program, schedule, scalars, {0} data arrays and the initial state match the order.", 2)
            ),
            CheckNumber.PROGRAM: say("All {0} operators are on the allow-list; {1} are rounded.", 412, 131),
            CheckNumber.SIGNATURE: joined(
                signed, accepted_by(self.trainer_key, self.client_key, "2026-11-20T16:00:00Z")
            ),
            CheckNumber.COMMITMENTS: say("The {0} steps have the signed run root {1}.", self.steps, "9c01d2aa7f3e"),
        }
        result = {number: Check(number, CheckState.PASSED, text) for number, text in details.items()}
        whose = self._compared(order, client_known)
        result[CheckNumber.ORDER] = Check(CheckNumber.ORDER, whose.state, whose.detail)
        for number in self.failing:
            result[number] = Check(number, CheckState.FAILED, OTHER_ORDER)
        if CheckNumber.ORDER in self.failing:
            result[CheckNumber.ORDER_CONTENTS] = Check(CheckNumber.ORDER_CONTENTS, CheckState.SKIPPED, NOT_THE_ORDER)
            result[CheckNumber.PROGRAM] = Check(CheckNumber.PROGRAM, CheckState.PENDING)
        return result

    def summary(self, path: Path, order: Path | None, client_known: bool = False) -> BundleSummary:
        steps = range(1, self.steps + 1)
        run = RunSummary(
            order_digest=digest("order"),
            run_root=digest("run"),
            steps=self.steps,
            checkpoints=tuple(range(0, self.steps + 1, 5)),
            trainer_key=self.trainer_key,
            trainer_public=self.trainer_public,
            signed_at="2026-11-20T16:42:07Z",
            accepted_at="2026-11-20T16:00:00Z",
            environment=(("device", "cuda:0, NVIDIA H200"), ("torch", "2.13.0"), ("system", "Linux x86_64")),
            recorded=Recorded.of(
                [self.loss(step) for step in steps],
                [900 + step * 31 % 97 for step in steps],
                [410 + step * 37 % 89 for step in steps],
            ),
        )
        plan = OrderSummary(
            title="Digits, small residual network",
            recipe=self.recipe,
            digest=digest("order"),
            steps=self.ordered or self.steps,
            may_stop_early=StopRule(10, 0.01).describe() if self.ordered else "",
            batch_size=32,
            shares=self.shares,
            shares_added=bool(self.shares),
            seed=20261121,
            precision=say(
                "{0}, margin 2^(E-{1})", say("{0} -> {1} significand bits, {2} guard bits", "float64", 24, 8), 44
            ),
            optimizer="SGD, momentum 0.9, weight decay 0.0005, cosine schedule",
            programs=(("", digest("program")),),
            pattern=(),
            operators=412,
            rounded_operators=131,
            parameters=14_906,
            state_tensors=len(TENSORS),
            state_bytes=121_344,
            data=(
                ArraySummary("images", "uint8", (1797, 8, 8), digest("images"), self.data_file),
                ArraySummary("labels", "int64", (1797,), digest("labels"), self.data_file),
            ),
            data_root=digest("data"),
            initial_root=digest("initial"),
            commit_every=1,
            checkpoint_every=5,
            without_bound=("fold", "prod"),
            estimate=ESTIMATE,
            client_key=self.client_key,
            signed_at="2026-11-19T09:30:00Z" if self.client else "",
        )
        sentence = say("The run is signed and complete. Compare it with the client's own order before you rely on it.")
        if self.failing:
            sentence = say("{0} Nothing can be concluded about the training.", OTHER_ORDER)
        elif not self.has_run:
            sentence = say("This is an order that nobody has run yet.")
        return BundleSummary(
            path=str(path),
            file_bytes=1_482_113,
            order=plan,
            run=run if self.has_run else None,
            checks=tuple(self.checks(order, client_known).values()),
            client_order=None if order is None else digest("order"),
            sentence=sentence,
            order_source=self.order_source(order, client_known),
            given_client_key=self.client_key if client_known else "",
            comparison=self.comparison,
        )

    def row(self, step: int) -> StepRow:
        match = StepMatch.MATCH
        if self.disputed is not None and step >= self.disputed:
            resumed = -(-self.disputed // 5) * 5
            match = StepMatch.MISMATCH if step == self.disputed else StepMatch.UNJUDGED
            if step > resumed:
                match = StepMatch.MATCH
        leaf = digest(f"leaf {step}")
        replay = leaf if match is StepMatch.MATCH else digest(f"other {step}")
        loss = self.loss(step)
        return StepRow(
            step=step,
            match=match,
            trainer_leaf=leaf,
            replay_leaf=replay,
            trainer_loss=loss,
            replay_loss=loss if match is StepMatch.MATCH else loss + 0.4,
            log_entries=410 + step * 37 % 89,
            log_bytes=900 + step * 31 % 97,
            corrections=step * 13 % 7,
            contradictions=5 if match is not StepMatch.MATCH or step == self.lying_log else 0,
            omissions=0,
            rounded_values=1_204_224,
            seconds=0.31,
        )

    def divergence(self, step: int) -> tuple[TensorDivergence, ...]:
        wrong = self.disputed is not None and self.disputed <= step < self.disputed + 5
        return tuple(
            TensorDivergence(
                name=name,
                shape=shape,
                differing=40 if wrong else 0,
                max_abs=10.0 ** (-3 - place) if wrong else 0.0,
                max_ulps=9_000 // (place + 1) if wrong else 0,
                l2=2 * 10.0 ** (-3 - place) if wrong else 0.0,
                index=tuple(0 for _ in shape) if wrong else (),
                trainer=0.0625,
                replay=0.0625 + 10.0 ** (-3 - place),
            )
            for place, (name, shape) in enumerate(TENSORS.items())
        )

    def dispute(self, step: int) -> Dispute:
        trainer = [digest(f"leaf {number}") for number in range(max(self.steps, step) + 1)]
        replay = [digest(f"other {number}") if number == step else leaf for number, leaf in enumerate(trainer)]
        _, path = first_difference(MerkleTree(trainer), MerkleTree(replay))
        return Dispute(
            step=step,
            trainer_leaf=digest(f"leaf {step}"),
            replay_leaf=digest(f"other {step}"),
            parts=(*(["shares"] * (self.part not in ("", "update"))), "state", "loss", "fingerprints"),
            part=self.part,
            path=path,
            inclusion_proof=MerkleTree(trainer).inclusion_proof(step),
            compared_at=-(-step // 5) * 5,
            tensors=tuple(replace(item, detail=self.detail(item)) for item in self.divergence(step)),
            trainer_loss=self.loss(step),
            replay_loss=self.loss(step) + 0.4,
            confirmed=True,
            operator=self.operator(),
            trainer_state=digest("state"),
            replay_state=digest("other state"),
            finding=Finding(Right.REPLAY, joined("The trainer's fingerprint belongs to other values.")),
        )

    def detail(self, tensor: TensorDivergence) -> TensorDetail:
        trainer = np.linspace(-0.5, 0.5, math.prod(tensor.shape), dtype=np.float32).reshape(tensor.shape)
        other = trainer.copy()
        other.reshape(-1)[5:9] += np.float32(2.0**-12)
        return detail_difference(tensor.name, trainer, other)

    def operator(self) -> DisputedOperator:
        names = ["aten.convolution.default", "aten.relu.default", "aten.addmm.default", "aten.nll_loss_forward.default"]
        near = tuple(
            NeighbourOperator(
                number=number,
                name=names[number % 4],
                module=f"blocks.{number % 3}.conv{number % 2 + 1}",
                phase="forward" if number < 60 else "backward",
                shapes=((32, 16, 8, 8),),
                agrees=None if number % 4 == 1 else number < 55,
            )
            for number in range(49, 62)
        )
        return DisputedOperator(
            55, 412, names[3], "", "forward", (), ((32, 10), (32,)), differing_operators=78, neighbours=near
        )

    def report(
        self,
        plan: AuditRequest,
        checks: dict[CheckNumber, Check],
        done: int,
        outcome: Outcome,
        sample: Sample | None = None,
    ) -> AuditReport:
        reasons = {
            Outcome.VERIFIED: (
                say("All {0} steps were replayed, and every one came out exactly as the trainer signed it.", self.steps)
            ),
            Outcome.DISPUTED: (accusation(self.dispute(self.disputed)) if self.disputed else ""),
            Outcome.INCONCLUSIVE: say(
                "The audit was stopped after {0} of {1} steps; all of these match.", done, self.steps
            ),
            Outcome.REFUSED: say("{0} Nothing was concluded about the training.", OTHER_ORDER),
        }
        given = bool(self.client) and isinstance(plan, KnownRequest) and plan.client == self.client
        passed, skipped = CheckState.PASSED, CheckState.SKIPPED
        full = {number: Check(number, skipped) for number in list(CheckNumber)} | checks
        if outcome is not Outcome.REFUSED:
            wrong = outcome is Outcome.DISPUTED
            found = say("All {0} judged steps match.", done)
            if wrong:
                found = say("Of {0} judged steps one differs: {1}.", done, self.disputed)
            log = say(
                "{0} entries for {1} rounded values: {2} corrections, {3} contradictions, {4} omissions.",
                24660, 72253440, 180, 0, 0,
            )  # fmt: skip
            part = CheckState.WARNING if done < self.steps else passed
            full |= {
                CheckNumber.REPLAY: Check(CheckNumber.REPLAY, CheckState.FAILED if wrong else passed, found),
                CheckNumber.LOG: Check(CheckNumber.LOG, passed, log),
                CheckNumber.COVERAGE: Check(
                    CheckNumber.COVERAGE, part, say("{0} of {1} steps were judged.", done, self.steps)
                ),
            }
        return AuditReport(
            outcome=outcome,
            reason=reasons[outcome],
            checks=tuple(full[number] for number in list(CheckNumber)),
            order_digest=digest("order"),
            order_source=self.order_source(plan.order, given),
            client_key=self.client_key,
            given_client_key=self.client_key if given else "",
            accepted_client=self.client_key,
            run_order=digest("order"),
            run_root=digest("run"),
            bundle_digest=digest("bundle"),
            bundle_name=plan.run.name,
            trainer_key=self.trainer_key,
            accepted_at="2026-11-20T16:00:00Z",
            title="Digits, small residual network",
            steps_ordered=self.ordered or self.steps,
            steps_recorded=self.steps,
            steps_planned=len(self.steps_of(plan)),
            sample=sample,
            steps_replayed=done,
            begun_at="2026-11-21T09:00:01Z",
            ended_at="2026-11-21T09:12:05Z",
            mismatched_steps=(self.disputed,) if outcome is Outcome.DISPUTED and self.disputed else (),
            dispute=self.dispute(self.disputed) if outcome is Outcome.DISPUTED and self.disputed else None,
        )
