"""The values of a made-up run: what an engine says of it, for a window that is tested by itself."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import counterfoil as cf
from counterfoil.audit.values.capsulecontents import HandedOut, HandedRows
from counterfoil.audit.values.delivery import ComparedTensor, DeliveryOutcome, DeliveryReport, Relation, WeightsFile
from counterfoil.audit.values.summary import ArraySummary, OrderSummary, RunSummary
from counterfoil.signing.comparedsteps import FoundComparison
from counterfoil.trust.validity import NOTHING_LATER
from counterfoil_app.engine.port import BundlesRequest, KnownRequest
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.commit.merkle import MerkleTree, first_difference
from counterfoil_core.judge.compare import detail_difference
from counterfoil_core.values.account import accusation
from counterfoil_core.values.dispute import listed_parts
from counterfoil_core.values.orders import GivenOrder, HeldOrder, OrderFinding, accepted_by, compare_orders
from counterfoil_core.values.sampling import NonceSource
from counterfoil_core.values.steptable import Recorded

ESTIMATE = cf.Estimate(412, 520, 3 * 2**20, 2_500_000_000, 9 * 2**20)
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
    ".age": cf.FileUse.SEALED,
    "job.cfoil": cf.FileUse.ORDER,
    ".capsule.cfoil": cf.FileUse.CAPSULE,
    ".cfdata": cf.FileUse.DATA,
    ".reply.json": cf.FileUse.STATEMENT,
    ".json": cf.FileUse.VERDICT,
    ".jsonl": cf.FileUse.HEADS,
    ".pub.pem": cf.FileUse.PUBLIC_KEY,
    ".pem": cf.FileUse.PRIVATE_KEY,
    ".safetensors": cf.FileUse.WEIGHTS,
    ".log": cf.FileUse.WITNESS,
    ".signed": cf.FileUse.SIGNED,
    ".answer": cf.FileUse.ANSWER,
    ".txt": cf.FileUse.OTHER,
}
"""What a file is, by how its name ends; anything else is a run."""
AUDITOR = "ab" * 32
"""The public key that signs its verdicts."""
KEY_ID = cf.key_id_of(AUDITOR)
# The sentences are the engine's own, so that their translations are tried too.
OTHER_ORDER = say("The file was made for the order {0}; the client's order is {1}.", "3eeb7e96e59c", "5f4dcc3b5aa7")
NOT_THE_ORDER = say("The file was made for another order than the client's, so its contents are not compared.")
SELF_TEST_SENTENCE = say("Known answers for SHA-256, Philox and a rounded training step came out right on {0}.", "cpu")


def digest(text: str) -> cf.Digest:
    return cf.Digest.of(text.encode())


def envelope_of(statement: bytes) -> bytes:
    """What looks like a signed statement; its signature is empty."""
    payload = base64.b64encode(statement).decode()
    return json.dumps({"payload": payload, "signatures": [{"keyid": KEY_ID, "sig": ""}]}).encode()


MACHINE = cf.MachinePage(
    (
        cf.MachineFact("Versions", "torch", "2.13.0"),
        cf.MachineFact("Sandbox", "Box", "stays open", cf.MachineState.NOTE, "Use a newer kernel."),
    )
)


FACTS = cf.RunFacts(
    order=digest("order"),
    run_root=digest("run"),
    trainer_key=cf.key_id_of(digest("key").hex),
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
        cf.OperationCount("forward", "convolution", 2_048_655_360, "float64"),
        cf.OperationCount("update", "other", 2**64 + 1, "integers"),
    ),
    data=(cf.DataUse("images", "uint8", (1797, 8, 8), digest("images"), 1920, 1792, 122_880, 7),),
    started="2026-11-26T08:26:50Z",
    signed="2026-11-26T08:26:51Z",
    machine=(("device", "cpu"), ("torch", "2.13.0")),
    tokens=98_304,
    seconds=200,
)
RULES = cf.CheckedRules(
    "Ordinary settings",
    digest("rules"),
    digest("run"),
    (
        cf.RuleResult("compute.operations", cf.RuleOutcome.HELD, say(
            "It has {0}; {1} to {2} are allowed. Counted from the order, which the trainer signed.",
            "6,162,605,880", "0", "1e+25")),
        cf.RuleResult("data.must", cf.RuleOutcome.BROKEN, say(
            "No data array of the order has the digest {0}.", "00ff")),
        cf.RuleResult("verdict", cf.RuleOutcome.CANNOT_BE_TOLD, say(
            "No verdict was given that one of the auditors signed on this run and that verifies it.")),
    ),
)  # fmt: skip


DEVICES = (
    cf.Device("cpu", "CPU, 2 threads", "float64 at full speed"),
    cf.Device("cuda:0", "NVIDIA H200", "float64 at half the speed of float32"),
)
HANDED = HandedOut(35, 52, 2_900_000, (HandedRows("images", 32, 1792, 1797), HandedRows("labels", 32, 1797, 1797)))
IMAGES = cf.DataPreview(
    "images", np.arange(12 * 64, dtype=np.uint8).reshape(12, 1, 8, 8), ("label",),
    tuple((str(n % 10),) for n in range(12)), "", 1797,
)  # fmt: skip


def written_order(arguments: Sequence[str]) -> cf.OrderWritten:
    """What is said of an order that was written with these arguments."""
    steps = int(arguments[list(arguments).index("--steps") + 1]) if "--steps" in arguments else 60
    return cf.OrderWritten(
        digest(" ".join(arguments)).hex, "Handwritten digits, small residual network", "SGD, momentum 0.9",
        "float64-24", steps, 32, 0, 0, 5, ("images: uint8 [1797, 8, 8]", "labels: int64 [1797]"), 5, 0,
        cf.Expected(193, 665_452, 6_940_930, 195_361, 2112, 8.6, 2.87, 2.4257), (),
        ("Learning rate: first 0.1, highest 0.1 at step 1, last 0.025",),
    )  # fmt: skip


@dataclass
class MadeUpRun:
    """A made-up run of ``steps`` steps."""

    steps: int = 60  #: Number of steps.
    ordered: int | None = (
        None  #: Number of ordered steps, where the order's rule ended the run before the last of them.
    )
    disputed: int | None = None  #: The step that comes out different; None for an honest run.
    shares: int = 0  #: Into how many shares each step is divided; 0 for steps without shares.
    part: str = ""  #: The part of the disputed step that lies, where steps have shares.
    lying_log: int | None = None  #: A matching step whose log holds contradictions; None for none.
    failing: tuple[cf.CheckNumber, ...] = ()  #: Checks that fail before any replay.
    has_run: bool = True  #: Whether the file holds a run; else an order alone.
    data_file: str | None = None  #: The bundle needs a data file of this name.
    #: Segments of a random sample, first and last of each run of neighbours; empty for the whole run.
    spans: tuple[tuple[int, int], ...] = ()
    key: str = "key"  #: Names the key that signed.
    signer: str = AUDITOR  #: The public key that signs verdicts.
    client: str = ""  #: The public key that signed the order; empty for an unsigned one.
    later: cf.Afterwards = NOTHING_LATER  #: What was said of the verdicts that it reads.
    why_not: tuple[str, ...] = ()  #: Why they do not count.
    counted: tuple[bytes, ...] = ()  #: Which of the statements that it is given say something of them.
    machine: cf.MachinePage = MACHINE  #: What an examination of the machine finds.
    facts: cf.RunFacts = FACTS  #: What a run shows of itself.
    rules: cf.CheckedRules = RULES  #: What comes of rules.
    recipe: str = "digits-cnn"  #: The order's recipe.
    comparison: FoundComparison | None = None  #: What lies beside the order as its comparison with a script.

    @property
    def trainer_public(self) -> str:
        """The public key that signed the run."""
        return digest(self.key).hex

    @property
    def trainer_key(self) -> str:
        """Its fingerprint."""
        return cf.key_id_of(self.trainer_public)

    @property
    def client_key(self) -> str:
        """Fingerprint of the key that signed the order; empty for an unsigned one."""
        return cf.key_id_of(self.client) if self.client else ""

    def loss(self, step: int) -> float:
        return 2.3 * 0.97**step + 0.05 * ((step * 7919) % 13) / 13

    def order_source(self, order: Path | None, client_known: bool) -> cf.OrderSource:
        return self._compared(order, client_known).source

    def _compared(self, order: Path | None, client_known: bool) -> OrderFinding:
        given = None if order is None else GivenOrder(digest("order"))
        held = HeldOrder(digest("order"), self.client_key)
        return compare_orders(held, given, self.client_key if client_known else "")

    def checks(self, order: Path | None, client_known: bool = False) -> dict[cf.CheckNumber, cf.Check]:
        signed = say("Signed by {0}, {1}.", "7d1f6a0c4b92", "2026-11-20T16:42:07Z")
        details = {
            cf.CheckNumber.FORMAT: say("Every rule of the format is kept."),
            cf.CheckNumber.ORDER_CONTENTS: (
                say("Program, schedule, scalars, {0} data arrays and the initial state match the order.", 2)
            ),
            cf.CheckNumber.PROGRAM: say("All {0} operators are on the allow-list; {1} are rounded.", 412, 131),
            cf.CheckNumber.SIGNATURE: joined(
                signed, accepted_by(self.trainer_key, self.client_key, "2026-11-20T16:00:00Z")
            ),
            cf.CheckNumber.COMMITMENTS: say("The {0} steps have the signed run root {1}.", self.steps, "9c01d2aa7f3e"),
        }
        result = {number: cf.Check(number, cf.CheckState.PASSED, text) for number, text in details.items()}
        whose = self._compared(order, client_known)
        result[cf.CheckNumber.ORDER] = cf.Check(cf.CheckNumber.ORDER, whose.state, whose.detail)
        for number in self.failing:
            result[number] = cf.Check(number, cf.CheckState.FAILED, OTHER_ORDER)
        if cf.CheckNumber.ORDER in self.failing:
            result[cf.CheckNumber.ORDER_CONTENTS] = cf.Check(
                cf.CheckNumber.ORDER_CONTENTS, cf.CheckState.SKIPPED, NOT_THE_ORDER
            )
            result[cf.CheckNumber.PROGRAM] = cf.Check(cf.CheckNumber.PROGRAM, cf.CheckState.PENDING)
        return result

    def summary(self, path: Path, order: Path | None, client_known: bool = False) -> cf.BundleSummary:
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
                [digest(f"leaf {step}") for step in steps],
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
        return cf.BundleSummary(
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

    def row(self, step: int) -> cf.StepRow:
        match = cf.StepMatch.MATCH
        if self.disputed is not None and step >= self.disputed:
            resumed = -(-self.disputed // 5) * 5
            match = cf.StepMatch.MISMATCH if step == self.disputed else cf.StepMatch.UNJUDGED
            if step > resumed:
                match = cf.StepMatch.MATCH
        leaf = digest(f"leaf {step}")
        replay = leaf if match is cf.StepMatch.MATCH else digest(f"other {step}")
        loss = self.loss(step)
        return cf.StepRow(
            step=step,
            match=match,
            trainer_leaf=leaf,
            replay_leaf=replay,
            trainer_loss=loss,
            replay_loss=loss if match is cf.StepMatch.MATCH else loss + 0.4,
            log_entries=410 + step * 37 % 89,
            log_bytes=900 + step * 31 % 97,
            corrections=step * 13 % 7,
            contradictions=5 if match is not cf.StepMatch.MATCH or step == self.lying_log else 0,
            omissions=0,
            rounded_values=1_204_224,
            seconds=0.31,
        )

    def divergence(self, step: int) -> tuple[cf.TensorDivergence, ...]:
        wrong = self.disputed is not None and self.disputed <= step < self.disputed + 5
        return tuple(
            cf.TensorDivergence(
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

    def dispute(self, step: int) -> cf.Dispute:
        trainer = [digest(f"leaf {number}") for number in range(max(self.steps, step) + 1)]
        replay = [digest(f"other {number}") if number == step else leaf for number, leaf in enumerate(trainer)]
        _, path = first_difference(MerkleTree(trainer), MerkleTree(replay))
        return cf.Dispute(
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
            finding=cf.Finding(cf.Right.REPLAY, joined("The trainer's fingerprint belongs to other values.")),
        )

    def detail(self, tensor: cf.TensorDivergence) -> cf.TensorDetail:
        trainer = np.linspace(-0.5, 0.5, math.prod(tensor.shape), dtype=np.float32).reshape(tensor.shape)
        other = trainer.copy()
        other.reshape(-1)[5:9] += np.float32(2.0**-12)
        return detail_difference(tensor.name, trainer, other)

    def operator(self) -> cf.DisputedOperator:
        names = ["aten.convolution.default", "aten.relu.default", "aten.addmm.default", "aten.nll_loss_forward.default"]
        near = tuple(
            cf.NeighbourOperator(
                number=number,
                name=names[number % 4],
                module=f"blocks.{number % 3}.conv{number % 2 + 1}",
                phase="forward" if number < 60 else "backward",
                shapes=((32, 16, 8, 8),),
                agrees=None if number % 4 == 1 else number < 55,
            )
            for number in range(49, 62)
        )
        return cf.DisputedOperator(
            55, 412, names[3], "", "forward", (), ((32, 10), (32,)), differing_operators=78, neighbours=near
        )

    def report(
        self,
        plan: cf.AuditRequest,
        checks: dict[cf.CheckNumber, cf.Check],
        done: int,
        outcome: cf.Outcome,
        sample: cf.Sample | None = None,
    ) -> cf.AuditReport:
        reasons = {
            cf.Outcome.VERIFIED: (
                say("All {0} steps were replayed, and every one came out exactly as the trainer signed it.", self.steps)
            ),
            cf.Outcome.DISPUTED: (accusation(self.dispute(self.disputed)) if self.disputed else ""),
            cf.Outcome.INCONCLUSIVE: say(
                "The audit was stopped after {0} of {1} steps; all of these match.", done, self.steps
            ),
            cf.Outcome.REFUSED: say("{0} Nothing was concluded about the training.", OTHER_ORDER),
        }
        given = bool(self.client) and isinstance(plan, KnownRequest) and plan.client == self.client
        passed, skipped = cf.CheckState.PASSED, cf.CheckState.SKIPPED
        full = {number: cf.Check(number, skipped) for number in list(cf.CheckNumber)} | checks
        if outcome is not cf.Outcome.REFUSED:
            wrong = outcome is cf.Outcome.DISPUTED
            found = say("All {0} judged steps match.", done)
            if wrong:
                found = say("Of {0} judged steps one differs: {1}.", done, self.disputed)
            log = say(
                "{0} entries for {1} rounded values: {2} corrections, {3} contradictions, {4} omissions.",
                24660, 72253440, 180, 0, 0,
            )  # fmt: skip
            part = cf.CheckState.WARNING if done < self.steps else passed
            full |= {
                cf.CheckNumber.REPLAY: cf.Check(
                    cf.CheckNumber.REPLAY, cf.CheckState.FAILED if wrong else passed, found
                ),
                cf.CheckNumber.LOG: cf.Check(cf.CheckNumber.LOG, passed, log),
                cf.CheckNumber.COVERAGE: cf.Check(
                    cf.CheckNumber.COVERAGE, part, say("{0} of {1} steps were judged.", done, self.steps)
                ),
            }
        return cf.AuditReport(
            outcome=outcome,
            reason=reasons[outcome],
            checks=tuple(full[number] for number in list(cf.CheckNumber)),
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
            mismatched_steps=(self.disputed,) if outcome is cf.Outcome.DISPUTED and self.disputed else (),
            dispute=self.dispute(self.disputed) if outcome is cf.Outcome.DISPUTED and self.disputed else None,
        )

    def chosen(self, plan: cf.AuditRequest) -> tuple[int, ...]:
        """The segments of 5 steps that are replayed: the first ones of a sample."""
        total, asked = self.steps // 5, plan.segments
        if self.spans:
            return tuple(number for first, last in self.spans for number in range(first, last + 1))
        if asked.numbers:
            return asked.numbers
        count = asked.count or (max(1, round(asked.confidence * total) - 1) if asked.confidence else total)
        return tuple(range(1, count + 1)) if self.steps % 5 == 0 or count < total else ()

    def steps_of(self, plan: cf.AuditRequest) -> list[int]:
        """The steps of these segments; all where the run has none."""
        chosen = self.chosen(plan)
        steps = [step for number in chosen for step in range(5 * number - 4, min(5 * number, self.steps) + 1)]
        return steps or list(range(1, self.steps + 1))

    def selection(self, plan: cf.AuditRequest) -> tuple[cf.Selection, str, int, NonceSource | None]:
        if plan.segments.numbers:
            return cf.Selection.LISTED, "", 0, None
        if plan.segments.count or plan.segments.confidence:
            return cf.Selection.RANDOM, "ab" * 32, 1, NonceSource.DRAWN
        return cf.Selection.ALL, "", 0, None

    def sample(self, plan: cf.AuditRequest, chosen: tuple[int, ...]) -> cf.Sample | None:
        """What was chosen; None in a run that has no segments."""
        total = -(-self.steps // 5)
        if self.spans:
            return cf.Sample(total, self.spans, cf.Selection.RANDOM, digest("nonce").hex, 1, NonceSource.DRAWN)
        return cf.Sample(total, tuple((n, n) for n in chosen), *self.selection(plan)) if self.steps >= 5 else None

    def member(self, run: Path) -> cf.Member:
        if run.name.startswith("broken"):
            return cf.Member(run.name, cf.Standing.REFUSED, "", None, say("The file is an order that nobody has run."))
        return cf.Member(run.name, cf.Standing.UNTESTED, cf.key_id_of(digest(run.name).hex), digest(run.name))

    def ruling(self, number: int, step: int, *, wrong: bool) -> cf.Ruling:
        leaf = digest(f"leaf {step}")
        return cf.Ruling(
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

    def difference(self, asked: BundlesRequest) -> cf.Difference:
        sides = asked.first, asked.second
        machines = (("device", "cpu"), ("torch", "2.13.0")), (("device", "cuda:0"), ("torch", "2.13.0"))
        equal = asked.first == asked.second
        runs = tuple(
            cf.ComparedRun(side.name, digest("order"), digest(side.name), self.steps, machines[not equal and number])
            for number, side in enumerate(sides)
        )
        other = any(side.name.startswith("other") for side in sides)
        step = None if equal else self.steps // 2
        elements = cf.OperatorElements((True, True), 320, 40, (0, 3), 0.5, 0.5 + 2.0**-20, 2.0**-20)
        state = cf.StateDifference(
            self.steps // 2 + 5, self.divergence(self.disputed or 0) or (), 2, ("head.extra",), None
        )
        return cf.Difference(
            sentence=say("All {0} steps that were compared are equal.", self.steps)
            if step is None
            else say(
                "The first step that differs is {0} of {1}: {2}.", step, self.steps, listed_parts(("state", "loss"))
            ),
            runs=(runs[0], runs[1]),
            orders=(cf.Unlike("seed", "1", "2"),) if other else (),
            machines=() if equal else (cf.Unlike("device", "cpu", "cuda:0"),),
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

    def adjudication(
        self, capsule: Path, order: Path | None, checks: dict[cf.CheckNumber, cf.Check]
    ) -> cf.AdjudicationReport:
        return cf.AdjudicationReport(
            outcome=cf.AdjudicationOutcome.CONFIRMED,
            reason="The step is not what was ordered.",
            checks=tuple(checks.get(number, cf.Check(number, cf.CheckState.PASSED)) for number in cf.CheckNumber),
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

    def delivery(self, weights: Path, verdict: Path | None, replay: cf.AuditReport | None) -> DeliveryReport:
        judged = verdict is not None or replay is not None
        own = verdict is not None and self.signer == self.trainer_public
        checks = tuple(self.checks(None if replay is None or replay.order_source == "bundle" else Path()).values())
        key_id = cf.key_id_of(self.signer) if verdict is not None else ""
        bad = weights.name.startswith("other")
        name = "blocks.0.conv1.weight"
        differing = (ComparedTensor(name, name, Relation.SAME, 2304, 1, 1.49e-8, (3, 1, 0, 2), 0.25, 0.5),)
        if bad:
            outcome = DeliveryOutcome.DIFFERENT
            sentence = say("The weights are not the final state of the run; {0}.", say("tensors that differ: {0}", 1))
        else:
            outcome = DeliveryOutcome.DELIVERED if judged and not own else DeliveryOutcome.INCONCLUSIVE
            sentence = (
                say(
                    "The weights are the final state of the verified run, after step {0}: {1} tensors, each {2}.",
                    self.steps, 5, Relation.SAME.words,
                )
                if judged
                else say(
                    "The weights are the final state of the run, after step {0}, and no verdict says that the run is "
                    "verified.", self.steps,
                )
            )  # fmt: skip
        return DeliveryReport(
            outcome=outcome,
            sentence=sentence,
            warnings=(),
            run_root=digest("run"),
            order_digest=digest("order"),
            step=self.steps,
            steps_ordered=self.steps,
            headline="VERIFIED" if judged else "",
            key_id=key_id,
            trust=cf.trust_of(checks, self.trainer_key, named=False, auditor_key=key_id) if judged else None,
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
