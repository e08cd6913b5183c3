"""A verdict and an adjudication as they stand in a file: the form alone, strictly; docs/verdict.md lists the fields.

A value of these classes has every field that its kind has, each of its type and inside of its bounds, and no other.
Whether the fields can all be true together, :mod:`counterfoil_core.statement.rules` judges.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from counterfoil_core.base.canonical import float_text
from counterfoil_core.base.precision import EXACT_BITS
from counterfoil_core.bundle.schema import MAX_STEPS
from counterfoil_core.bundle.shares import MAX_SHARES
from counterfoil_core.program.limits import MAX_OPERATORS
from counterfoil_core.signing import kinds
from counterfoil_core.signing.kinds import (
    HEX_FLOAT,
    DigestText,
    Fields,
    Moment,
    Name,
    Said,
    StepNumber,
    json_of,
    statement_of,
)
from counterfoil_core.statement.factfields import FactsFields, Lengths, Lines, Words
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.beacon import LAST_ROUND
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import CheckNumber, CheckState, OrderSource, Outcome
from counterfoil_core.values.sampling import NonceSource, Selection
from counterfoil_core.values.workers import ReplayedBy

VERIFIER_ID = "urn:counterfoil"
"""What makes statements; the version stands beside it."""
MAX_SIGNIFICAND_BITS = 53
MAX_SENTENCE = 1_000_000
"""Characters of the auditor's sentences; one may list steps."""
MAX_PARTS = 101
"""A template has two digits for a place."""
MAX_URI = 4000
MAX_TENSORS = 200_000
MAX_INPUTS = 10_000
MAX_PLACES = 10_000
MAX_ELEMENTS = 8
MAX_DEPTH = (MAX_STEPS + 1).bit_length()
"""Levels of the Merkle tree of the longest run."""
_COUNT = re.compile(r"0|[1-9][0-9]{0,19}")
_EXACT_DECIMAL = re.compile(r"-?[0-9]{1,40}\.[0-9]{1,40}(e[+-][0-9]{1,5})?")
_NO_DIGITS = ("+inf", "-inf", "nan")
_HEX_FLOAT = re.compile(HEX_FLOAT)


class Count(int):
    """A whole number that is written as text, since JSON loses large ones."""

    @classmethod
    def read(cls, text: object) -> Count:
        """Read its text; raises ValueError when it is none."""
        if not isinstance(text, str) or not _COUNT.fullmatch(text):
            raise ValueError("the count is not a whole number that is written as text")
        return cls(text)


class ExactDecimal(str):
    """A number in decimal digits, with more of them than a float64 has; or an infinity, or what is not a number."""

    @property
    def is_finite(self) -> bool:
        """Whether it is a number, and no infinity."""
        return self not in _NO_DIGITS

    @classmethod
    def read(cls, text: object) -> ExactDecimal:
        """Take its text; raises ValueError when it is none."""
        if not isinstance(text, str) or not (_EXACT_DECIMAL.fullmatch(text) or text in _NO_DIGITS):
            raise ValueError("it is not a decimal number")
        return cls(text)


LeafPart = Annotated[str, Meta(pattern=r"\A(shares|state|loss|fingerprints|log|result)\Z")]
"""What of a step differs."""
Pass = Annotated[str, Meta(pattern=r"\A(forward|backward|update)\Z")]
"""The part of a step in which an operator runs."""
StepPart = Annotated[str, Meta(pattern=r"\A(share (0|[1-9][0-9]{0,3})|combine|update)\Z")]
"""The part of a step that shares make."""
Prose = Annotated[str, Meta(max_length=MAX_SENTENCE)]
"""Sentences of the auditor."""
Parts = Annotated[tuple[Any, ...], Meta(min_length=1, max_length=MAX_PARTS)]
"""What a sentence was made of: its template and its values (:mod:`counterfoil_core.statement.parts`)."""
Span = tuple[Annotated[int, Meta(ge=1, le=MAX_STEPS)], Annotated[int, Meta(ge=1, le=MAX_STEPS)]]
"""The first and the last of neighbours."""
Spans = Annotated[tuple[Span, ...], Meta(max_length=MAX_STEPS)]


class Strict(Fields, frozen=True, rename="camel"):
    """The fields of one JSON object of a verdict."""


class Number(Strict, frozen=True):
    """A float64, written twice; both are the same number."""

    hex: str  #: Exactly, in C99's ``%a`` form.
    decimal: str  #: As people read it: the shortest text that gives the same number.

    def __post_init__(self) -> None:
        if not _HEX_FLOAT.fullmatch(self.hex):
            raise ValueError("it is not a hexadecimal floating-point number")
        try:
            same = repr(float.fromhex(self.hex)) == self.decimal
        except (ValueError, OverflowError):
            same = False
        if not same:
            raise ValueError("it is written as another number than it is")

    @property
    def value(self) -> float:
        """The number."""
        return float.fromhex(self.hex)

    @classmethod
    def of(cls, value: float) -> Number:
        """Write a float64."""
        return cls(float_text(value), repr(float(value)))


