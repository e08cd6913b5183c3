"""Whether what somebody signed counts for a reader: the one place in which that is decided.

A signature that holds says who signed. Whether that still counts hangs on what happened since: the auditor took the
verdict back, a key was revoked; and on who it was: nobody audits what they made themselves. docs/threat-model.md has
the table of all kinds of statements and all such cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from counterfoil.signing.kinds import Afterwards, Revocation
from counterfoil.trust.afterwards import afterwards, says_of
from counterfoil.trust.store import TrustStore
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.statement.signed import Signed
from counterfoil_core.values.trust import signed_by_maker

NOTHING_LATER = Afterwards()


@dataclass(frozen=True)
class Validity:
    """How a statement stands for a reader.

    Attributes:
        later: What was said of it afterwards; of verdicts and adjudications alone.
        revoked: What lists say of the keys that it rests on: ``signer``, ``trainer``, ``client``.
        gone: Those of them whose signature no longer counts.
        self_signed: Whether somebody signed it who made the run that it is about.
        why: Why it does not count, a sentence each; empty where it does.
    """

    later: Afterwards = NOTHING_LATER
    revoked: tuple[tuple[str, Revocation], ...] = ()
    gone: tuple[str, ...] = ()
    self_signed: bool = False
    why: tuple[str, ...] = ()

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
        parties: Key ids of those who signed shares of the run.
        later: What was said of it afterwards.
    """
    asked = {"signer": signer, "trainer": trainer, "client": client}
    revoked = {role: found for role, (key_id, _) in asked.items() if key_id and (found := store.of(key_id)) is not None}
    gone = tuple(role for role, found in revoked.items() if found.covers(asked[role][1]))
    self_signed = signed_by_maker(signer[0], trainer[0], parties)
    why: list[str] = [
        say("Its auditor withdrew it on {0}: {1}", each.signed_at, each.reason) for each in later.withdrawals
    ]
    why += [_ROLES[role](revoked[role]) for role in gone]
    if self_signed:
        why.append(
            say("The trainer of the run signed it, which is no audit.")
            if signer[0] == trainer[0]
            else say("A party that answers for shares of the run signed it, which is no audit.")
        )
    return Validity(later, tuple(revoked.items()), gone, self_signed, tuple(why))


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
    kept = [(name, envelope) for name, envelope in store.later if says_of(envelope, digest)]
    told = {envelope: (name, envelope) for name, envelope in (*kept, *beside)}  # one may lie at both places
    # Nothing in a verdict says when the run was signed: it was before the verdict.
    at = signed.signed_at
    return validity(
        store,
        (signed.key_id, at),
        trainer=(signed.trainer_key, at),
        client=(signed.client_key, at) if signed.order_source == "signature" else ("", ""),
        parties=signed.parties,
        later=afterwards(signed, digest, told.values()),
    )


def _revoked(what: str, found: Revocation) -> str:
    return say('{0} was revoked from {1} on ({2}): "{3}".', what, found.since, found.cause.value, found.reason)


_ROLES = {
    "signer": lambda found: _revoked(say("The key that signed it"), found),
    "trainer": lambda found: _revoked(say("The key that signed the run"), found),
    "client": lambda found: _revoked(say("The client's key that signed the order"), found),
}
