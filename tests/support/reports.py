"""Audit reports as a replay would make them, without a replay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import joined
from counterfoil_core.commit.merkle import MerkleTree, first_difference, leaf_hash
from counterfoil_core.values.adjudication import AdjudicationOutcome, AdjudicationReport
from counterfoil_core.values.dispute import Dispute, DisputedOperator, Finding, Right, TensorDivergence
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, Outcome
from counterfoil_core.values.report import AuditReport, Steering, SteeringRow
from counterfoil_core.values.runfacts import DataUse, OperationCount, RunFacts
from counterfoil_core.values.sampling import Sample, Selection
from counterfoil_core.values.steptable import Recorded, StepMatch, StepRow, StepTable

STEPS = 60
STEP = 37


def trees() -> tuple[MerkleTree, MerkleTree]:
    """Return the trainer's and the replay's tree; they part at step 37."""
    trainer = [leaf_hash(f"step {step}".encode()) for step in range(STEPS + 1)]
    replay = [*trainer[:STEP], leaf_hash(f"replay {STEP}".encode()), *trainer[STEP + 1 :]]
    return MerkleTree(trainer), MerkleTree(replay)


def checks(**states: CheckState) -> tuple[Check, ...]:
    """Return all ten checks, passed unless another state is given by the check's name."""
    return tuple(
        Check(number, states.get(number.name, CheckState.PASSED), f"Détail of {number.name}.") for number in CheckNumber
    )


def verified_report() -> AuditReport:
    """Return the report of an honest run."""
    return AuditReport(
        outcome=Outcome.VERIFIED,
        reason="All 60 steps came out bit for bit the same.",
        checks=checks(),
        order_digest=Digest.of(b"order"),
        order_source="client",
        run_order=Digest.of(b"order"),
        run_root=trees()[0].root,
        bundle_digest=Digest.of(b"bundle"),
        bundle_name="run é.cfoil",
        trainer_key=Digest.of(b"trainer").hex,
        accepted_at="2026-01-01T00:00:00Z",
        title="Digits",
        steps_ordered=STEPS,
        steps_recorded=STEPS,
        steps_planned=STEPS,
        steps_replayed=STEPS,
        rounded_values=2**60,
        log_entries=12345,
        log_bytes=67890,
        corrections=12,
        seconds=0.1,
        environment=(("device", "cpu"), ("torch", "2.13.0")),
        trainer_environment=(("device", "cuda:0"),),
        sample=Sample(12, ((1, 12),), Selection.ALL),
        steering=Steering(
            (
                SteeringRow("convolution", 2**59, 12000, 10, 11500, 0),
                SteeringRow("sum", 2**59, 345, 2, 330, 1),
            ),
            24,
        ),
        without_bound=("sum",),
    )


def run_facts() -> RunFacts:
    """Return what the run of :func:`verified_report` shows of itself."""
    report = verified_report()
    assert report.run_order is not None
    assert report.run_root is not None
    return RunFacts(
        order=report.run_order,
        run_root=report.run_root,
        trainer_key=report.trainer_key,
        client_key="",
        title=report.title,
        steps=STEPS,
        steps_ordered=STEPS,
        batch_size=8,
        parameters=10**21,
        optimizer="SGD",
        precision="float64",
        compute="float64",
        exact_bits=None,
        program_digests=(("", Digest.of(b"program")),),
        operations=(
            OperationCount("forward", "matrix product", 10**24, "float64"),
            OperationCount("forward", "other", 12, "float64"),
            OperationCount("forward", "other", 3, "integers"),
            OperationCount("update", "elementwise", 7, "float64"),
        ),
        data=(
            DataUse("images", "uint8", (100, 2, 3), Digest.of(b"images"), 470, 99, 2820, 10),
            DataUse("labels", "int64", (100,), Digest.of(b"labels"), 470, 99, 470, 10),
        ),
        started="2026-01-01T00:00:00Z",
        signed="2026-01-01T01:00:00Z",
        machine=report.trainer_environment,
        tokens=470,
        seconds=3600,
    )


