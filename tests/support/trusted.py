"""What a reader trusts, for tests: as a value, and as a folder that a command is given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from counterfoil import KnownKey, Role, TrustFolder, TrustStore
from counterfoil.signing.kinds import RevocationList
from counterfoil_core.signing.keys import load_public_key

DAY = "2026-11-22"


def store_of(
    *auditors: str, lists: Iterable[RevocationList] = (), later: Iterable[tuple[str, bytes]] = ()
) -> TrustStore:
    """One that has these auditors' keys, each in hexadecimal digits."""
    keys = (KnownKey(public, Role.AUDITOR, f"auditor {number}", "", DAY) for number, public in enumerate(auditors))
    return TrustStore(tuple(keys), tuple(lists), tuple(later))


def trust_list(folder: Path, listed: Path, key: Path) -> list[str]:
    """Take a list of revoked keys into a folder; returns the options by which a command reads with it."""
    TrustFolder(folder).take_list(listed.read_bytes(), load_public_key(key).public)
    return ["--trust", str(folder)]
