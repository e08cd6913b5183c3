"""Who ordered, and who agreed: a client's signature on an order, and a trainer's acceptance of it.

Both cover the order digest, so they hold for these bytes of a manifest and for no others. Neither says who a person
is: that a key is the client's, whoever reads it must know from elsewhere. docs/bundle-format.md, section 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.envelope import open_named
from counterfoil_core.signing.intoto import ACCEPTANCE_PREDICATE, ORDER_PREDICATE, make_subject
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.predicates import take_time

_ORDER = say("client's signature on the order")
_ACCEPTANCE = say("trainer's acceptance of the order")


@dataclass(frozen=True)
class SignedOrder:
    """A client's signature on an order; it holds.

    Attributes:
        order: The order digest.
        signed_at: ISO 8601 time in UTC, as the client's clock had it.
        key_id: Key id of the key that signed.
    """

    order: Digest
    signed_at: str
    key_id: str


@dataclass(frozen=True)
class Acceptance:
    """A trainer's acceptance of an order, signed when training began; its signature holds.

    Attributes:
        order: The order digest.
        client_key: Key id of the client whose signature the order had; None for an order that was unsigned.
        accepted_at: ISO 8601 time in UTC, as the trainer's clock had it.
        key_id: Key id of the key that signed: the trainer's.
    """

    order: Digest
    client_key: str | None
    accepted_at: str
    key_id: str


def open_signed_order(envelope: bytes, order: Digest) -> SignedOrder:
    """Check a client's signature on an order, by the key that it names.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        order: Digest of the order that it must be about.

    Raises:
        SignatureError: It is malformed, does not hold, or is about another order.
    """
    statement, key = open_named(envelope, ORDER_PREDICATE, _ORDER)
    fields = _fields(statement, order, _ORDER)
    signed_at = take_time(fields, "signed_at", _ORDER)
    fields.end()
    return SignedOrder(order, signed_at, key.key_id)


def open_acceptance(envelope: bytes, order: Digest, key: PublicKey) -> Acceptance:
    """Check a trainer's acceptance of an order.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        order: Digest of the order that it must be about.
        key: The key that must have signed it: that of the run's claim.

    Raises:
        SignatureError: It is malformed, does not hold for this key, or is about another order.
    """
    statement, key = open_named(envelope, ACCEPTANCE_PREDICATE, _ACCEPTANCE, key)
    fields = _fields(statement, order, _ACCEPTANCE)
    client = fields.take("client_key", str, type(None))
    if client is not None:
        client = fields.as_digest(client, say("field {0} of the {1}", "'client_key'", _ACCEPTANCE)).hex
    accepted_at = take_time(fields, "accepted_at", _ACCEPTANCE)
    fields.end()
    return Acceptance(order, client, accepted_at, key.key_id)


def check_same_client(acceptance: Acceptance, client: SignedOrder | None) -> None:
    """Check that a trainer accepted an order from the client whose signature lies beside it.

    Raises:
        SignatureError: The one names another client than the other, or only one of them names any.
    """
    signed = None if client is None else client.key_id
    if acceptance.client_key == signed:
        return
    raise SignatureError(
        say(
            "The trainer accepted the order {0}, but the file holds it {1}: one of the two was exchanged afterwards.",
            _signed(acceptance.client_key),
            _signed(signed),
        ),
        remedy=say("Ask the trainer for the file again."),
    )


def _signed(key_id: str | None) -> str:
    return say("unsigned") if key_id is None else say("signed with the key {0}", key_id[:12])


def order_subjects(order: Digest) -> list[dict[str, Any]]:
    """Return the subjects of a signature on an order: its digest."""
    return [make_subject("order", order)]


def _fields(statement: dict[str, Any], order: Digest, what: str) -> Fields:
    """Take the fields that both have: the order, which the subject names too, and the key, which was checked."""
    fields = Fields(statement["predicate"], what, SignatureError)
    fields.take("public_key", str)
    found = fields.digest("order")
    if statement["subject"] != order_subjects(found):
        raise SignatureError(say("The subject of the {0} is not the order that it speaks of.", what))
    if found != order:
        raise SignatureError(
            say("The {0} is about the order {1}, but the file holds the order {2}.", what, found.short, order.short)
        )
    return fields
