"""What is said of a verdict after it was signed: its auditor withdraws it, its trainer replies to it.

Each is a statement of its own that names the verdict by the SHA-256 of what was signed, not of its file: the same
verdict in an envelope that is written otherwise is the same verdict. docs/verdict.md, "Afterwards".
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from counterfoil.audit.statement.later import Afterwards, Reply, Withdrawal
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.envelope import open_named, payload_of, sign_statement
from counterfoil_core.signing.intoto import REPLY_PREDICATE, WITHDRAWAL_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.predicates import MAX_BYTES, check_text, take_time
from counterfoil_core.statement.signed import Signed

MAX_BESIDE = 500
"""Files in the folder of a verdict that are looked at for statements about it."""
ENDING = ".json"
"""Of the names of these files."""
_KINDS = (WITHDRAWAL_PREDICATE, REPLY_PREDICATE)
_WITHDRAWAL = say("withdrawal of a verdict")
_REPLY = say("reply to a verdict")


def verdict_digest(envelope: bytes) -> Digest:
    """Return the digest by which a verdict is named: SHA-256 of its payload; raises SignatureError."""
    return Digest.of(payload_of(envelope))


def sign_withdrawal(
    verdict: Digest,
    reason: str,
    superseded_by: Digest | None,
    key: SigningKey,
    when: datetime | None = None,
) -> bytes:
    """Take a verdict back; returns the DSSE envelope as JSON bytes.

    Args:
        verdict: Its digest, by :func:`verdict_digest`.
        reason: Why, 1 to ``MAX_TEXT`` characters.
        superseded_by: Digest of the verdict that stands in its place, if one does.
        key: The key that signed the verdict.
        when: The time, with its zone; now unless given.

    Raises:
        SignatureError: The reason is empty or too long, or the verdict is to stand in its own place.
    """
    predicate = {
        "verdict": verdict.hex,
        "reason": check_text(reason, _WITHDRAWAL),
        "superseded_by": None if superseded_by is None else superseded_by.hex,
        "signed_at": timestamp(when),
        "public_key": key.public.pem,
    }
    _check_successor(verdict, superseded_by)
    return sign_statement(make_statement(_subjects(verdict), WITHDRAWAL_PREDICATE, predicate), key)


def open_withdrawal(envelope: bytes) -> Withdrawal:
    """Check a withdrawal by the key that it names; raises SignatureError."""
    fields, verdict, key_id = _opened(envelope, WITHDRAWAL_PREDICATE, _WITHDRAWAL)
    successor = fields.take("superseded_by", str, type(None))
    if successor is not None:
        successor = fields.as_digest(successor, say("field {0} of the {1}", "'superseded_by'", _WITHDRAWAL))
    found = Withdrawal(
        verdict,
        check_text(fields.take("reason", str), _WITHDRAWAL),
        successor,
        take_time(fields, "signed_at", _WITHDRAWAL),
        key_id,
    )
    fields.end()
    _check_successor(found.verdict, found.superseded_by)
    return found


def sign_reply(verdict: Digest, text: str, key: SigningKey, when: datetime | None = None) -> bytes:
    """Answer a verdict; returns the DSSE envelope as JSON bytes.

    Args:
        verdict: Its digest, by :func:`verdict_digest`.
        text: The reply, 1 to ``MAX_TEXT`` characters.
        key: The trainer's key, that of the run.
        when: The time, with its zone; now unless given.

    Raises:
        SignatureError: The text is empty or too long.
    """
    predicate = {
        "verdict": verdict.hex,
        "text": check_text(text, _REPLY),
        "signed_at": timestamp(when),
        "public_key": key.public.pem,
    }
    return sign_statement(make_statement(_subjects(verdict), REPLY_PREDICATE, predicate), key)


def open_reply(envelope: bytes) -> Reply:
    """Check a reply by the key that it names; raises SignatureError."""
    fields, verdict, key_id = _opened(envelope, REPLY_PREDICATE, _REPLY)
    found = Reply(verdict, check_text(fields.take("text", str), _REPLY), take_time(fields, "signed_at", _REPLY), key_id)
    fields.end()
    return found


def afterwards(verdict: Signed, digest: Digest, statements: Iterable[tuple[str, bytes]]) -> Afterwards:
    """Sort out what statements say of a verdict: only its auditor withdraws it, only its trainer replies.

    Whatever else they are changes nothing: who hands over a file cannot take a verdict from its reader.

    Args:
        verdict: The verdict, or the adjudication, checked before.
        digest: Its digest, by :func:`verdict_digest`.
        statements: Name and content of each file; may be junk.
    """
    withdrawals: list[Withdrawal] = []
    replies: list[Reply] = []
    ignored: list[str] = []
    for name, envelope in statements:
        try:
            said = _open_either(envelope)
            if said.verdict != digest:
                raise SignatureError(say("It is about another verdict."))
            if isinstance(said, Withdrawal):
                _check_key(said.key_id, verdict.key_id, say("the auditor who signed this verdict"))
                withdrawals.append(said)
            else:
                _check_key(said.key_id, verdict.trainer_key, say("the trainer who signed the run"))
                replies.append(said)
        except SignatureError as error:
            ignored.append(say("{0} does not count. {1}", name, error.sentence))
    return Afterwards(
        tuple(sorted(withdrawals, key=lambda one: one.signed_at)),
        tuple(sorted(replies, key=lambda one: one.signed_at)),
        tuple(ignored),
    )


def statements_beside(path: Path, verdict: Digest) -> tuple[list[tuple[str, bytes]], tuple[str, ...]]:
    """Return the statements about a verdict that lie in a folder beside a file.

    Args:
        path: The file, most often that of the verdict.
        verdict: Digest of the verdict, by :func:`verdict_digest`.

    Returns:
        Name and content of each, for :func:`afterwards`; and what could not be looked at, as sentences.
    """
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.lower().endswith(ENDING) and name != path.name)
    except OSError as error:
        return [], (say("The folder of the verdict cannot be searched for statements about it: {0}.", error.strerror),)
    found: list[tuple[str, bytes]] = []
    unread: tuple[str, ...] = ()
    if len(names) > MAX_BESIDE:
        unread += (
            say(
                "The folder of the verdict holds {0} such files; only the first {1} were looked at for "
                "statements about it.",
                len(names),
                MAX_BESIDE,
            ),
        )
    for name in names[:MAX_BESIDE]:
        file = path.with_name(name)
        try:
            if not file.is_file() or file.stat().st_size > MAX_BYTES:  # larger than any such statement
                continue
            envelope = read_input(file, say("a statement"), DataError, most=MAX_BYTES)
        except (OSError, CounterfoilError):
            unread += (say("{0} beside the verdict cannot be read.", name),)
            continue
        payload = _payload(envelope)
        if verdict.hex.encode() in payload and any(kind.encode() in payload for kind in _KINDS):
            found.append((name, envelope))
    return found, unread


def _open_either(envelope: bytes) -> Withdrawal | Reply:
    try:
        return open_withdrawal(envelope)
    except SignatureError as error:
        try:
            return open_reply(envelope)
        except SignatureError as other:
            # Of the two the one that speaks of the statement's own kind.
            raise (other if WITHDRAWAL_PREDICATE.encode() not in _payload(envelope) else error) from other


def _payload(envelope: bytes) -> bytes:
    try:
        return payload_of(envelope)
    except SignatureError:
        return b""


def _check_key(found: str, wanted: str, who: str) -> None:
    if found != wanted:
        raise SignatureError(say("It is signed with the key {0}, which is not that of {1}.", found[:12], who))


def _opened(envelope: bytes, kind: str, what: str) -> tuple[Fields, Digest, str]:
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", what, MAX_BYTES))
    statement, key = open_named(envelope, kind, what)
    fields = Fields(statement["predicate"], what, SignatureError)
    fields.take("public_key", str)
    verdict = fields.digest("verdict")
    if statement["subject"] != _subjects(verdict):
        raise SignatureError(say("The subject of the {0} is not the verdict that it speaks of.", what))
    return fields, verdict, key.key_id


def _subjects(verdict: Digest) -> list[dict[str, Any]]:
    return [make_subject("verdict", verdict)]


def _check_successor(verdict: Digest, successor: Digest | None) -> None:
    if verdict == successor:
        raise SignatureError(say("A verdict cannot stand in its own place."))