class SubjectFields(Strict, frozen=True):
    """What is spoken of: its name, and its digest under the name of the algorithm."""

    name: Name
    digest: Annotated[dict[Name, DigestText], Meta(min_length=1, max_length=1)]


class VerifierFields(Strict, frozen=True):
    """The program that judged, and its version."""

    id: Name
    version: Name


class OrderDigestFields(Strict, frozen=True):
    """An order digest."""

    sha256: DigestText


class PolicyFields(Strict, frozen=True):
    """What was asked for: the order by its digest, and where it came from; the keys of trainer and client, if given.

    The order that the file holds stands beside it. What is not known is null.
    """

    order_digest: OrderDigestFields | None
    order_source: OrderSource
    run_order_digest: OrderDigestFields | None
    trainer_key_id: DigestText | None
    client_key_id: DigestText | None


class AttestationFields(Strict, frozen=True):
    """Something signed that the statement rests on: its type, and the id of the key that signed it."""

    predicate_type: Name
    key_id: DigestText


class CheckFields(Strict, frozen=True):
    """One of the ten checks."""

    number: CheckNumber
    title: Name
    state: CheckState
    detail: Prose
    detail_parts: Parts | UnsetType = UNSET


class EnvironmentFields(Strict, frozen=True):
    """Device, library versions and switches of both machines."""

    auditor: Lines
    trainer: Lines


class ComparisonFields(Strict, frozen=True):
    """A node of both Merkle trees: the leaves below it, and its hash on each side."""

    first_leaf: StepNumber
    last_leaf: StepNumber
    trainer: DigestText
    replay: DigestText


class TensorFields(Strict, frozen=True):
    """How far a state tensor differs."""

    name: Name
    shape: Lengths
    differing: Count
    max_abs: Number
    max_ulps: Count
    l2: Number
    index: Lengths
    trainer: Number
    replay: Number


class OperatorFields(Strict, frozen=True):
    """The first operator whose result differs."""

    number: Annotated[int, Meta(ge=1, le=MAX_OPERATORS)]
    total: Annotated[int, Meta(ge=1, le=MAX_OPERATORS)]
    name: Name
    module: Name
    phase: Pass = msgspec.field(name="pass")
    shape: Lengths
    input_shapes: Annotated[tuple[Lengths, ...], Meta(max_length=MAX_INPUTS)]
    differing_operators: Annotated[int, Meta(ge=1, le=MAX_OPERATORS)]


class ElementFields(Strict, frozen=True):
    """An element of the disputed operator's output, computed exactly."""

    index: Lengths
    exact: ExactDecimal
    exact_nearest: Number
    computed: Number
    replay: Number
    trainer: Number | None
    quantum: Number
    error: Number
    midpoint: Number


class FindingFields(Strict, frozen=True):
    """What exact arithmetic says of a dispute."""

    right: Right
    sentence: Prose
    recomputed: Count
    total: Count
    margin: Number
    bound: Number
    elements: Annotated[tuple[ElementFields, ...], Meta(max_length=MAX_ELEMENTS)]
    sentence_parts: Parts | UnsetType = UNSET


class DisputeFields(Strict, frozen=True):
    """The first step that differs."""

    step: Annotated[int, Meta(ge=1, le=MAX_STEPS)]
    trainer_leaf: DigestText
    replay_leaf: DigestText | None
    parts: Annotated[tuple[LeafPart, ...], Meta(min_length=1, max_length=4)]
    comparisons: Annotated[tuple[ComparisonFields, ...], Meta(max_length=2 * MAX_DEPTH + 1)]
    inclusion_proof: Annotated[tuple[DigestText, ...], Meta(max_length=MAX_DEPTH)]
    compared_at: StepNumber | None
    tensors: Annotated[tuple[TensorFields, ...], Meta(max_length=MAX_TENSORS)]
    trainer_loss: Number
    replay_loss: Number
    confirmed: bool
    inputs: Annotated[tuple[Name, ...], Meta(max_length=MAX_INPUTS)]
    operator: OperatorFields | None
    finding: FindingFields | None
    part: StepPart | UnsetType = UNSET
    signer: DigestText | UnsetType = UNSET

    @property
    def names_a_place(self) -> bool:
        """Whether it says what in the step differs first: rows that it reads, or the result of an operator."""
        return bool(self.inputs) or self.operator is not None


class _Optional(Said, frozen=True, kw_only=True, rename="camel"):
    """What the sentence that says why was made of."""

    reason_parts: Parts | UnsetType = UNSET


