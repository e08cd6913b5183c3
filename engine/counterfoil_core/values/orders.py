"""The order that a file holds against what the auditor knows of the client: check 2, before and after a replay. Pure.

Two things can be known from elsewhere: the client's own order file, and the client's public key. docs/threat-model.md
lists what comes of each case under "Whose order".

So too the trainer's key, which may become known after the replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, OrderMismatchError, SignatureError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.values.outcome import CheckState, OrderSource

_Source = Literal["given", "order", "bundle"]
"""How the key of a signature is known: the auditor gave it, the client's own file names it, or the file alone does."""


@dataclass(frozen=True)
class HeldOrder:
    """The order that a file holds, and who stands by it as far as the file's own signatures show."""

    digest: Digest  #: The order digest.
    client_key: str = ""  #: Key id of who signed it as its client; empty for an unsigned order.
    trainer_key: str = ""  #: Key id of who accepted it as its trainer; empty when no acceptance holds.
    accepted_at: str = ""  #: When, by the trainer's clock.


@dataclass(frozen=True)
class GivenOrder:
    """The client's own order file."""

    digest: Digest  #: The order digest.
    client_key: str = ""  #: Key id of who signed it as its client; empty for an unsigned order.


@dataclass(frozen=True)
class OrderFinding:
    """What check 2 found."""

    state: CheckState  #: Its state.
    detail: str  #: Its sentence.
    source: OrderSource  #: How it is known whose order it is.
    client_key: str = ""  #: Key id of who signed the order as its client; empty for an unsigned one.


def compare_orders(held: HeldOrder, given: GivenOrder | None = None, client_key: str = "") -> OrderFinding:
    """Compare the order of a file with what the auditor knows of the client.

    Args:
        held: The order that the file holds.
        given: The client's own order file; None when it was not given.
        client_key: Key id of the client's public key that the auditor gave; empty when none was given.

    Raises:
        OrderMismatchError: The file holds another order than the client's.
        SignatureError: The order is not signed with the client's key.
        GivenFileError: What the auditor gave contradicts itself; or another order was given than the one that the
            client's key signed and the trainer accepted, which nobody can take back.
    """
    if given is not None and client_key and given.client_key not in ("", client_key):
        raise GivenFileError(
            say(
                "The order file that was given is signed with the key {0}, and not with the client's key {1} that was "
                "given with it.",
                given.client_key[:12],
                client_key[:12],
            ),
            role="order",
            remedy=say("Find out which of the two is the client's, and give that."),
        )
    known = client_key or (given.client_key if given is not None else "")
    if given is not None and given.digest != held.digest:
        raise _other_order(held, given, known)
    if known and held.client_key not in ("", known):
        raise SignatureError(
            say(
                "The order {0} is signed with the key {1}, and not with the client's key {2}.",
                held.digest.short,
                held.client_key[:12],
                known[:12],
            ),
            remedy=say("Ask the trainer for a run of the order that the client signed."),
        )
    signer = held.client_key or (given.client_key if given is not None else "")
    if client_key and not signer:
        raise SignatureError(
            say(
                "The order {0} is unsigned; it should be signed with the client's key {1}, which was given.",
                held.digest.short,
                client_key[:12],
            ),
            remedy=say(
                "Ask the trainer for a run of the order that the client signed. If the client never signed it, compare "
                "it with the client's own order file, without a key."
            ),
        )
    source: _Source | None = None
    if signer:
        source = "given" if client_key else "order" if given is not None and given.client_key else "bundle"
    if given is not None:
        own = say("The order {0} is the client's.", held.digest.short)
        return OrderFinding(CheckState.PASSED, joined(own, _signer(signer, source)), "client", signer)
    if source == "given":
        detail = say(
            "The order {0} is signed with the client's key {1}, which was given.", held.digest.short, signer[:12]
        )
        return OrderFinding(CheckState.PASSED, detail, "signature", signer)
    taken = say(
        "The order {0} was taken from the file itself; without the client's own nobody knows whether it is what the "
        "client ordered.",
        held.digest.short,
    )
    return OrderFinding(CheckState.WARNING, joined(taken, _signer(signer, source)), "bundle", signer)


def _signer(signer: str, source: _Source | None) -> str:
    if source is None:
        return say("It is unsigned.")
    if source == "given":
        return say("It is signed with the client's key {0}, which was given.", signer[:12])
    if source == "order":
        return say("It is signed with the key {0}, as the client's own file is.", signer[:12])
    return say("It is signed with the key {0}, which only the file itself names as the client's.", signer[:12])


def _other_order(held: HeldOrder, given: GivenOrder, known: str) -> OrderMismatchError | GivenFileError:
    """What is wrong when the file holds another order than the one that was given, and who stands by which."""
    mine, theirs = held.digest.short, given.digest.short
    if known and held.client_key == known and held.trainer_key:
        return GivenFileError(
            say(
                "The order {0} was given, but the run is of the order {1}. The client's key {2} signed that one, and "
                "the trainer's key {3} accepted it, as it says on {4}. The run is judged by that order, and by no "
                "other: neither side can disown it.",
                theirs,
                mine,
                known[:12],
                held.trainer_key[:12],
                held.accepted_at,
            ),
            role="order",
            remedy=say(
                "Give the order {0}, or only the client's key. If the trainer accepted the order {1} too, ask for the "
                "run of that one.",
                mine,
                theirs,
            ),
        )
    sentence = say("The file was made for the order {0}; the client's order is {1}.", mine, theirs)
    if held.client_key:
        stands = say("The order {0} is signed by the key {1} as its client.", mine, held.client_key[:12])
    else:
        stands = say("The order {0} is unsigned.", mine)
    if held.trainer_key:
        trainer, when = held.trainer_key[:12], held.accepted_at
        stands = joined(stands, say("The key {0} accepted it as its trainer, as it says on {1}.", trainer, when))
    if held.client_key and not known:
        whose = say("If that key is the client's, the client ordered what the file holds; give the key to find out.")
        stands = joined(stands, whose)
    elif known and held.client_key != known:
        stands = joined(stands, say("The client's key {0} did not sign it.", known[:12]))
    return OrderMismatchError(
        joined(sentence, stands),
        remedy=say(
            "Make sure that the order file is the one that the client kept. If it is, ask the trainer for the run of "
            "this order."
        ),
    )


def accepted_by(trainer_key: str, client_key: str, accepted_at: str) -> str:
    """Say what a trainer accepted, and where trainer and client are one.

    Args:
        trainer_key: Key id of who accepted the order.
        client_key: Key id of who had signed it as its client; empty for an unsigned order.
        accepted_at: When, by the trainer's clock.
    """
    if not client_key:
        return say("It accepted the order, which was unsigned, as it says on {0}.", accepted_at)
    accepted = say("It accepted the order, signed with the key {0}, as it says on {1}.", client_key[:12], accepted_at)
    if client_key != trainer_key:
        return accepted
    return joined(accepted, say("That is the trainer's own key: client and trainer are one."))
