"""What an auditor signs: the report of an audit or of an adjudication as an in-toto statement in a DSSE envelope.

docs/verdict.md lists every field.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import overload

from msgspec import UNSET

from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.base.inputs import NotAFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.stepparts import AddedTensor, StepPart, UpdateInputs
from counterfoil_core.parties.beacons import can_check, signature_holds
from counterfoil_core.parties.signatures import check_claim, recorded_subject, subject_of
from counterfoil_core.signing.envelope import parse_statement, payload_of
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.kinds import ADJUDICATION, statement_of
from counterfoil_core.signing.parties import party_ids
from counterfoil_core.signing.publickeys import key_id_of
from counterfoil_core.signing.statements import open_said, read_said, sign_said
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement
from counterfoil_core.statement.rules import judge
from counterfoil_core.statement.write import adjudication_statement, verdict_statement
from counterfoil_core.values.adjudication import AdjudicationReport
from counterfoil_core.values.dispute import COMBINE, SHARE, UPDATE, share_of
from counterfoil_core.values.report import AuditReport


def preview_verdict(report: AuditReport, signed_at: datetime, model: tuple[str, Digest] | None = None) -> bytes:
    """Return exactly the bytes that :func:`sign_verdict` signs for the same report and time; as verdict_statement."""
    return canonical.encode(statement_of(verdict_statement(report, signed_at, model)))


def preview_adjudication(report: AdjudicationReport, signed_at: datetime) -> bytes:
    """Return exactly the bytes that :func:`sign_adjudication` signs; as :func:`preview_verdict` for a verdict."""
    return canonical.encode(statement_of(adjudication_statement(report, signed_at)))


def sign_verdict(report: AuditReport, key: SigningKey, signed_at: datetime | None = None) -> bytes:
    """Sign what an audit found; returns the DSSE envelope as JSON bytes.

    Args:
        report: The report of the audit's last event.
        key: The auditor's key.
        signed_at: The time of the verdict, with its zone; now unless given.

    Raises:
        SignatureError: The audit could not read the bundle file, so that there is nothing to make a statement about.
    """
    return sign_said(verdict_statement(report, signed_at or datetime.now(UTC)), key)


def sign_adjudication(report: AdjudicationReport, key: SigningKey) -> bytes:
    """Sign what the replay of a dispute capsule found; as :func:`sign_verdict`."""
    return sign_said(adjudication_statement(report, datetime.now(UTC)), key)


def verify_verdict(envelope: bytes, key: PublicKey) -> Verdict:
    """Check a verdict: its signature first, then its form, then the rules that a verdict must keep.

    A dispute carries the inclusion proof of the trainer's Merkle leaf in the run root; it is checked too.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The auditor's public key.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, no verdict, or contradicts itself.
    """
    return judged(open_said(VerdictStatement, envelope, key), key.key_id)


def verify_signed(envelope: bytes, key: PublicKey) -> Verdict | Adjudication:
    """Check whatever an auditor signed, a verdict or an adjudication, as :func:`verify_verdict`."""
    return judged(open_said(_form(payload_of(envelope)), envelope, key), key.key_id)


def trainer_of(envelope: bytes) -> str:
    """Return the key id of the trainer whom a verdict or an adjudication is about; its signature is not checked.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.

    Returns:
        The key id; empty where the auditor could read no signature of a trainer's.

    Raises:
        SignatureError: The envelope is malformed, or holds neither.
    """
    return read_unsigned(payload_of(envelope)).trainer_key


def read_unsigned(payload: bytes) -> Verdict | Adjudication:
    """Read a verdict or an adjudication that nobody signed yet, or whose signature is not looked at.

    Args:
        payload: The canonical JSON of the statement; may be junk.

    Raises:
        SignatureError: It is neither. Whether it keeps the rules is judged by whoever reads it signed.
    """
    return _signed(read_said(_form(payload), parse_statement(payload)), "")


@overload
def judged(said: VerdictStatement, key_id: str) -> Verdict: ...
@overload
def judged(said: VerdictStatement | AdjudicationStatement, key_id: str) -> Verdict | Adjudication: ...
def judged(said: VerdictStatement | AdjudicationStatement, key_id: str) -> Verdict | Adjudication:
    """Judge a statement by every rule that it must keep; raises SignatureError where one is broken.

    Args:
        said: What was read.
        key_id: Key id of the key that signed it.
    """
    found = _signed(said, key_id)
    judge(found)
    beacon = found.sample.beacon if isinstance(found, Verdict) and found.sample is not None else None
    if beacon is not None and can_check() and not signature_holds(beacon):
        raise SignatureError(say("The verdict's nonce is of a round that its beacon did not sign."))
    return found


def _signed(said: VerdictStatement | AdjudicationStatement, key_id: str) -> Verdict | Adjudication:
    return Verdict(said, key_id) if isinstance(said, VerdictStatement) else Adjudication(said, key_id)


def _form(payload: bytes) -> type[VerdictStatement] | type[AdjudicationStatement]:
    kind = parse_statement(payload)["predicateType"]
    return AdjudicationStatement if kind == ADJUDICATION.predicate else VerdictStatement


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
    if isinstance(verdict, Verdict) and verdict.trainer_key:
        with BundleReader.open(path) as reader:
            _check_parties(verdict, reader.manifest)


def _check_parties(verdict: Verdict | Adjudication, manifest: OrderManifest) -> None:
    """Check that a verdict names the parties that the order names, and of a disputed share that one which answers.

    For a combination any of them may: the one whose signature fits what it added.
    """
    dispute = verdict.statement.dispute
    share = None if dispute is None or dispute.part is UNSET else share_of(dispute.part)
    shares = manifest.shares
    named = () if shares is None else shares.signers if share is None else shares.signers[share : share + 1]
    answers = {key_id_of(public) for public in named if public is not None}
    signer = "" if dispute is None or dispute.signer is UNSET else dispute.signer
    there = share is None or (shares is not None and share < shares.count)
    if verdict.parties != party_ids(manifest) or not there or (signer and signer not in answers):
        raise SignatureError(
            say("The {0} names other parties than the order has, who answer for shares of its steps.", verdict.kind),
            remedy=say("Rely on nothing that it says, and tell whoever signed it."),
        )


def part_name(part: StepPart) -> str:
    """Return the name of a part of a step, as a dispute has it."""
    match part.about:
        case AddedTensor():
            return COMBINE
        case UpdateInputs():
            return UPDATE
        case share:
            return f"{SHARE}{share}"


def check_capsule_file(said: Verdict | Adjudication, path: str | os.PathLike[str]) -> None:
    """Check that a dispute capsule is about the step, and the part of it, that a verdict disputes, in the same run.

    What the capsule proves beyond that, its replay says. A signed adjudication is about one capsule, byte by byte.

    Args:
        said: What was checked before.
        path: The capsule.

    Raises:
        SignatureError: It is about another run, step or part, or the trainer's signature in it does not hold.
        BundleError: It is no capsule, or a damaged one, or cannot be read.
    """
    with CapsuleReader.open(path) as reader:
        contents = reader.contents()
    about = subject_of(check_claim(contents.claim, contents.manifest, None, None))
    step = said.step if isinstance(said, Adjudication) else said.disputed_step
    part, dispute = "" if contents.shared is None else part_name(contents.shared), said.statement.dispute
    # What is rejected disputes nothing, and an adjudication is about one capsule, which is hashed below.
    other_part = dispute is not None and part != ("" if dispute.part is UNSET else dispute.part)
    if (about, contents.step) != (said.about, step) or other_part:
        raise SignatureError(
            say(
                "The capsule {0} is about step {1} of the run {2}, and the {3} is about something else.",
                os.path.basename(path),
                contents.step,
                about.run_root.short,
                said.kind,
            ),
            remedy=say("Give the capsule that the same audit wrote."),
        )
    _check_parties(said, contents.manifest)
    if isinstance(said, Adjudication):
        check_bundle_file(said, path)


def _check_run(
    verdict: Verdict | Adjudication,
    path: str | os.PathLike[str],
    cancel: CancelToken | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Check that a file holds the run of a verdict: its recorded steps, its order, and its trainer's signature."""
    with BundleReader.open(path) as reader:
        found = recorded_subject(reader, reader.step_records(cancel, progress))
    if verdict.about is None:
        raise SignatureError(
            say("The verdict does not say whose run it is about."),
            remedy=say("Ask the auditor for one of a file that could be read."),
        )
    if different := verdict.about.difference(found):
        raise SignatureError(
            say("The verdict is about another run than that in {0}: {1}.", os.path.basename(path), different)
        )
