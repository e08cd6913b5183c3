"""Private keys (Ed25519): made, kept in files, loaded and used."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, Signer  # type: ignore[attr-defined]

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import KeyFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.keys import PublicKey, read_key_file
from counterfoil_core.signing.kinds import PAYLOAD_TYPE
from counterfoil_core.signing.publickeys import public_path


@dataclass(frozen=True)
class PrivateKey:
    """A private key that this process signs with: it lies here, or in hardware that this process has logged in to.

    Whoever reads files of strangers uses the signer's process instead.
    """

    public: PublicKey  #: The public key that belongs to it.
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
    return b"ENCRYPTED" in read_key_file(Path(path))


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
    pem = read_key_file(path)
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


def _exists(path: Path) -> KeyFileError:
    return KeyFileError(
        say("{0} exists already; a key is never overwritten.", path), remedy=say("Choose another name.")
    )


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        write_whole(path, data, what=say("the key file"), mode=mode, replace=False)
    except TargetExistsError as error:
        raise _exists(path) from error