def exact_report() -> AuditReport:
    """Return the report of an honest run under an exact profile: there is no log, and no account of one."""
    return replace(
        verified_report(),
        rounded_values=0,
        log_entries=0,
        log_bytes=0,
        corrections=0,
        steering=None,
        without_bound=(),
        exact_bits=20,
    )


def dispute() -> Dispute:
    """Return a dispute whose inclusion proof holds."""
    trainer, replay = trees()
    step, path = first_difference(trainer, replay)
    assert step == STEP
    return Dispute(
        step=step,
        trainer_leaf=leaf_hash(b"step 37"),
        replay_leaf=leaf_hash(b"replay 37"),
        parts=("state", "loss", "fingerprints"),
        path=path,
        inclusion_proof=trainer.inclusion_proof(step),
        compared_at=40,
        tensors=(TensorDivergence("conv1.weight", (8, 1, 3, 3), 71, 0.1, 2**40, 0.25, (7, 0, 2, 1), 1.5, -math.inf),),
        trainer_loss=2.3,
        replay_loss=math.nan,
        confirmed=True,
        operator=DisputedOperator(
            number=72,
            total=193,
            name="aten.nll_loss_forward.default",
            module="",
            phase="forward",
            shape=(),
            input_shapes=((32, 10), (32,)),
            differing_operators=30,
        ),
        finding=Finding(Right.REPLAY, joined("The trainer's fingerprint belongs to other values.")),
    )


def disputed_report() -> AuditReport:
    """Return the report of a tampered run."""
    return replace(
        verified_report(),
        outcome=Outcome.DISPUTED,
        reason="Step 37 came out different.",
        checks=checks(REPLAY=CheckState.FAILED, ORDER=CheckState.WARNING, COVERAGE=CheckState.WARNING),
        order_source="bundle",
        steps_replayed=57,
        mismatched_steps=(37, 38, 39, 40, 45),
        dispute=dispute(),
    )


def adjudication_report(outcome: AdjudicationOutcome) -> AdjudicationReport:
    """The report of a capsule about step 37, whose state is that after step 35."""
    found = disputed_report()
    assert found.dispute is not None
    confirmed = outcome is AdjudicationOutcome.CONFIRMED
    states = {"REPLAY": CheckState.FAILED if confirmed else CheckState.PASSED, "COVERAGE": CheckState.WARNING}
    return AdjudicationReport(
        outcome=outcome, reason="Because.", checks=checks(**states), capsule_name="dispute.cfoil",
        capsule_digest=found.bundle_digest, order_digest=found.order_digest, order_source="client",
        run_order=found.run_order, run_root=found.run_root, trainer_key=found.trainer_key, title="Digits",
        accepted_at=found.accepted_at,
        steps_ordered=STEPS, steps_recorded=STEPS, agreed_step=STEP - 2, step=STEP, steps_replayed=2,
        corrections=3, contradictions=0,
        omissions=0, seconds=0.5, environment=(("device", "cpu"),), trainer_environment=(),
        dispute=replace(found.dispute, path=(), tensors=(), compared_at=None) if confirmed else None,
    )  # fmt: skip


def step_row(step: int = 1) -> StepRow:
    """Return a row of the step table."""
    leaf = leaf_hash(b"leaf")
    return StepRow(step, StepMatch.MATCH, leaf, leaf, 0.1, 0.1, 10, 20, 3, 0, 0, 2**40, 0.5)


def empty_table(steps: int) -> StepTable:
    """Return the step table of a run that was not replayed yet, and of which nothing is recorded."""
    return StepTable(Recorded.of([math.nan] * steps, [0] * steps, [0] * steps))


def table_of(steps: int, rows: Sequence[StepRow]) -> StepTable:
    """Return a step table that holds these rows."""
    table = empty_table(steps)
    table.put(rows)
    return table


def step_table(steps: int) -> StepTable:
    """Return a step table that is full of :func:`step_row`."""
    return table_of(steps, [step_row(step) for step in range(1, steps + 1)])
