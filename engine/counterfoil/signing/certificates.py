"""The X.509 chain beside a signature: what name a leaf certificate gives to a key, and which root answers for it.

A path is checked as RFC 5280, section 6.1, says, in the order in which the chain lies, and more narrowly: what is not
known here is refused. The verifier of the library ``cryptography`` is for servers of the web and takes no Ed25519 key
(pyca/cryptography, issue 13391); the auditors' keys mostly are such keys. What stands in the chain is a stranger's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, SECP521R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, ObjectIdentifier

from counterfoil_core.base.errors import DataError, KeyFileError, SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.envelope import MAX_CERTIFICATE_BYTES, MAX_CERTIFICATES, certificates_in
from counterfoil_core.signing.keys import PublicKey

MAX_CHAIN_BYTES = MAX_CERTIFICATES * MAX_CERTIFICATE_BYTES
MAX_ROOTS = 500
MAX_ROOTS_BYTES = 4 * 2**20
_RSA_BITS = range(2048, 8193)
_DOCUMENTS = ObjectIdentifier("1.3.6.1.5.5.7.3.36")
"""id-kp-documentSigning (RFC 9336)."""
_PURPOSES = (
    _DOCUMENTS,
    ExtendedKeyUsageOID.CODE_SIGNING,
    ExtendedKeyUsageOID.EMAIL_PROTECTION,
    ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
)
_KNOWN = (
    ExtensionOID.BASIC_CONSTRAINTS,
    ExtensionOID.KEY_USAGE,
    ExtensionOID.EXTENDED_KEY_USAGE,
    ExtensionOID.SUBJECT_ALTERNATIVE_NAME,
    ExtensionOID.CERTIFICATE_POLICIES,
)
"""Extensions that may be critical: the first four are looked at, and any policy will do."""

Value = TypeVar("Value", bound=x509.ExtensionType)


@dataclass(frozen=True)
class CertifiedName:
    """Whom a certificate says that a key belongs to."""

    subject: str  #: The subject of the leaf (RFC 4514); empty where it has none.
    names: tuple[str, ...]  #: Its subject alternative names, such as ``email:a@example.org``.
    not_before: str  #: From when on the leaf holds, UTC.
    not_after: str  #: Until when it does, UTC.
    #: The subject of the root that answers for it; empty where no root was given, so that it is only a claim.
    root: str = ""
    root_sha256: str = ""  #: SHA-256 of that root's DER, 64 hexadecimal digits; empty as ``root``.
    valid_at: str = ""  #: The moment for which the path was checked; empty as ``root``.

    @property
    def is_certified(self) -> bool:
        """Whether a root that the reader trusts answers for the name."""
        return self.root_sha256 != ""

    @property
    def said(self) -> str:
        """The subject and the other names, in one line."""
        return "; ".join(filter(None, (self.subject, *self.names)))


def read_certificates(pem: bytes, most: int = MAX_CERTIFICATES) -> tuple[bytes, ...]:
    """Read the certificates of a PEM file of the user's.

    Args:
        pem: The file.
        most: How many there may be.

    Returns:
        Each as PEM in its one form.

    Raises:
        DataError: There is none in it, there are too many, or one is too large or malformed.
    """
    try:
        with _malformed():
            found = x509.load_pem_x509_certificates(pem)
            texts = tuple(each.public_bytes(Encoding.PEM) for each in found)
    except SignatureError as error:
        raise DataError(
            say("This is no file of X.509 certificates in PEM form."),
            remedy=say("Give one whose parts begin with -----BEGIN CERTIFICATE-----."),
            detail=error.detail,
        ) from error
    if len(texts) > most or any(len(text) > MAX_CERTIFICATE_BYTES for text in texts):
        raise DataError(
            say(
                "There are {0} certificates; {1} of {2} bytes are allowed.",
                len(texts),
                most,
                MAX_CERTIFICATE_BYTES,
            )
        )
    return texts


def check_own_chain(chain: Sequence[bytes], key: PublicKey, now: datetime | None = None) -> CertifiedName:
    """Check a chain before it goes beside a signature: it is the key's, holds now, and is in order.

    Args:
        chain: Certificates, PEM; the leaf first, each issued by the next.
        key: The key that will sign.
        now: The time; the clock's unless given.

    Raises:
        SignatureError: It is not.
    """
    with _malformed():
        path = _parsed(chain)
        name = _claim(path[0], key)
        _check_path(path, now or datetime.now(UTC))
        return name


def leaf_key(chain: Sequence[bytes]) -> PublicKey:
    """Return the key that a chain's leaf is about.

    Raises:
        SignatureError: It is malformed, or about a key that Counterfoil does not take.
    """
    with _malformed():
        key = _parsed(chain[:1])[0].public_key()
    try:
        return PublicKey.of(key)
    except KeyFileError as error:
        raise SignatureError(error.sentence, remedy=error.remedy, detail=error.detail) from error


def claimed_name(chain: Sequence[bytes], key: PublicKey) -> CertifiedName:
    """Return the name that a chain's leaf gives; nobody answers for it.

    Args:
        chain: Certificates, PEM, the leaf first; may be junk.
        key: The key that signed.

    Raises:
        SignatureError: It is malformed, or about another key.
    """
    with _malformed():
        return _claim(_parsed(chain)[0], key)


def claimed_beside(envelope: bytes, key: PublicKey) -> str:
    """Return the name that the certificate beside a signature claims, in one line; empty where there is none.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that signed it.

    Raises:
        SignatureError: It is malformed, or the certificate is about another key.
    """
    chain = certificates_in(envelope)
    return claimed_name(chain, key).said if chain else ""


def certified_name(
    chain: Sequence[bytes], roots: Sequence[bytes], key: PublicKey, at: datetime | None = None
) -> CertifiedName:
    """Check the path from a leaf to a root that the reader trusts (RFC 5280, section 6.1).

    Nothing says whether an issuer has revoked a certificate: neither CRL nor OCSP is asked.

    Args:
        chain: Certificates, PEM, the leaf first, each issued by the next; may be junk, and may end with the root.
        roots: Certificates of the authorities that the reader trusts, PEM.
        key: The key that signed; the leaf must be about it.
        at: When all of them must be valid; now unless given.

    Raises:
        SignatureError: It is malformed, about another key, not valid then, or ends at none of the roots.
    """
    moment = at or datetime.now(UTC)
    with _malformed():
        anchors = _parsed(roots)
        path = _parsed(chain)
        name = _claim(path[0], key)
        root = _root_of(path, anchors, key, moment)
        return CertifiedName(
            name.subject,
            name.names,
            name.not_before,
            name.not_after,
            root.subject.rfc4514_string(),
            root.fingerprint(SHA256()).hex(),
            timestamp(moment),
        )


def _root_of(
    chain: list[x509.Certificate], anchors: Sequence[x509.Certificate], key: PublicKey, moment: datetime
) -> x509.Certificate:
    """The first root by which a path holds: a renewed one has the key and the name of the one before.

    Raises:
        SignatureError: None does; the sentence is that of the first path.
    """
    if chain[0] in anchors:
        raise SignatureError(say("The certificate of the key is itself given as a root: nobody else answers for it."))
    paths = [chain[: number + 1] for number, each in enumerate(chain) if each in anchors]
    # Beside what the chain brings along, so that an old root with which it ends does not stand in the way.
    for number, certificate in enumerate(chain):
        paths += [[*chain[: number + 1], each] for each in anchors if _is_issued_by(certificate, each)]
    if not paths:
        raise SignatureError(
            say("No root that was given answers for the certificate of the key {0}.", key.key_id[:12]),
            remedy=say("Take no name from it, or give the root of an authority that you trust."),
        )
    wrong: list[SignatureError] = []
    for path in paths:
        try:
            _check_path(path, moment)
        except SignatureError as error:
            wrong.append(error)
        else:
            return path[-1]
    raise wrong[0]


def _check_path(path: Sequence[x509.Certificate], moment: datetime) -> None:
    """Check certificates, each of which the next must have issued; the last may be a root."""
    for number, certificate in enumerate(path):
        if not certificate.not_valid_before_utc <= moment <= certificate.not_valid_after_utc:
            raise SignatureError(
                say(
                    "Certificate {0} of the chain is valid from {1} to {2}, and not at {3}.",
                    number + 1,
                    timestamp(certificate.not_valid_before_utc),
                    timestamp(certificate.not_valid_after_utc),
                    timestamp(moment),
                )
            )
        _check_extensions(certificate, number, is_root=number > 0 and number == len(path) - 1)
        if number and not _is_issued_by(path[number - 1], certificate):
            raise SignatureError(
                say("Certificate {0} of the chain was not issued by certificate {1}.", number, number + 1),
                remedy=say("The chain begins with the certificate of the key, and each was issued by the next."),
            )


def _check_extensions(certificate: x509.Certificate, number: int, *, is_root: bool) -> None:
    """Check that a certificate may stand at a place of a path: 0 is the leaf's."""
    extensions = certificate.extensions
    for extension in extensions:
        constrains = extension.oid == ExtensionOID.NAME_CONSTRAINTS
        if constrains or (extension.critical and extension.oid not in _KNOWN):
            raise _unfit(number, say("it has the extension {0}, which is not known here", extension.oid.dotted_string))
    constraints = _extension(extensions, x509.BasicConstraints)
    usage = _extension(extensions, x509.KeyUsage)
    purposes = _extension(extensions, x509.ExtendedKeyUsage)
    if purposes is not None and not is_root and not any(purpose in _PURPOSES for purpose in purposes):
        raise _unfit(number, say("its purpose is not to sign documents, code or mail"))
    if number == 0:
        if constraints is not None and constraints.ca:
            raise _unfit(number, say("it is an authority's"))
        if usage is not None and not (usage.digital_signature or usage.content_commitment):
            raise _unfit(number, say("its key may not sign"))
        return
    if constraints is None or not constraints.ca:
        raise _unfit(number, say("it is no authority's"))
    if constraints.path_length is not None and constraints.path_length < number - 1:
        raise _unfit(number, say("so many may not stand below it"))
    if usage is not None and not usage.key_cert_sign:
        raise _unfit(number, say("its key may not issue certificates"))


