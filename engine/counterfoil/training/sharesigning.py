"""Signing what shares gave while they are recorded: the keys of the parties that answer for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterfoil.base.joberrors import RecordingError
from counterfoil.signing.partykeys import sign_as_party
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.signing.claims import Share
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.parties import SignedShares, Sum, parties_of


@dataclass(frozen=True)
class PartySigner:
    """The :class:`counterfoil.training.exchange.SignShare` of an order with parties."""

    order: Digest  #: The order's digest.
    keys: Mapping[int, SigningKey]  #: The key of the party that answers for each share, of those that have one.
    signed: SignedShares  #: Checks what all parties signed.

    def __call__(self, step: int, before: Digest, record: ShareRecord) -> bytes:
        """Sign what a share gave from a state; nothing where nobody but the trainer answers for it."""
        key = self.keys.get(record.share)
        return b"" if key is None else sign_as_party(Share.of(self.order, step, before, record), key)

    def addition(self, added: Sum, share: int, hashes: bytes) -> bytes:
        """Sign what was added of a share; nothing where nobody but the trainer answers for it."""
        key = self.keys.get(share)
        return b"" if key is None else sign_as_party(added.addition(share, hashes), key)


def share_signer(manifest: OrderManifest, mine: Sequence[int], keys: Mapping[int, SigningKey]) -> PartySigner:
    """Return what signs the shares that a process runs.

    Args:
        manifest: The order's manifest.
        mine: The numbers of these shares.
        keys: The keys that were given, by the numbers of the shares that they are for; those of other processes'
            shares are left alone.

    Raises:
        RecordingError: The key of a party is missing, is another one than the order names, or is for a share that no
            party answers for.
        BundleError: A key of the order is none.
    """
    parties = {} if manifest.shares is None else parties_of(manifest.shares)
    for share in sorted(keys.keys() - parties.keys()):
        raise RecordingError(
            f"A key was given for share {share}, and the order names no party that answers for it.",
            remedy="Leave the key out, or give it for a share that the order names a party for.",
        )
    for share in mine:
        if share not in parties:
            continue
        wanted = parties[share].key_id
        if share not in keys:
            raise RecordingError(
                f"The party with the key {wanted} answers for share {share}, and its key was not given.",
                remedy=f"Give its private key: --share-key {share}=FILE.",
            )
        given = keys[share].public.key_id
        if given != wanted:
            raise RecordingError(
                f"The party with the key {wanted} answers for share {share}; the key that was given is {given}.",
                remedy=f"Give the party's own private key: --share-key {share}=FILE.",
            )
    return PartySigner(manifest.digest, dict(keys), SignedShares(manifest))
