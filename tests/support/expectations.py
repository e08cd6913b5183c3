"""What an audit must conclude about an attack: outcome, step, and where in the step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.merkle import verify_inclusion
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from counterfoil_core.values.events import StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.report import AuditReport
from support.jobs import Audited, audited

ALL_PARTS = ("state", "loss", "fingerprints")


def run_root(run: Path) -> Digest:
    """The run root that the trainer signed."""
    with BundleReader.open(run) as reader:
        return open_said(RunClaim, reader.claim()).run_root


def verified(run: Path, order: Path, **settings: Any) -> AuditReport:
    """Expect a clean audit."""
    report = audited(run, order, **settings).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.mismatched_steps, report.contradictions, report.omissions) == ((), 0, 0)
    return report


def disputed(
    run: Path,
    order: Path,
    step: int,
    *,
    parts: tuple[str, ...] = ALL_PARTS,
    only: bool = True,
    damaged: bool = False,
    **settings: Any,
) -> Audited:
    """Expect a confirmed dispute at ``step`` whose leaf differs in ``parts``.

    Args:
        run: The run.
        order: The client's order.
        step: The first step that differs.
        parts: What differs in its Merkle leaf.
        only: No other step differs.
        damaged: A stored state is not the one that the run commits to.
        settings: More fields of the audit request.
    """
    result = audited(run, order, **settings)
    report = result.report
    assert report.outcome is Outcome.DISPUTED, report.reason
    dispute = report.dispute
    assert dispute is not None
    found = (dispute.step, dispute.parts, dispute.confirmed)
    assert found == (step, parts, True), f"found {found}"
    assert report.mismatched_steps[0] == step, report.mismatched_steps
    if only:
        assert report.mismatched_steps == (step,), report.mismatched_steps
    # The trainer cannot deny the leaf: the run root that it signed contains it.
    assert result.check(CheckNumber.SIGNATURE).state is CheckState.PASSED
    assert result.check(CheckNumber.COMMITMENTS).state is (CheckState.FAILED if damaged else CheckState.PASSED)
    assert result.check(CheckNumber.REPLAY).state is CheckState.FAILED
    assert report.run_root is not None
    verify_inclusion(dispute.trainer_leaf, step, report.steps_recorded + 1, dispute.inclusion_proof, report.run_root)
    return result


def operator_of(result: Audited) -> tuple[str, str, str] | None:
    """Name, module and pass of the disputed operator; None when all fingerprints agree."""
    assert result.report.dispute is not None
    operator = result.report.dispute.operator
    return None if operator is None else (operator.name, operator.module, operator.phase)


def inputs_of(result: Audited) -> tuple[str, ...]:
    """Names of the data arrays whose rows were not the ordered ones."""
    assert result.report.dispute is not None
    inputs = result.report.dispute.inputs
    if inputs:
        finding = result.report.dispute.finding
        assert finding is not None
        assert f"The fingerprint that the trainer signed for the rows of {inputs[0]!r} at step" in finding.sentence
        assert operator_of(result) is None
    return inputs


def tensors_of(result: Audited) -> set[str]:
    """The state tensors that differ at the checkpoint where they were compared."""
    assert result.report.dispute is not None
    return {tensor.name for tensor in result.report.dispute.tensors}


def inconclusive(run: Path, order: Path, **settings: Any) -> AuditReport:
    """Expect every step to match, and the log to fail."""
    result = audited(run, order, **settings)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    assert result.report.mismatched_steps == ()
    assert result.check(CheckNumber.REPLAY).state is CheckState.PASSED
    assert result.check(CheckNumber.LOG).state is CheckState.FAILED
    return result.report


def refused(run: Path, order: Path | None, number: CheckNumber, sentence: str, **settings: Any) -> None:
    """Expect check ``number`` to fail before anything is replayed, and its detail to contain ``sentence``."""
    result = audited(run, order, **settings)
    assert result.report.outcome is Outcome.REFUSED, result.report.reason
    assert result.check(number).state is CheckState.FAILED
    assert sentence in result.check(number).detail, result.check(number).detail
    assert result.report.steps_replayed == 0
    assert not result.of(StepReplayed)
