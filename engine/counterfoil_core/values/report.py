"""What an audit found: the account of its log, and the report of it all."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

from counterfoil_core.base.digest import Digest
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.signing.subject import Subject
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
    """What the log of the matching steps left to the trainer, for one operator kind."""

    kind: str  #: The operator kind, for instance ``convolution``.
    values: int  #: Number of values that were rounded.
    entries: int  #: Logged decisions: values that the trainer could have moved by one quantum.
    corrections: int  #: Directions taken from the log that differed from this machine's own rounding.
    #: Entries where honest hardware agrees on the direction: not close to the midpoint, or exactly there where the
    #: arithmetic is exact.
    steerable: int
    steered: int  #: Corrections among these. The margin predicts none.


@dataclass(frozen=True)
class Steering:
    """How far the trainer could have steered the run through its log (:mod:`counterfoil_core.replay.steering`)."""

    rows: tuple[SteeringRow, ...]  #: One for each operator kind, sorted by name.
    significand_bits: int  #: p: one quantum is at most 2^(1-p) of the scale 2^E of the tensor.
    suspects: tuple[str, ...] = ()  #: The operators whose directions look chosen rather than computed.

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
    """Progress of an audit that lies in a file, to go on from."""

    path: Path  #: The file.
    segments: int  #: How many of the chosen segments were judged.
    chosen: int  #: How many were chosen.
    #: The last step of these segments; of a sample, or after a dispute, there are fewer judged ones before it.
    step: int
    judged: int  #: How many steps of these segments were judged.


@dataclass(frozen=True, kw_only=True)
class Report:
    """What audits and adjudications find alike."""

    outcome: Enum  #: The conclusion.
    reason: str  #: One or two plain sentences that say why.
    checks: tuple[Check, ...]  #: All ten checks, in order.
    #: Digest of the order that was asked for: the client's own if it was given, also when the file was made for another
    #: one; else that of the file. None when neither is known.
    order_digest: Digest | None
    #: How it is known whose order it is: ``client`` when the client's own order was given, ``signature`` when the
    #: file's order is signed with the client's key that was given, ``bundle`` when neither is so.
    order_source: OrderSource
    run_order: Digest | None  #: Digest of the order that the file holds; None when it could not be read.
    run_root: Digest | None  #: The signed run root; None when it could not be read, or its signature does not hold.
    trainer_key: str  #: SHA-256 key id of the public key whose signature of the run holds; empty when none does.
    title: str  #: Title of the order that the file holds.
    steps_ordered: int  #: Number of its steps.
    steps_recorded: int  #: Number of steps of the run, which may have ended early by the order's rule; else the same.
    steps_replayed: int  #: Number of steps replayed and judged.
    dispute: Dispute | None = None  #: What differs, in the first step that does; None when none does.
    #: Rounding decisions that were taken from the log, over the replayed steps whose leaf matched.
    corrections: int = 0
    contradictions: int = 0  #: Log entries that no honest trainer writes, over the same steps.
    omissions: int = 0  #: Values close to a midpoint that the log lacks, over the same steps.
    seconds: float = 0.0  #: Wall-clock time of the replay.
    environment: tuple[tuple[str, str], ...] = ()  #: Device, library versions and switches of this machine.
    trainer_environment: tuple[tuple[str, str], ...] = ()  #: The same of the trainer's, as the trainer signed it.
    #: SHA-256 key id of the trainer's public key that the auditor gave; empty when none was given, so that check 5
    #: rests on the key that the file itself names.
    given_key: str = ""
    client_key: str = ""  #: Key id of who signed the order as its client; empty for an unsigned order.
    #: Key id of the client's public key that the auditor gave; empty when none was given, so that ``client_key`` is
    #: what the files name.
    given_client_key: str = ""
    #: When the trainer's key accepted the order, by the trainer's clock; empty when the acceptance was not read or does
    #: not hold.
    accepted_at: str = ""
    #: Key ids of the parties that answer for shares, as the order names them, ascending; empty where the trainer alone
    #: answers, or the run's signature does not hold.
    parties: tuple[str, ...] = ()
    #: Key id of who had signed the order then, as the acceptance says; empty for an unsigned one.
    accepted_client: str = ""

    @property
    def about(self) -> Subject | None:
        """The run that it is about; None where the file could not be read that far, or no signature of it holds."""
        return Subject.of(self.run_order, self.run_root, self.trainer_key)

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
            parties=self.parties,
            order_source=self.order_source,
            client_key=self.client_key,
        )


@dataclass(frozen=True, kw_only=True)
class AuditReport(Report):
    """What an audit found: everything that a verdict says, before it is signed.

    Attributes:
        environment: As in every report; under :data:`IMITATION` the hardware that the replay imitated, if it did.
    """

    outcome: Outcome  #: The conclusion.
    bundle_digest: Digest | None  #: SHA-256 of the bundle file.
    bundle_name: str  #: File name of the bundle.
    steps_planned: int  #: Number of steps in the chosen segments.
    mismatched_steps: tuple[int, ...] = ()  #: Steps whose leaf differed, ascending.
    log_entries: int = 0  #: Sum over the replayed steps whose leaf matched.
    log_bytes: int = 0  #: Sum over the same steps.
    rounded_values: int = 0  #: Sum over the same steps.
    sample: Sample | None = None  #: The segments that were chosen; None when the audit ended before it could choose.
    #: How far the trainer could have steered the matching steps; None when nothing was replayed, and under an exact
    #: profile, which leaves nothing to steer.
    steering: Steering | None = None
    #: Operator kinds with a margin that no error bound proves, sorted; None when the order's program was not read.
    without_bound: tuple[str, ...] | None = None
    exact_bits: int | None = None  #: S of an exact profile; None of another one, and when the order was not read.
    #: Where the segments were replayed, this machine among the places; empty when it replayed them all.
    replayed_at: tuple[ReplayedAt, ...] = ()
    #: How much of a run that lies elsewhere was fetched; None where the run is a file of this machine, which is hashed.
    fetched: Fetched | None = None
    #: What the run shows of itself, where that was asked for and the checks that bind it passed; else None.
    facts: RunFacts | None = None
    #: When the replay began, UTC; empty when it did not get that far. Two audits that found the same may have begun at
    #: different times.
    begun_at: str = field(default="", compare=False)
    ended_at: str = field(default="", compare=False)  #: When it ended.
    #: In how many goes: each that went on with what an earlier one kept counts. ``seconds`` is their sum.
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
