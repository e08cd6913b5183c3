"""What a signed verdict or adjudication says, as values; docs/verdict.md lists the fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterfoil.audit.values.adjudication import AdjudicationOutcome
from counterfoil.audit.values.outcome import Check, Outcome
from counterfoil.audit.values.report import Steering
from counterfoil.audit.values.sampling import Sample, headline
from counterfoil.commit.digest import Digest


@dataclass(frozen=True)
class Verdict:
    """A verdict whose signature holds and whose contents are consistent.

    Attributes:
        outcome: The conclusion.
        reason: One or two plain sentences that say why.
        bundle_name: File name of the audited bundle, as the auditor had it.
        bundle_digest: SHA-256 of the bundle file.
        run_root: The signed run root; None when the audit could not read it.
        order_digest: Digest of the order; None when the audit could not read it.
        order_source: ``client`` when the order came from the client, ``bundle`` when it was taken from the run.
        checks: All ten checks, in order.
        steps_ordered: Number of steps ordered.
        steps_replayed: Number of steps replayed and judged.
        sample: The segments that were chosen; None when the audit ended before it could choose.
        disputed_step: The first step that differs; None when there is no dispute.
        steering: How far the trainer could have steered the matching steps; None when nothing was replayed.
        without_bound: Operator kinds with a margin that no error bound proves, sorted; None when the order's program
            was not read.
        signed_at: When the auditor signed, ISO 8601 in UTC, as the auditor says.
        key_id: SHA-256 key id of the key that signed.
        predicate: The whole predicate as JSON, as docs/verdict.md describes it.
    """

    outcome: Outcome
    reason: str
    bundle_name: str
    bundle_digest: Digest
    run_root: Digest | None
    order_digest: Digest | None
    order_source: str
    checks: tuple[Check, ...]
    steps_ordered: int
    steps_replayed: int
    sample: Sample | None
    disputed_step: int | None
    steering: Steering | None
    without_bound: tuple[str, ...] | None
    signed_at: str
    key_id: str
    predicate: dict[str, Any]

    @property
    def headline(self) -> str:
        """The outcome in words: for a clean sample it says for how much of the run it holds."""
        return headline(self.outcome, self.sample)


@dataclass(frozen=True)
class Adjudication:
    """A signed adjudication whose signature holds and whose contents are consistent.

    Attributes:
        outcome: The conclusion about the dispute.
        reason: The same in plain sentences.
        bundle_name: File name of the dispute capsule, as whoever judged it had it.
        bundle_digest: SHA-256 of the capsule.
        run_root: The signed run root; None when the signature in the capsule does not hold.
        order_digest: Digest of the order; None when it could not be read.
        order_source: ``client`` when the order was compared with the client's own, else ``bundle``.
        checks: All ten checks, in order.
        steps_ordered: Number of steps of the order.
        agreed_step: The step after which the capsule's state is taken.
        step: The step that the capsule disputes; 0 when it could not be read.
        steps_replayed: Number of steps replayed and judged.
        disputed_step: The first step that differs; None when none does.
        signed_at: When it was signed, ISO 8601 in UTC, as the signer says.
        key_id: SHA-256 key id of the key that signed.
        predicate: The whole predicate as JSON, as docs/verdict.md describes it.
    """

    outcome: AdjudicationOutcome
    reason: str
    bundle_name: str
    bundle_digest: Digest
    run_root: Digest | None
    order_digest: Digest | None
    order_source: str
    checks: tuple[Check, ...]
    steps_ordered: int
    agreed_step: int
    step: int
    steps_replayed: int
    disputed_step: int | None
    signed_at: str
    key_id: str
    predicate: dict[str, Any]
