"""What a replay reports while it runs: plain frozen values, consumed alike by the command line and the window."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.audit.outcome import Check, Outcome
from counterfoil.audit.sampling import Sample, headline
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import MerkleComparison

if TYPE_CHECKING:
    from counterfoil.bundle.capsule import CapsuleContents


class StepMatch(Enum):
    """How a step's Merkle leaf compares."""

    MATCH = "match"
    """The replay's leaf equals the trainer's."""
    MISMATCH = "mismatch"
    """The replay's leaf differs from the trainer's."""
    UNJUDGED = "unjudged"
    """The step lies between a disputed one and the next checkpoint: the trainer's state before it is not stored."""


@dataclass(frozen=True)
class ElementComparison:
    """One element of a tensor on both sides.

    Attributes:
        index: Its multi-index.
        trainer: The trainer's value.
        replay: The replay's value.
        ulps: Distance in units in the last place of float32 (integers: plain difference); 0 where the bits agree, and
            for the two zeros.
        equal: Whether the bits agree.
    """

    index: tuple[int, ...]
    trainer: float
    replay: float
    ulps: int
    equal: bool


@dataclass(frozen=True)
class TensorDetail:
    """Where two tensors differ, from the tensor digest down to single elements.

    Attributes:
        dtype: Dtype name of both.
        trainer: The trainer's tensor digest.
        replay: The replay's.
        chunks: Number of 16 KiB chunks under a tensor digest.
        differing_chunks: How many of them differ.
        first_chunk: Number of the first that differs, from 0.
        trainer_chunk: Merkle leaf hash of that chunk, the trainer's.
        replay_chunk: The replay's.
        elements: Elements around the first that differs, neighbours in C order.
    """

    dtype: str
    trainer: Digest
    replay: Digest
    chunks: int
    differing_chunks: int
    first_chunk: int
    trainer_chunk: Digest
    replay_chunk: Digest
    elements: tuple[ElementComparison, ...]


@dataclass(frozen=True)
class TensorDivergence:
    """How far one state tensor of the replay lies from the trainer's.

    Attributes:
        name: Name of the state tensor, for instance ``conv1.weight``.
        shape: Its shape.
        differing: Number of elements whose bits differ.
        max_abs: Largest absolute difference; 0 when equal.
        max_ulps: Largest difference in units in the last place of float32 (integers: plain difference).
        l2: Euclidean norm of the difference.
        index: Multi-index of the element with the largest absolute difference; empty when equal or zero-dimensional.
        trainer: The trainer's value there.
        replay: The replay's value there.
        detail: Chunks and elements; given for the worst tensors of a dispute only.
    """

    name: str
    shape: tuple[int, ...]
    differing: int
    max_abs: float
    max_ulps: int
    l2: float
    index: tuple[int, ...]
    trainer: float
    replay: float
    detail: TensorDetail | None = None


@dataclass(frozen=True)
class NeighbourOperator:
    """An operator of the program near the disputed one.

    Attributes:
        number: Its place among the operators of the program, from 1.
        name: ATen name.
        module: Path of the module, or name of the state tensor being updated; empty for the step itself.
        phase: The pass: ``forward``, ``backward`` or ``update``.
        shapes: Shapes of its outputs.
        agrees: Whether all its fingerprints agree; None when it has none.
    """

    number: int
    name: str
    module: str
    phase: str
    shapes: tuple[tuple[int, ...], ...]
    agrees: bool | None


@dataclass(frozen=True)
class DisputedOperator:
    """The first operator of the disputed step whose result differs, found by fingerprints.

    Attributes:
        number: Its place among the operators of the program, from 1.
        total: Number of operators.
        name: ATen name, for instance ``aten.convolution_backward.default``.
        module: Path of the module, or name of the state tensor being updated; empty for the step itself.
        phase: The pass: ``forward``, ``backward`` or ``update``.
        shape: Shape of the differing output.
        input_shapes: Shapes of its tensor inputs.
        differing_operators: How many operators of the step differ in all, of those that are fingerprinted.
        neighbours: The operators around it in the order in which they run, itself among them.
    """

    number: int
    total: int
    name: str
    module: str
    phase: str
    shape: tuple[int, ...]
    input_shapes: tuple[tuple[int, ...], ...]
    differing_operators: int
    neighbours: tuple[NeighbourOperator, ...] = ()

    @property
    def where(self) -> str:
        """Name, pass and module in words."""
        return f"{self.name} ({self.phase}{f' of {self.module}' if self.module else ''})"


