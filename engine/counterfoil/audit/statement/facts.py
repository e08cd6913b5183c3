"""The facts of a run as a signed statement: whoever signs says to have counted them; whoever has the run counts again.

docs/facts.md lists the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.envelope import open_named, parse_statement, payload_of, sign_statement
from counterfoil_core.signing.intoto import FACTS_PREDICATE, VERDICT_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.predicates import take_time
from counterfoil_core.statement.factfields import fields_of
from counterfoil_core.statement.verdict import verify_verdict
from counterfoil_core.values.runfacts import RunFacts

MAX_BYTES = 2**26
"""Bytes of a statement that is read, which may be a verdict."""
_WHAT = say("facts of a run")


@dataclass(frozen=True)
class SignedFacts:
    """Facts that somebody signed; the signature holds, and nothing else is known yet.

    Attributes:
        fields: The facts as JSON values, as :func:`counterfoil_core.statement.factfields.fields_of` returns them.
        signed_at: ISO 8601 time in UTC, as the clock of whoever signed had it.
        key_id: Key id of the key that signed.
    """

    fields: dict[str, Any]
    signed_at: str
    key_id: str

    @property
    def energy_kwh(self) -> str:
        """What nobody can count again: the energy that whoever signed names; empty for none."""
        said = self.fields.get("energy_kwh")
        return said if isinstance(said, str) else ""


def sign_facts(facts: RunFacts, key: SigningKey, when: datetime | None = None) -> bytes:
    """Sign facts; returns the DSSE envelope as JSON bytes.

    Args:
        facts: What was counted.
        key: The key of whoever counted.
        when: The time, with its zone; now unless given.
    """
    predicate = {"facts": fields_of(facts), "signed_at": timestamp(when), "public_key": key.public.pem}
    return sign_statement(make_statement(_subjects(facts.run_root), FACTS_PREDICATE, predicate), key)


def open_facts(envelope: bytes, key: PublicKey) -> SignedFacts:
    """Check who signed facts; what they say is compared with the run by :func:`differing`.

    Args:
        envelope: A DSSE envelope as JSON bytes, of facts or of a verdict that states some; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, does not hold for this key, is about no run, or is a verdict that
            breaks a rule or states no facts.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    if parse_statement(payload_of(envelope))["predicateType"] == VERDICT_PREDICATE:
        return _of_verdict(envelope, key)
    statement, key = open_named(envelope, FACTS_PREDICATE, _WHAT, key)
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    fields.take("public_key", str)
    found = SignedFacts(fields.take("facts", dict), take_time(fields, "signed_at", _WHAT), key.key_id)
    fields.end()
    root = Fields({"run_root": found.fields.get("run_root")}, _WHAT, SignatureError).digest("run_root")
    if statement["subject"] != _subjects(root):
        raise SignatureError(say("The subject of the {0} is not the run that it speaks of.", _WHAT))
    return found


def _of_verdict(envelope: bytes, key: PublicKey) -> SignedFacts:
    verdict = verify_verdict(envelope, key)
    if verdict.run_facts is None:
        raise SignatureError(
            say("The verdict states no facts of its run."),
            remedy=say("Ask its auditor for a verdict of 'counterfoil audit --facts', or count them yourself."),
        )
    return SignedFacts(verdict.predicate["facts"], verdict.signed_at, verdict.key_id)


def differing(signed: SignedFacts, facts: RunFacts) -> tuple[str, ...]:
    """Return the names of the facts that are not as they were signed, or that are missing or too many. Pure.

    Args:
        signed: What was signed.
        facts: What the run shows, with the energy that was signed.
    """
    ours = fields_of(facts)
    names = sorted({*ours, *signed.fields})
    return tuple(name for name in names if name not in ours or signed.fields.get(name, ours) != ours[name])


def _subjects(run_root: Digest) -> list[dict[str, Any]]:
    return [make_subject("run", run_root, "rfc9162Sha256")]
