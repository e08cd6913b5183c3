"""Keys and signed statements: Ed25519 (RFC 8032), in-toto Statement v1, DSSE v1 envelopes.

A signature covers bytes. So a verifier checks the signature over the received bytes first, and only then parses
them and looks at what they say.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
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
from securesystemslib.exceptions import Error as SecureSystemsError
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey  # type: ignore[attr-defined]

from counterfoil.base import canonical
from counterfoil.base.digest import Digest
from counterfoil.base.errors import BundleError, KeyFileError, SignatureError, TargetExistsError
from counterfoil.base.fields import Fields
from counterfoil.base.inputs import read_input
from counterfoil.base.sentence import say
from counterfoil.base.wholefiles import write_whole
from counterfoil.bundle.schema import RunClaim, TreeHead
from counterfoil.signing.edwards import is_public_key
from counterfoil.signing.intoto import PAYLOAD_TYPE, RUN_PREDICATE, STATEMENT_TYPE, TREE_HEAD_PREDICATE, make_statement
from counterfoil.signing.publickeys import public_path

_MAX_KEY_BYTES = 64 * 1024
MOST_DETAIL = 300
"""Characters at most of what a stranger's envelope is said to be."""
_MALFORMED = (LookupError, ValueError, TypeError, AttributeError, RecursionError, SecureSystemsError)


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 public key.

    Attributes:
        key_id: SHA-256, as 64 hexadecimal digits, of the key's canonical JSON as securesystemslib writes it.
        pem: The key as PEM text (SubjectPublicKeyInfo).
    """

    key_id: str
    pem: str
    _key: SSlibKey = field(repr=False, compare=False)

    @property
    def public(self) -> str:
        """The key itself: its 32 bytes, as 64 hexadecimal digits."""
        return str(self._key.keyval["public"])

    @classmethod
    def from_pem(cls, pem: bytes) -> PublicKey:
        """Read PEM bytes.

        Raises:
            KeyFileError: They are not a PEM public key, or not an Ed25519 one, or one that anybody can sign with.
        """
        try:
            key = load_pem_public_key(pem)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise KeyFileError(say("This is not a public key in PEM form."), detail=str(error)) from error
        if not isinstance(key, Ed25519PublicKey):
            raise KeyFileError(say("The public key is not an Ed25519 key."))
        return cls.of(key)

    @classmethod
    def of(cls, key: Ed25519PublicKey) -> PublicKey:
        """Wrap a key of the cryptography library; raises KeyFileError when it is no point of the prime order."""
        if not is_public_key(key.public_bytes_raw()):
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
    """An Ed25519 private key in this process. Whoever reads files of strangers uses the signer's process instead.

    Attributes:
        public: The public key that belongs to it.
    """

    public: PublicKey
    _signer: CryptoSigner = field(repr=False, compare=False)

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
    return PrivateKey(public, CryptoSigner(key, public._key))


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
    return PrivateKey(public, CryptoSigner(key, public._key))


def load_public_key(path: str | os.PathLike[str]) -> PublicKey:
    """Load a public key; raises KeyFileError when the file is missing or holds no Ed25519 public key."""
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
            say("{0} holds no Ed25519 public key in PEM form. {1}", path.name, error.sentence),
            remedy=error.remedy,
            detail=error.detail,
        ) from error


def sign_statement(statement: dict[str, Any], key: SigningKey) -> bytes:
    """Sign the canonical JSON of a statement.

    Returns:
        The DSSE envelope as JSON bytes.

    Raises:
        CanonicalError: The statement has no canonical form, for instance because it holds a float.
        SignerError: The signer's process does not sign it.
    """
    return key.sign(canonical.encode(statement))


def open_statement(envelope: bytes, key: PublicKey) -> dict[str, Any]:
    """Check the signature of an envelope, then read the statement in it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: The envelope is malformed, not signed by this key, or holds no canonical in-toto statement.
    """
    return _open(_parse_envelope(envelope), key)


def claimed_key_ids(envelope: bytes) -> tuple[str, ...]:
    """Return the ids of the keys that an envelope says it was signed with, ascending.

    Nothing is verified: the ids only tell which public key to look for.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.

    Raises:
        SignatureError: The envelope is malformed.
    """
    return tuple(sorted(_parse_envelope(envelope).signatures))


def payload_of(envelope: bytes) -> bytes:
    """Return the payload of an envelope without a look at its signature; raises SignatureError when it is malformed."""
    payload: bytes = _parse_envelope(envelope).payload
    return payload


def sign_claim(claim: RunClaim, key: SigningKey) -> bytes:
    """Sign a run's claim; returns the DSSE envelope as JSON bytes.

    Raises:
        SignatureError: The claim names another public key than the one that would sign it.
    """
    if claim.public_key != key.public.pem:
        raise SignatureError(say("The run's claim names another public key than the one that signs it."))
    return sign_statement(make_statement(_run_subjects(claim), RUN_PREDICATE, claim.to_json()), key)


def open_claim(envelope: bytes, key: PublicKey | None = None) -> RunClaim:
    """Check the signature of a run's claim, then read it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The trainer's key if the reader knows it. With None the key that the claim itself names is used: this
            shows that whoever holds that key signed the claim, and not who that is.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, or the statement is no run's claim.
    """
    parsed = _parse_envelope(envelope)
    key = key or _named_key(parsed.payload, say("run's claim"))
    statement = _open(parsed, key)
    if statement["predicateType"] != RUN_PREDICATE:
        raise SignatureError(say("What is signed is not the claim of a run."))
    try:
        claim = RunClaim.from_json(statement["predicate"])
    except BundleError as error:
        raise SignatureError(say("The signed claim of the run is malformed."), detail=str(error)) from error
    if claim.public_key != key.pem:
        raise SignatureError(say("The run's claim names another public key than the one that signed it."))
    if statement["subject"] != _run_subjects(claim):
        raise SignatureError(say("The subjects of the run's claim are not the order and the run that it speaks of."))
    return claim


def open_named(envelope: bytes, kind: str, what: str, key: PublicKey | None = None) -> tuple[dict[str, Any], PublicKey]:
    """Check an envelope whose predicate names the key that signed it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        kind: The predicate type that the statement must have.
        what: What it is, for the sentence of an error.
        key: The key that must have signed it. With None that is the key which the statement names: this shows that
            whoever holds that key signed it, and not who that is.

    Returns:
        The statement, whose predicate is a JSON object, and the key that signed it.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, the statement is of another kind, or
            names another key than the one that signed it.
    """
    parsed = _parse_envelope(envelope)
    key = key or _named_key(parsed.payload, what)
    statement = _open(parsed, key)
    if statement["predicateType"] != kind or not isinstance(statement["predicate"], dict):
        raise SignatureError(say("What is signed is not the {0}.", what))
    if statement["predicate"].get("public_key") != key.pem:
        raise SignatureError(say("The {0} names another public key than the one that signed it.", what))
    return statement, key


def sign_tree_head(head: TreeHead, key: SigningKey) -> bytes:
    """Sign a tree head; returns the DSSE envelope as JSON bytes, in one line.

    Raises:
        SignatureError: The head names another public key than the one that would sign it.
    """
    if head.public_key != key.public.pem:
        raise SignatureError(say("The tree head names another public key than the one that signs it."))
    return sign_statement(make_statement(_head_subjects(head), TREE_HEAD_PREDICATE, head.to_json()), key)


def open_tree_head(envelope: bytes, key: PublicKey) -> TreeHead:
    """Check the signature of a tree head, then read it.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: The envelope is malformed, the signature does not hold, or the statement is no tree head.
    """
    statement = open_statement(envelope, key)
    if statement["predicateType"] != TREE_HEAD_PREDICATE:
        raise SignatureError(say("What is signed is not a tree head."))
    try:
        head = TreeHead.from_json(statement["predicate"])
    except BundleError as error:
        raise SignatureError(say("The signed tree head is malformed."), detail=str(error)) from error
    if head.public_key != key.pem:
        raise SignatureError(say("The tree head names another public key than the one that signed it."))
    if statement["subject"] != _head_subjects(head):
        raise SignatureError(say("The subjects of the tree head are not the order and the history that it speaks of."))
    return head


def _head_subjects(head: TreeHead) -> list[dict[str, Any]]:
    return [_subject("order", "sha256", head.order), _subject("history", "rfc9162Sha256", head.root)]


def _run_subjects(claim: RunClaim) -> list[dict[str, Any]]:
    # A run root is no SHA-256 of a file, so it stands under an algorithm name of its own.
    return [_subject("order", "sha256", claim.order), _subject("run", "rfc9162Sha256", claim.run_root)]


def _subject(name: str, algorithm: str, digest: Digest) -> dict[str, Any]:
    return {"name": name, "digest": {algorithm: digest.hex}}


def _parse_envelope(envelope: bytes) -> Envelope:
    """Read an envelope that says one thing to every reader: these members and no others, and one signature."""
    try:
        fields = Fields(canonical.parse(envelope), say("envelope"), SignatureError)
        payload, payload_type = _binary(fields.take("payload", str)), fields.take("payloadType", str)
        signatures = fields.take("signatures", list)
        fields.end()
        if len(signatures) != 1:
            raise SignatureError(say("The envelope has {0} signatures; it must have one.", len(signatures)))
        fields = Fields(signatures[0], say("envelope's signature"), SignatureError)
        key_id, signature = fields.take("keyid", str), _binary(fields.take("sig", str))
        fields.end()
        return Envelope(payload, payload_type, {key_id: Signature(key_id, signature.hex())})
    except (*_MALFORMED, canonical.CanonicalError, SignatureError) as error:
        # What is wrong with it may be a text of a stranger's, of any length: it stands in no sentence.
        raise SignatureError(say("The signature's envelope is malformed."), detail=str(error)[:MOST_DETAIL]) from error


def _binary(text: str) -> bytes:
    """Decode base64 (RFC 4648, section 4) that everybody decodes alike; raises ValueError."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 that is not in its one form")
    return data


