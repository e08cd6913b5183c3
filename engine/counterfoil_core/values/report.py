"""What an audit found: the account of its log, and the report of it all."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

from counterfoil_core.base.digest import Digest
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.values.dispute import Dispute
from counterfoil_core.values.outcome import Check, OrderSource, Outcome
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import Sample, headline
from counterfoil_core.values.trust import Trust, trust_of
from counterfoil_core.values.workers import ReplayedAt

NAMED_SITES = 10
"""So many sites at most are named as steered."""


@dataclass(frozen=True)
class SteeringRow:
    """What the log of the matching steps left to the trainer, for one operator kind.

    Attributes:
        kind: The operator kind, for instance ``convolution``.
        values: Number of values that were rounded.
        entries: Logged decisions: values that the trainer could have moved by one quantum.
        corrections: Directions taken from the log that differed from this machine's own rounding.
        steerable: Entries where honest hardware agrees on the direction: not close to the midpoint, or exactly there
            where the arithmetic is exact.
        steered: Corrections among these. The margin predicts none.
    """

    kind: str
    values: int
    entries: int
    corrections: int
    steerable: int
    steered: int


@dataclass(frozen=True)
class Steering:
    """How far the trainer could have steered the run through its log (:mod:`counterfoil_core.replay.steering`).

    Attributes:
        rows: One for each operator kind, sorted by name.
        significand_bits: p: one quantum is at most 2^(1-p) of the scale 2^E of the tensor.
        suspects: The operators whose directions look chosen rather than computed.
    """

    rows: tuple[SteeringRow, ...]
    significand_bits: int
    suspects: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        """Values that the trainer could have moved."""
        return sum(row.entries for row in self.rows)

    @property
    def steerable(self) -> int:
        """Entries where honest hardware agrees on the direction."""
        return sum(row.steerable for row in self.rows)

    @property
    def steered(self) -> int:
        """Entries among these whose direction differs all the same."""
        return sum(row.steered for row in self.rows)


@dataclass(frozen=True)
class Kept:
    """Progress of an audit that lies in a file, to go on from.

    Attributes:
        path: The file.
        segments: How many of the chosen segments were judged.
        chosen: How many were chosen.
        step: The last step of these segments; of a sample, or after a dispute, there are fewer judged ones before it.
        judged: How many steps of these segments were judged.
    """

    path: Path
    segments: int
    chosen: int
    step: int
    judged: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """What audits and adjudications find alike.

    Attributes:
        outcome: The conclusion.
        reason: One or two plain sentences that say why.
        checks: All ten checks, in order.
        order_digest: Digest of the order that was asked for: the client's own if it was given, also when the file was
            made for another one; else that of the file. None when neither is known.
        order_source: How it is known whose order it is: ``client`` when the client's own order was given, ``signature``
            when the file's order is signed with the client's key that was given, ``bundle`` when neither is so.
        run_order: Digest of the order that the file holds; None when it could not be read.
        run_root: The signed run root; None when it could not be read, or its signature does not hold.
        trainer_key: SHA-256 key id of the public key whose signature of the run holds; empty when none does.
        given_key: SHA-256 key id of the trainer's public key that the auditor gave; empty when none was given, so that
            check 5 rests on the key that the file itself names.
        title: Title of the order that the file holds.
        steps_ordered: Number of its steps.
        steps_recorded: Number of steps of the run, which may have ended early by the order's rule; else the same.
        steps_replayed: Number of steps replayed and judged.
        dispute: What differs, in the first step that does; None when none does.
        corrections: Rounding decisions that were taken from the log, over the replayed steps whose leaf matched.
        contradictions: Log entries that no honest trainer writes, over the same steps.
        omissions: Values close to a midpoint that the log lacks, over the same steps.
        seconds: Wall-clock time of the replay.
        environment: Device, library versions and switches of this machine.
        trainer_environment: The same of the trainer's, as the trainer signed it.
        client_key: Key id of who signed the order as its client; empty for an unsigned order.
        given_client_key: Key id of the client's public key that the auditor gave; empty when none was given, so that
            ``client_key`` is what the files name.
        accepted_at: When the trainer's key accepted the order, by the trainer's clock; empty when the acceptance was
            not read or does not hold.
        accepted_client: Key id of who had signed the order then, as the acceptance says; empty for an unsigned one.
    """

    outcome: Enum
    reason: str
    checks: tuple[Check, ...]
    order_digest: Digest | None
    order_source: OrderSource
    run_order: Digest | None
    run_root: Digest | None
    trainer_key: str
    title: str
    steps_ordered: int
    steps_recorded: int
    steps_replayed: int
    dispute: Dispute | None = None
    corrections: int = 0
    contradictions: int = 0
    omissions: int = 0
    seconds: float = 0.0
    environment: tuple[tuple[str, str], ...] = ()
    trainer_environment: tuple[tuple[str, str], ...] = ()
    given_key: str = ""
    client_key: str = ""
    given_client_key: str = ""
    accepted_at: str = ""
    accepted_client: str = ""

    @property
    def trainer_key_source(self) -> Literal["given", "bundle"]:
        """``given`` when the auditor gave the trainer's key, ``bundle`` when the one that the file names was taken."""
        return "given" if self.given_key else "bundle"

    @property
    def trust(self) -> Trust:
        """What it rests on, before anybody signs it."""
        return self.trust_signed_by("")

    def trust_signed_by(self, auditor_key: str) -> Trust:
        """What it rests on once a key has signed it, by the id of that key."""
        return trust_of(
            self.checks,
            self.trainer_key,
            named=self.given_key != "",
            auditor_key=auditor_key,
            order_source=self.order_source,
            client_key=self.client_key,
        )


