"""Parties that answer for shares: which key answers for which, and what it signs of each step.

What is signed says of which order, step and share it is, and from which state the share was computed, so that it holds
nowhere else: a party's honest record of a recording that was discarded would else be a lie in another, whose states are
not those. docs/bundle-format.md, section 18, "Signed shares".
"""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, KeyFileError, SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.shares import ShareRecord, Shares, SharesRoot
from counterfoil_core.bundle.stepshares import Additions, StepShares
from counterfoil_core.signing.claims import Addition, Share
from counterfoil_core.signing.envelope import is_signed_by
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.publickeys import pem_of


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


def share_statement(order: Digest, step: int, before: Digest, record: ShareRecord) -> bytes:
    """Return what a party signs of a share: the canonical JSON of an in-toto statement."""
    return canonical.encode(statement_of(Share.of(order, step, before, record)))


@dataclass(frozen=True)
class Sum:
    """The sum of the shares of a step, as a party that signs what it added of one names it."""

    order: Digest  #: The order's digest.
    step: int  #: The step.
    state: Digest  #: The state root before it.
    root: Digest  #: The root over the leaves of the shares.
    exponents: Digest  #: SHA-256 of the exponents by which they are added.
    seen: Digest  #: What was seen of the sum.

    def addition(self, share: int, hashes: bytes) -> Addition:
        """Return what a party says of its share; ``hashes`` are those of what it added, one of each tensor."""
        return Addition(
            self.order, self.step, share, self.state, self.root, self.exponents, self.seen, Digest.of(hashes)
        )


class SignedShares:
    """Checks that the parties of an order signed the shares that they answer for, and what they added of them.

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
        if not self._parties:
            return
        for record in shares.records:
            self.look_at(step, before, record, shares.signature(record.share))
        if shares.additions is not None:
            self.look_at_sum(step, before, shares.root, shares.additions)

    def look_at_sum(self, step: int, before: Digest, signed: SharesRoot, additions: Additions) -> None:
        """Look at what was added of the shares of a step, whose record commits to ``signed``."""
        assert signed.exponents is not None, "parties sign sums where there are some"
        added = Sum(self._order, step, before, signed.root, signed.exponents, additions.seen)
        for share, (hashes, signature) in enumerate(zip(additions.hashes, additions.signatures, strict=True)):
            self.look_at_addition(added, share, hashes.tobytes(), signature.tobytes())

    def look_at_addition(self, added: Sum, share: int, hashes: bytes, signature: bytes) -> None:
        """Look at what was added of a share, unless something before is not signed."""
        if self.problem is not None:
            return
        key = self._parties.get(share)
        signed = any(hashes) or any(signature)
        payload = canonical.encode(statement_of(added.addition(share, hashes)))
        if signed if key is None else not is_signed_by(payload, signature, key):
            self.problem = SignatureError(
                say(
                    "What was added of share {0} of step {1} is not what its party signed. The trainer put the run "
                    "together of shares that their parties did not sign, or the file was altered.",
                    share,
                    added.step,
                ),
                remedy=_REMEDY,
            )

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
        remedy=_REMEDY,
    )


_REMEDY = say("Ask the trainer for the run as it was signed, and the parties what they signed.")
