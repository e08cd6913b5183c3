"""A signed list of keys that no longer count: lost, stolen, or replaced. docs/keys.md.

Whoever the reader trusts for it signs one list with all of them, and each list has a higher number than the one before.
A key that somebody else may have signs any time that they like, so of a compromised key nothing counts any more; of a
retired one what was signed before counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from counterfoil.signing.revokedkeys import Cause as Cause, Revocation as Revocation, RevocationList as RevocationList
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.envelope import open_named, sign_statement
from counterfoil_core.signing.intoto import REVOCATIONS_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.predicates import take_time

MAX_KEYS = 10_000
MAX_BYTES = 2**24
"""Bytes of a list that is read."""
MAX_REASON = 1000
MAX_NUMBER = 2**31
_WHAT = say("list of revoked keys")
_KEY_ID = re.compile(r"[0-9a-f]{64}")


def sign_revocations(
    revocations: Iterable[Revocation], number: int, key: SigningKey, when: datetime | None = None
) -> bytes:
    """Sign a list; returns the DSSE envelope as JSON bytes.

    Args:
        revocations: The keys; of one that stands there twice the last counts.
        number: The number of the list, 1 for the first.
        key: The key of whoever answers for the list.
        when: The time, with its zone; now unless given.

    Raises:
        SignatureError: There are no keys or too many, a key id, a time or the number is none, the list revokes the
            key that signs it, or a reason is too long.
        SignerError: The signer's process does not sign it.
    """
    told = {each.key_id: each for each in revocations}
    listed = [
        {"key_id": each.key_id, "since": each.since, "cause": each.cause.value, "reason": each.reason}
        for _, each in sorted(told.items())
    ]
    predicate = {"number": number, "issued_at": timestamp(when), "revoked": listed, "public_key": key.public.pem}
    _read({**predicate}, key.public.key_id)
    return sign_statement(make_statement(_subjects(sorted(told)), REVOCATIONS_PREDICATE, predicate), key)


def open_revocations(envelope: bytes, key: PublicKey) -> RevocationList:
    """Check a list of revoked keys.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, does not hold for this key, or contradicts itself.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    statement, key = open_named(envelope, REVOCATIONS_PREDICATE, _WHAT, key)
    found = _read(statement["predicate"], key.key_id)
    if statement["subject"] != _subjects([each.key_id for each in found.revocations]):
        raise SignatureError(say("The subjects of the {0} are not the keys that it revokes.", _WHAT))
    return found


def _read(predicate: Any, key_id: str) -> RevocationList:
    fields = Fields(predicate, _WHAT, SignatureError)
    fields.take("public_key", str)
    number = fields.integer("number", 1, MAX_NUMBER)
    issued_at = take_time(fields, "issued_at", _WHAT)
    listed = fields.take("revoked", list)
    fields.end()
    if not 1 <= len(listed) <= MAX_KEYS:
        raise SignatureError(say("The {0} has {1} keys; it must have 1 to {2}.", _WHAT, len(listed), MAX_KEYS))
    revocations: list[Revocation] = []
    for each in listed:
        fields = Fields(each, _WHAT, SignatureError)
        revocation = Revocation(
            fields.text("key_id", 64),
            take_time(fields, "since", _WHAT),
            _cause(fields),
            fields.text("reason", MAX_REASON),
        )
        fields.end()
        if not _KEY_ID.fullmatch(revocation.key_id):
            raise SignatureError(say("The {0} names a key id that is none: 64 hexadecimal digits.", _WHAT))
        if revocations and revocation.key_id <= revocations[-1].key_id:
            raise SignatureError(say("The keys in the {0} are not sorted, or one stands there twice.", _WHAT))
        revocations.append(revocation)
    if any(each.key_id == key_id for each in revocations):
        raise SignatureError(say("The {0} revokes the key that signed it.", _WHAT))
    return RevocationList(number, issued_at, tuple(revocations), key_id)


def _cause(fields: Fields) -> Cause:
    try:
        return Cause(fields.text("cause", 20))
    except ValueError as error:
        raise SignatureError(say("The {0} gives a cause that is none.", _WHAT)) from error


def _subjects(key_ids: Iterable[str]) -> list[dict[str, Any]]:
    # A key id is the SHA-256 of a key's canonical JSON and of no file, so it has an algorithm name of its own.
    return [make_subject("key", Digest.from_hex(key_id), "counterfoilKeyId") for key_id in key_ids]
