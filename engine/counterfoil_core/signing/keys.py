"""Keys: the halves, their files, and what signs.

A private key in a file is an Ed25519 key (RFC 8032). One that lies in hardware may also be an ECDSA key on P-256
(FIPS 186-5, SHA-256), which is what most smart cards and tokens have (:mod:`counterfoil.signing.hardware`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.edwards import is_prime_order_point
from counterfoil_core.signing.publickeys import is_public_key, point_of, public_path

_MAX_KEY_BYTES = 64 * 1024


@dataclass(frozen=True)
class PublicKey:
    """A public key: an Ed25519 key, or an ECDSA key on P-256."""

    key_id: str  #: SHA-256, as 64 hexadecimal digits, of the key's canonical JSON as securesystemslib writes it.
    pem: str  #: The key as PEM text (SubjectPublicKeyInfo).
    wrapped: SSlibKey = field(repr=False, compare=False)  #: The same as the library that verifies envelopes takes it.

    @property
    def public(self) -> str:
        """The key itself in hexadecimal digits, as :mod:`counterfoil_core.signing.publickeys` has it."""
        said = str(self.wrapped.keyval["public"])
        return said if is_public_key(said) else point_of(said)

    @classmethod
    def from_pem(cls, pem: bytes) -> PublicKey:
        """Read PEM bytes.

        Raises:
            KeyFileError: They are not a PEM public key, or one of another kind, or one that anybody can sign with.
        """
        try:
            key = load_pem_public_key(pem)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise KeyFileError(say("This is not a public key in PEM form."), detail=str(error)) from error
        return cls.of(key)

    @classmethod
    def of(cls, key: object) -> PublicKey:
        """Wrap a key of the cryptography library.

        Raises:
            KeyFileError: It is of another kind, or no point of the prime order. (P-256 has no others, and the library
                takes only points of the curve.)
        """
        if not isinstance(key, (Ed25519PublicKey, EllipticCurvePublicKey)) or (
            isinstance(key, EllipticCurvePublicKey) and not isinstance(key.curve, SECP256R1)
        ):
            raise KeyFileError(say("The public key is neither an Ed25519 key nor an ECDSA key on the curve P-256."))
        if isinstance(key, Ed25519PublicKey) and not is_prime_order_point(key.public_bytes_raw()):
            raise KeyFileError(
                say(
                    "The public key is not one that only its owner can sign with: it is a point of small order, or not "
                    "in its one encoding."
                ),
                remedy=say("Take it for no one's key, and ask whoever gave it to you for another."),
            )
        wrapped = SSlibKey.from_crypto(key)
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        return cls(wrapped.keyid, pem, wrapped)


class SigningKey(Protocol):
    """What signs: a private key in this process, or the signer's process that holds it (:mod:`counterfoil.signer`)."""

    @property
    def public(self) -> PublicKey:
        """The public key that belongs to it."""

    def sign(self, payload: bytes) -> bytes:
        """Sign the canonical JSON of an in-toto statement; returns the DSSE envelope as JSON bytes."""


def load_public_key(path: str | os.PathLike[str]) -> PublicKey:
    """Load a public key; raises KeyFileError when the file is missing or holds no public key of ours."""
    path = Path(path)
    pem = read_key_file(path)
    if b"PRIVATE KEY" in pem:
        raise KeyFileError(
            say("{0} holds a private key; a public one is needed.", path.name),
            remedy=say("Use {0}.", public_path(path).name),
        )
    try:
        return PublicKey.from_pem(pem)
    except KeyFileError as error:
        raise KeyFileError(
            say("{0} holds no public key that Counterfoil takes. {1}", path.name, error.sentence),
            remedy=error.remedy,
            detail=error.detail,
        ) from error


def read_key_file(path: Path) -> bytes:
    """Return the bytes of a key file; raises KeyFileError."""
    remedy = say("Give the name of a key file; 'counterfoil keygen' makes one.")
    return read_input(path, say("a key"), KeyFileError, most=_MAX_KEY_BYTES, remedy=remedy)