def _unfit(number: int, why: str) -> SignatureError:
    return SignatureError(say("Certificate {0} of the chain does not count: {1}.", number + 1, why))


def _is_issued_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Whether names, algorithms and signature fit; raises ValueError and others where something is malformed."""
    if certificate.issuer != issuer.subject:
        return False
    key = issuer.public_key()
    match key:
        case Ed25519PublicKey():
            strong = True
        case EllipticCurvePublicKey():
            strong = isinstance(key.curve, (SECP256R1, SECP384R1, SECP521R1))
        case RSAPublicKey():
            strong = key.key_size in _RSA_BITS
        case _:
            strong = False
    if not strong or not isinstance(certificate.signature_hash_algorithm, (SHA256, SHA384, SHA512, type(None))):
        return False
    try:
        certificate.verify_directly_issued_by(issuer)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _claim(leaf: x509.Certificate, key: PublicKey) -> CertifiedName:
    if leaf.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) != key.pem.encode():
        raise SignatureError(
            say("The certificate is about another key than {0}, which signed.", key.key_id[:12]),
            remedy=say("Take no name from it."),
        )
    names = _extension(leaf.extensions, x509.SubjectAlternativeName)
    return CertifiedName(
        leaf.subject.rfc4514_string(),
        tuple(_general_name(name) for name in names or ()),
        timestamp(leaf.not_valid_before_utc),
        timestamp(leaf.not_valid_after_utc),
    )


def _general_name(name: x509.GeneralName) -> str:
    match name:
        case x509.RFC822Name():
            return f"email:{name.value}"
        case x509.DNSName():
            return f"DNS:{name.value}"
        case x509.UniformResourceIdentifier():
            return f"URI:{name.value}"
        case x509.DirectoryName():
            return f"dirName:{name.value.rfc4514_string()}"
        case x509.IPAddress():
            return f"IP:{name.value}"
        case x509.OtherName():
            return f"otherName:{name.type_id.dotted_string}"
    return "other"


def _extension(extensions: x509.Extensions, kind: type[Value]) -> Value | None:
    try:
        return extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _parsed(certificates: Sequence[bytes]) -> list[x509.Certificate]:
    found = []
    for pem in certificates:
        certificate = x509.load_pem_x509_certificate(pem)
        if certificate.public_bytes(Encoding.PEM) != pem:
            raise ValueError("PEM that is not in its one form")
        found.append(certificate)
    if not found:
        raise ValueError("there is none")
    return found


@contextmanager
def _malformed() -> Iterator[None]:
    """Say of everything that a library finds wrong with a certificate that it is malformed."""
    try:
        yield
    except (
        ValueError,
        TypeError,
        UnsupportedAlgorithm,
        x509.InvalidVersion,
        x509.DuplicateExtension,
        x509.UnsupportedGeneralNameType,
    ) as error:
        raise SignatureError(say("An X.509 certificate is malformed."), detail=repr(error)[:300]) from error
