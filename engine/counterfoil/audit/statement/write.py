"""Writes the in-toto statements that an auditor signs: on an audit, and on an adjudication.

docs/verdict.md lists every field.

The predicate is shaped like SLSA's verification summary (slsa.dev/spec/v1.1/verification_summary), under a type of
its own, since that one knows no result between PASSED and FAILED.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

from counterfoil import __version__
from counterfoil.audit.statement.steering_fields import steering_fields
from counterfoil.audit.values.adjudication import AdjudicationReport
from counterfoil.audit.values.dispute import Dispute, DisputedOperator, Finding, TensorDivergence
from counterfoil.audit.values.events import IMITATION
from counterfoil.audit.values.outcome import Check
from counterfoil.audit.values.report import AuditReport
from counterfoil.audit.values.sampling import Sample, ranges
from counterfoil.canonical import float_text
from counterfoil.commit.digest import Digest
from counterfoil.errors import SignatureError
from counterfoil.sentence import say
from counterfoil.signing import (
    ADJUDICATION_PREDICATE,
    RUN_PREDICATE,
    VERDICT_PREDICATE,
    make_statement,
)
from counterfoil.timestamps import timestamp

VERIFIER_ID = "urn:counterfoil"
"""What made the verdict; the version stands beside it."""
COUNTS = ("roundedValues", "logEntries", "logBytes", "corrections", "contradictions", "omissions")
LOG_COUNTS = ("corrections", "contradictions", "omissions")


def verdict_statement(report: AuditReport, signed_at: datetime) -> dict[str, Any]:
    """Return the in-toto Statement v1 that says what ``report`` says; raises SignatureError as sign_verdict does."""
    if report.bundle_digest is None:
        raise SignatureError(
            say("There is no verdict to sign: the bundle file could not be read, or changed while it was read."),
            remedy=say("Look at the reason that the audit gave."),
        )
    if IMITATION in dict(report.environment):
        raise SignatureError(
            say("There is no verdict to sign: the run was replayed on imitated hardware."),
            remedy=say("Audit it without imitated hardware."),
        )
    subjects = _subjects(report.bundle_name, report.bundle_digest, report.run_root)
    return make_statement(subjects, VERDICT_PREDICATE, _predicate(report, signed_at))


def adjudication_statement(report: AdjudicationReport, signed_at: datetime) -> dict[str, Any]:
    """Return the in-toto Statement v1 of an adjudication; raises SignatureError when the capsule could not be read."""
    if report.capsule_digest is None:
        raise SignatureError(
            say("There is nothing to sign: the capsule could not be read, or changed while it was read."),
            remedy=say("Look at the reason that the adjudication gave."),
        )
    subjects = _subjects(report.capsule_name, report.capsule_digest, report.run_root)
    return make_statement(subjects, ADJUDICATION_PREDICATE, _adjudication_predicate(report, signed_at))


def _subjects(name: str, file_digest: Digest, run_root: Digest | None) -> list[dict[str, Any]]:
    printable = name.encode("utf-8", "replace").decode()
    subjects = [{"name": printable, "digest": {"sha256": file_digest.hex}}]
    if run_root is not None:
        subjects.append({"name": "run", "digest": {"rfc9162Sha256": run_root.hex}})
    return subjects


def _heading(report: AuditReport | AdjudicationReport, file_name: str, signed_at: datetime) -> dict[str, Any]:
    """What verdicts and adjudications say alike: who, when, on which file, by which order, and with which result."""
    trainer = {"predicateType": RUN_PREDICATE, "keyId": report.trainer_key}
    return {
        "verifier": {"id": VERIFIER_ID, "version": __version__},
        "timeVerified": timestamp(signed_at),
        "resourceUri": "file:" + quote(file_name, errors="surrogateescape"),
        "title": report.title,
        "policy": {
            "orderDigest": None if report.order_digest is None else {"sha256": report.order_digest.hex},
            "orderSource": report.order_source,
        },
        "inputAttestations": [trainer] if report.trainer_key else [],
        "result": report.outcome.value,
        "reason": report.reason,
        "checks": [_check(check) for check in report.checks],
        "environment": {"auditor": dict(report.environment), "trainer": dict(report.trainer_environment)},
    }


def _predicate(report: AuditReport, signed_at: datetime) -> dict[str, Any]:
    counts = (
        report.rounded_values, report.log_entries, report.log_bytes, report.corrections, report.contradictions,
        report.omissions,
    )  # fmt: skip
    return {
        **_heading(report, report.bundle_name, signed_at),
        "coverage": {
            "stepsOrdered": report.steps_ordered,
            "stepsPlanned": report.steps_planned,
            "stepsReplayed": report.steps_replayed,
            "mismatchedSteps": [list(span) for span in ranges(report.mismatched_steps)],
            "sample": None if report.sample is None else _sample(report.sample),
        },
        "counts": dict(zip(COUNTS, map(str, counts), strict=True)),
        "steering": None if report.steering is None else steering_fields(report.steering),
        "withoutBound": None if report.without_bound is None else list(report.without_bound),
        "seconds": _float(report.seconds),
        "dispute": None if report.dispute is None else _dispute(report.dispute),
    }


def _adjudication_predicate(report: AdjudicationReport, signed_at: datetime) -> dict[str, Any]:
    counts = (report.corrections, report.contradictions, report.omissions)
    return {
        **_heading(report, report.capsule_name, signed_at),
        "steps": {
            "ordered": report.steps_ordered,
            "agreed": report.agreed_step,
            "disputed": report.step,
            "replayed": report.steps_replayed,
        },
        "counts": dict(zip(LOG_COUNTS, map(str, counts), strict=True)),
        "seconds": _float(report.seconds),
        "dispute": None if report.dispute is None else _dispute(report.dispute),
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "number": int(check.number),
        "title": check.number.title,
        "state": check.state.value,
        "detail": check.detail,
    }


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "segments": sample.total,
        "chosen": [list(span) for span in sample.spans],
        "selection": sample.selection.value,
        "nonce": sample.nonce,
        "badSegments": sample.bad,
        "passingProbability": _float(sample.passing),
    }


def _dispute(dispute: Dispute) -> dict[str, Any]:
    return {
        "step": dispute.step,
        "trainerLeaf": dispute.trainer_leaf.hex,
        "replayLeaf": None if dispute.replay_leaf is None else dispute.replay_leaf.hex,
        "parts": list(dispute.parts),
        "comparisons": [
            {
                "firstLeaf": comparison.first_leaf,
                "lastLeaf": comparison.last_leaf,
                "trainer": comparison.trainer.hex,
                "replay": comparison.replay.hex,
            }
            for comparison in dispute.path
        ],
        "inclusionProof": [digest.hex for digest in dispute.inclusion_proof],
        "comparedAt": dispute.compared_at,
        "tensors": [_tensor(tensor) for tensor in dispute.tensors],
        "trainerLoss": _float(dispute.trainer_loss),
        "replayLoss": _float(dispute.replay_loss),
        "confirmed": dispute.confirmed,
        "inputs": list(dispute.inputs),
        "operator": None if dispute.operator is None else _operator(dispute.operator),
        "finding": None if dispute.finding is None else _finding(dispute.finding),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "right": finding.right.value,
        "sentence": finding.sentence,
        "recomputed": str(finding.recomputed),
        "total": str(finding.total),
        "margin": _float(finding.margin),
        "bound": _float(finding.bound),
        "elements": [
            {
                "index": list(element.index),
                "exact": element.exact,
                "exactNearest": _float(element.exact_nearest),
                "computed": _float(element.computed),
                "replay": _float(element.replay),
                "trainer": None if element.trainer is None else _float(element.trainer),
                "quantum": _float(element.quantum),
                "error": _float(element.error),
                "midpoint": _float(element.midpoint),
            }
            for element in finding.elements
        ],
    }


def _operator(operator: DisputedOperator) -> dict[str, Any]:
    return {
        "number": operator.number,
        "total": operator.total,
        "name": operator.name,
        "module": operator.module,
        "pass": operator.phase,
        "shape": list(operator.shape),
        "inputShapes": [list(shape) for shape in operator.input_shapes],
        "differingOperators": operator.differing_operators,
    }


def _tensor(tensor: TensorDivergence) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "differing": str(tensor.differing),
        "maxAbs": _float(tensor.max_abs),
        "maxUlps": str(tensor.max_ulps),
        "l2": _float(tensor.l2),
        "index": list(tensor.index),
        "trainer": _float(tensor.trainer),
        "replay": _float(tensor.replay),
    }


def _float(value: float) -> dict[str, str]:
    """Write a float64 twice: exactly, and as people read it."""
    return {"hex": float_text(value), "decimal": repr(float(value))}
