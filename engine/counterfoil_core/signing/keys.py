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
from counterfoil_core.signing.publickeys import is_public_key, point_of, public_path

# Which 32 bytes are an Ed25519 public key that only its owner can sign with (RFC 8032, sections 5.1.3 and 5.1.4). For a
# point of small order signatures are known that hold for many messages or all, and a point in another encoding is the
# same key under another key id. Libraries differ in what they take of these (Chalkias, Garillot, Nikolaenko: "Taming
# the Many EdDSAs", 2020), so whoever reads with another library would read something else. An honest key is a point of
# the prime order L, in its one encoding; nothing else is taken.

P = 2**255 - 19
"""The field's modulus."""
L = 2**252 + 27742317777372353535851937790883648493
"""The order of the base point, a prime; the curve has 8 L points."""
D = -121665 * pow(121666, -1, P) % P
"""The curve is -x^2 + y^2 = 1 + D x^2 y^2."""
KEY_BYTES = 32
_ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
_Point = tuple[int, int, int, int]
"""X, Y, Z, T: the affine point is (X/Z, Y/Z), and XY = ZT."""
_NEUTRAL: _Point = (0, 1, 1, 0)


def is_prime_order_point(encoding: bytes) -> bool:
    """Return whether 32 bytes are the one encoding of a point of order L.

    Refused are: another length, a coordinate of P or more, a sign without an x, what is no point of the curve, the
    eight points of small order, and sums of one of these with another point.
    """
    point = _decoded(encoding)
    return point is not None and not _is_neutral(point) and _is_neutral(_times(L, point))


def _decoded(encoding: bytes) -> _Point | None:
    if len(encoding) != KEY_BYTES:
        return None
    number = int.from_bytes(encoding, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * _ROOT_OF_MINUS_ONE % P
    if v * x * x % P != u or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(factor: int, point: _Point) -> _Point:
    result = _NEUTRAL
    while factor:
        if factor & 1:
            result = _sum(result, point)
        point = _sum(point, point)
        factor >>= 1
    return result


def _is_neutral(point: _Point) -> bool:
    return point[0] == 0 and point[1] == point[2]


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