@dataclass(frozen=True, kw_only=True)
class AuditReport(Report):
    """What an audit found: everything that a verdict says, before it is signed.

    Attributes:
        outcome: The conclusion.
        bundle_digest: SHA-256 of the bundle file.
        bundle_name: File name of the bundle.
        steps_planned: Number of steps in the chosen segments.
        mismatched_steps: Steps whose leaf differed, ascending.
        log_entries: Sum over the replayed steps whose leaf matched.
        log_bytes: Sum over the same steps.
        rounded_values: Sum over the same steps.
        environment: As in every report; under :data:`IMITATION` the hardware that the replay imitated, if it did.
        sample: The segments that were chosen; None when the audit ended before it could choose.
        steering: How far the trainer could have steered the matching steps; None when nothing was replayed, and under
            an exact profile, which leaves nothing to steer.
        without_bound: Operator kinds with a margin that no error bound proves, sorted; None when the order's program
            was not read.
        exact_bits: S of an exact profile; None of another one, and when the order was not read.
        replayed_at: Where the segments were replayed, this machine among the places; empty when it replayed them all.
        fetched: How much of a run that lies elsewhere was fetched; None where the run is a file of this machine, which
            is hashed.
        facts: What the run shows of itself, where that was asked for and the checks that bind it passed; else None.
        begun_at: When the replay began, UTC; empty when it did not get that far. Two audits that found the same may
            have begun at different times.
        ended_at: When it ended.
        sittings: In how many goes: each that went on with what an earlier one kept counts. ``seconds`` is their sum.
    """

    outcome: Outcome
    bundle_digest: Digest | None
    bundle_name: str
    steps_planned: int
    mismatched_steps: tuple[int, ...] = ()
    log_entries: int = 0
    log_bytes: int = 0
    rounded_values: int = 0
    sample: Sample | None = None
    steering: Steering | None = None
    without_bound: tuple[str, ...] | None = None
    exact_bits: int | None = None
    replayed_at: tuple[ReplayedAt, ...] = ()
    fetched: Fetched | None = None
    facts: RunFacts | None = None
    begun_at: str = field(default="", compare=False)
    ended_at: str = field(default="", compare=False)
    sittings: int = field(default=1, compare=False)

    @property
    def steps_matching(self) -> int:
        """Number of judged steps whose leaf came out equal: those over which the log is counted."""
        return self.steps_replayed - len(self.mismatched_steps)

    @property
    def earlier_mismatches(self) -> int | None:
        """How many steps before the disputed one differ; None without a dispute."""
        dispute = self.dispute
        return None if dispute is None else sum(step < dispute.step for step in self.mismatched_steps)

    @property
    def is_about(self) -> bool:
        """Whether there is something that a verdict could be about: a file that was hashed, or a run by its root."""
        compared = self.fetched is not None and self.fetched.compared and self.run_root is not None
        return self.bundle_digest is not None or compared

    @property
    def headline(self) -> str:
        """The outcome in words: of a clean one it says for how much of the run, and of the order, it holds."""
        return headline(self.outcome, self.sample, self.steps_recorded, self.steps_ordered)
