"""What an auditor signs: the report of an audit or of an adjudication as an in-toto statement in a DSSE envelope.

docs/verdict.md lists every field.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.base.inputs import NotAFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.parties.beacons import can_check, signature_holds
from counterfoil_core.parties.signatures import check_claim
from counterfoil_core.signing.envelope import open_statement, parse_statement, payload_of, sign_statement
from counterfoil_core.signing.intoto import ADJUDICATION_PREDICATE, VERDICT_PREDICATE
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement, read_statement
from counterfoil_core.statement.rules import judge
from counterfoil_core.statement.signed import Adjudication, Verdict
from counterfoil_core.statement.write import adjudication_statement, verdict_statement
from counterfoil_core.values.adjudication import AdjudicationReport
from counterfoil_core.values.report import AuditReport


def preview_verdict(report: AuditReport, signed_at: datetime, model: tuple[str, Digest] | None = None) -> bytes:
    """Return exactly the bytes that :func:`sign_verdict` signs for the same report and time.

    Args:
        report: The report of the audit's last event.
        signed_at: The time of the verdict, with its zone; counted in whole seconds.
        model: Name and OpenSSF Model Signing digest of the folder whose weights were found to be the run's.

    Returns:
        An in-toto Statement v1 as canonical JSON.

    Raises:
        SignatureError: There is nothing to make a statement about: the audit could not read the bundle file, or
            imitated other hardware.
    """
    return canonical.encode(verdict_statement(report, signed_at, model))


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
    """Check a verdict: its signature first, then its form, then the rules that a verdict must keep.

    A dispute carries the inclusion proof of the trainer's Merkle leaf in the run root; it is checked too.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The auditor's public key.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, no verdict, or contradicts itself.
    """
    return _verdict(open_statement(envelope, key, certified=True), key)


def verify_adjudication(envelope: bytes, key: PublicKey) -> Adjudication:
    """Check a signed adjudication as :func:`verify_verdict` checks a verdict.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The public key of whoever judged the dispute.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, no adjudication, or contradicts itself.
    """
    return _adjudication(open_statement(envelope, key, certified=True), key)


def verify_signed(envelope: bytes, key: PublicKey) -> Verdict | Adjudication:
    """Check whatever an auditor signed, a verdict or an adjudication; raises SignatureError."""
    statement = open_statement(envelope, key, certified=True)
    if statement["predicateType"] == ADJUDICATION_PREDICATE:
        return _adjudication(statement, key)
    return _verdict(statement, key)


def trainer_of(envelope: bytes) -> str:
    """Return the key id of the trainer whom a verdict or an adjudication is about; its signature is not checked.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.

    Returns:
        The key id; empty where the auditor could read no signature of a trainer's.

    Raises:
        SignatureError: The envelope is malformed, or holds neither.
    """
    statement = parse_statement(payload_of(envelope))
    if statement["predicateType"] == ADJUDICATION_PREDICATE:
        return Adjudication(read_statement(statement, AdjudicationStatement), "").trainer_key
    if statement["predicateType"] != VERDICT_PREDICATE:
        raise SignatureError(say("What is signed is not a verdict of Counterfoil."))
    return Verdict(read_statement(statement, VerdictStatement), "").trainer_key


def _verdict(statement: dict[str, Any], key: PublicKey) -> Verdict:
    if statement["predicateType"] != VERDICT_PREDICATE:
        raise SignatureError(say("What is signed is not a verdict of Counterfoil."))
    verdict = Verdict(read_statement(statement, VerdictStatement), key.key_id)
    judge(verdict)
    beacon = None if verdict.sample is None else verdict.sample.beacon
    if beacon is not None and can_check() and not signature_holds(beacon):
        raise SignatureError(say("The verdict's nonce is of a round that its beacon did not sign."))
    return verdict


def _adjudication(statement: dict[str, Any], key: PublicKey) -> Adjudication:
    if statement["predicateType"] != ADJUDICATION_PREDICATE:
        raise SignatureError(say("What is signed is not an adjudication of Counterfoil."))
    adjudication = Adjudication(read_statement(statement, AdjudicationStatement), key.key_id)
    judge(adjudication)
    return adjudication


def check_bundle_file(
    verdict: Verdict | Adjudication,
    path: str | os.PathLike[str],
    cancel: CancelToken | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Check that a verdict speaks of the file at ``path``, or of the run in it where the auditor did not hash a file.

    Args:
        verdict: What was checked before.
        path: The file, which is hashed, or whose steps are.
        cancel: Looked at between pieces of the file.
        progress: Called with the bytes, or the steps, hashed and their total.

    Raises:
        SignatureError: The file, or the run in it, is another one.
        BundleError: The run in it cannot be read.
        GivenFileError: It is not there, is no file, or cannot be read.
        CancelledError: The token was cancelled.
    """
    if verdict.bundle_digest is None:
        _check_run(verdict, path, cancel, progress)
        return
    try:
        digest = Digest.of_file(path, cancel, progress)
    except NotAFileError as error:
        raise GivenFileError(
            say("{0} is {1}, and not a file that a verdict could be about.", os.fspath(path), error.strerror)
        ) from error
    except (OSError, ValueError) as error:
        raise GivenFileError(say("The file {0} cannot be read.", os.fspath(path)), detail=str(error)) from error
    if digest != verdict.bundle_digest:
        raise SignatureError(
            say(
                "The verdict is about another file: its SHA-256 is {0}..., that of {1} is {2}....",
                verdict.bundle_digest.short,
                os.path.basename(path),
                digest.short,
            )
        )


def check_capsule_file(said: Verdict | Adjudication, path: str | os.PathLike[str]) -> None:
    """Check that a dispute capsule is about the step that a verdict disputes, in the same signed run.

    What the capsule proves beyond that, its replay says. A signed adjudication is about one capsule, byte by byte.

    Args:
        said: What was checked before.
        path: The capsule.

    Raises:
        SignatureError: It is about another run, order or step, or the trainer's signature in it does not hold.
        BundleError: It is no capsule, or a damaged one, or cannot be read.
    """
    with CapsuleReader.open(path) as reader:
        contents = reader.contents()
    root = check_claim(contents.claim, contents.manifest, None, None).run_root
    about = (root, contents.manifest.digest, contents.step)
    step = said.step if isinstance(said, Adjudication) else said.disputed_step
    if about != (said.run_root, said.run_order, step):
        raise SignatureError(
            say(
                "The capsule {0} is about step {1} of the run {2}, and the {3} is about something else.",
                os.path.basename(path),
                contents.step,
                root.short,
                said.kind,
            ),
            remedy=say("Give the capsule that the same audit wrote."),
        )
    if isinstance(said, Adjudication):
        check_bundle_file(said, path)


def _check_run(
    verdict: Verdict | Adjudication,
    path: str | os.PathLike[str],
    cancel: CancelToken | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Check that a file holds the run of a verdict: its recorded steps have the run root."""
    with BundleReader.open(path) as reader:
        root = run_tree(reader.step_records(cancel, progress)).root
    if root != verdict.run_root:
        raise SignatureError(
            say(
                "The verdict is about another run: its run root is {0}, that of the steps in {1} is {2}.",
                "" if verdict.run_root is None else verdict.run_root.short,
                os.path.basename(path),
                root.short,
            )
        )