class Right(Enum):
    """Who is right about a step that differs, as far as it can be proven."""

    REPLAY = "replay"
    """This machine's values are right, and the trainer's are such as no conforming machine gives."""
    UNREADABLE = "unreadable log"
    """The trainer signed a rounding log that nobody can read."""
    OMISSIONS = "omissions"
    """In step after step the trainer left decisions out of its log that every conforming recorder writes down."""
    OMISSION = "omission"
    """It did so in this step; once or twice, that accuses nobody."""
    TRAINER = "trainer"
    """The trainer's values are right: this machine's arithmetic is off."""
    NOBODY_KNOWN = "nobody known"
    """This machine's arithmetic is off; what the trainer's values are is not known."""
    MARGIN = "margin"
    """Conforming machines may round to either side here, and the margin is too small for all of them to log it."""
    UNKNOWN = "unknown"
    """Neither side can be shown to be wrong: there is no exact value or no error bound, or it is not known which
    elements differ and some of them may be rounded to either side."""


ACCUSING = frozenset({Right.REPLAY, Right.UNREADABLE, Right.OMISSIONS})
"""The findings that are beyond what any conforming machine gives."""


@dataclass(frozen=True)
class DisputedElement:
    """One element of the disputed operator's output, recomputed exactly.

    Attributes:
        index: Its multi-index; empty for a scalar.
        exact: The exact value, as decimal text with 25 significant digits.
        exact_nearest: The float64 nearest to it.
        computed: This machine's value before rounding.
        replay: This machine's value after rounding, the trainer's logged direction applied.
        trainer: The trainer's value, where the fingerprint tells it; None where it does not.
        quantum: Distance of two neighbouring grid points there.
        error: Distance of ``computed`` from the exact value, in units of the error bound.
        midpoint: Distance of the exact value from the nearest midpoint between grid points, in units of the same.
    """

    index: tuple[int, ...]
    exact: str
    exact_nearest: float
    computed: float
    replay: float
    trainer: float | None
    quantum: float
    error: float
    midpoint: float


@dataclass(frozen=True)
class Finding:
    """What exact arithmetic says of a dispute.

    Attributes:
        right: Who is right.
        sentence: The same in plain sentences, with the reason.
        elements: The most telling of the elements that were recomputed: those that differ, or the first ones.
        recomputed: How many elements were recomputed exactly.
        total: How many elements the operator's output has.
        margin: The margin tau of the output; 0 when nothing was recomputed.
        bound: How far a conforming machine's value lies from the exact one at most; 0 when nothing was recomputed.
    """

    right: Right
    sentence: str
    elements: tuple[DisputedElement, ...] = ()
    recomputed: int = 0
    total: int = 0
    margin: float = 0.0
    bound: float = 0.0


def accuses(confirmed: bool, right: Right | None) -> bool:
    """Whether a step that differs accuses the trainer: confirmed, and proven.

    Args:
        confirmed: Whether this machine gave its own result again.
        right: Who is right; None where there is no finding.
    """
    return confirmed and right in ACCUSING


