"""What an auditor signs: the report of an audit or of an adjudication as an in-toto statement in a DSSE envelope.

docs/verdict.md lists every field.

The predicate is shaped like SLSA's verification summary (slsa.dev/spec/v1.1/verification_summary), under a type of
its own, since that one knows no result between PASSED and FAILED.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import pairwise
from typing import Any, TypeVar
from urllib.parse import quote

from counterfoil import __version__, canonical
from counterfoil.audit.adjudication import AdjudicationOutcome, AdjudicationReport
from counterfoil.audit.events import (
    AuditReport,
    Dispute,
    DisputedOperator,
    Finding,
    Right,
    Steering,
    TensorDivergence,
)
from counterfoil.audit.outcome import Check, CheckNumber, CheckState, Outcome
from counterfoil.audit.sampling import NONCE, Sample, Selection, draw_segments, headline, ranges
from counterfoil.audit.steering_fields import read_steering, steering_fields
from counterfoil.bundle.schema import MAX_STEPS
from counterfoil.canonical import float_text
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import verify_inclusion
from counterfoil.errors import BundleError, ProofError, SignatureError
from counterfoil.fields import Fields
from counterfoil.program.graph import MAX_NODES
from counterfoil.signing import (
    ADJUDICATION_PREDICATE,
    RUN_PREDICATE,
    VERDICT_PREDICATE,
    PublicKey,
    SigningKey,
    make_statement,
    open_statement,
    sign_statement,
)

VERIFIER_ID = "urn:counterfoil"
"""What made the verdict; the version stands beside it."""
EnumT = TypeVar("EnumT", bound=Enum)
ORDER_SOURCES = ("client", "bundle")
_COUNTS = ("roundedValues", "logEntries", "logBytes", "corrections", "contradictions", "omissions")
_LOG_COUNTS = ("corrections", "contradictions", "omissions")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_COUNT = re.compile(r"0|[1-9][0-9]{0,19}")
_EXACT_DECIMAL = re.compile(r"-?[0-9]{1,40}\.[0-9]{1,40}(e[+-][0-9]{1,5})?")
_HEX_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-][0-9]{1,4}|-?inf|nan")


@dataclass(frozen=True)
class Verdict:
    """A verdict whose signature holds and whose contents are consistent.

    Attributes:
        outcome: The conclusion.
        reason: One or two plain sentences that say why.
        bundle_name: File name of the audited bundle, as the auditor had it.
        bundle_digest: SHA-256 of the bundle file.
        run_root: The signed run root; None when the audit could not read it.
        order_digest: Digest of the order; None when the audit could not read it.
        order_source: ``client`` when the order came from the client, ``bundle`` when it was taken from the run.
        checks: All ten checks, in order.
        steps_ordered: Number of steps ordered.
        steps_replayed: Number of steps replayed and judged.
        sample: The segments that were chosen; None when the audit ended before it could choose.
        disputed_step: The first step that differs; None when there is no dispute.
        steering: How far the trainer could have steered the matching steps; None when nothing was replayed.
        signed_at: When the auditor signed, ISO 8601 in UTC, as the auditor says.
        key_id: SHA-256 key id of the key that signed.
        predicate: The whole predicate as JSON, as docs/verdict.md describes it.
    """

    outcome: Outcome
    reason: str
    bundle_name: str
    bundle_digest: Digest
    run_root: Digest | None
    order_digest: Digest | None
    order_source: str
    checks: tuple[Check, ...]
    steps_ordered: int
    steps_replayed: int
    sample: Sample | None
    disputed_step: int | None
    steering: Steering | None
    signed_at: str
    key_id: str
    predicate: dict[str, Any]

    @property
    def headline(self) -> str:
        """The outcome in words: for a clean sample it says for how much of the run it holds."""
        return headline(self.outcome, self.sample)


@dataclass(frozen=True)
class Adjudication:
    """A signed adjudication whose signature holds and whose contents are consistent.

    Attributes:
        outcome: The conclusion about the dispute.
        reason: The same in plain sentences.
        bundle_name: File name of the dispute capsule, as whoever judged it had it.
        bundle_digest: SHA-256 of the capsule.
        run_root: The signed run root; None when the signature in the capsule does not hold.
        order_digest: Digest of the order; None when it could not be read.
        order_source: ``client`` when the order was compared with the client's own, else ``bundle``.
        checks: All ten checks, in order.
        steps_ordered: Number of steps of the order.
        agreed_step: The step after which the capsule's state is taken.
        step: The step that the capsule disputes; 0 when it could not be read.
        steps_replayed: Number of steps replayed and judged.
        disputed_step: The first step that differs; None when none does.
        signed_at: When it was signed, ISO 8601 in UTC, as the signer says.
        key_id: SHA-256 key id of the key that signed.
        predicate: The whole predicate as JSON, as docs/verdict.md describes it.
    """

    outcome: AdjudicationOutcome
    reason: str
    bundle_name: str
    bundle_digest: Digest
    run_root: Digest | None
    order_digest: Digest | None
    order_source: str
    checks: tuple[Check, ...]
    steps_ordered: int
    agreed_step: int
    step: int
    steps_replayed: int
    disputed_step: int | None
    signed_at: str
    key_id: str
    predicate: dict[str, Any]


def preview_verdict(report: AuditReport, signed_at: datetime) -> bytes:
    """Return exactly the bytes that :func:`sign_verdict` signs for the same report and time.

    Args:
        report: The report of the audit's last event.
        signed_at: The time of the verdict, with its zone; counted in whole seconds.

    Returns:
        An in-toto Statement v1 as canonical JSON.

    Raises:
        SignatureError: The audit could not read the bundle file, so that there is nothing to make a statement about.
    """
    return canonical.encode(verdict_statement(report, signed_at))


def sign_verdict(report: AuditReport, key: SigningKey, signed_at: datetime | None = None) -> bytes:
    """Sign what an audit found.

    Args:
        report: The report of the audit's last event.
        key: The auditor's key.
        signed_at: The time of the verdict, with its zone; now unless given.

    Returns:
        A DSSE envelope as JSON bytes.

    Raises:
        SignatureError: The audit could not read the bundle file, so that there is nothing to make a statement about.
    """
    return sign_statement(verdict_statement(report, signed_at or datetime.now(UTC)), key)


def verdict_statement(report: AuditReport, signed_at: datetime) -> dict[str, Any]:
    """Return the in-toto Statement v1 that says what ``report`` says; raises SignatureError as sign_verdict does."""
    if report.bundle_digest is None:
        raise SignatureError(
            "There is no verdict to sign: the bundle file could not be read, so nothing is known of it.",
            remedy="Look at the reason that the audit gave.",
        )
    subjects = _subjects(report.bundle_name, report.bundle_digest, report.run_root)
    return make_statement(subjects, VERDICT_PREDICATE, _predicate(report, signed_at))


def sign_adjudication(report: AdjudicationReport, key: SigningKey) -> bytes:
    """Sign what the replay of a dispute capsule found.

    Args:
        report: The report of the adjudication's last event.
        key: The key of whoever judged it.

    Returns:
        A DSSE envelope as JSON bytes.

    Raises:
        SignatureError: The capsule could not be read, so that there is nothing to make a statement about.
    """
    if report.capsule_digest is None:
        raise SignatureError(
            "There is nothing to sign: the capsule could not be read, so nothing is known of it.",
            remedy="Look at the reason that the adjudication gave.",
        )
    subjects = _subjects(report.capsule_name, report.capsule_digest, report.run_root)
    predicate = _adjudication_predicate(report, datetime.now(UTC))
    return sign_statement(make_statement(subjects, ADJUDICATION_PREDICATE, predicate), key)


def _subjects(name: str, file_digest: Digest, run_root: Digest | None) -> list[dict[str, Any]]:
    printable = name.encode("utf-8", "replace").decode()
    subjects = [{"name": printable, "digest": {"sha256": file_digest.hex}}]
    if run_root is not None:
        subjects.append({"name": "run", "digest": {"rfc9162Sha256": run_root.hex}})
    return subjects


def verify_verdict(envelope: bytes, key: PublicKey) -> Verdict:
    """Check a verdict: its signature first, then its form, then that it does not contradict itself.

    A dispute carries the inclusion proof of the trainer's Merkle leaf in the run root; it is checked too.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The auditor's public key.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, no verdict, or contradicts itself.
    """
    statement = open_statement(envelope, key)
    if statement["predicateType"] != VERDICT_PREDICATE:
        raise SignatureError("What is signed is not a verdict of Counterfoil.")
    name, bundle_digest, run_root = _read_subjects(statement["subject"])
    predicate = _fields(statement["predicate"], "verdict")

    signed_at = _read_verifier(predicate)
    order_digest, order_source = _read_policy(predicate.take("policy", dict))
    _check_attestations(predicate.take("inputAttestations", list))
    outcome = _read_enum(Outcome, predicate.take("result", str), "result")
    reason = predicate.take("reason", str)
    checks = _read_checks(predicate.take("checks", list))
    coverage = _read_coverage(predicate.take("coverage", dict), run_root)
    counts = _fields(predicate.take("counts", dict), "verdict's counts")
    numbers = {count: _read_count(counts.take(count, str)) for count in _COUNTS}
    counts.end()
    steering = read_steering(
        predicate.take("steering", dict, type(None)), numbers["logEntries"], numbers["corrections"]
    )
    _check_float(predicate.take("seconds", dict))
    disputed = _check_dispute(predicate.take("dispute", dict, type(None)), coverage.ordered, run_root)
    _check_environments(predicate.take("environment", dict))
    predicate.end()

    step = None if disputed is None else disputed.step
    verdict = Verdict(
        outcome, reason, name, bundle_digest, run_root, order_digest, order_source, checks, coverage.ordered,
        coverage.replayed, coverage.sample, step, steering, signed_at, key.key_id, statement["predicate"],
    )  # fmt: skip
    _check_consistency(verdict, coverage, disputed)
    return verdict


def verify_adjudication(envelope: bytes, key: PublicKey) -> Adjudication:
    """Check a signed adjudication as :func:`verify_verdict` checks a verdict.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The public key of whoever judged the dispute.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, no adjudication, or contradicts itself.
    """
    statement = open_statement(envelope, key)
    if statement["predicateType"] != ADJUDICATION_PREDICATE:
        raise SignatureError("What is signed is not an adjudication of Counterfoil.")
    name, digest, run_root = _read_subjects(statement["subject"])
    predicate = _fields(statement["predicate"], "adjudication")
    signed_at = _read_verifier(predicate)
    order_digest, order_source = _read_policy(predicate.take("policy", dict))
    _check_attestations(predicate.take("inputAttestations", list))
    outcome = _read_enum(AdjudicationOutcome, predicate.take("result", str), "result")
    reason = predicate.take("reason", str)
    checks = _read_checks(predicate.take("checks", list))
    steps = _fields(predicate.take("steps", dict), "adjudication's steps")
    ordered = steps.integer("ordered", 0, MAX_STEPS)
    disputed = steps.integer("disputed", 0, ordered)
    agreed = steps.integer("agreed", 0, disputed)
    replayed = steps.integer("replayed", 0, disputed - agreed)
    steps.end()
    counts = _fields(predicate.take("counts", dict), "adjudication's counts")
    for count in _LOG_COUNTS:
        _read_count(counts.take(count, str))
    counts.end()
    _check_float(predicate.take("seconds", dict))
    found = _check_dispute(predicate.take("dispute", dict, type(None)), ordered, run_root)
    _check_environments(predicate.take("environment", dict))
    predicate.end()

    failed = any(check.state not in (CheckState.PASSED, CheckState.WARNING) for check in checks)
    unknown = run_root is None or order_digest is None
    if outcome is AdjudicationOutcome.REJECTED and (
        failed or found is not None or unknown or replayed != disputed - agreed or not replayed
    ):
        raise SignatureError("The adjudication contradicts itself: it says REJECTED, but its checks and steps do not.")
    accuses = found is not None and found.accuses and found.step == agreed + replayed
    if (outcome is AdjudicationOutcome.CONFIRMED) != accuses or (accuses and unknown):
        raise SignatureError("The adjudication contradicts itself: its outcome is not what its dispute says.")
    wrong = None if found is None else found.step
    return Adjudication(
        outcome, reason, name, digest, run_root, order_digest, order_source, checks, ordered, agreed, disputed,
        replayed, wrong, signed_at, key.key_id, statement["predicate"],
    )  # fmt: skip


def verify_signed(envelope: bytes, key: PublicKey) -> Verdict | Adjudication:
    """Check whatever an auditor signed, a verdict or an adjudication; raises SignatureError."""
    if open_statement(envelope, key)["predicateType"] == ADJUDICATION_PREDICATE:
        return verify_adjudication(envelope, key)
    return verify_verdict(envelope, key)


def check_bundle_file(verdict: Verdict | Adjudication, path: str | os.PathLike[str]) -> None:
    """Check that a verdict speaks of the file at ``path``.

    Raises:
        SignatureError: The file is another one.
        BundleError: It cannot be read.
    """
    try:
        digest = Digest.of_file(path)
    except (OSError, ValueError) as error:
        raise BundleError(f"The file {os.fspath(path)} cannot be read.", detail=str(error)) from error
    if digest != verdict.bundle_digest:
        raise SignatureError(
            f"The verdict is about another file: its SHA-256 is {verdict.bundle_digest.short}..., "
            f"that of {os.path.basename(path)} is {digest.short}...."
        )


def _heading(report: AuditReport | AdjudicationReport, file_name: str, signed_at: datetime) -> dict[str, Any]:
    """What verdicts and adjudications say alike: who, when, on which file, by which order, and with which result."""
    trainer = {"predicateType": RUN_PREDICATE, "keyId": report.trainer_key}
    return {
        "verifier": {"id": VERIFIER_ID, "version": __version__},
        "timeVerified": signed_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
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
        "counts": dict(zip(_COUNTS, map(str, counts), strict=True)),
        "steering": None if report.steering is None else steering_fields(report.steering),
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
        "counts": dict(zip(_LOG_COUNTS, map(str, counts), strict=True)),
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
        "replayLeaf": dispute.replay_leaf.hex,
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


def _fields(value: Any, what: str) -> Fields:
    return Fields(value, what, SignatureError)


def _read_verifier(predicate: Fields) -> str:
    """Take what every predicate begins with: who made it, when, of what; returns the time."""
    verifier = _fields(predicate.take("verifier", dict), "verdict's verifier")
    if verifier.take("id", str) != VERIFIER_ID:
        raise SignatureError("The verdict was not made by Counterfoil.")
    verifier.take("version", str)
    verifier.end()
    signed_at: str = predicate.take("timeVerified", str)
    if not _TIME.fullmatch(signed_at):
        raise SignatureError(f"The verdict's time {signed_at!r} is not of the form 2026-01-31T12:00:00Z.")
    predicate.take("resourceUri", str)
    predicate.take("title", str)
    return signed_at


def _check_environments(value: Any) -> None:
    environment = _fields(value, "verdict's environment")
    for party in ("auditor", "trainer"):
        if not all(isinstance(text, str) for text in environment.take(party, dict).values()):
            raise SignatureError("An environment of the verdict holds something that is not text.")
    environment.end()


def _read_enum(kind: type[EnumT], text: str, what: str) -> EnumT:
    try:
        return kind(text)
    except ValueError as error:
        raise SignatureError(f"The verdict's {what} {text!r} is unknown.") from error


def _read_subjects(subjects: Any) -> tuple[str, Digest, Digest | None]:
    if not isinstance(subjects, list) or len(subjects) not in (1, 2):
        raise SignatureError("The verdict's subjects should be the bundle file and the run.")
    name, bundle_digest = _read_subject(subjects[0], "sha256")
    if len(subjects) == 1:
        return name, bundle_digest, None
    run, run_root = _read_subject(subjects[1], "rfc9162Sha256")
    if run != "run":
        raise SignatureError("The verdict's second subject is not the run.")
    return name, bundle_digest, run_root


def _read_subject(subject: Any, algorithm: str) -> tuple[str, Digest]:
    fields = _fields(subject, "verdict's subject")
    name: str = fields.take("name", str)
    digest = _fields(fields.take("digest", dict), "digest of the verdict's subject")
    value = digest.digest(algorithm)
    digest.end()
    fields.end()
    return name, value


def _read_policy(policy: Any) -> tuple[Digest | None, str]:
    fields = _fields(policy, "verdict's policy")
    order = fields.take("orderDigest", dict, type(None))
    source: str = fields.take("orderSource", str)
    fields.end()
    if source not in ORDER_SOURCES:
        raise SignatureError(f"The verdict's order comes from {source!r}, which is unknown.")
    if order is None:
        return None, source
    digest = _fields(order, "verdict's order digest")
    value = digest.digest("sha256")
    digest.end()
    return value, source


def _check_attestations(attestations: list[Any]) -> None:
    if len(attestations) > 1:
        raise SignatureError("The verdict rests on more than one run.")
    for attestation in attestations:
        fields = _fields(attestation, "verdict's input attestation")
        if fields.take("predicateType", str) != RUN_PREDICATE:
            raise SignatureError("The verdict rests on something that is not the claim of a run.")
        fields.digest("keyId")
        fields.end()


def _read_checks(values: list[Any]) -> tuple[Check, ...]:
    checks = []
    for value in values:
        fields = _fields(value, "verdict's check")
        number = fields.integer("number", min(CheckNumber), max(CheckNumber))
        fields.take("title", str)
        state = _read_enum(CheckState, fields.take("state", str), "check state")
        checks.append(Check(CheckNumber(number), state, fields.take("detail", str)))
        fields.end()
    if [check.number for check in checks] != list(CheckNumber):
        raise SignatureError("The verdict does not list every check once and in order.")
    return tuple(checks)


@dataclass(frozen=True)
class _Coverage:
    """What the verdict says of its coverage."""

    ordered: int
    planned: int
    replayed: int
    mismatches: list[tuple[int, int]]
    sample: Sample | None


def _read_coverage(value: Any, run_root: Digest | None) -> _Coverage:
    fields = _fields(value, "verdict's coverage")
    ordered = fields.integer("stepsOrdered", 0, MAX_STEPS)
    planned = fields.integer("stepsPlanned", 0, ordered)
    replayed = fields.integer("stepsReplayed", 0, planned)
    mismatches = _read_spans(fields.take("mismatchedSteps", list), 0, ordered, "mismatched steps")
    sample = _read_sample(fields.take("sample", dict, type(None)), ordered, run_root)
    fields.end()
    return _Coverage(ordered, planned, replayed, mismatches, sample)


def _read_spans(spans: list[Any], low: int, high: int, what: str) -> list[tuple[int, int]]:
    for span in spans:
        if not (
            isinstance(span, list)
            and len(span) == 2
            and all(type(number) is int for number in span)
            and low <= span[0] <= span[1] <= high
        ):
            raise SignatureError(f"The verdict's {what} are not ranges of {low} to {high}.")
    if any(later[0] <= earlier[1] + 1 for earlier, later in pairwise(spans)):
        raise SignatureError(f"The verdict's {what} are not in order.")
    return [(span[0], span[1]) for span in spans]


def _read_sample(value: Any, steps: int, run_root: Digest | None) -> Sample | None:
    """Read which segments were chosen; a random sample is drawn again and compared."""
    if value is None:
        return None
    fields = _fields(value, "verdict's sample")
    total = fields.integer("segments", 1, max(steps, 1))
    spans = _read_spans(fields.take("chosen", list), 1, total, "chosen segments")
    selection = _read_enum(Selection, fields.take("selection", str), "selection of segments")
    nonce = fields.take("nonce", str)
    bad = fields.integer("badSegments", 0, total)
    passing = fields.take("passingProbability", dict)
    _check_float(passing)
    fields.end()
    sample = Sample(total, tuple(spans), selection, nonce, bad)
    random = selection is Selection.RANDOM
    if not spans or random != bool(NONCE.fullmatch(nonce)) or random != bool(bad) or (nonce and not random):
        raise SignatureError("The verdict's sample is incomplete, or says more than its selection allows.")
    if selection is Selection.ALL and not sample.whole:
        raise SignatureError("The verdict says that all segments were chosen, and lists fewer.")
    if random:
        if run_root is None:
            raise SignatureError("The verdict's sample was drawn from a run root that the verdict does not name.")
        if ranges(draw_segments(total, sample.count, nonce, run_root)) != spans:
            raise SignatureError("The verdict's sample is not the one that its nonce and the run root draw.")
    if float_text(sample.passing) != passing["hex"]:
        raise SignatureError("The verdict states another probability than its sample has.")
    return sample


def _read_count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise SignatureError(f"The verdict's count {text!r} is not a whole number.")
    return int(text)


def _check_float(value: Any) -> None:
    fields = _fields(value, "number of the verdict")
    exact = fields.take("hex", str)
    decimal = fields.take("decimal", str)
    fields.end()
    if not _HEX_FLOAT.fullmatch(exact):
        raise SignatureError(f"The verdict's number {exact!r} is not a hexadecimal floating-point number.")
    try:
        same = repr(float.fromhex(exact)) == decimal
    except (ValueError, OverflowError):
        same = False
    if not same:
        raise SignatureError(f"The verdict writes {exact!r} as {decimal!r}, which is another number.")


def _check_integers(values: list[Any], what: str) -> None:
    if len(values) > 64 or not all(type(value) is int and value >= 0 for value in values):
        raise SignatureError(f"The {what} is not a list of lengths.")


@dataclass(frozen=True)
class _Dispute:
    """The step that a verdict disputes, and whether it accuses the trainer."""

    step: int
    accuses: bool


def _check_dispute(value: Any, steps: int, run_root: Digest | None) -> _Dispute | None:
    """Check the form of a dispute, and that the run root contains the trainer's Merkle leaf."""
    if value is None:
        return None
    fields = _fields(value, "verdict's dispute")
    step = fields.integer("step", 0, steps)
    trainer_leaf = fields.digest("trainerLeaf")
    replay_leaf = fields.digest("replayLeaf")
    if not all(isinstance(part, str) for part in fields.take("parts", list)):
        raise SignatureError("The differing parts of the verdict's dispute are not texts.")
    _check_comparisons(fields.take("comparisons", list), steps)
    proof = [fields.as_digest(text, "inclusion proof of the verdict") for text in fields.take("inclusionProof", list)]
    compared_at = fields.take("comparedAt", int, type(None))
    if compared_at is not None and not step <= compared_at <= steps:
        raise SignatureError("The verdict's dispute was compared at a step that cannot be.")
    for tensor in fields.take("tensors", list):
        _check_tensor(tensor)
    _check_float(fields.take("trainerLoss", dict))
    _check_float(fields.take("replayLoss", dict))
    confirmed = fields.take("confirmed", bool)
    _check_operator(fields.take("operator", dict, type(None)))
    right = _read_finding(fields.take("finding", dict, type(None)))
    fields.end()
    if trainer_leaf == replay_leaf:
        raise SignatureError("The verdict disputes a step whose Merkle leaves are equal.")
    if run_root is None:
        raise SignatureError("The verdict disputes a step of a run that it does not name.")
    _check_inclusion(trainer_leaf, step, steps, proof, run_root)
    return _Dispute(step, accuses=confirmed and right in (None, Right.REPLAY, Right.UNKNOWN))