class JudgedStatement(_Optional, frozen=True, rename="camel"):
    """What verdicts and adjudications say alike; the subjects are the file, the run in it, and what was delivered.

    They name no key: who trusts an auditor has its key.
    """

    APART: ClassVar = ("subject",)
    TIME: ClassVar = "time_verified"

    subject: Annotated[tuple[SubjectFields, ...], Meta(min_length=1, max_length=3)]
    verifier: VerifierFields
    time_verified: Moment
    resource_uri: Annotated[str, Meta(max_length=MAX_URI)]
    title: Words
    policy: PolicyFields
    input_attestations: Annotated[tuple[AttestationFields, ...], Meta(max_length=3 + MAX_SHARES)]
    reason: Prose
    checks: Annotated[tuple[CheckFields, ...], Meta(max_length=len(CheckNumber))]
    seconds: Number
    dispute: DisputeFields | None
    environment: EnvironmentFields

    def __post_init__(self) -> None:
        """Refuse a time that cannot have passed; raises ValueError."""
        if not 0 <= self.seconds.value < math.inf:
            raise ValueError(f"{self.seconds.decimal} seconds cannot have passed")

    @property
    def predicate(self) -> dict[str, Any]:
        """The predicate as JSON values."""
        found: dict[str, Any] = statement_of(self)["predicate"]
        return found

    def subjects(self) -> list[dict[str, Any]]:
        """Return what it is about, as in-toto has it."""
        return [json_of(each) for each in self.subject]

    @classmethod
    def of_subjects(cls, subjects: Any) -> dict[str, Any]:
        """Return the fields that stand in the subjects."""
        return {"subject": subjects}


class BeaconFields(Strict, frozen=True):
    """A round of a public beacon: the hash of its chain, its number and its signature."""

    chain: DigestText
    round: Annotated[int, Meta(ge=1, le=LAST_ROUND)]
    signature: Annotated[str, Meta(pattern=r"\A[0-9a-f]{96}\Z")]


class SampleFields(Strict, frozen=True):
    """The segments that were chosen."""

    segments: Annotated[int, Meta(ge=1, le=MAX_STEPS)]
    chosen: Spans
    selection: Selection
    nonce: str
    nonce_source: NonceSource | None
    beacon: BeaconFields | None
    bad_segments: Annotated[int, Meta(ge=0, le=MAX_STEPS)]
    passing_probability: Number


class CoverageFields(Strict, frozen=True):
    """What was ordered, planned and replayed; and recorded, where that is less than was ordered."""

    steps_ordered: StepNumber
    steps_planned: StepNumber
    steps_replayed: StepNumber
    mismatched_steps: Spans
    sample: SampleFields | None
    steps_recorded: StepNumber | UnsetType = UNSET


class LogCountFields(Strict, frozen=True):
    """Sums over the steps that match: directions taken from the log, and faults of the log."""

    corrections: Count
    contradictions: Count
    omissions: Count


class CountFields(LogCountFields, frozen=True):
    """The same with the sizes of what was rounded and logged."""

    rounded_values: Count
    log_entries: Count
    log_bytes: Count


class SteeringRowFields(Strict, frozen=True):
    """What the log left to the trainer, for one operator kind."""

    kind: Name
    values: Count
    entries: Count
    corrections: Count
    steerable: Count
    steered: Count


class SteeringFields(Strict, frozen=True):
    """How far the trainer could have steered the matching steps."""

    significand_bits: Annotated[int, Meta(ge=2, le=MAX_SIGNIFICAND_BITS)]
    suspects: Annotated[tuple[Name, ...], Meta(max_length=MAX_OPERATORS)]
    operators: Annotated[tuple[SteeringRowFields, ...], Meta(max_length=MAX_OPERATORS)]


class PlaceFields(Strict, frozen=True):
    """Who replayed segments, on which machine: its name, its device, library versions and switches; and which."""

    by: ReplayedBy
    machine: Name
    environment: Lines
    segments: Annotated[Spans, Meta(min_length=1)]


class FetchedFields(Strict, frozen=True):
    """How much of a run that lies elsewhere was fetched: bytes of the file, bytes of it that came, pieces asked for."""

    size: Count
    bytes: Count
    requests: Count


class VerdictStatement(JudgedStatement, frozen=True, rename="camel"):
    """What an auditor says about a run."""

    KIND: ClassVar = kinds.VERDICT

    result: Outcome
    coverage: CoverageFields
    counts: CountFields
    steering: SteeringFields | None
    without_bound: Annotated[tuple[Name, ...], Meta(max_length=MAX_OPERATORS)] | None
    exact_bits: Annotated[int, Meta(ge=EXACT_BITS[0], le=EXACT_BITS[1])] | None
    replayed_at: Annotated[tuple[PlaceFields, ...], Meta(min_length=1, max_length=MAX_PLACES)] | UnsetType = UNSET
    fetched: FetchedFields | UnsetType = UNSET
    facts: FactsFields | UnsetType = UNSET


class StepsFields(Strict, frozen=True):
    """The steps of a capsule; how many the run has, where these are fewer than ordered."""

    ordered: StepNumber
    agreed: StepNumber
    disputed: StepNumber
    replayed: StepNumber
    recorded: StepNumber | UnsetType = UNSET


class AdjudicationStatement(JudgedStatement, frozen=True, rename="camel"):
    """What somebody says who judged a dispute capsule."""

    KIND: ClassVar = kinds.ADJUDICATION

    result: AdjudicationOutcome
    steps: StepsFields
    counts: LogCountFields
