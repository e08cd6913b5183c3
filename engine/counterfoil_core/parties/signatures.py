"""Whose a file is: who signed the order in it, who accepted that, and who signed the run. Checks 2 and 5."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    BundleError,
    GivenFileError,
    RefusedError,
    SignatureError,
)
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.bundle.reader import BundleReader, OrderContents
from counterfoil_core.bundle.schema import OrderManifest, StepRecord, run_tree
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder, check_same_client
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.statements import open_said
from counterfoil_core.signing.subject import Subject
from counterfoil_core.values.orders import GivenOrder, HeldOrder, OrderFinding, accepted_by, compare_orders


@dataclass(frozen=True)
class Keys:
    """Public keys that whoever looks at a file knows from elsewhere."""

    trainer: PublicKey | None = None  #: The trainer's.
    client: PublicKey | None = None  #: The client's.


@dataclass(kw_only=True)
class Parties:
    """Who stands by the order and the run of a file, as far as checks 2 and 5 have found."""

    given_order: GivenOrder | None = None  #: The client's own order file, when one was given.
    given_client_key: str = ""  #: Key id of the client's public key that was given; empty when none was.
    signed_order: SignedOrder | None = None  #: The client's signature on the order, when there is one and it holds.
    whose: OrderFinding | None = None  #: What check 2 found, once it has passed.
    claim: RunClaim | None = None  #: The trainer's claim, once check 5 has passed.
    acceptance: Acceptance | None = None  #: The trainer's acceptance of the order, once check 5 has passed.

    @property
    def client_order(self) -> Digest | None:
        """Digest of the client's own order, when one was given."""
        return None if self.given_order is None else self.given_order.digest

    @property
    def client_key(self) -> str:
        """Key id of who signed the order as its client; empty where nobody did."""
        if self.whose is not None:
            return self.whose.client_key
        return "" if self.signed_order is None else self.signed_order.key_id

    @property
    def trainer_key(self) -> str:
        """Key id of the key that signed the run, once check 5 has passed."""
        return "" if self.claim is None else self.claim.key_id

    @property
    def accepted_at(self) -> str:
        """When the trainer accepted the order, by its clock; empty until check 5 has passed."""
        return "" if self.acceptance is None else self.acceptance.accepted_at

    def check_order(
        self,
        manifest: OrderManifest,
        signature: bytes | None,
        envelopes: tuple[bytes, bytes] | None,
        trainer_key: PublicKey | None,
    ) -> OrderFinding:
        """Make check 2.

        Args:
            manifest: The order's manifest.
            signature: The client's signature that the file holds, if any.
            envelopes: Claim and acceptance of the run; None for an order that nobody has run.
            trainer_key: The trainer's public key, when it is known.

        Raises:
            SignatureError: A signature does not hold, or is another's.
            OrderMismatchError: The file holds another order than the client's.
            GivenFileError: What was given contradicts itself, or what the client signed.
        """
        self.signed_order = open_client_signature(signature, manifest)
        held = held_order(manifest, self.signed_order, envelopes, trainer_key)
        self.whose = compare_orders(held, self.given_order, self.given_client_key)
        return self.whose

    def check_run(
        self,
        manifest: OrderManifest,
        envelopes: tuple[bytes, bytes],
        trainer_key: PublicKey | None,
        *,
        recorded: int | None,
        signed: bool = True,
    ) -> str:
        """Make check 5, and return what it found as sentences.

        Args:
            manifest: The order's manifest.
            envelopes: Claim and acceptance of the run.
            trainer_key: The trainer's public key, when it is known.
            recorded: Number of steps that the file holds; None for a capsule, which holds some.
            signed: Whether it can be told whose signature the trainer accepted: not where the client's is broken.

        Raises:
            SignatureError: Claim or acceptance do not hold, or are about something else.
        """
        claim = check_claim(envelopes[0], manifest, trainer_key, recorded)
        accepted = ""
        if signed:
            acceptance = check_acceptance(envelopes[1], claim, self.signed_order)
            accepted = accepted_by(acceptance.key_id, acceptance.client_key or "", acceptance.accepted_at)
            self.acceptance = acceptance
        self.claim = claim
        return joined(signed_by(claim, trainer_key), accepted)