def _read_finding(value: Any) -> Right | None:
    """Check the form of what exact arithmetic says; returns who is right."""
    if value is None:
        return None
    fields = _fields(value, "verdict's finding")
    right = _read_enum(Right, fields.take("right", str), "finding")
    fields.take("sentence", str)
    recomputed, total = (_read_count(fields.take(key, str)) for key in ("recomputed", "total"))
    _check_float(fields.take("margin", dict))
    elements = fields.take("elements", list)
    fields.end()
    if not len(elements) <= recomputed <= total:
        raise SignatureError("The verdict's finding is about more elements than were recomputed, or than there are.")
    for element in elements:
        fields = _fields(element, "verdict's disputed element")
        _check_integers(fields.take("index", list), "index of the verdict's disputed element")
        exact = fields.take("exact", str)
        if not _EXACT_DECIMAL.fullmatch(exact):
            raise SignatureError(f"The verdict's exact value {exact!r} is not a decimal number.")
        for key in ("exactNearest", "computed", "replay", "quantum", "error", "midpoint"):
            _check_float(fields.take(key, dict))
        trainer = fields.take("trainer", dict, type(None))
        if trainer is not None:
            _check_float(trainer)
        fields.end()
    return right


def _check_operator(value: Any) -> None:
    if value is None:
        return
    fields = _fields(value, "verdict's operator")
    total = fields.integer("total", 1, MAX_NODES)
    fields.integer("number", 1, total)
    fields.integer("differingOperators", 1, total)
    for text in ("name", "module", "pass"):
        fields.take(text, str)
    _check_integers(fields.take("shape", list), "shape of the verdict's operator")
    for shape in fields.take("inputShapes", list):
        if not isinstance(shape, list):
            raise SignatureError("An input shape of the verdict's operator is not a list.")
        _check_integers(shape, "shape of an input of the verdict's operator")
    fields.end()


