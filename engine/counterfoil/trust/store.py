"""What a reader trusts, as one value: keys by role, revoked keys, and what was said of verdicts afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

from counterfoil.signing.kinds import Revocation, RevocationList
from counterfoil.trust.keyfile import KnownKey, Role
from counterfoil_core.base.digest import Digest


@dataclass(frozen=True)
class TrustStore:
    """What a reader trusts; empty where nothing is known, and then nothing is revoked."""

    keys: tuple[KnownKey, ...] = ()  #: The keys that are known.
    #: The newest list of revoked keys of each who signs one; their signatures were checked.
    lists: tuple[RevocationList, ...] = ()
    #: Name and envelope of each withdrawal and reply; whom they are about and whether they hold is looked at where they
    #: are used.
    later: tuple[tuple[str, bytes], ...] = ()
    #: SHA-256 over all of it, for whoever has to say by what a result was reached; None where it is empty.
    digest: Digest | None = None

    @cached_property
    def _revoked(self) -> dict[str, Revocation]:
        told: dict[str, list[Revocation]] = {}
        for each in (revocation for listed in self.lists for revocation in listed.revocations):
            told.setdefault(each.key_id, []).append(each)
        return {key_id: reduce(Revocation.stricter, every) for key_id, every in told.items()}

    def of(self, key_id: str) -> Revocation | None:
        """Return what the lists say of a key, where several do that which leaves least; None where none does."""
        return self._revoked.get(key_id)

    def covers(self, key_id: str, signed_at: str) -> bool:
        """Whether what a key signed no longer counts.

        Args:
            key_id: Its key id.
            signed_at: When it was signed, ISO 8601 in UTC, as the signer says, or at the latest; empty where nothing
                says it.
        """
        revocation = self.of(key_id)
        return revocation is not None and revocation.covers(signed_at)

    def find(self, key_id: str) -> KnownKey | None:
        """Return the known key of that id."""
        return next((key for key in self.keys if key.key_id == key_id), None)

    def public_keys(self, *roles: Role) -> tuple[str, ...]:
        """Return the keys of some roles, in hexadecimal digits."""
        return tuple(key.public for key in self.keys if key.role in roles)

    @property
    def auditors(self) -> tuple[str, ...]:
        """The keys that verdicts are checked with: those of auditors, and the reader's own."""
        return self.public_keys(Role.AUDITOR, Role.MINE)

    def name_of(self, key_id: str) -> str:
        """Return whose a key is, as the reader says; empty where nobody said it."""
        key = self.find(key_id)
        return "" if key is None else key.name


NO_TRUST = TrustStore()
"""Of a reader who knows nobody."""
