"""A signed note about the data of an order: who made them says how, for instance with which weights they were sampled.

It names the data by their root, so it holds for every order of these arrays and for no others. It proves who said it,
and nothing of what is said. docs/rollouts.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.envelope import open_named, sign_statement
from counterfoil_core.signing.intoto import NOTE_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.predicates import MAX_BYTES, check_text, take_time

_NOTE = say("note about data")


@dataclass(frozen=True)
class DataNote:
    """A note about data; its signature holds.

    Attributes:
        data_root: The root over the data arrays that it is about.
        says: Its words.
        weights: SHA-256 of the file of weights that it names; None where it names none.
        signed_at: ISO 8601 time in UTC, as the clock of whoever signed had it.
        key_id: Key id of the key that signed.
    """

    data_root: Digest
    says: str
    weights: Digest | None
    signed_at: str
    key_id: str


def sign_note(
    data_root: Digest, says: str, weights: Digest | None, key: SigningKey, when: datetime | None = None
) -> bytes:
    """Sign a note about data; returns the DSSE envelope as JSON bytes.

    Args:
        data_root: The root over the data arrays.
        says: Its words, 1 to ``MAX_TEXT`` characters.
        weights: SHA-256 of the file of weights with which the data were made, if there is one.
        key: The key of whoever made them.
        when: The time, with its zone; now unless given.

    Raises:
        SignatureError: The words are empty or too long.
    """
    predicate = {
        "data_root": data_root.hex,
        "says": check_text(says, _NOTE),
        "weights": None if weights is None else weights.hex,
        "signed_at": timestamp(when),
        "public_key": key.public.pem,
    }
    return sign_statement(make_statement(_subjects(data_root), NOTE_PREDICATE, predicate), key)


def open_note(envelope: bytes, key: PublicKey) -> DataNote:
    """Check a note about data.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, does not hold for this key, or contradicts itself.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _NOTE, MAX_BYTES))
    statement, key = open_named(envelope, NOTE_PREDICATE, _NOTE, key)
    fields = Fields(statement["predicate"], _NOTE, SignatureError)
    fields.take("public_key", str)
    data_root = fields.digest("data_root")
    if statement["subject"] != _subjects(data_root):
        raise SignatureError(say("The subject of the {0} is not the data that it speaks of.", _NOTE))
    weights = fields.take("weights", str, type(None))
    if weights is not None:
        weights = fields.as_digest(weights, say("field {0} of the {1}", "'weights'", _NOTE))
    note = DataNote(
        data_root,
        check_text(fields.take("says", str), _NOTE),
        weights,
        take_time(fields, "signed_at", _NOTE),
        key.key_id,
    )
    fields.end()
    return note


def check_note(note: DataNote, data_root: Digest, weights: Digest | None) -> None:
    """Check that a note is about data, and names weights where some are given.

    Raises:
        SignatureError: It is about others, or names others or none.
    """
    if note.data_root != data_root:
        raise SignatureError(
            say(
                "The {0} is about other data: their root is {1}..., that of the order's data {2}....",
                _NOTE,
                note.data_root.short,
                data_root.short,
            )
        )
    if weights is not None and note.weights != weights:
        raise SignatureError(
            say("The {0} names no weights.", _NOTE)
            if note.weights is None
            else say("The {0} names other weights: their SHA-256 is {1}....", _NOTE, note.weights.short)
        )


def _subjects(data_root: Digest) -> list[dict[str, Any]]:
    # A root over arrays is no SHA-256 of a file, so it stands under an algorithm name of its own.
    return [make_subject("data", data_root, "counterfoilStateRoot")]