def _open(envelope: Envelope, key: PublicKey) -> dict[str, Any]:
    try:
        envelope.verify([key._key], 1)
    except _MALFORMED as error:
        raise SignatureError(
            say("The signature does not hold for the key {0}.", key.key_id[:12]), detail=repr(error)
        ) from error
    if envelope.payload_type != PAYLOAD_TYPE:
        raise SignatureError(
            say("The signed payload is not of the type {0}.", PAYLOAD_TYPE), detail=envelope.payload_type[:MOST_DETAIL]
        )
    return parse_statement(envelope.payload)


def parse_statement(payload: bytes) -> dict[str, Any]:
    """Read the canonical JSON of an in-toto statement; its predicate is for the caller to look at.

    Raises:
        SignatureError: It is none.
    """
    try:
        statement = canonical.decode(payload)
    except canonical.CanonicalError as error:
        raise SignatureError(say("The signed payload is not canonical JSON."), detail=str(error)) from error
    if not isinstance(statement, dict) or statement.keys() != {"_type", "subject", "predicateType", "predicate"}:
        raise SignatureError(say("The signed payload is not an in-toto statement."))
    if statement["_type"] != STATEMENT_TYPE:
        raise SignatureError(say("The signed payload is not an in-toto statement of version 1."))
    return statement


def _named_key(payload: bytes, what: str) -> PublicKey:
    """Read the public key out of a payload that nobody has verified yet."""
    try:
        pem = canonical.parse(payload)["predicate"]["public_key"]
        return PublicKey.from_pem(pem.encode())
    except KeyFileError as error:
        raise SignatureError(
            say("The {0} names no Ed25519 public key. {1}", what, error.sentence), detail=error.detail
        ) from error
    except (*_MALFORMED, canonical.CanonicalError) as error:
        raise SignatureError(say("The {0} names no Ed25519 public key.", what), detail=repr(error)) from error


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
