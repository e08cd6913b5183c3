"""Parties that answer for shares: which key answers for which, and what it signs of each step.

What is signed says of which order, step and share it is, and from which state the share was computed, so that it holds
nowhere else: a party's honest record of a recording that was discarded would else be a lie in another, whose states are
not those. docs/bundle-format.md, section 18, "Signed shares".
"""

from __future__ import annotations

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, KeyFileError, SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.shares import ShareRecord, Shares
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.signing.claims import Share
from counterfoil_core.signing.envelope import is_signed_by
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.publickeys import key_id_of, pem_of


def parties_of(shares: Shares) -> dict[int, PublicKey]:
    """Return the key of the party that answers for each share that has one, by the share's number.

    Raises:
        BundleError: A key of the order is none that only its owner can sign with.
    """
    found = {}
    for share, public in enumerate(shares.signers):
        if public is None:
            continue
        try:
            found[share] = PublicKey.from_pem(pem_of(public).encode())
        except KeyFileError as error:
            raise BundleError(
                say("The order's key for share {0} is no Ed25519 public key. {1}", share, error.sentence),
                remedy=error.remedy,
            ) from error
    return found


def party_ids(manifest: OrderManifest) -> tuple[str, ...]:
    """Return the key ids of the parties that answer for shares, ascending; empty where the trainer alone answers."""
    named = () if manifest.shares is None else manifest.shares.signers
    return tuple(sorted({key_id_of(public) for public in named if public is not None}))


def share_statement(order: Digest, step: int, before: Digest, record: ShareRecord) -> bytes:
    """Return what a party signs of a share: the canonical JSON of an in-toto statement."""
    return canonical.encode(statement_of(Share.of(order, step, before, record)))


class SignedShares:
    """Checks that the parties of an order signed the shares that they answer for.

    Args:
        manifest: The order's manifest.

    Attributes:
        checked: How many signatures hold.
        problem: What is wrong with the first that does not; None while all hold.

    Raises:
        BundleError: A key of the order is none.
    """

    def __init__(self, manifest: OrderManifest) -> None:
        self._order = manifest.digest
        self._parties = {} if manifest.shares is None else parties_of(manifest.shares)
        self.checked = 0
        self.problem: SignatureError | None = None

    def look(self, step: int, before: Digest, shares: StepShares) -> None:
        """Look at the shares of a step; ``before`` is the state root before it."""
        if self._parties:
            for record in shares.records:
                self.look_at(step, before, record, shares.signature(record.share))

    def look_at(self, step: int, before: Digest, record: ShareRecord, signature: bytes) -> None:
        """Look at a share, unless one before is not signed; ``signature`` is empty where there is none."""
        if self.problem is not None:
            return
        key = self._parties.get(record.share)
        if key is None:
            if signature:
                self.problem = _not_signed(step, record, say("no party answers for it, and it is signed"))
        elif not signature:
            self.problem = _not_signed(
                step, record, say("the party with the key {0} answers for it, and did not sign it", key.key_id)
            )
        elif not is_signed_by(share_statement(self._order, step, before, record), signature, key):
            self.problem = _not_signed(
                step,
                record,
                say(
                    "its signature is not that of the party with the key {0}, from the state before this step",
                    key.key_id,
                ),
            )
        else:
            self.checked += 1

    def check(self) -> None:
        """Raise SignatureError where a share that was looked at is not signed by its party."""
        if self.problem is not None:
            raise self.problem


def _not_signed(step: int, record: ShareRecord, why: str) -> SignatureError:
    return SignatureError(
        say(
            "Share {0} of step {1} is not what its party signed: {2}. The trainer put the run together of shares that "
            "their parties did not sign, or the file was altered.",
            record.share,
            step,
            why,
        ),
        remedy=say("Ask the trainer for the run as it was signed, and the parties what they signed."),
    )
