"""Whose order, whose key, whose machine: what a conclusion rests on beside the replay. Pure.

A replay shows that the steps of a file come out again. That these are what the client ordered, and that they are the
trainer's, follows from the client's order and the trainer's key alone. So a conclusion is as good as these are: window,
printed report and command line ask here, and say the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, OrderSource


class Level(Enum):
    """How much of it is known."""

    WHOLE = "whole"
    """The order is the client's own, by its file or its signature, and the trainer's key was known."""
    OPEN = "open"
    """Something of it was not compared, or changed."""
    NONE = "none"
    """Something of it is known to be wrong."""


class OrderTrust(Enum):
    """Whose order the run was compared with."""

    CLIENT = "client"
    """The client's own order file."""
    SIGNED = "signed"
    """None, but its signature is that of the client's key, which the auditor knew before."""
    UNKNOWN_SIGNER = "unknown signer"
    """None, and it is signed with a key of which nobody has said that it is the client's."""
    NOT_COMPARED = "not compared"
    """None, and it is unsigned."""
    ANOTHER = "another"
    REVOKED = "revoked"
    """None, and the client's key that signed it was revoked."""


class TrainerTrust(Enum):
    """Whose key signed the run."""

    NAMED = "named"
    """A key that the auditor knew before."""
    NOT_NAMED = "not named"
    """The key that the run itself names."""
    CHANGED = "changed"
    """Another one than signed runs of this order before."""
    UNSIGNED = "unsigned"
    """Nobody's: there is no signature that holds."""
    AUDITOR = "auditor"
    """The very key that signed the verdict; or it is that of a party that answers for shares of the run."""
    REVOKED = "revoked"
    """A key that was revoked, so that what it signed does not count."""


class MachineTrust(Enum):
    """Whether the auditor's machine gave the known answers."""

    TESTED = "tested"
    UNTESTED = "untested"
    FAILED = "failed"


@dataclass(frozen=True)
class TrustLine:
    """One of the three, in words."""

    title: str  #: What it is about.
    words: str  #: How it stands, in a few words.
    level: Level  #: How good that is.
    reason: str = ""  #: What follows from it, as a sentence; empty where nothing is open.


@dataclass(frozen=True)
class Trust:
    """What a conclusion rests on."""

    order: OrderTrust  #: Whose order.
    trainer: TrainerTrust  #: Whose key.
    machine: MachineTrust  #: Whether the machine passed its self-test.

    @property
    def lines(self) -> tuple[TrustLine, TrustLine, TrustLine]:
        """Order, trainer and machine, in words."""
        return _ORDER[self.order], _TRAINER[self.trainer], _MACHINE[self.machine]

    @property
    def level(self) -> Level:
        """The level of order and trainer, whichever is less; a machine that failed its self-test leaves it open."""
        levels = {line.level for line in self.lines[:2]}
        if Level.NONE in levels:
            return Level.NONE
        return Level.OPEN if Level.OPEN in levels or self.machine is MachineTrust.FAILED else Level.WHOLE

    @property
    def reason(self) -> str:
        """What follows from all that is open or wrong, as sentences; empty where nothing is."""
        return joined(*(line.reason for line in self.lines))


def seen_by(
    trust: Trust, *, named: bool, changed: bool, client: bool, revoked: bool = False, client_revoked: bool = False
) -> Trust:
    """Return it for a reader who knows keys.

    Args:
        trust: As it stands in what was signed.
        named: Whether the reader knows the key that signed the run as the trainer's.
        changed: Whether the reader knows runs of this order that another key signed.
        client: Whether the reader knows the key that signed the order as the client's.
        revoked: Whether the reader knows that the key that signed the run was revoked, and no longer counts for it.
        client_revoked: The same of the key that signed the order; the client's own order file counts by itself.
    """
    if client_revoked and trust.order in (OrderTrust.UNKNOWN_SIGNER, OrderTrust.SIGNED):
        trust = replace(trust, order=OrderTrust.REVOKED)
    if revoked and trust.trainer not in (TrainerTrust.UNSIGNED, TrainerTrust.AUDITOR):
        trust = replace(trust, trainer=TrainerTrust.REVOKED)
    if trust.order is OrderTrust.UNKNOWN_SIGNER and client:
        trust = replace(trust, order=OrderTrust.SIGNED)
    if trust.trainer not in (TrainerTrust.NAMED, TrainerTrust.NOT_NAMED) or not (named or changed):
        return trust
    return replace(trust, trainer=TrainerTrust.CHANGED if changed else TrainerTrust.NAMED)


def signed_by_maker(auditor_key: str, trainer_key: str, parties: Iterable[str] = ()) -> bool:
    """Whether what an auditor signed was signed by somebody who made the run that it is about: it then says nothing.

    Args:
        auditor_key: Key id of whoever signed the verdict; empty while nobody has.
        trainer_key: Key id of whoever signed the run; empty when nobody did.
        parties: Key ids of those who signed shares of its steps.
    """
    return auditor_key != "" and auditor_key in {trainer_key, *parties}


