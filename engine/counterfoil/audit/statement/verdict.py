"""What an auditor signs: the report of an audit or of an adjudication as an in-toto statement in a DSSE envelope.

docs/verdict.md lists every field.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from counterfoil import canonical
from counterfoil.audit.statement.consistency import check_adjudication, check_verdict
from counterfoil.audit.statement.model import Adjudication, Verdict
from counterfoil.audit.statement.read import (
    check_environments,
    check_float,
    fields_of,
    read_attestations,
    read_checks,
    read_count,
    read_coverage,
    read_dispute,
    read_enum,
    read_policy,
    read_subjects,
    read_verifier,
)
from counterfoil.audit.statement.steering_fields import read_steering
from counterfoil.audit.statement.write import COUNTS, LOG_COUNTS, adjudication_statement, verdict_statement
from counterfoil.audit.values.adjudication import AdjudicationOutcome, AdjudicationReport
from counterfoil.audit.values.outcome import Outcome
from counterfoil.audit.values.report import AuditReport
from counterfoil.bundle.schema import MAX_STEPS
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import Digest
from counterfoil.errors import BundleError, SignatureError
from counterfoil.inputs import NotAFileError
from counterfoil.sentence import say
from counterfoil.signing import (
    ADJUDICATION_PREDICATE,
    VERDICT_PREDICATE,
    PublicKey,
    SigningKey,
    open_statement,
    sign_statement,
)


def preview_verdict(report: AuditReport, signed_at: datetime) -> bytes:
    """Return exactly the bytes that :func:`sign_verdict` signs for the same report and time.

    Args:
        report: The report of the audit's last event.
        signed_at: The time of the verdict, with its zone; counted in whole seconds.

    Returns:
        An in-toto Statement v1 as canonical JSON.

    Raises:
        SignatureError: There is nothing to make a statement about: the audit could not read the bundle file, or
            imitated other hardware.
    """
    return canonical.encode(verdict_statement(report, signed_at))


def preview_adjudication(report: AdjudicationReport, signed_at: datetime) -> bytes:
    """Return exactly the bytes that :func:`sign_adjudication` signs; as :func:`preview_verdict` for a verdict."""
    return canonical.encode(adjudication_statement(report, signed_at))


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
    return sign_statement(adjudication_statement(report, datetime.now(UTC)), key)


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
        raise SignatureError(say("What is signed is not a verdict of Counterfoil."))
    name, bundle_digest, run_root = read_subjects(statement["subject"])
    predicate = fields_of(statement["predicate"], "verdict")

    signed_at = read_verifier(predicate)
    order_digest, order_source = read_policy(predicate.take("policy", dict))
    attested = read_attestations(predicate.take("inputAttestations", list))
    outcome = read_enum(Outcome, predicate.take("result", str), "result")
    reason = predicate.take("reason", str)
    checks = read_checks(predicate.take("checks", list))
    coverage = read_coverage(predicate.take("coverage", dict), run_root)
    counts = fields_of(predicate.take("counts", dict), "verdict's counts")
    numbers = {count: read_count(counts.take(count, str)) for count in COUNTS}
    counts.end()
    steering = read_steering(
        predicate.take("steering", dict, type(None)), numbers["logEntries"], numbers["corrections"]
    )
    without_bound = _read_kinds(predicate.take("withoutBound", list, type(None)))
    check_float(predicate.take("seconds", dict))
    disputed = read_dispute(predicate.take("dispute", dict, type(None)), coverage.ordered, run_root)
    check_environments(predicate.take("environment", dict))
    predicate.end()

    step = None if disputed is None else disputed.step
    verdict = Verdict(
        outcome, reason, name, bundle_digest, run_root, order_digest, order_source, checks, coverage.ordered,
        coverage.replayed, coverage.sample, step, steering, without_bound, signed_at, key.key_id,
        statement["predicate"],
    )  # fmt: skip
    check_verdict(verdict, coverage, disputed, numbers, attested=attested)
    return verdict


def _read_kinds(value: list[Any] | None) -> tuple[str, ...] | None:
    """Read the operator kinds without a bound."""
    if value is None:
        return None
    if not all(isinstance(kind, str) for kind in value) or value != sorted(set(value)):
        raise SignatureError(say("The operators without a bound of the verdict are not a sorted list of names."))
    return tuple(value)


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
        raise SignatureError(say("What is signed is not an adjudication of Counterfoil."))
    name, digest, run_root = read_subjects(statement["subject"])
    predicate = fields_of(statement["predicate"], "adjudication")
    signed_at = read_verifier(predicate)
    order_digest, order_source = read_policy(predicate.take("policy", dict))
    attested = read_attestations(predicate.take("inputAttestations", list))
    outcome = read_enum(AdjudicationOutcome, predicate.take("result", str), "result")
    reason = predicate.take("reason", str)
    checks = read_checks(predicate.take("checks", list))
    steps = fields_of(predicate.take("steps", dict), "adjudication's steps")
    ordered = steps.integer("ordered", 0, MAX_STEPS)
    disputed = steps.integer("disputed", 0, ordered)
    agreed = steps.integer("agreed", 0, disputed)
    replayed = steps.integer("replayed", 0, disputed - agreed)
    steps.end()
    counts = fields_of(predicate.take("counts", dict), "adjudication's counts")
    numbers = {count: read_count(counts.take(count, str)) for count in LOG_COUNTS}
    counts.end()
    check_float(predicate.take("seconds", dict))
    found = read_dispute(predicate.take("dispute", dict, type(None)), ordered, run_root)
    check_environments(predicate.take("environment", dict))
    predicate.end()

    wrong = None if found is None else found.step
    adjudication = Adjudication(
        outcome, reason, name, digest, run_root, order_digest, order_source, checks, ordered, agreed, disputed,
        replayed, wrong, signed_at, key.key_id, statement["predicate"],
    )  # fmt: skip
    check_adjudication(adjudication, found, numbers, attested=attested)
    return adjudication


def verify_signed(envelope: bytes, key: PublicKey) -> Verdict | Adjudication:
    """Check whatever an auditor signed, a verdict or an adjudication; raises SignatureError."""
    if open_statement(envelope, key)["predicateType"] == ADJUDICATION_PREDICATE:
        return verify_adjudication(envelope, key)
    return verify_verdict(envelope, key)


def check_bundle_file(
    verdict: Verdict | Adjudication,
    path: str | os.PathLike[str],
    cancel: CancelToken | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Check that a verdict speaks of the file at ``path``.

    Args:
        verdict: What was checked before.
        path: The file, which is hashed.
        cancel: Looked at between pieces of the file.
        progress: Called with the bytes hashed and their total.

    Raises:
        SignatureError: The file is another one.
        BundleError: It cannot be read.
        CancelledError: The token was cancelled.
    """
    try:
        digest = Digest.of_file(path, cancel, progress)
    except NotAFileError as error:
        raise BundleError(
            say("{0} is {1}, and not a file that a verdict could be about.", os.fspath(path), error.strerror)
        ) from error
    except (OSError, ValueError) as error:
        raise BundleError(say("The file {0} cannot be read.", os.fspath(path)), detail=str(error)) from error
    if digest != verdict.bundle_digest:
        raise SignatureError(
            say(
                "The verdict is about another file: its SHA-256 is {0}..., that of {1} is {2}....",
                verdict.bundle_digest.short,
                os.path.basename(path),
                digest.short,
            )
        )