@dataclass(frozen=True)
class Dispute:
    """The first step at which the replay and the trainer's commitment part.

    Attributes:
        step: Step number, 1 for the first step of training.
        trainer_leaf: The trainer's Merkle leaf hash of that step.
        replay_leaf: The replay's Merkle leaf hash of that step; None when the trainer's log cannot be read, so that
            nothing could be replayed.
        parts: Which parts of the leaf differ: some of ``state``, ``loss``, ``fingerprints``; or ``log`` when it cannot
            be read.
        path: The comparisons from the root down to the leaf, both children where the first is equal; none when there is
            no replay's leaf, or the dispute was judged from a capsule, which does not hold the tree.
        inclusion_proof: RFC 9162 inclusion proof of the trainer's leaf in the signed run root.
        compared_at: Step of the checkpoint at which ``tensors`` were compared (the disputed step itself, or the next
            checkpoint after it); None when the trainer stored none.
        tensors: The differing state tensors, largest absolute difference first.
        trainer_loss: Loss that the trainer recorded for the step.
        replay_loss: Loss of the replay; not a number when nothing could be replayed.
        confirmed: Whether a second replay of the step, with every reduction in another order, gave the replay's leaf
            again. If not, this machine's arithmetic lies outside the margin, and the trainer is not accused. A log that
            cannot be read needs no replay to confirm it.
        operator: The first operator whose result differs; None when all fingerprints agree, and where what the step
            read differs already.
        trainer_state: The trainer's state root at ``compared_at``.
        replay_state: The replay's.
        finding: What is proven; None when this machine's result was not confirmed.
        inputs: Names of the data arrays whose rows in the trainer's batch are not the ordered ones.
    """

    step: int
    trainer_leaf: Digest
    replay_leaf: Digest | None
    parts: tuple[str, ...]
    path: tuple[MerkleComparison, ...]
    inclusion_proof: tuple[Digest, ...]
    compared_at: int | None
    tensors: tuple[TensorDivergence, ...]
    trainer_loss: float
    replay_loss: float
    confirmed: bool
    operator: DisputedOperator | None = None
    trainer_state: Digest | None = None
    replay_state: Digest | None = None
    finding: Finding | None = None
    inputs: tuple[str, ...] = ()

    @property
    def accuses(self) -> bool:
        """Whether the trainer is to blame: the replay was confirmed, and the finding is proven."""
        return accuses(self.confirmed, None if self.finding is None else self.finding.right)

    @property
    def stands_alone(self) -> bool:
        """Whether it accuses, and this step alone shows it, so that a capsule can hand it on."""
        return self.accuses and self.finding is not None and self.finding.right is not Right.OMISSIONS


@dataclass(frozen=True)
class StepRow:
    """The result of one replayed step.

    Attributes:
        step: Step number, from 1.
        match: How the leaf compares.
        trainer_leaf: The trainer's Merkle leaf hash.
        replay_leaf: The replay's Merkle leaf hash; None when the step was not replayed.
        trainer_loss: The loss the trainer recorded.
        replay_loss: The loss of the replay; not a number when the step was not replayed.
        log_entries: Logged rounding decisions of the step.
        log_bytes: Size of the step's log.
        corrections: Logged directions that differed from this machine's own rounding.
        contradictions: Log entries that no honest trainer would write.
        omissions: Values close to a midpoint that the trainer did not log.
        rounded_values: Number of values that were rounded in the step.
        seconds: Wall-clock time of the step's replay.
        steerable: Entries whose own value is so far from the midpoint that honest hardware agrees on the direction.
        steered: Corrections among these.
    """

    step: int
    match: StepMatch
    trainer_leaf: Digest
    replay_leaf: Digest | None
    trainer_loss: float
    replay_loss: float
    log_entries: int
    log_bytes: int
    corrections: int
    contradictions: int
    omissions: int
    rounded_values: int
    seconds: float
    steerable: int = 0
    steered: int = 0


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
    """How far the trainer could have steered the run through its log (:mod:`counterfoil.audit.steering`).

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
        step: The last step that was judged.
    """

    path: Path
    segments: int
    chosen: int
    step: int


@dataclass(frozen=True)
class AuditStarted:
    """First event of every audit, but for what it says while it hashes a large file.

    Attributes:
        steps: Number of steps of the run.
        tensor_names: Names of the state tensors, sorted.
        device: The device of the replay, for instance ``cpu`` or ``cuda:0``.
        checks: Every check with its state so far.
        planned_steps: Number of steps that will be replayed.
        sample: The segments that will be replayed; None when the audit ended before it could choose.
        kept: Progress of an earlier audit that this one could have gone on from, or does go on from.
    """

    steps: int
    tensor_names: tuple[str, ...]
    device: str
    checks: tuple[Check, ...]
    planned_steps: int = 0
    sample: Sample | None = None
    kept: Kept | None = None


@dataclass(frozen=True)
class ProgressRestored:
    """The steps, comparisons and disputes reported since the start are those of an earlier audit; it goes on now.

    Attributes:
        kept: What it goes on from.
        steps: How many steps were reported.
    """

    kept: Kept
    steps: int


@dataclass(frozen=True)
class CheckChanged:
    """A check changed its state."""

    check: Check


@dataclass(frozen=True)
class OperatorDone:
    """Progress inside a step, so that a step of minutes shows movement.

    Attributes:
        step: The step being replayed.
        done: Operators done so far.
        total: Operators in the step.
    """

    step: int
    done: int
    total: int


