"""What a run shows of itself, counted from what its order digest and the trainer's signature bind; docs/facts.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.timestamps import read_timestamp
from counterfoil_core.signing.subject import Subject

PARTS = ("forward", "backward", "update")
MATRIX, CONVOLUTION, ELEMENTWISE, REDUCTION, OTHER = (
    "matrix product", "convolution", "elementwise", "reduction", "other"
)  # fmt: skip
KINDS = (MATRIX, CONVOLUTION, ELEMENTWISE, REDUCTION, OTHER)
INTEGERS = "integers"
"""The precision of what neither reads nor makes a floating-point number."""


@dataclass(frozen=True)
class OperationCount:
    """Operations of one kind in one part of the steps."""

    part: str  #: ``forward``, ``backward`` or ``update``.
    kind: str  #: ``matrix product``, ``convolution``, ``elementwise``, ``reduction`` or ``other``.
    #: In all steps; a multiplication with an addition counts as two. Exact for the first two kinds as docs/facts.md
    #: defines them; for the others one operation for each element read or made.
    operations: int
    #: In what they compute, as the order's profile has it for such an operator: ``float64`` or ``float32``,
    #: ``integers``, or, of products under an exact profile, the bits of their operands, such as ``20 bits``.
    precision: str = ""


@dataclass(frozen=True)
class DataUse:
    """How much of a data array the steps read."""

    name: str  #: Its name in the order.
    dtype: str  #: Dtype name.
    shape: tuple[int, ...]  #: Its shape; the first axis is the row.
    digest: Digest  #: Its tensor digest.
    rows_read: int  #: Rows that the steps read, each as often as it was; without those that only fill a shorter batch.
    distinct_rows: int  #: How many different ones.
    #: Elements of these rows. Where a row is a text they are tokens; one that a language model is trained on has one
    #: more of them than the model looks up.
    elements_read: int
    #: Rows that the schedule names and the step's program leaves out: a shorter batch is filled with them.
    filling_rows: int = 0

    @property
    def epochs(self) -> float:
        """How often the array was gone through, on the average; 0 of an empty one."""
        return self.rows_read / self.shape[0] if self.shape and self.shape[0] else 0.0


MAX_SCORES = 10_000
"""Numbers of all counts of an evaluation."""
NATS_BITS = 20
"""Losses are counted in units of 2^-20 nats."""
MOST_NATS = 2**10
"""A larger loss of one row counts as this one, so that no sum is infinite."""


@dataclass(frozen=True)
class ScoreCount:
    """What was counted over all rows under one name."""

    name: str  #: Its name, such as ``correct``; what it means, the program says.
    shape: tuple[int, ...]  #: Its shape; none of a single number.
    values: tuple[int, ...]  #: The counts, none negative, in C order.

    @property
    def fits(self) -> bool:
        """Whether it has as many numbers as its shape says: a statement of a stranger may say anything."""
        return math.prod(self.shape) == len(self.values)


@dataclass(frozen=True)
class Score:
    """What a model scored on data."""

    model_root: Digest  #: State root over the tensors of the model, which no step changes.
    data_root: Digest  #: State root over the data arrays of the order.
    counts: tuple[ScoreCount, ...]  #: What was counted, by name.

    def count(self, name: str) -> int | None:
        """Return a count that is a single number; None where there is none of this name."""
        return next((one.values[0] for one in self.counts if one.name == name and not one.shape and one.fits), None)

    @property
    def metrics(self) -> dict[str, Decimal]:
        """What follows from counts whose names are agreed upon, by name, rounded to 28 digits.

        ``accuracy`` is correct / counted. ``macro_f1`` is the mean over the classes of 2 TP / (2 TP + FP + FN), of
        confusion by label and answer, 0 for a class without any. ``perplexity`` is the exponential of the mean loss;
        a mean beyond what one loss can be, which a stranger may state, has none.
        """
        found: dict[str, Decimal] = {}
        counted, correct, nats = (self.count(name) for name in ("counted", "correct", "nats"))
        if counted and correct is not None:
            found["accuracy"] = Decimal(correct) / counted
        if counted and nats is not None and nats <= counted * MOST_NATS * 2**NATS_BITS:
            found["perplexity"] = (Decimal(nats) / (counted * 2**NATS_BITS)).exp()
        for one in self.counts:
            if one.name == "confusion" and one.fits and len(one.shape) == 2 and one.shape[0] == one.shape[1]:
                found["macro_f1"] = _macro_f1(one.shape[0], one.values)
        return found


def _macro_f1(classes: int, pairs: tuple[int, ...]) -> Decimal:
    total = Decimal(0)
    for own in range(classes):
        right = 2 * pairs[own * classes + own]
        named = sum(pairs[own * classes : (own + 1) * classes]) + sum(pairs[own::classes])
        total += Decimal(right) / named if named else 0
    return total / classes if classes else total


@dataclass(frozen=True)
class FactsProgress:
    """How far the checks are before a run is counted, or rules are checked on it."""

    what: str  #: What is done, as words.
    done: int  #: How many of the parts of the work are done.
    total: int  #: How many there are.


@dataclass(frozen=True)
class RunFacts:
    """What a run shows. What somebody only says is marked so."""

    order: Digest  #: The order digest, which binds program, data, settings and steps.
    run_root: Digest  #: Merkle root over the steps, which the trainer signed.
    trainer_key: str  #: Key id of the key that signed it.
    client_key: str  #: Key id of who signed the order; empty for an unsigned one.
    title: str  #: The client's name for the job.
    steps: int  #: Steps of the run.
    steps_ordered: int  #: Steps that were ordered.
    batch_size: int  #: Rows of a step.
    parameters: int  #: Trainable values.
    optimizer: str  #: The optimizer in words, as the order has it; the program says what was done.
    precision: str  #: The precision profile in words.
    compute: str  #: Dtype in which it computes.
    exact_bits: int | None  #: S of an exact profile, whose products are of integers; None of one that rounds.
    program_digests: tuple[tuple[str, Digest], ...]  #: Digest of each program, by name; an order's only one has none.
    operations: tuple[OperationCount, ...]  #: Counted from the programs, by part and kind.
    data: tuple[DataUse, ...]  #: What was read of each data array.
    #: When the trainer accepted the order, ISO 8601 in UTC, as the trainer says; empty where that is not there.
    started: str
    signed: str  #: When the trainer signed the run, as the trainer says.
    machine: tuple[tuple[str, str], ...]  #: The trainer's machine, as the trainer says.
    #: Energy in kilowatt-hours, as whoever asked for these facts says, in decimal digits; empty where nobody does.
    energy_kwh: str = ""
    tokens: int = 0  #: Elements of the data that embeddings look up, in all steps; 0 where none does.
    #: From ``started`` to ``signed``, as the trainer says; None where one of them is not there, or they are in the
    #: wrong order.
    seconds: int | None = None
    #: What the model scored, where the order is an evaluation and the last stored state is what the run commits to.
    score: Score | None = None

    @property
    def about(self) -> Subject:
        """The run that they are of."""
        return Subject(self.order, self.run_root, self.trainer_key)

    @property
    def total_operations(self) -> int:
        """Operations of all kinds, in all steps."""
        return sum(each.operations for each in self.operations)


def seconds_between(started: str, signed: str) -> int | None:
    """Return the seconds from one moment to another, as files hold them; None where one is empty or they run backwards.

    Raises:
        ValueError: One is no moment.
    """
    if not started or not signed:
        return None
    passed = int((read_timestamp(signed) - read_timestamp(started)).total_seconds())
    return passed if passed >= 0 else None
