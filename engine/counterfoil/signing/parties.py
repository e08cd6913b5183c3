"""Parties that answer for shares: which key answers for which, and what it signs of each step.

What is signed says of which order, step and share it is, so that it holds nowhere else. docs/bundle-format.md,
section 18, "Signed shares".
"""

from __future__ import annotations

from counterfoil.base import canonical
from counterfoil.base.digest import Digest
from counterfoil.base.errors import BundleError, KeyFileError
from counterfoil.base.sentence import say
from counterfoil.bundle.shares import ShareRecord, Shares
from counterfoil.signing.envelope import is_signed_by, signature_in
from counterfoil.signing.intoto import SHARE_PREDICATE, make_statement
from counterfoil.signing.keys import PublicKey, SigningKey
from counterfoil.signing.publickeys import pem_of


def parties_of(shares: Shares) -> dict[int, PublicKey]:
    """Return the key of the party that answers for each share that has one, by the share's number.

    Raises:
        BundleError: A key of the order is none that only its owner can sign with.
    """
    found = {}
    for share, public in enumerate(shares.signers):
        if public is None:
            continue
        try:
            found[share] = PublicKey.from_pem(pem_of(public).encode())
        except KeyFileError as error:
            raise BundleError(
                say("The order's key for share {0} is no Ed25519 public key. {1}", share, error.sentence),
                remedy=error.remedy,
            ) from error
    return found


def share_statement(order: Digest, step: int, record: ShareRecord) -> bytes:
    """Return what a party signs of a share: the canonical JSON of an in-toto statement.

    Args:
        order: The order's digest.
        step: The step, from 1.
        record: What the leaf of the share commits to.
    """
    subject = {"name": "order", "digest": {"sha256": order.hex}}
    return canonical.encode(make_statement([subject], SHARE_PREDICATE, {"step": step, "record": record.to_json()}))


def sign_share(order: Digest, step: int, record: ShareRecord, key: SigningKey) -> bytes:
    """Sign what a share gave, as the party that answers for it; returns the 64 bytes of the signature.

    Raises:
        SignerError: The signer's process does not sign it.
    """
    return signature_in(key.sign(share_statement(order, step, record)))


def share_is_signed(order: Digest, step: int, record: ShareRecord, signature: bytes, key: PublicKey) -> bool:
    """Whether a party signed what a share gave; the first three arguments are those of :func:`sign_share`."""
    return is_signed_by(share_statement(order, step, record), signature, key)