@dataclass(frozen=True)
class StepReplayed:
    """A step was replayed and compared."""

    row: StepRow


@dataclass(frozen=True)
class DivergenceMeasured:
    """The replay's state was compared with one of the trainer's checkpoints.

    Attributes:
        step: Step of the checkpoint.
        tensors: One entry for every state tensor, sorted by name.
    """

    step: int
    tensors: tuple[TensorDivergence, ...]


@dataclass(frozen=True)
class DisputeLocated:
    """The first differing step is known. A later event of this kind for the same step adds what was found since."""

    dispute: Dispute


@dataclass(frozen=True)
class ResumedFromCheckpoint:
    """The replay goes on from the trainer's stored state: after a dispute, or at the start of a segment of a sample."""

    step: int


IMITATION = "imitation"


@dataclass(frozen=True)
class AuditReport:
    """What an audit found: everything that a verdict says, before it is signed.

    Attributes:
        outcome: The conclusion.
        reason: One or two plain sentences that say why.
        checks: All ten checks, in order.
        order_digest: Digest of the order; None when it could not be read.
        order_source: ``client`` when the order was compared with the client's file, ``bundle`` when it was not.
        run_root: The signed run root; None when it could not be read.
        bundle_digest: SHA-256 of the bundle file.
        bundle_name: File name of the bundle.
        trainer_key: SHA-256 key id of the trainer's public key; empty when unsigned.
        title: Title of the order.
        steps_ordered: Number of steps ordered.
        steps_planned: Number of steps in the chosen segments.
        steps_replayed: Number of steps replayed and judged.
        mismatched_steps: Steps whose leaf differed, ascending.
        dispute: The first dispute, or None.
        corrections: Sum over the replayed steps whose leaf matched.
        contradictions: Sum over the replayed steps whose leaf matched.
        omissions: Sum over the replayed steps whose leaf matched.
        log_entries: Sum over the replayed steps whose leaf matched.
        log_bytes: Sum over the replayed steps whose leaf matched.
        rounded_values: Sum over the replayed steps whose leaf matched.
        seconds: Wall-clock time of the replay.
        environment: Device, library versions and switches of this machine; under :data:`IMITATION` the hardware that
            the replay imitated, if it did.
        trainer_environment: The same of the trainer's, as the trainer signed it.
        sample: The segments that were chosen; None when the audit ended before it could choose.
        steering: How far the trainer could have steered the matching steps; None when nothing was replayed.
        without_bound: Operator kinds with a margin that no error bound proves, sorted; None when the order's program
            was not read.
    """

    outcome: Outcome
    reason: str
    checks: tuple[Check, ...]
    order_digest: Digest | None
    order_source: str
    run_root: Digest | None
    bundle_digest: Digest | None
    bundle_name: str
    trainer_key: str
    title: str
    steps_ordered: int
    steps_planned: int
    steps_replayed: int
    mismatched_steps: tuple[int, ...] = ()
    dispute: Dispute | None = None
    corrections: int = 0
    contradictions: int = 0
    omissions: int = 0
    log_entries: int = 0
    log_bytes: int = 0
    rounded_values: int = 0
    seconds: float = 0.0
    environment: tuple[tuple[str, str], ...] = field(default=())
    trainer_environment: tuple[tuple[str, str], ...] = field(default=())
    sample: Sample | None = None
    steering: Steering | None = None
    without_bound: tuple[str, ...] | None = None

    @property
    def headline(self) -> str:
        """The outcome in words: for a clean sample it says for how much of the run it holds."""
        return headline(self.outcome, self.sample)


@dataclass(frozen=True)
class AuditFinished:
    """Last event of every audit.

    Attributes:
        report: What was found.
        evidence: What a dispute capsule about the dispute would hold; None when nobody is accused, or no single step
            shows why.
        kept: Progress that another audit can go on from; None when the audit came to its end, or kept none.
        problem: Why progress could not be kept, or removed, as a sentence; else empty.
    """

    report: AuditReport
    evidence: CapsuleContents | None = field(default=None, repr=False, compare=False)
    kept: Kept | None = None
    problem: str = ""


Event = (
    AuditStarted
    | ProgressRestored
    | CheckChanged
    | OperatorDone
    | StepReplayed
    | DivergenceMeasured
    | DisputeLocated
    | ResumedFromCheckpoint
    | AuditFinished
)
