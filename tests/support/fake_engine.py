"""An engine that computes nothing: it reports the events of a made-up run, so that the window is tested by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from counterfoil import (
    AuditFinished,
    AuditReport,
    AuditStarted,
    BundleSummary,
    CancelToken,
    Check,
    CheckChanged,
    CheckNumber,
    CheckState,
    CounterfoilError,
    Digest,
    Dispute,
    DisputeLocated,
    DivergenceMeasured,
    Event,
    OperatorDone,
    Outcome,
    ResumedFromCheckpoint,
    StepMatch,
    StepReplayed,
    StepRow,
    TensorDivergence,
)
from counterfoil.audit.events import MerkleComparison
from counterfoil.audit.summary import ArraySummary, OrderSummary, RunSummary
from counterfoil_app.engine_port import ReplayPlan

TENSORS = {
    "blocks.0.bn1.running_mean": (16,),
    "blocks.0.conv1.weight": (16, 16, 3, 3),
    "blocks.0.conv2.weight": (16, 16, 3, 3),
    "head.bias": (10,),
    "head.weight": (10, 32),
    "sgd.momentum:head.weight": (10, 32),
}
OPERATORS = 40


def digest(text: str) -> Digest:
    return Digest.of(text.encode())


@dataclass(frozen=True)
class FakeDevice:
    name: str
    title: str
    float64_note: str


@dataclass
class FakeEngine:
    """A made-up run of ``steps`` steps.

    Attributes:
        steps: Number of steps.
        disputed: The step that comes out different; None for an honest run.
        lying_log: A matching step whose log holds contradictions; None for none.
        failing: Checks that fail before any replay.
        gate: The replay waits here before every step; set to let it run.
        inspect_gate: Inspection waits here.
        inspect_errors: Raised by inspection, by file name.
        audit_error: Raised in the middle of the replay.
        data_file: The bundle needs a data file of this name.
    """

    steps: int = 60
    disputed: int | None = None
    lying_log: int | None = None
    failing: tuple[CheckNumber, ...] = ()
    has_run: bool = True
    gate: threading.Event = field(default_factory=threading.Event)
    inspect_gate: threading.Event = field(default_factory=threading.Event)
    inspect_errors: dict[str, Exception] = field(default_factory=dict)
    audit_error: Exception | None = None
    data_file: str | None = None
    threads: set[str] = field(default_factory=set)
    plans: list[ReplayPlan] = field(default_factory=list)
    signed: list[AuditReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.open_gates()

    def open_gates(self) -> None:
        self.gate.set()
        self.inspect_gate.set()

    # The engine's side of the port

    def devices(self) -> Sequence[FakeDevice]:
        return (
            FakeDevice("cpu", "CPU, 2 threads", "float64 at full speed"),
            FakeDevice("cuda:0", "NVIDIA H200", "float64 at half the speed of float32"),
        )

    def inspect(self, path: Path, order: Path | None) -> BundleSummary:
        self.threads.add(threading.current_thread().name)
        assert self.inspect_gate.wait(30)
        if path.name in self.inspect_errors:
            raise self.inspect_errors[path.name]
        return self.summary(path, order)

    def audit(self, plan: ReplayPlan, cancel: CancelToken) -> Iterator[Event]:
        self.threads.add(threading.current_thread().name)
        self.plans.append(plan)
        checks = self.checks(plan.order)
        yield AuditStarted(self.steps, tuple(TENSORS), plan.device, tuple(checks.values()))
        if self.failing:
            yield AuditFinished(self.report(plan, checks, 0, Outcome.REFUSED))
            return
        checks[CheckNumber.SELF_TEST] = Check(CheckNumber.SELF_TEST, CheckState.PASSED, "Known digests came out.")
        yield CheckChanged(checks[CheckNumber.SELF_TEST])
        checks[CheckNumber.REPLAY] = Check(CheckNumber.REPLAY, CheckState.RUNNING)
        yield CheckChanged(checks[CheckNumber.REPLAY])
        done = 0
        for step in range(1, self.steps + 1):
            while not self.gate.wait(0.01) and not cancel.cancelled:
                continue
            try:
                cancel.check()
            except CounterfoilError:
                yield AuditFinished(self.report(plan, checks, done, Outcome.INCONCLUSIVE))
                return
            if self.audit_error is not None and step > self.steps // 2:
                raise self.audit_error
            yield OperatorDone(step, OPERATORS // 2, OPERATORS)
            yield StepReplayed(self.row(step))
            done = step
            if step == self.disputed:
                yield DisputeLocated(self.dispute(step))
            if step % 5 == 0:
                yield DivergenceMeasured(step, self.divergence(step))
                if self.disputed is not None and self.disputed <= step < self.disputed + 5:
                    yield ResumedFromCheckpoint(step)
        outcome = Outcome.DISPUTED if self.disputed is not None else Outcome.VERIFIED
        yield AuditFinished(self.report(plan, checks, done, outcome))

    def create_key(self, private: Path, passphrase: str | None) -> Path:
        private.write_text("private")
        public = private.with_name(f"{private.stem}.pub.pem")
        public.write_text("public")
        return public

    def sign(self, report: AuditReport, private: Path, passphrase: str | None) -> bytes:
        if passphrase == "wrong":
            raise CounterfoilError("The passphrase does not open the key file.", remedy="Type it again.")
        self.signed.append(report)
        return b"{}"

    def write_steps(self, rows: Sequence[StepRow], path: Path) -> None:
        path.write_text("".join(f"{row.step}\n" for row in rows))

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        if not path.parent.is_dir():
            raise CounterfoilError(f"There is no folder {path.parent}.", remedy="Choose another.")
        assert report.dispute is not None
        path.write_text(f"step {report.dispute.step}")

    # What it reports

    def loss(self, step: int) -> float:
        return 2.3 * 0.97**step + 0.05 * ((step * 7919) % 13) / 13

    def checks(self, order: Path | None) -> dict[CheckNumber, Check]:
        details = {
            CheckNumber.FORMAT: "Format version 1; 214 objects, no links.",
            CheckNumber.ORDER: "The order digest equals that of the client's own file.",
            CheckNumber.ORDER_CONTENTS: "All five digests agree.",
            CheckNumber.PROGRAM: "412 operators, 43 kinds, all supported.",
            CheckNumber.SIGNATURE: "Ed25519, made with the key in the bundle.",
            CheckNumber.COMMITMENTS: f"{self.steps + 1} leaves lead to the signed run root.",
        }
        result = {number: Check(number, CheckState.PASSED, text) for number, text in details.items()}
        if order is None:
            text = "The order was taken from the bundle itself; compare with the client's own file to be sure."
            result[CheckNumber.ORDER] = Check(CheckNumber.ORDER, CheckState.WARNING, text)
        for number in self.failing:
            result[number] = Check(number, CheckState.FAILED, "The digests differ.")
        return result

    def summary(self, path: Path, order: Path | None) -> BundleSummary:
        steps = range(1, self.steps + 1)
        run = RunSummary(
            order_digest=digest("order"),
            run_root=digest("run"),
            steps=self.steps,
            checkpoints=tuple(range(0, self.steps + 1, 5)),
            trainer_key=digest("key").hex,
            signed_at="2026-11-20T16:42:07Z",
            environment=(("device", "cuda:0, NVIDIA H200"), ("torch", "2.13.0"), ("system", "Linux x86_64")),
            losses=tuple(self.loss(step) for step in steps),
            log_bytes=tuple(900 + step * 31 % 97 for step in steps),
            log_entries=tuple(410 + step * 37 % 89 for step in steps),
        )
        plan = OrderSummary(
            title="Digits, small residual network",
            recipe="digits-cnn",
            digest=digest("order"),
            steps=self.steps,
            batch_size=32,
            seed=20261121,
            precision="float64 -> 24 significand bits, 8 guard bits, margin 2^(E-44)",
            optimizer="SGD, momentum 0.9, weight decay 0.0005, cosine schedule",
            program_digest=digest("program"),
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
        )
        sentence = "The run was made for the order it carries, and the trainer's signature covers every step."
        if self.failing:
            sentence = "The run does not match the order, so it cannot be accepted."
        elif not self.has_run:
            sentence = "This is an order; nobody has run it yet."
        return BundleSummary(
            path=str(path),
            file_bytes=1_482_113,
            order=plan,
            run=run if self.has_run else None,
            checks=tuple(self.checks(order).values()),
            client_order=None if order is None else digest("order"),
            sentence=sentence,
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
        low, high, path = 0, self.steps, []
        while low < high:
            middle = (low + high) // 2
            left = step <= middle
            trainer = digest(f"node {low} {middle}")
            path.append(MerkleComparison(low, middle, trainer, digest(f"replay {low} {middle}") if left else trainer))
            low, high = (low, middle) if left else (middle + 1, high)
        return Dispute(
            step=step,
            trainer_leaf=digest(f"leaf {step}"),
            replay_leaf=digest(f"other {step}"),
            parts=("state", "loss", "fingerprints"),
            path=tuple(path),
            inclusion_proof=tuple(digest(f"proof {i}") for i in range(6)),
            compared_at=-(-step // 5) * 5,
            tensors=self.divergence(step),
            trainer_loss=self.loss(step),
            replay_loss=self.loss(step) + 0.4,
            confirmed=True,
        )

    def report(self, plan: ReplayPlan, checks: dict[CheckNumber, Check], done: int, outcome: Outcome) -> AuditReport:
        reasons = {
            Outcome.VERIFIED: f"All {self.steps} ordered steps were replayed on {plan.device}; every leaf is equal.",
            Outcome.DISPUTED: f"Step {self.disputed} was replayed and came out different from what the trainer signed.",
            Outcome.INCONCLUSIVE: f"The replay was stopped after {done} of {self.steps} steps.",
            Outcome.REFUSED: "The run was not made for this order, so nothing was replayed.",
        }
        passed, skipped = CheckState.PASSED, CheckState.SKIPPED
        full = {number: Check(number, skipped) for number in list(CheckNumber)} | checks
        if outcome is not Outcome.REFUSED:
            wrong = outcome is Outcome.DISPUTED
            found = f"Step {self.disputed} differs." if wrong else f"{done} leaves are equal."
            part = CheckState.WARNING if done < self.steps else passed
            full |= {
                CheckNumber.REPLAY: Check(CheckNumber.REPLAY, CheckState.FAILED if wrong else passed, found),
                CheckNumber.LOG: Check(CheckNumber.LOG, passed, "No contradiction, no omission."),
                CheckNumber.COVERAGE: Check(CheckNumber.COVERAGE, part, f"{done} of {self.steps} steps."),
            }
        return AuditReport(
            outcome=outcome,
            reason=reasons[outcome],
            checks=tuple(full[number] for number in list(CheckNumber)),
            order_digest=digest("order"),
            order_source="bundle" if plan.order is None else "client",
            run_root=digest("run"),
            bundle_digest=digest("bundle"),
            bundle_name=plan.run.name,
            trainer_key=digest("key").hex,
            title="Digits, small residual network",
            steps_ordered=self.steps,
            steps_planned=self.steps,
            steps_replayed=done,
            mismatched_steps=(self.disputed,) if outcome is Outcome.DISPUTED and self.disputed else (),
            dispute=self.dispute(self.disputed) if outcome is Outcome.DISPUTED and self.disputed else None,
        )
