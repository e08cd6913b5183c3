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
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, Signer, SSlibKey  # type: ignore[attr-defined]

from counterfoil.base import canonical
from counterfoil.base.errors import KeyFileError, TargetExistsError
from counterfoil.base.inputs import read_input
from counterfoil.base.sentence import say
from counterfoil.base.wholefiles import write_whole
from counterfoil.signing.edwards import is_prime_order_point
from counterfoil.signing.intoto import PAYLOAD_TYPE
from counterfoil.signing.publickeys import is_public_key, point_of, public_path

_MAX_KEY_BYTES = 64 * 1024


@dataclass(frozen=True)
class PublicKey:
    """A public key: an Ed25519 key, or an ECDSA key on P-256.

    Attributes:
        key_id: SHA-256, as 64 hexadecimal digits, of the key's canonical JSON as securesystemslib writes it.
        pem: The key as PEM text (SubjectPublicKeyInfo).
        wrapped: The same as the library that verifies envelopes takes it.
    """

    key_id: str
    pem: str
    wrapped: SSlibKey = field(repr=False, compare=False)

    @property
    def public(self) -> str:
        """The key itself in hexadecimal digits, as :mod:`counterfoil.signing.publickeys` has it."""
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


@dataclass(frozen=True)
class PrivateKey:
    """A private key that this process signs with: it lies here, or in hardware that this process has logged in to.

    Whoever reads files of strangers uses the signer's process instead.

    Attributes:
        public: The public key that belongs to it.
    """

    public: PublicKey
    _signer: Signer = field(repr=False, compare=False)

    def sign(self, payload: bytes) -> bytes:
        """Sign a payload; see :class:`SigningKey`."""
        envelope = Envelope(payload, PAYLOAD_TYPE, {})
        envelope.sign(self._signer)
        return canonical.encode(envelope.to_dict())

    def __reduce__(self) -> str:
        """Refuse to be pickled: a private key leaves its process in no message."""
        raise TypeError("a private key is not sent to another process")


def generate_key(private_path: str | os.PathLike[str], passphrase: str | None) -> Path:
    """Make an Ed25519 key and write it as PKCS #8 PEM, with its public key beside it.

    Args:
        private_path: Where the private key goes, for instance ``trainer.pem``; only its owner may read it (mode 0600).
        passphrase: Encrypts the private key; None leaves it readable to whoever gets the file.

    Returns:
        The path of the public key, ``trainer.pub.pem`` for ``trainer.pem``.

    Raises:
        KeyFileError: One of the files exists already, or the passphrase is empty.
        FileWriteError: The folder cannot be written to.
    """
    private_path = Path(private_path)
    if passphrase == "":
        raise KeyFileError(
            say("An empty passphrase protects nothing."), remedy=say("Give a passphrase, or none at all.")
        )
    encryption: KeySerializationEncryption = (
        NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase.encode())
    )
    key = Ed25519PrivateKey.generate()
    target = public_path(private_path)
    if target.exists():
        raise _exists(target)
    _write_new(private_path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption), 0o600)
    try:
        _write_new(target, PublicKey.of(key.public_key()).pem.encode(), 0o644)
    except BaseException:
        private_path.unlink(missing_ok=True)
        raise
    return target


def key_from_seed(seed: bytes) -> PrivateKey:
    """Return the key whose secret is these 32 bytes (RFC 8032, section 5.1.5), for what anybody may sign.

    Raises:
        KeyFileError: They are not 32.
    """
    try:
        key = Ed25519PrivateKey.from_private_bytes(seed)
    except ValueError as error:
        raise KeyFileError(say("The secret of an Ed25519 key is 32 bytes."), detail=str(error)) from error
    public = PublicKey.of(key.public_key())
    return PrivateKey(public, CryptoSigner(key, public.wrapped))


def needs_passphrase(path: str | os.PathLike[str]) -> bool:
    """Whether a private key file is encrypted; raises KeyFileError when it cannot be read."""
    return b"ENCRYPTED" in _read_key_file(Path(path))


def load_private_key(path: str | os.PathLike[str], passphrase: str | None) -> PrivateKey:
    """Load a private key into this process.

    Do not do this in a process that reads files of strangers: :func:`counterfoil.start_signer` gives it one of its own.

    Args:
        path: A PKCS #8 PEM file.
        passphrase: The passphrase; None or empty when the file has none.

    Raises:
        KeyFileError: The file is missing or no Ed25519 private key, or the passphrase is wrong, missing or not needed.
    """
    path = Path(path)
    pem = _read_key_file(path)
    try:
        key = load_pem_private_key(pem, passphrase.encode() if passphrase else None)
    except TypeError as error:
        # cryptography tells a missing passphrase and one too many by this type alone.
        if passphrase:
            raise KeyFileError(
                say("The key in {0} has no passphrase.", path.name), remedy=say("Leave it empty.")
            ) from error
        raise KeyFileError(say("The key in {0} needs its passphrase.", path.name), remedy=say("Give it.")) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if passphrase and b"ENCRYPTED" in pem:
            raise KeyFileError(
                say("The passphrase of {0} is wrong, or the file is damaged.", path.name),
                remedy=say("Try again."),
                detail=str(error),
            ) from error
        raise KeyFileError(say("{0} holds no private key in PEM form.", path.name), detail=str(error)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(
            say("The key in {0} is not an Ed25519 key.", path.name), remedy=say("Make one with 'counterfoil keygen'.")
        )
    public = PublicKey.of(key.public_key())
    return PrivateKey(public, CryptoSigner(key, public.wrapped))


def load_public_key(path: str | os.PathLike[str]) -> PublicKey:
    """Load a public key; raises KeyFileError when the file is missing or holds no public key of ours."""
    path = Path(path)
    pem = _read_key_file(path)
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


def _read_key_file(path: Path) -> bytes:
    remedy = say("Give the name of a key file; 'counterfoil keygen' makes one.")
    return read_input(path, say("a key"), KeyFileError, most=_MAX_KEY_BYTES, remedy=remedy)


def _exists(path: Path) -> KeyFileError:
    return KeyFileError(
        say("{0} exists already; a key is never overwritten.", path), remedy=say("Choose another name.")
    )


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        write_whole(path, data, what=say("the key file"), mode=mode, replace=False)
    except TargetExistsError as error:
        raise _exists(path) from error
