"""What a list of revoked keys says, as values: the window holds them, and loads nothing that checks signatures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil_core.base.timestamps import read_timestamp


class Cause(Enum):
    """Why a key was revoked."""

    COMPROMISED = "compromised"
    """Somebody else has it, or may have it."""
    RETIRED = "retired"
    """It is no longer used; nobody else has it."""


@dataclass(frozen=True)
class Revocation:
    """A key that no longer counts.

    Attributes:
        key_id: SHA-256 key id, 64 hexadecimal digits.
        since: From when on, ISO 8601 in UTC.
        cause: Why.
        reason: The same in words.
    """

    key_id: str
    since: str
    cause: Cause
    reason: str

    def covers(self, signed_at: str) -> bool:
        """Whether what the key signed no longer counts.

        Args:
            signed_at: When it was signed, ISO 8601 in UTC, as whoever had the key says.
        """
        return self.cause is Cause.COMPROMISED or read_timestamp(signed_at) >= read_timestamp(self.since)


@dataclass(frozen=True)
class RevocationList:
    """A list of revoked keys; its signature holds.

    Attributes:
        number: Each later list of the same signer has a higher one.
        issued_at: ISO 8601 time in UTC, as the clock of whoever signed had it.
        revocations: By key id, each key once.
        key_id: Key id of the key that signed.
    """

    number: int
    issued_at: str
    revocations: tuple[Revocation, ...]
    key_id: str

    def of(self, key_id: str) -> Revocation | None:
        """Return what the list says of a key; None where it says nothing."""
        return next((each for each in self.revocations if each.key_id == key_id), None)
