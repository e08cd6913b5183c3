"""The keys of parties that answer for shares, and what they sign."""

from __future__ import annotations

import os
from collections.abc import Sequence

from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.claims import Addition, Share
from counterfoil_core.signing.envelope import signature_in
from counterfoil_core.signing.keys import PublicKey, SigningKey, load_public_key
from counterfoil_core.signing.publickeys import is_ed25519
from counterfoil_core.signing.statements import sign_said

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


def sign_as_party(said: Share | Addition, key: SigningKey) -> bytes:
    """Sign what a share gave, or what was added of it; returns the 64 bytes of the signature.

    Raises:
        SignerError: The signer's process does not sign it.
    """
    return signature_in(sign_said(said, key))
