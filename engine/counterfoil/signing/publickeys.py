"""An Ed25519 public key as its 32 bytes, in hexadecimal digits, and what follows from them: its id and its PEM text.

Who trusts a key keeps its content: a file under the same name may be another one tomorrow. Pure; it loads nothing that
checks signatures, so that the window may hold keys. Whether the bytes are a key that signatures may be checked with
:class:`counterfoil.signing.keys.PublicKey` says.
"""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

from counterfoil.base import canonical
from counterfoil.base.digest import Digest

DIGITS = 64
"""Hexadecimal digits of a key."""
_HEX = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
_PREFIX = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes in SubjectPublicKeyInfo (RFC 8410, section 4)."""


def is_public_key(text: str) -> bool:
    """Whether a text has the form of a key: 64 lower-case hexadecimal digits."""
    return _HEX.fullmatch(text) is not None


def key_id_of(public: str) -> str:
    """Return the id of a key, as docs/keys.md defines it: 64 hexadecimal digits.

    Args:
        public: The key, as :func:`is_public_key` says.
    """
    fields = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": public}}
    return Digest.of(canonical.encode(fields)).hex


def pem_of(public: str) -> str:
    """Return the PEM text of a key (SubjectPublicKeyInfo), as ``keygen`` writes it."""
    content = base64.b64encode(_PREFIX + bytes.fromhex(public)).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{content}\n-----END PUBLIC KEY-----\n"


def grouped(key_id: str) -> str:
    """Return a key id in groups of four digits, for people who compare it."""
    return " ".join(key_id[place : place + 4] for place in range(0, len(key_id), 4))


def others_can_read(private_path: Path) -> bool:
    """Whether other users of the machine may read a private key's file; False where files have no such mode."""
    try:
        return os.name == "posix" and bool(private_path.stat().st_mode & 0o077)
    except OSError:  # who opens it says what is wrong
        return False


def public_path(private_path: Path) -> Path:
    """Return where the public key of a private key file lies: ``trainer.pem`` has ``trainer.pub.pem``."""
    return private_path.with_name(f"{private_path.stem}.pub.pem")
