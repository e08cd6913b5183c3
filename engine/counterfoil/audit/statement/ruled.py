"""What a run showed of rules, as a signed statement; whoever has rules and run checks each again. docs/rules.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from counterfoil.audit.values.runrules import RuleResult
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.signing.envelope import open_named, sign_statement
from counterfoil_core.signing.intoto import RULES_PREDICATE, make_statement, make_subject
from counterfoil_core.signing.keys import PublicKey, SigningKey
from counterfoil_core.signing.predicates import take_time

MAX_BYTES = 2**24
"""Bytes of a statement that is read."""
_WHAT = say("statement on rules")


@dataclass(frozen=True)
class SignedRules:
    """A statement on rules; the signature holds, and nothing else is known yet.

    Attributes:
        rules: SHA-256 of the file of rules.
        run_root: The run.
        results: For each rule its name, outcome and sentence, as :func:`results_of` writes them.
        signed_at: ISO 8601 time in UTC, as the clock of whoever signed had it.
        key_id: Key id of the key that signed.
    """

    rules: Digest
    run_root: Digest
    results: list[Any]
    signed_at: str
    key_id: str


def results_of(results: Sequence[RuleResult]) -> list[dict[str, str]]:
    """Return results as JSON values."""
    return [{"rule": each.rule, "outcome": each.outcome.value, "said": str(each.said)} for each in results]


def sign_results(
    rules: Digest, run_root: Digest, results: Sequence[RuleResult], key: SigningKey, when: datetime | None = None
) -> bytes:
    """Sign what a run showed of rules; returns the DSSE envelope as JSON bytes.

    Args:
        rules: SHA-256 of the file of rules.
        run_root: The run.
        results: What was found.
        key: The key of whoever checked.
        when: The time, with its zone; now unless given.
    """
    predicate = {
        "rules": rules.hex,
        "results": results_of(results),
        "signed_at": timestamp(when),
        "public_key": key.public.pem,
    }
    return sign_statement(make_statement(_subjects(run_root, rules), RULES_PREDICATE, predicate), key)


def open_results(envelope: bytes, key: PublicKey) -> SignedRules:
    """Check who signed a statement on rules.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        key: The key that must have signed it.

    Raises:
        SignatureError: It is malformed, does not hold for this key, or its subjects are not run and rules.
    """
    if len(envelope) > MAX_BYTES:
        raise SignatureError(say("The {0} is longer than {1} bytes.", _WHAT, MAX_BYTES))
    statement, key = open_named(envelope, RULES_PREDICATE, _WHAT, key)
    fields = Fields(statement["predicate"], _WHAT, SignatureError)
    fields.take("public_key", str)
    rules, results = fields.digest("rules"), fields.take("results", list)
    signed_at = take_time(fields, "signed_at", _WHAT)
    fields.end()
    try:
        root = Digest.from_hex(statement["subject"][0]["digest"]["rfc9162Sha256"])
    except (LookupError, TypeError, ValueError) as error:
        raise SignatureError(say("The {0} is about no run.", _WHAT)) from error
    if statement["subject"] != _subjects(root, rules):
        raise SignatureError(say("The subjects of the {0} are not a run and rules.", _WHAT))
    return SignedRules(rules, root, results, signed_at, key.key_id)


def _subjects(run_root: Digest, rules: Digest) -> list[dict[str, Any]]:
    return [make_subject("run", run_root, "rfc9162Sha256"), make_subject("rules", rules)]
