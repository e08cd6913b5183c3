"""Whether what somebody signed counts for a reader: the one place in which that is decided.

A signature that holds says who signed. Whether that still counts hangs on what happened since: the auditor took the
verdict back, a key was revoked; and on who it was: nobody audits what they made themselves. docs/threat-model.md has
the table of all kinds of statements and all such cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from counterfoil.signing.kinds import Afterwards, Revocation
from counterfoil.trust.store import TrustStore
from counterfoil_core.base.sentence import say
from counterfoil_core.values.trust import signed_by_maker

if TYPE_CHECKING:
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.statement.judgement import Signed

NOTHING_LATER = Afterwards()


@dataclass(frozen=True)
class Validity:
    """How a statement stands for a reader."""

    later: Afterwards = NOTHING_LATER  #: What was said of it afterwards; of verdicts and adjudications alone.
    #: What lists say of the keys that it rests on: ``signer``, ``trainer``, ``client``, ``party``.
    revoked: tuple[tuple[str, Revocation], ...] = ()
    gone: tuple[str, ...] = ()  #: Those of them whose signature no longer counts, each once.
    self_signed: bool = False  #: Whether somebody signed it who made the run that it is about.
    why: tuple[str, ...] = ()  #: Why it does not count, a sentence each; empty where it does.

    @property
    def counts(self) -> bool:
        """Whether it counts."""
        return not self.why


def validity(
    store: TrustStore,
    signer: tuple[str, str],
    *,
    trainer: tuple[str, str] = ("", ""),
    client: tuple[str, str] = ("", ""),
    parties: Iterable[str] = (),
    later: Afterwards = NOTHING_LATER,
) -> Validity:
    """Say how a statement stands.

    Args:
        store: What the reader trusts.
        signer: Key id of who signed it, and when, ISO 8601 in UTC, as they say; empty where nothing says it.
        trainer: The same of the run that it is about; the time may be the latest that is possible.
        client: The same of the order, where it rests on the client's signature.
        parties: Key ids of those who signed shares of the run, before its trainer signed it.
        later: What was said of it afterwards.
    """
    parties = tuple(parties)
    asked = [("signer", *signer), ("trainer", *trainer), ("client", *client)]
    asked += [("party", key_id, trainer[1]) for key_id in parties]
    looked_up = [(role, store.of(key_id), at) for role, key_id, at in asked if key_id]
    revoked = tuple((role, found) for role, found, _ in looked_up if found is not None)
    dropped = [(role, found) for role, found, at in looked_up if found is not None and found.covers(at)]
    self_signed = signed_by_maker(signer[0], trainer[0], parties)
    why: list[str] = [
        say("Its auditor withdrew it on {0}: {1}", each.signed_at, each.reason) for each in later.withdrawals
    ]
    why += [_revoked(_ROLES[role], found) for role, found in dropped]
    if self_signed:
        why.append(
            say("The trainer of the run signed it, which is no audit.")
            if signer[0] == trainer[0]
            else say("A party that answers for shares of the run signed it, which is no audit.")
        )
    return Validity(later, revoked, tuple(dict.fromkeys(role for role, _ in dropped)), self_signed, tuple(why))


def validity_of(
    store: TrustStore, signed: Signed, digest: Digest, beside: Iterable[tuple[str, bytes]] = ()
) -> Validity:
    """Say how a verdict, or an adjudication, stands.

    Args:
        store: What the reader trusts.
        signed: What was signed; its signature was checked.
        digest: Its digest, by :func:`~counterfoil.trust.afterwards.verdict_digest`.
        beside: Name and content of more files that may say something of it; may be junk.
    """
    # The window, which checks no signature, starts without what does.
    from counterfoil.trust.afterwards import afterwards, says_of

    kept = [(name, envelope) for name, envelope in store.later if says_of(envelope, digest)]
    told = {envelope: (name, envelope) for name, envelope in (*kept, *beside)}  # one may lie at both places
    later = afterwards(signed, digest, told.values())
    # A withdrawal takes something away whoever else has the key; a reply speaks for somebody.
    lost = tuple(each for each in later.replies if store.covers(each.key_id, each.signed_at))
    ignored = tuple(say("A reply of {0} does not count: its key was revoked.", each.signed_at) for each in lost)
    replies = tuple(each for each in later.replies if each not in lost)
    later = replace(later, replies=replies, ignored=(*later.ignored, *ignored))
    # Nothing in a verdict says when the run was signed: it was before the verdict.
    at = signed.signed_at
    return validity(
        store,
        (signed.key_id, at),
        trainer=(signed.trainer_key, at),
        client=(signed.client_key, at) if signed.order_source == "signature" else ("", ""),
        parties=signed.parties,
        later=later,
    )


def _revoked(what: str, found: Revocation) -> str:
    return say('{0} was revoked from {1} on ({2}): "{3}".', what, found.since, found.cause.value, found.reason)


_ROLES = {
    "signer": say("The key that signed it"),
    "trainer": say("The key that signed the run"),
    "client": say("The client's key that signed the order"),
    "party": say("The key of a party that answers for shares of the run"),
}
