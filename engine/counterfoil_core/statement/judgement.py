"""A verdict and an adjudication that were read: what stands in them, and what was said of them afterwards.

Plain values that load nothing which checks signatures, so that the window may hold them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from msgspec import UNSET

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.signing.kinds import ACCEPTANCE, ORDER, ROOT, RUN, SHA256, SHARE
from counterfoil_core.signing.subject import Subject
from counterfoil_core.statement.factfields import facts_from
from counterfoil_core.statement.model import AdjudicationStatement, OrderDigestFields, VerdictStatement
from counterfoil_core.statement.parts import shown_as
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.beacon import Beacon
from counterfoil_core.values.dispute import accuses
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, OrderSource, Outcome
from counterfoil_core.values.report import Steering, SteeringRow
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import Sample, headline
from counterfoil_core.values.trust import Trust, trust_of
from counterfoil_core.values.workers import Place, ReplayedAt

_SHARED = (
    "outcome", "reason", "bundle_name", "bundle_digest", "run_root", "order_digest", "order_source", "run_order",
    "trainer_key", "given_key", "client_key", "given_client_key", "accepted", "checks", "steps_ordered",
    "steps_recorded",
)  # fmt: skip


@dataclass(frozen=True)
class Signed(ABC):
    """What an auditor signed. Its signature holds, and it does not contradict itself."""

    statement: VerdictStatement | AdjudicationStatement  #: All that it says, as docs/verdict.md lists it.
    key_id: str  #: SHA-256 key id of the key that signed.

    kind: ClassVar[str]
    """What it is called in a sentence."""
    facts: ClassVar[tuple[str, ...]]
    """The names of what it says in short."""

    @property
    def reason(self) -> str:
        """One or two plain sentences that say why the result is what it is, and what they were made of."""
        return shown_as(self.statement.reason, self.statement.reason_parts)

    @property
    def title(self) -> str:
        """Title of the order."""
        return self.statement.title

    @property
    def bundle_name(self) -> str:
        """Name of the file that was judged, as the auditor had it."""
        return self.statement.subject[0].name

    @property
    def bundle_digest(self) -> Digest | None:
        """SHA-256 of that file; None where it lay elsewhere and was not read whole."""
        said = self.statement.subject[0].digest.get(SHA256)
        return None if said is None else Digest.from_hex(said)

    @property
    def run_root(self) -> Digest | None:
        """The signed run root; None when it could not be read, or its signature does not hold."""
        roots = [subject.digest.get(ROOT) for subject in self.statement.subject[:2]]
        return next((Digest.from_hex(root) for root in roots if root is not None), None)

    @property
    def about(self) -> Subject | None:
        """The run that it is about; None where the file could not be read that far, or no signature of it holds."""
        return Subject.of(self.run_order, self.run_root, self.trainer_key)

    @property
    def order_digest(self) -> Digest | None:
        """Digest of the order that was asked for: the client's if it was given, else the file's own; None if unread."""
        return _digest(self.statement.policy.order_digest)

    @property
    def order_source(self) -> OrderSource:
        """``client`` when the client's own order was given, ``signature`` when the client's key was, or ``bundle``."""
        return self.statement.policy.order_source

    @property
    def run_order(self) -> Digest | None:
        """Digest of the order that the file holds; None when it could not be read."""
        return _digest(self.statement.policy.run_order_digest)

    @property
    def trainer_key(self) -> str:
        """SHA-256 key id of the key whose signature of the run holds; empty when none does."""
        return self._signer(*RUN.predicates)

    @property
    def client_key(self) -> str:
        """SHA-256 key id of the key that signed the order as its client; empty for an unsigned order."""
        return self._signer(ORDER.predicate)

    @property
    def accepted(self) -> bool:
        """Whether the trainer's key accepted the order when training began."""
        return bool(self._signer(ACCEPTANCE.predicate))

    @property
    def given_client_key(self) -> str:
        """SHA-256 key id of the client's key that the auditor gave; empty when none was given."""
        return self.statement.policy.client_key_id or ""

    @property
    def claim_kind(self) -> str:
        """Predicate type that the run's claim has, by the number of steps that is said."""
        return RUN.predicate if self.said_recorded is None else RUN.short

    @property
    def parties(self) -> tuple[str, ...]:
        """Key ids of the parties that signed shares of the run's steps, ascending."""
        return tuple(one.key_id for one in self.statement.input_attestations if one.predicate_type == SHARE.predicate)

    def _signer(self, *kinds: str) -> str:
        attestations = self.statement.input_attestations
        return next((one.key_id for one in attestations if one.predicate_type in kinds), "")

    @property
    def given_key(self) -> str:
        """SHA-256 key id of the trainer's key that the auditor gave; empty when none was given."""
        return self.statement.policy.trainer_key_id or ""

    @property
    def trainer_key_source(self) -> Literal["given", "bundle"]:
        """``given`` when the auditor gave the trainer's key, ``bundle`` when the one that the file names was taken."""
        return "given" if self.given_key else "bundle"

    @property
    def trust(self) -> Trust:
        """What it rests on, by what stands in it."""
        return trust_of(
            self.checks,
            self.trainer_key,
            named=self.given_key != "",
            auditor_key=self.key_id,
            parties=self.parties,
            order_source=self.order_source,
            client_key=self.client_key,
        )

    @property
    def checks(self) -> tuple[Check, ...]:
        """All ten checks, in order."""
        return tuple(
            Check(check.number, check.state, shown_as(check.detail, check.detail_parts))
            for check in self.statement.checks
        )

    @property
    def found(self) -> str:
        """What is proven of its dispute, in plain sentences; empty where there is none."""
        dispute = self.statement.dispute
        if dispute is None or dispute.finding is None:
            return ""
        return shown_as(dispute.finding.sentence, dispute.finding.sentence_parts)

    @property
    def states(self) -> dict[CheckNumber, CheckState]:
        """Where each check stands."""
        return {check.number: check.state for check in self.statement.checks}

    @property
    def disputed_step(self) -> int | None:
        """The first step that differs; None when none does."""
        dispute = self.statement.dispute
        return None if dispute is None else dispute.step

    @property
    def accuses(self) -> bool:
        """Whether its dispute accuses the trainer."""
        dispute = self.statement.dispute
        return dispute is not None and accuses(
            dispute.confirmed, None if dispute.finding is None else dispute.finding.right
        )

    @property
    def signed_at(self) -> str:
        """When it was signed, ISO 8601 in UTC, as the signer says."""
        return self.statement.time_verified

    @property
    def predicate(self) -> dict[str, Any]:
        """The whole predicate as JSON values."""
        return self.statement.predicate

    @property
    @abstractmethod
    def steps_ordered(self) -> int:
        """Number of steps ordered."""

    @property
    @abstractmethod
    def said_recorded(self) -> int | None:
        """Number of steps of a run that is said to end before its last ordered step; None of any other."""

    @property
    def steps_recorded(self) -> int:
        """Number of steps of the run, which may have ended early by the order's rule; else all that were ordered."""
        return self.steps_ordered if self.said_recorded is None else self.said_recorded

    @property
    @abstractmethod
    def steps_replayed(self) -> int:
        """Number of steps replayed and judged."""


