"""What is said of a verdict after it was signed: its auditor withdraws it, its trainer replies to it.

Each is a statement of its own that names the verdict by the SHA-256 of what was signed, not of its file: the same
verdict in an envelope that is written otherwise is the same verdict. docs/verdict.md, "Afterwards".
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from counterfoil.signing.kinds import Afterwards, Reply, Withdrawal
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, SignatureError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.envelope import parse_statement, payload_of
from counterfoil_core.signing.kinds import REPLY, WITHDRAWAL
from counterfoil_core.signing.statements import open_said
from counterfoil_core.statement.judgement import Signed

MAX_BESIDE = 500
"""Files in the folder of a verdict that are looked at for statements about it."""
ENDING = ".json"
"""Of the names of these files."""


def verdict_digest(envelope: bytes) -> Digest:
    """Return the digest by which a verdict is named: SHA-256 of its payload; raises SignatureError."""
    return Digest.of(payload_of(envelope))


def open_later(envelope: bytes) -> Withdrawal | Reply:
    """Check what was said of a verdict, by the key that it names; raises SignatureError."""
    kind = parse_statement(payload_of(envelope))["predicateType"]
    return open_said(Reply, envelope) if kind == REPLY.predicate else open_said(Withdrawal, envelope)


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
    damaged: list[str] = []
    for name, envelope in statements:
        try:
            said = open_later(envelope)
        except SignatureError as error:
            withdraws = WITHDRAWAL.predicate.encode() in _payload(envelope)
            (damaged if withdraws else ignored).append(say("{0} does not count. {1}", name, error.sentence))
            continue
        try:
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
        tuple(damaged),
    )


def files_beside(path: Path) -> tuple[Path, ...]:
    """Return the files in the folder of a verdict that may be statements about it; raises OSError."""
    return tuple(
        path.with_name(name)
        for name in sorted(os.listdir(path.parent))
        if name.lower().endswith(ENDING) and name != path.name
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
        files = files_beside(path)
    except OSError as error:
        return [], (say("The folder of the verdict cannot be searched for statements about it: {0}.", error.strerror),)
    found: list[tuple[str, bytes]] = []
    unread: tuple[str, ...] = ()
    if len(files) > MAX_BESIDE:
        unread += (
            say(
                "The folder of the verdict holds {0} such files; only the first {1} were looked at for "
                "statements about it.",
                len(files),
                MAX_BESIDE,
            ),
        )
    for file in files[:MAX_BESIDE]:
        try:
            if not file.is_file() or file.stat().st_size > WITHDRAWAL.most:  # larger than any such statement
                continue
            envelope = read_input(file, say("a statement"), DataError, most=WITHDRAWAL.most)
        except (OSError, CounterfoilError):
            unread += (say("{0} beside the verdict cannot be read.", file.name),)
            continue
        if says_of(envelope, verdict):
            found.append((file.name, envelope))
    return found, unread


def says_of(envelope: bytes, verdict: Digest) -> bool:
    """Whether a file names a verdict and is of a kind that says something of one; nothing of it is checked."""
    payload = _payload(envelope)
    return verdict.hex.encode() in payload and any(kind.predicate.encode() in payload for kind in (WITHDRAWAL, REPLY))


def _payload(envelope: bytes) -> bytes:
    try:
        return payload_of(envelope)
    except SignatureError:
        return b""


def _check_key(found: str, wanted: str, who: str) -> None:
    if found != wanted:
        raise SignatureError(say("It is signed with the key {0}, which is not that of {1}.", found[:12], who))