def need_run(reader: BundleReader) -> None:
    """Refuse a file that was given as a run and is an order that nobody has run; raises GivenFileError."""
    if not reader.has_run:
        raise GivenFileError(
            say("{0} is an order that nobody has run.", reader.path.name), remedy=say("Give the trainer's run of it.")
        )


def read_client_order(
    path: str | os.PathLike[str] | None, audited: str | os.PathLike[str] | None = None
) -> GivenOrder | None:
    """Return what the client's own order file says, if it was given.

    Args:
        path: The client's order file; None when none was given.
        audited: The file that is compared with it.

    Raises:
        GivenFileError: It is no order: a run holds the order that its trainer put there, and nothing confirms itself.
        ObstacleError: It changed meanwhile, or the system fails to read it.
    """
    if path is None:
        return None
    name = os.fspath(path)
    if audited is not None and _same_file(path, audited):
        raise GivenFileError(
            say("{0} is the very file that is examined: the order in it confirms nothing.", name),
            role="order",
            remedy=_OWN_ORDER,
        )
    try:
        with BundleReader.open(path) as client:
            if client.has_run:
                raise GivenFileError(
                    say("{0} is a trainer's run. The order in it is what the trainer put there.", name),
                    role="order",
                    remedy=_OWN_ORDER,
                )
            signed = open_client_signature(client.order_signature(), client.manifest)
            return GivenOrder(client.manifest.digest, "" if signed is None else signed.key_id)
    except (BundleError, SignatureError) as error:
        raise GivenFileError(
            say("{0} is no order of a client's. {1}", name, error.sentence),
            role="order",
            remedy=_OWN_ORDER,
            detail=error.detail,
        ) from error
    except GivenFileError as error:
        raise GivenFileError(
            error.sentence, role="order", remedy=error.remedy or _OWN_ORDER, detail=error.detail
        ) from error


def own_contents(path: str | os.PathLike[str], manifest: OrderManifest, cancel: CancelToken | None) -> OrderContents:
    """Load what an order holds from the client's own file, for a run of that order that lies elsewhere.

    Args:
        path: The client's order file.
        manifest: The run's, which check 2 compared with it.
        cancel: Looked at while it is read.

    Raises:
        GivenFileError: The file does not hold what it should.
        ObstacleError: It changed meanwhile, or the system fails to read it.
        CancelledError: ``cancel`` was set.
    """
    try:
        with BundleReader.open(path) as client:
            contents = client.check_order_contents(cancel)
            if client.manifest.digest != manifest.digest:
                raise client.file.changed(say("the order"))
            return contents
    except RefusedError as error:
        raise GivenFileError(
            say("{0} is no order of a client's. {1}", os.fspath(path), error.sentence),
            role="order",
            remedy=_OWN_ORDER,
            detail=error.detail,
        ) from error


_OWN_ORDER = say("Choose the order file that the client wrote and kept.")


def _same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # whoever opens the one that is not there will say so
        return False


def open_client_signature(envelope: bytes | None, manifest: OrderManifest) -> SignedOrder | None:
    """Check the client's signature that a file holds; None for an unsigned order.

    Raises:
        SignatureError: It does not hold, or is about another order.
    """
    if envelope is None:
        return None
    try:
        return open_said(SignedOrder, envelope, order=manifest.digest)
    except SignatureError as error:
        raise SignatureError(
            say("The file holds a client's signature that nobody can rely on. {0}", error.sentence),
            remedy=say("Ask for the file again."),
            detail=error.detail,
        ) from error


