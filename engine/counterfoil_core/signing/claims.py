"""What clients, trainers and their parties sign: an order, its acceptance, a run, the history so far, a share.

Each names the order digest, so it holds for these bytes of a manifest and for no others. None says who a person is:
that a key is the client's, whoever reads it must know from elsewhere. docs/bundle-format.md, sections 7, 12, 15, 18.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from counterfoil_core.base.canonical import float_text
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import MAX_ENVIRONMENT, MAX_ENVIRONMENT_TEXT, MAX_STEPS
from counterfoil_core.bundle.shares import MAX_SHARES, ShareRecord
from counterfoil_core.signing import kinds
from counterfoil_core.signing.kinds import HEX_FLOAT, ROOT, About, Dated, DigestText, Fields, Moment, Named, Said, Step

MachineText = Annotated[str, Meta(max_length=MAX_ENVIRONMENT_TEXT)]
Machine = Annotated[dict[MachineText, MachineText], Meta(max_length=MAX_ENVIRONMENT)]
"""Device, library versions and switches, as text."""


class SignedOrder(Dated, frozen=True):
    """A client orders."""

    KIND: ClassVar = kinds.ORDER
    ABOUT: ClassVar = (About("order", "order"),)

    order: Digest  #: The order digest.


class Acceptance(Named, frozen=True):
    """A trainer accepts an order, when training begins."""

    KIND: ClassVar = kinds.ACCEPTANCE
    ABOUT: ClassVar = (About("order", "order"),)
    TIME: ClassVar = "accepted_at"

    order: Digest  #: The order digest.
    client_key: DigestText | None  #: Key id of the client whose signature the order had; null for an unsigned order.
    accepted_at: Moment = ""  #: When, as the trainer's clock had it.

    @classmethod
    def of(cls, order: Digest, client: SignedOrder | None) -> Acceptance:
        """Return the acceptance of an order as the trainer got it: with a client's signature, or without."""
        return cls(order, None if client is None else client.key_id)


class RunClaim(Dated, frozen=True):
    """This order gave this run on this machine, as its trainer says."""

    KIND: ClassVar = kinds.RUN
    ABOUT: ClassVar = (About("order", "order"), About("run", "run_root", ROOT))

    order: Digest  #: The order digest.
    run_root: Digest  #: Merkle root over the leaves of the steps from 0 on.
    steps: Step  #: Number of recorded steps.
    environment: Machine  #: Device, library versions and switches, as text.
    #: Number of ordered steps, where the run ends before the last of them; the type of the predicate is v2 then.
    steps_ordered: Annotated[int, Meta(ge=2, le=MAX_STEPS)] | None = None

    @property
    def predicate_type(self) -> str:
        """The predicate type, which says whether the run has every ordered step."""
        return self.KIND.predicate if self.steps_ordered is None else self.KIND.short

    def check(self) -> None:
        """Raise SignatureError where a short run is not short."""
        if self.steps_ordered is not None and self.steps_ordered <= self.steps:
            raise SignatureError(say("The run's claim has as many steps as were ordered, and says that it has fewer."))


class TreeHead(Dated, frozen=True):
    """The history so far, as one root."""

    KIND: ClassVar = kinds.TREE_HEAD
    ABOUT: ClassVar = (About("order", "order"), About("history", "root", ROOT))

    order: Digest  #: The order digest.
    size: Annotated[int, Meta(ge=1, le=MAX_STEPS + 1)]  #: Number of Merkle leaves: steps done, and the initial state.
    root: Digest  #: Merkle root over them.


class RecordFields(Fields, frozen=True):
    """What the leaf of a share commits to."""

    share: Annotated[int, Meta(ge=0, lt=MAX_SHARES)]
    gradients: Digest
    buffers: Digest
    log: Digest
    fingerprints: Digest
    loss: Annotated[str, Meta(pattern=rf"\A({HEX_FLOAT})\Z")]
    count: Annotated[str, Meta(pattern=rf"\A({HEX_FLOAT})\Z")]


class Share(Said, frozen=True):
    """What a share of a step gave, as the party that answers for it says. Of the envelope the signature alone is kept.

    It names no key: the order does.
    """

    KIND: ClassVar = kinds.SHARE
    ABOUT: ClassVar = (About("order", "order"),)
    APART: ClassVar = ("order",)

    order: Digest  #: The order digest; the subject alone says it.
    step: Step  #: The step.
    state: Digest  #: The state root before it: the party answers for its record from there alone.
    record: RecordFields  #: What the leaf of the share commits to.

    @classmethod
    def of(cls, order: Digest, step: int, before: Digest, record: ShareRecord) -> Share:
        """Return what a party says of a share of a step."""
        digests = record.gradients, record.buffers, record.log, record.fingerprints
        return cls(
            order, step, before, RecordFields(record.share, *digests, float_text(record.loss), float_text(record.count))
        )


class Addition(Said, frozen=True):
    """What was added of a share of a step, as the party that answers for it says; kept as :class:`Share` is."""

    KIND: ClassVar = kinds.ADDITION
    ABOUT: ClassVar = (About("order", "order"),)
    APART: ClassVar = ("order",)

    order: Digest  #: The order digest; the subject alone says it.
    step: Step  #: The step.
    share: Annotated[int, Meta(ge=0, lt=MAX_SHARES)]  #: The number of the share.
    state: Digest  #: The state root before the step.
    root: Digest  #: The root over the leaves of the shares of the step.
    exponents: Digest  #: SHA-256 of the exponents by which they are added.
    seen: Digest  #: What the party saw of the sum.
    added: Digest  #: SHA-256 of the hashes of what it added, one of each tensor.


def check_same_client(acceptance: Acceptance, client: SignedOrder | None) -> None:
    """Check that a trainer accepted an order from the client whose signature lies beside it.

    Raises:
        SignatureError: The one names another client than the other, or only one of them names any.
    """
    signed = None if client is None else client.key_id
    if acceptance.client_key == signed:
        return
    raise SignatureError(
        say(
            "The trainer accepted the order {0}, but the file holds it {1}: one of the two was exchanged afterwards.",
            _signed(acceptance.client_key),
            _signed(signed),
        ),
        remedy=say("Ask the trainer for the file again."),
    )


def _signed(key_id: str | None) -> str:
    return say("unsigned") if key_id is None else say("signed with the key {0}", key_id[:12])
