"""What clients, trainers and their parties sign, written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.bundle.schema import RunClaim, TreeHead
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.signing.consent import SignedOrder, order_subjects
from counterfoil_core.signing.envelope import (
    head_subjects,
    run_predicate,
    run_subjects,
    sign_statement,
    signature_in,
)
from counterfoil_core.signing.intoto import (
    ACCEPTANCE_PREDICATE,
    ORDER_PREDICATE,
    TREE_HEAD_PREDICATE,
    make_statement,
)
from counterfoil_core.signing.keys import PublicKey, SigningKey, load_public_key
from counterfoil_core.signing.parties import share_statement
from counterfoil_core.signing.publickeys import is_ed25519


def sign_claim(claim: RunClaim, key: SigningKey) -> bytes:
    """Sign a run's claim; returns the DSSE envelope as JSON bytes.

    Raises:
        SignatureError: The claim names another public key than the one that would sign it.
    """
    if claim.public_key != key.public.pem:
        raise SignatureError(say("The run's claim names another public key than the one that signs it."))
    return sign_statement(make_statement(run_subjects(claim), run_predicate(claim), claim.to_json()), key)


def sign_tree_head(head: TreeHead, key: SigningKey) -> bytes:
    """Sign a tree head; returns the DSSE envelope as JSON bytes, in one line.

    Raises:
        SignatureError: The head names another public key than the one that would sign it.
    """
    if head.public_key != key.public.pem:
        raise SignatureError(say("The tree head names another public key than the one that signs it."))
    return sign_statement(make_statement(head_subjects(head), TREE_HEAD_PREDICATE, head.to_json()), key)


def sign_order(order: Digest, key: SigningKey, when: datetime | None = None) -> bytes:
    """Sign an order as its client; returns the DSSE envelope as JSON bytes.

    Args:
        order: The order digest.
        key: The client's key.
        when: The time of the signature, with its zone; now unless given.
    """
    predicate = {"order": order.hex, "signed_at": timestamp(when), "public_key": key.public.pem}
    return sign_statement(make_statement(order_subjects(order), ORDER_PREDICATE, predicate), key)


def accept_order(order: Digest, client: SignedOrder | None, key: SigningKey, when: datetime | None = None) -> bytes:
    """Accept an order as its trainer, when training begins; returns the DSSE envelope as JSON bytes.

    Args:
        order: The order digest.
        client: The client's signature on the order as the trainer got it; None when it is unsigned.
        key: The trainer's key.
        when: The time of the acceptance, with its zone; now unless given.
    """
    predicate = {
        "order": order.hex,
        "client_key": None if client is None else client.key_id,
        "accepted_at": timestamp(when),
        "public_key": key.public.pem,
    }
    return sign_statement(make_statement(order_subjects(order), ACCEPTANCE_PREDICATE, predicate), key)


Party = PublicKey | str | os.PathLike[str]
"""A party that answers for shares: its public key, or the file that holds it."""


def public_keys(signers: Sequence[Party | None]) -> tuple[str | None, ...]:
    """Return the keys of parties as an order has them: 64 hexadecimal digits, or None.

    Raises:
        KeyFileError: A file is missing, or holds no Ed25519 public key.
    """
    keys = [party if party is None or isinstance(party, PublicKey) else load_public_key(party) for party in signers]
    for key in keys:
        if key is not None and not is_ed25519(key.public):
            raise KeyFileError(
                say("The key {0} is not an Ed25519 key: a party that answers for shares needs one.", key.key_id[:12]),
                remedy=say("Make one with 'counterfoil keygen'."),
            )
    return tuple(None if key is None else key.public for key in keys)


def sign_share(order: Digest, step: int, before: Digest, record: ShareRecord, key: SigningKey) -> bytes:
    """Sign what a share gave, as the party that answers for it; returns the 64 bytes of the signature.

    Raises:
        SignerError: The signer's process does not sign it.
    """
    return signature_in(key.sign(share_statement(order, step, before, record)))