def held_order(
    manifest: OrderManifest,
    signed: SignedOrder | None,
    envelopes: tuple[bytes, bytes] | None,
    trainer_key: PublicKey | None,
) -> HeldOrder:
    """Return the order of a file with those who stand by it; a trainer whose signature does not hold is left out.

    Args:
        manifest: The order's manifest.
        signed: The client's signature, if there is one.
        envelopes: Claim and acceptance of the run; None for an order that nobody has run.
        trainer_key: The trainer's public key, when it is known.
    """
    held = HeldOrder(manifest.digest, "" if signed is None else signed.key_id)
    if envelopes is None:
        return held
    try:
        claim = check_claim(envelopes[0], manifest, trainer_key, None)
        acceptance = check_acceptance(envelopes[1], claim, signed)
    except SignatureError:  # what check 5 says of it is said there
        return held
    return replace(held, trainer_key=acceptance.key_id, accepted_at=acceptance.accepted_at)


def subject_of(claim: RunClaim) -> Subject:
    """Return which run a claim is about, whose signature was checked."""
    return Subject(claim.order, claim.run_root, claim.key_id)


def recorded_subject(reader: BundleReader, records: Sequence[StepRecord]) -> Subject:
    """Return which run the steps in a file are, under its order and its trainer's signature.

    Whether the trainer signed these very steps is left to whoever compares.

    Raises:
        SignatureError: The trainer's signature does not hold, or is about something else.
    """
    claim = check_claim(reader.claim(), reader.manifest, None, reader.extent.steps)
    return structs.replace(subject_of(claim), run_root=run_tree(records).root)


def check_claim(
    envelope: bytes, manifest: OrderManifest, trainer_key: PublicKey | None, recorded: int | None
) -> RunClaim:
    """Check the trainer's signature, and that it is about a run of this order with all its steps.

    Whether a run may end before its last ordered step follows from its losses, which check 6 looks at.

    Args:
        envelope: The claim's DSSE envelope.
        manifest: The order's manifest.
        trainer_key: The trainer's public key, when it is known.
        recorded: Number of steps that the file holds; None where it holds some, or where nothing hangs on it.

    Raises:
        SignatureError: It does not hold, or is about something else.
    """
    claim = open_said(RunClaim, envelope, trainer_key)
    if claim.order != manifest.digest:
        raise SignatureError(
            say(
                "The trainer signed a run of the order {0}, but the file holds the order {1}.",
                claim.order.short,
                manifest.digest.short,
            )
        )
    if claim.steps_ordered is not None and manifest.may_stop_early is None:
        raise SignatureError(
            say(
                "The trainer signed {0} of {1} ordered steps, but the order does not let a run stop early.",
                claim.steps,
                claim.steps_ordered,
            )
        )
    ordered = claim.steps if claim.steps_ordered is None else claim.steps_ordered
    if ordered != manifest.steps:
        raise SignatureError(say("The trainer signed {0} steps, but the order has {1}.", ordered, manifest.steps))
    if recorded is not None and claim.steps != recorded:
        raise SignatureError(say("The trainer signed {0} steps, but the file holds {1}.", claim.steps, recorded))
    return claim


def check_acceptance(envelope: bytes, claim: RunClaim, signed: SignedOrder | None) -> Acceptance:
    """Check that whoever signed a run accepted its order when training began, from the client who signed it.

    Raises:
        SignatureError: The acceptance does not hold, or is of another order, trainer or client.
    """
    trainer = PublicKey.from_pem(claim.public_key.encode())
    acceptance = open_said(Acceptance, envelope, trainer, order=claim.order)
    check_same_client(acceptance, signed)
    return acceptance


def signed_by(claim: RunClaim, trainer_key: PublicKey | None) -> str:
    """Say whose signature holds, and how that is known."""
    known = (
        say("the key you gave")
        if trainer_key
        else say("a key that the file itself names; compare it with the trainer's")
    )
    return say("Signed by {0}, {1}.", claim.key_id[:12], known)