def _check_inclusion(leaf: Digest, step: int, steps: int, proof: Sequence[Digest], run_root: Digest) -> None:
    try:
        verify_inclusion(leaf, step, steps + 1, proof, run_root)
    except ProofError as error:
        raise SignatureError(
            f"The verdict does not prove that the run contains the trainer's leaf of step {step}.", detail=str(error)
        ) from error


def _check_comparisons(values: list[Any], steps: int) -> None:
    for value in values:
        fields = _fields(value, "verdict's comparison")
        fields.integer("lastLeaf", fields.integer("firstLeaf", 0, steps), steps)
        fields.digest("trainer")
        fields.digest("replay")
        fields.end()


def _check_tensor(value: Any) -> None:
    fields = _fields(value, "verdict's tensor")
    fields.take("name", str)
    _check_integers(fields.take("shape", list), "shape of the verdict's tensor")
    _check_integers(fields.take("index", list), "index of the verdict's tensor")
    for key in ("differing", "maxUlps"):
        _read_count(fields.take(key, str))
    for key in ("maxAbs", "l2", "trainer", "replay"):
        _check_float(fields.take(key, dict))
    fields.end()


def _check_consistency(verdict: Verdict, coverage: _Coverage, disputed: _Dispute | None) -> None:
    """Refuse a conclusion that the rest of the verdict does not bear out."""
    failed = [check for check in verdict.checks if check.state not in (CheckState.PASSED, CheckState.WARNING)]
    sample = verdict.sample
    if verdict.outcome is Outcome.VERIFIED and (
        failed
        or coverage.mismatches
        or verdict.disputed_step is not None
        or coverage.replayed != coverage.planned
        or sample is None
        or sample.whole != (coverage.planned == coverage.ordered)
        or verdict.run_root is None
        or verdict.order_digest is None
        or verdict.steering is None
        or verdict.steering.suspects
    ):
        raise SignatureError("The verdict contradicts itself: it says VERIFIED, but its checks and steps do not.")
    if verdict.outcome is Outcome.DISPUTED and (disputed is None or verdict.order_digest is None):
        raise SignatureError("The verdict contradicts itself: it says DISPUTED, but names no step.")
    if (verdict.outcome is Outcome.DISPUTED) != (disputed is not None and disputed.accuses):
        raise SignatureError("The verdict contradicts itself: its outcome is not what its dispute says.")
