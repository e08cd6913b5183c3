"""The facts of a run as a signed statement: whoever signs says to have counted them; whoever has the run counts again.

docs/facts.md lists the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from counterfoil.audit.values.runfacts import RunFacts
from counterfoil.base.digest import Digest
from counterfoil.base.errors import SignatureError
from counterfoil.base.fields import Fields
from counterfoil.base.sentence import say
from counterfoil.base.timestamps import timestamp
from counterfoil.signing.envelope import open_named, sign_statement
from counterfoil.signing.intoto import FACTS_PREDICATE, make_statement, make_subject
from counterfoil.signing.keys import PublicKey, SigningKey
from counterfoil.signing.predicates import take_time

MAX_BYTES = 2**22
"""Bytes of a statement that is read."""
_WHAT = say("facts of a run")


@dataclass(frozen=True)
class SignedFacts:
    """Facts that somebody signed; the signature holds, and nothing else is known yet.

    Attributes:
        fields: The facts as JSON values, as :func:`fields_of` returns them.
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


def fields_of(facts: RunFacts) -> dict[str, Any]:
    """Return facts as JSON values; counts are text, since JSON loses large numbers."""
    return {
        "order": facts.order.hex,
        "run_root": facts.run_root.hex,
        "trainer_key": facts.trainer_key,
        "client_key": facts.client_key,
        "title": facts.title,
        "steps": facts.steps,
        "steps_ordered": facts.steps_ordered,
        "batch_size": facts.batch_size,
        "parameters": str(facts.parameters),
        "optimizer": facts.optimizer,
        "precision": facts.precision,
        "compute": facts.compute,
        "exact_bits": facts.exact_bits,
        "programs": {name: digest.hex for name, digest in facts.program_digests},
        "total_operations": str(facts.total_operations),
        "operations": [
            {"part": each.part, "kind": each.kind, "operations": str(each.operations)} for each in facts.operations
        ],
        "data": [
            {
                "name": each.name,
                "dtype": each.dtype,
                "shape": list(each.shape),
                "digest": each.digest.hex,
                "rows_read": str(each.rows_read),
                "distinct_rows": str(each.distinct_rows),
                "elements_read": str(each.elements_read),
            }
            for each in facts.data
        ],
        "started": facts.started,
        "signed": facts.signed,
        "machine": dict(facts.machine),
        "energy_kwh": facts.energy_kwh,
    }


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
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, does not hold for this key, or is about no run.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    statement, key = open_named(envelope, FACTS_PREDICATE, _WHAT, key)
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    fields.take("public_key", str)
    found = SignedFacts(fields.take("facts", dict), take_time(fields, "signed_at", _WHAT), key.key_id)
    fields.end()
    root = Fields({"run_root": found.fields.get("run_root")}, _WHAT, SignatureError).digest("run_root")
    if statement["subject"] != _subjects(root):
        raise SignatureError(say("The subject of the {0} is not the run that it speaks of.", _WHAT))
    return found


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
