"""A public key in hexadecimal digits, and what follows from them: its id and its PEM text.

An Ed25519 key is its 32 bytes (RFC 8032, section 5.1.2). A key of hardware may be one on the curve P-256: its point in
the uncompressed form of SEC 1, section 2.3.3, 65 bytes that begin with 04.

Who trusts a key keeps its content: a file under the same name may be another one tomorrow. Pure; it loads nothing that
checks signatures, so that the window may hold keys. Whether the bytes are a key that signatures may be checked with
:class:`counterfoil_core.signing.keys.PublicKey` says.
"""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest

DIGITS = 64
"""Hexadecimal digits of an Ed25519 key."""
FORM = r"[0-9a-f]{64}|04[0-9a-f]{128}"
"""A pattern of the digits of a key: Ed25519, or the uncompressed point of one on P-256."""
_HEX = re.compile(FORM)
_PREFIX = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes in SubjectPublicKeyInfo (RFC 8410, section 4)."""
_P256_PREFIX = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
"""What stands before the 65 bytes in SubjectPublicKeyInfo (RFC 5480, section 2)."""
_PEM_COLUMNS = 64


def is_public_key(text: str) -> bool:
    """Whether a text has the form of a key: 64 lower-case hexadecimal digits, or 130 that begin with 04."""
    return _HEX.fullmatch(text) is not None


def is_ed25519(public: str) -> bool:
    """Whether a key, as :func:`is_public_key` says, is an Ed25519 key, and not one on P-256.

    What is neither counts as Ed25519, so that its id is that of no key, and nothing fails on it.
    """
    return len(public) == DIGITS or not is_public_key(public)


def key_id_of(public: str) -> str:
    """Return the id of a key, as docs/keys.md defines it: 64 hexadecimal digits.

    Args:
        public: The key, as :func:`is_public_key` says.
    """
    if is_ed25519(public):
        fields = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": public}}
        return Digest.of(canonical.encode(fields)).hex
    # The canonical JSON of securesystemslib (OLPC) leaves the ends of lines in a text as they are.
    text = f'{{"keytype":"ecdsa","keyval":{{"public":"{pem_of(public)}"}},"scheme":"ecdsa-sha2-nistp256"}}'
    return Digest.of(text.encode()).hex


def pem_of(public: str) -> str:
    """Return the PEM text of a key (SubjectPublicKeyInfo), as ``keygen`` writes it."""
    prefix = _PREFIX if is_ed25519(public) else _P256_PREFIX
    content = base64.b64encode(prefix + bytes.fromhex(public)).decode()
    lines = [content[place : place + _PEM_COLUMNS] for place in range(0, len(content), _PEM_COLUMNS)]
    return "\n".join(["-----BEGIN PUBLIC KEY-----", *lines, "-----END PUBLIC KEY-----", ""])


def point_of(pem: str) -> str:
    """Return the digits of a key of its PEM text, as :func:`pem_of` writes it; raises ValueError where it is none."""
    content = base64.b64decode("".join(pem.split("\n")[1:-2]))
    return content.removeprefix(_PREFIX).removeprefix(_P256_PREFIX).hex()


def key_id_in(pem: str) -> str:
    """Return the id of the key that a statement names, whose signature was checked; empty for no key."""
    return key_id_of(point_of(pem)) if pem else ""


def group_digits(key_id: str) -> str:
    """Return a key id in groups of four digits, for people who compare it."""
    return " ".join(key_id[place : place + 4] for place in range(0, len(key_id), 4))


HARDWARE = "pkcs11:"


def is_in_hardware(key: str | os.PathLike[str]) -> bool:
    """Whether what names a private key is no file, but a URI of a key in hardware (RFC 7512)."""
    return os.fspath(key).startswith(HARDWARE)


def others_can_read(private_path: Path) -> bool:
    """Whether other users of the machine may read a private key's file; False where files have no such mode."""
    try:
        return os.name == "posix" and bool(private_path.stat().st_mode & 0o077)
    except OSError:  # who opens it says what is wrong
        return False


def public_path(private_path: Path) -> Path:
    """Return where the public key of a private key file lies: ``trainer.pem`` has ``trainer.pub.pem``."""
    return private_path.with_name(f"{private_path.stem}.pub.pem")