@dataclass(frozen=True)
class Verdict(Signed):
    """What an auditor signed about a run; as :class:`Signed`."""

    statement: VerdictStatement

    kind = say("verdict")
    facts = (
        *_SHARED, "steps_replayed", "sample", "model", "disputed_step", "steering", "without_bound", "exact_bits",
        "replayed_at", "fetched", "run_facts",
        "signed_at", "key_id", "predicate",
    )  # fmt: skip

    @property
    def outcome(self) -> Outcome:
        """The conclusion."""
        return self.statement.result

    @property
    def model(self) -> tuple[str, Digest] | None:
        """Name and OpenSSF Model Signing digest of the folder whose weights are the run's; None when none was given."""
        subjects = self.statement.subject
        return (subjects[2].name, Digest.from_hex(subjects[2].digest[SHA256])) if len(subjects) > 2 else None

    @property
    def headline(self) -> str:
        """The outcome in words: of a clean one it says for how much of the run, and of the order, it holds."""
        return headline(self.outcome, self.sample, self.steps_recorded, self.steps_ordered)

    @property
    def steps_ordered(self) -> int:
        """Number of steps ordered."""
        return self.statement.coverage.steps_ordered

    @property
    def said_recorded(self) -> int | None:
        """Number of steps of a run that is said to end before its last ordered step; None of any other."""
        said = self.statement.coverage.steps_recorded
        return None if said is UNSET else said

    @property
    def steps_replayed(self) -> int:
        """Number of steps replayed and judged."""
        return self.statement.coverage.steps_replayed

    @property
    def steps_matching(self) -> int:
        """Number of judged steps that came out equal: those over which the log is counted."""
        return self.steps_replayed - sum(last - first + 1 for first, last in self.statement.coverage.mismatched_steps)

    @property
    def sample(self) -> Sample | None:
        """The segments that were chosen; None when the audit ended before it could choose."""
        fields = self.statement.coverage.sample
        if fields is None:
            return None
        said = fields.beacon
        return Sample(
            fields.segments,
            fields.chosen,
            fields.selection,
            fields.nonce,
            fields.bad_segments,
            fields.nonce_source,
            None if said is None else Beacon(said.chain, said.round, said.signature),
        )

    @property
    def steering(self) -> Steering | None:
        """How far the trainer could have steered the matching steps; None when nothing was replayed."""
        fields = self.statement.steering
        if fields is None:
            return None
        rows = (
            SteeringRow(row.kind, *map(int, (row.values, row.entries, row.corrections, row.steerable, row.steered)))
            for row in fields.operators
        )
        return Steering(tuple(rows), fields.significand_bits, fields.suspects)

    @property
    def exact_bits(self) -> int | None:
        """S of an exact profile; None of another one, and when the order was not read."""
        return self.statement.exact_bits

    @property
    def replayed_at(self) -> tuple[ReplayedAt, ...]:
        """Where the segments were replayed; empty when one machine replayed them all."""
        places = self.statement.replayed_at
        return tuple(
            ReplayedAt(Place(place.machine, tuple(sorted(place.environment.items()))), place.segments, place.by)
            for place in (() if places is UNSET else places)
        )

    @property
    def fetched(self) -> Fetched | None:
        """How much was fetched of a run that lay elsewhere; None where the run was a file, which was hashed."""
        said, place = self.statement.fetched, self.statement.resource_uri
        return None if said is UNSET else Fetched(place, int(said.size), int(said.bytes), int(said.requests), True)

    @property
    def run_facts(self) -> RunFacts | None:
        """What the auditor counted of the run, if that was asked for; None where it was not."""
        said = self.statement.facts
        return None if said is UNSET else facts_from(said)

    @property
    def without_bound(self) -> tuple[str, ...] | None:
        """Operator kinds with a margin that no error bound proves; None when the order's program was not read."""
        return self.statement.without_bound