def check_independent(auditor_key: str, trainer_key: str, parties: Iterable[str] = ()) -> None:
    """Raise SignatureError where an auditor made the run, as :func:`signed_by_maker`: nobody hands that on."""
    if signed_by_maker(auditor_key, trainer_key, parties):
        raise SignatureError(
            say("A verdict that the trainer of its run signs is no audit, and is not handed on as one."),
            remedy=say("Have the run audited by somebody else."),
        )


def trust_of(
    checks: Iterable[Check],
    trainer_key: str,
    *,
    named: bool,
    changed: bool = False,
    auditor_key: str = "",
    parties: Iterable[str] = (),
    order_source: OrderSource = "client",
    client_key: str = "",
) -> Trust:
    """Say what a conclusion rests on.

    Args:
        checks: The checks of an audit or an adjudication, or of an inspection before it; those that lack are pending.
        trainer_key: Key id of whoever signed the run; empty when no signature holds.
        named: Whether the auditor knew that key as the trainer's.
        changed: Whether runs of this order were signed by another key before.
        auditor_key: Key id of whoever signed the verdict; empty while nobody has.
        parties: Key ids of those who signed shares of the run's steps.
        order_source: How check 2 knows whose order it is, where it passed.
        client_key: Key id of who signed the order as its client; empty for an unsigned order.
    """
    states = {check.number: check.state for check in checks}
    order = {
        CheckState.PASSED: OrderTrust.SIGNED if order_source == "signature" else OrderTrust.CLIENT,
        CheckState.WARNING: OrderTrust.UNKNOWN_SIGNER if client_key else OrderTrust.NOT_COMPARED,
        CheckState.FAILED: OrderTrust.ANOTHER,
    }
    machine = {CheckState.PASSED: MachineTrust.TESTED, CheckState.FAILED: MachineTrust.FAILED}
    if not trainer_key:
        trainer = TrainerTrust.UNSIGNED
    elif signed_by_maker(auditor_key, trainer_key, parties):
        trainer = TrainerTrust.AUDITOR
    elif changed:
        trainer = TrainerTrust.CHANGED
    else:
        trainer = TrainerTrust.NAMED if named else TrainerTrust.NOT_NAMED
    return Trust(
        order.get(states.get(CheckNumber.ORDER, CheckState.PENDING), OrderTrust.NOT_COMPARED),
        trainer,
        machine.get(states.get(CheckNumber.SELF_TEST, CheckState.PENDING), MachineTrust.UNTESTED),
    )


_ORDER = {
    OrderTrust.CLIENT: TrustLine(say("Order"), say("the client's own"), Level.WHOLE),
    OrderTrust.SIGNED: TrustLine(say("Order"), say("signed by the client"), Level.WHOLE),
    OrderTrust.UNKNOWN_SIGNER: TrustLine(
        say("Order"),
        say("signed by an unknown key"),
        Level.OPEN,
        say(
            "The order was not compared with the client's own, and nobody has said that the key that signed it is the "
            "client's, so it is open whether this is what the client ordered."
        ),
    ),
    OrderTrust.NOT_COMPARED: TrustLine(
        say("Order"),
        say("not compared"),
        Level.OPEN,
        say("The order was not compared with the client's own, so it is open whether this is what the client ordered."),
    ),
    OrderTrust.ANOTHER: TrustLine(
        say("Order"), say("another"), Level.NONE, say("The run was made for another order than the client's.")
    ),
    OrderTrust.REVOKED: TrustLine(
        say("Order"),
        say("signed by a REVOKED key"),
        Level.OPEN,
        say(
            "The client's key that signed the order was revoked, so it is open whether this is what the client ordered."
        ),
    ),
}
_TRAINER = {
    TrainerTrust.NAMED: TrustLine(say("Trainer"), say("named"), Level.WHOLE),
    TrainerTrust.NOT_NAMED: TrustLine(
        say("Trainer"),
        say("not named"),
        Level.OPEN,
        say("The trainer's key was taken from the run itself, so it is open who trained."),
    ),
    TrainerTrust.CHANGED: TrustLine(
        say("Trainer"),
        say("CHANGED"),
        Level.OPEN,
        say("Until now, another key signed runs of this order, so it is open who trained."),
    ),
    TrainerTrust.UNSIGNED: TrustLine(
        say("Trainer"),
        say("unsigned"),
        Level.OPEN,
        say("No signature of a trainer's holds, so it is open who trained."),
    ),
    TrainerTrust.AUDITOR: TrustLine(
        say("Trainer"),
        say("the auditor"),
        Level.NONE,
        say(
            "The key that signed this is the trainer's own, or that of a party that made shares of the run: nobody can "
            "audit what they made themselves, so this shows nothing."
        ),
    ),
    TrainerTrust.REVOKED: TrustLine(
        say("Trainer"),
        say("REVOKED"),
        Level.OPEN,
        say("The key that signed the run was revoked, so it is open who trained."),
    ),
}
_MACHINE = {
    MachineTrust.TESTED: TrustLine(say("Machine"), say("self-test passed"), Level.WHOLE),
    MachineTrust.UNTESTED: TrustLine(say("Machine"), say("not tested"), Level.OPEN),
    MachineTrust.FAILED: TrustLine(
        say("Machine"), say("self-test failed"), Level.NONE, say("The auditor's machine failed its self-test.")
    ),
}
