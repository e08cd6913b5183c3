"""Certificates for tests: an authority, one below it, and leaves, as a firm's own would make them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA224, SHA256, HashAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_public_key
from cryptography.x509.oid import NameOID

Private = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)
DURING, BEFORE, AFTER = datetime(2030, 1, 1, tzinfo=UTC), START - timedelta(days=1), END + timedelta(days=1)
AUTHORITY = x509.BasicConstraints(ca=True, path_length=None)
NO_AUTHORITY = x509.BasicConstraints(ca=False, path_length=None)


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def usage(*, signs: bool = False, issues: bool = False) -> x509.KeyUsage:
    others = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign",
         "encipher_only", "decipher_only"), False,
    )  # fmt: skip
    return x509.KeyUsage(digital_signature=signs, key_cert_sign=issues, **others)


def certify(
    subject: str,
    public: object,
    issuer: str,
    key: Private,
    *extensions: tuple[x509.ExtensionType, bool],
    end: datetime = END,
    hashed: HashAlgorithm | None = None,
) -> bytes:
    """Return a certificate as PEM; ``public`` is a public key, or the PEM text of one."""
    public = load_pem_public_key(public.encode()) if isinstance(public, str) else public
    builder = (
        x509.CertificateBuilder(named(issuer), named(subject), public, x509.random_serial_number())  # type: ignore[arg-type]
        .not_valid_before(START)
        .not_valid_after(end)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    if hashed is None and not isinstance(key, ed25519.Ed25519PrivateKey):
        hashed = SHA256()
    return builder.sign(key, hashed).public_bytes(Encoding.PEM)  # type: ignore[arg-type]


class Firm:
    """A root, an authority below it, and what that certifies.

    Args:
        root: The root's private key.
        middle: That of the authority below it.
        below: What the certificate of that authority says of itself.
    """

    def __init__(
        self,
        root: Private | None = None,
        middle: Private | None = None,
        below: Sequence[tuple[x509.ExtensionType, bool]] = ((AUTHORITY, True),),
    ) -> None:
        self.root_key = root or ed25519.Ed25519PrivateKey.generate()
        self.middle_key = middle or ed25519.Ed25519PrivateKey.generate()
        self.root = certify("Root", self.root_key.public_key(), "Root", self.root_key, (AUTHORITY, True))
        self.middle = certify("Middle", self.middle_key.public_key(), "Root", self.root_key, *below)

    def leaf(self, public: object, *extensions: tuple[x509.ExtensionType, bool], end: datetime = END) -> bytes:
        return certify("Ada Auditor", public, "Middle", self.middle_key, *extensions, end=end)

    def chain(self, public: object, *extensions: tuple[x509.ExtensionType, bool]) -> list[bytes]:
        return [self.leaf(public, *extensions), self.middle]


def weakly_certified(public: object) -> tuple[list[bytes], list[bytes]]:
    """A chain whose leaf is signed over SHA-224, and its root."""
    key = rsa.generate_private_key(65537, 2048)
    root = certify("Root", key.public_key(), "Root", key, (AUTHORITY, True))
    return [certify("Ada Auditor", public, "Root", key, hashed=SHA224())], [root]