@dataclass(frozen=True)
class Adjudication(Signed):
    """What somebody signed about a dispute capsule; as :class:`Signed`."""

    statement: AdjudicationStatement

    kind = say("adjudication")
    facts = (
        *_SHARED, "agreed_step", "step", "steps_replayed", "disputed_step", "signed_at", "key_id", "predicate",
    )  # fmt: skip

    @property
    def outcome(self) -> AdjudicationOutcome:
        """The conclusion about the dispute."""
        return self.statement.result

    @property
    def steps_ordered(self) -> int:
        """Number of steps of the order."""
        return self.statement.steps.ordered

    @property
    def said_recorded(self) -> int | None:
        """Number of steps of a run that is said to end before its last ordered step; None of any other."""
        said = self.statement.steps.recorded
        return None if said is UNSET else said

    @property
    def agreed_step(self) -> int:
        """The step after which the capsule's state is taken."""
        return self.statement.steps.agreed

    @property
    def step(self) -> int:
        """The step that the capsule disputes; 0 when it could not be read."""
        return self.statement.steps.disputed

    @property
    def steps_replayed(self) -> int:
        """Number of steps replayed and judged."""
        return self.statement.steps.replayed


def _digest(fields: OrderDigestFields | None) -> Digest | None:
    return None if fields is None else Digest.from_hex(fields.sha256)
