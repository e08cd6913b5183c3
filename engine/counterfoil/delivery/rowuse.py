"""What a run did with some rows, as a signed statement that holds no other row, and not these; docs/locate.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from counterfoil.base.errors import SignatureError
from counterfoil.base.fields import Fields
from counterfoil.base.sentence import say
from counterfoil.base.timestamps import timestamp
from counterfoil.delivery.locating import RowUse
from counterfoil.signing.envelope import open_named, sign_statement
from counterfoil.signing.intoto import ROW_USE_PREDICATE, make_statement, make_subject
from counterfoil.signing.keys import PublicKey, SigningKey
from counterfoil.signing.predicates import take_time

MAX_BYTES = 2**24
"""Bytes of a statement that is read."""
_WHAT = say("statement on rows")


@dataclass(frozen=True)
class SignedRowUse:
    """A statement on rows; the signature holds, and nothing else is known.

    Attributes:
        uses: For each array and row, as :func:`fields_of` writes it.
        signed_at: ISO 8601 time in UTC, as the clock of whoever signed had it.
        key_id: Key id of the key that signed.
    """

    uses: list[Any]
    signed_at: str
    key_id: str


def fields_of(use: RowUse) -> dict[str, Any]:
    """Return what is said of one row in one array, as JSON values. The row itself is not in it, its SHA-256 is."""
    return {
        "order": use.order.hex,
        "data_root": use.data_root.hex,
        "array": use.array,
        "dtype": use.dtype,
        "shape": list(use.shape),
        "row": use.row.hex,
        "places": list(use.places),
        "steps": list(use.steps),
    }


def sign_row_use(uses: Sequence[RowUse], key: SigningKey, when: datetime | None = None) -> bytes:
    """Sign what was found of rows in one run; returns the DSSE envelope as JSON bytes.

    Args:
        uses: What was found, all of one run; at least one.
        key: The key of whoever looked.
        when: The time, with its zone; now unless given.
    """
    predicate = {"rows": [fields_of(use) for use in uses], "signed_at": timestamp(when), "public_key": key.public.pem}
    subjects = [make_subject("run", uses[0].run_root, "rfc9162Sha256")]
    return sign_statement(make_statement(subjects, ROW_USE_PREDICATE, predicate), key)


def open_row_use(envelope: bytes, key: PublicKey) -> SignedRowUse:
    """Check who signed a statement on rows.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, or does not hold for this key.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    statement, key = open_named(envelope, ROW_USE_PREDICATE, _WHAT, key)
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    fields.take("public_key", str)
    found = SignedRowUse(fields.take("rows", list), take_time(fields, "signed_at", _WHAT), key.key_id)
    fields.end()
    return found
