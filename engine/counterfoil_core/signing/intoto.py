"""What stands in every statement that Counterfoil signs: in-toto Statement v1, and the types of its predicates.

Names only, and nothing that signs: whoever reads what was said need not load what checks signatures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterfoil_core.base.digest import Digest

PAYLOAD_TYPE = "application/vnd.in-toto+json"
"""What the payload of an envelope is (in-toto attestation framework, envelope layer)."""
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
RUN_PREDICATE = "urn:counterfoil:run:v1"
"""Predicate type of the claim of a run that has every ordered step."""
SHORT_RUN_PREDICATE = "urn:counterfoil:run:v2"
"""Predicate type of the claim of a run that ends before its last ordered step."""
RUN_PREDICATES = RUN_PREDICATE, SHORT_RUN_PREDICATE
"""Predicate types of a run's claim."""
TREE_HEAD_PREDICATE = "urn:counterfoil:tree-head:v1"
"""Predicate type of a tree head that a trainer publishes while training."""
ORDER_PREDICATE = "urn:counterfoil:order:v1"
"""Predicate type of a client's signature on an order."""
ACCEPTANCE_PREDICATE = "urn:counterfoil:acceptance:v1"
"""Predicate type of a trainer's acceptance of an order."""
SHARE_PREDICATE = "urn:counterfoil:share:v2"
"""Predicate type of what a share of a step gave, by the party that answers for it."""
NOTE_PREDICATE = "urn:counterfoil:data-note:v1"
"""Predicate type of a note about an order's data, by whoever made them."""
WITHDRAWAL_PREDICATE = "urn:counterfoil:withdrawal:v1"
"""Predicate type of an auditor's withdrawal of a verdict, for good or for another one."""
REPLY_PREDICATE = "urn:counterfoil:reply:v1"
"""Predicate type of a trainer's reply to a verdict."""
VERDICT_PREDICATE = "urn:counterfoil:verdict:v2"
"""Predicate type of a verdict."""
ADJUDICATION_PREDICATE = "urn:counterfoil:adjudication:v2"
"""Predicate type of an adjudication: what the replay of a dispute capsule found."""
FACTS_PREDICATE = "urn:counterfoil:facts:v1"
"""Predicate type of what a run shows of itself, counted by whoever signs."""
REVOCATIONS_PREDICATE = "urn:counterfoil:revocations:v1"
"""Predicate type of a list of revoked keys."""
ROW_USE_PREDICATE = "urn:counterfoil:row-use:v1"
"""Predicate type of where rows stand in an order's data and which steps read them, or that they stand nowhere."""
SNAPSHOT_PREDICATE = "urn:counterfoil:snapshot:v1"
"""Predicate type of a line of a witness's log."""
RULES_PREDICATE = "urn:counterfoil:rules:v1"
"""Predicate type of what a run showed of rules, checked by whoever signs."""
RELEASE_PREDICATE = "urn:counterfoil:release:v1"
"""Predicate type of the list of a release's files."""
COMPARISON_PREDICATE = "urn:counterfoil:comparison:v1"
"""Predicate type of the steps in which an order agrees with the script that it came from."""

SVR_PREDICATE = "https://in-toto.io/attestation/svr/v0.1"
"""in-toto's Simple Verification Result."""
VSA_PREDICATE = "https://slsa.dev/verification_summary/v1"
"""SLSA's Verification Summary."""


def make_subject(name: str, digest: Digest, algorithm: str = "sha256") -> dict[str, Any]:
    """Return what a statement is about: a name, and a digest under its algorithm (in-toto ResourceDescriptor)."""
    return {"name": name, "digest": {algorithm: digest.hex}}


def make_statement(
    subjects: Sequence[dict[str, Any]], predicate_type: str, predicate: dict[str, Any]
) -> dict[str, Any]:
    """Return an in-toto Statement v1.

    Args:
        subjects: Each as :func:`make_subject` returns it.
        predicate_type: For instance ``RUN_PREDICATE``.
        predicate: What is said about the subjects.
    """
    return {"_type": STATEMENT_TYPE, "subject": list(subjects), "predicateType": predicate_type, "predicate": predicate}
