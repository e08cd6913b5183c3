"""The facts of a run as they stand in what is signed: in a statement of their own, or in a verdict; docs/facts.md.

The names are those of :class:`counterfoil_core.values.runfacts.RunFacts`, and not in camel case as a verdict's other
fields, so that facts are the same object wherever they are signed.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from counterfoil_core.base.canonical import MAX_EXACT_INTEGER
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.precision import EXACT_BITS
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import MAX_ENVIRONMENT_TEXT, MAX_PROGRAMS, MAX_WORDS
from counterfoil_core.signing import kinds
from counterfoil_core.signing.kinds import (
    ROOT,
    About,
    Dated,
    DigestText,
    Fields,
    Moment,
    Name,
    StepNumber,
    read_value,
)
from counterfoil_core.values.runfacts import MAX_SCORES, DataUse, OperationCount, RunFacts, Score, ScoreCount

MAX_DIMENSIONS = 64
MAX_COUNTED = 1000
"""Rows of operations: parts by kinds by precisions, with room."""
MAX_DATA = 100_000
"""Data arrays of an order."""
MAX_LINES = 1000
"""Lines of a machine."""

Words = Annotated[str, Meta(max_length=MAX_WORDS)]
CountText = Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,39})\Z")]
"""A count as text. A verdict's others have 20 digits; the operations of the largest trainings have more."""
Length = Annotated[int, Meta(ge=0, le=MAX_EXACT_INTEGER)]
Lengths = Annotated[tuple[Length, ...], Meta(max_length=MAX_DIMENSIONS)]
"""A shape, or an index."""
Lines = Annotated[dict[Name, Annotated[str, Meta(max_length=MAX_ENVIRONMENT_TEXT)]], Meta(max_length=MAX_LINES)]
"""What a machine is: names and texts."""
_COUNTS = ("rows_read", "distinct_rows", "elements_read", "filling_rows")


class OperationFields(Fields, frozen=True):
    """Operations of one kind and precision in one part of the steps."""

    part: Literal["forward", "backward", "update"]
    kind: Literal["matrix product", "convolution", "elementwise", "reduction", "other"]
    precision: Annotated[str, Meta(pattern=r"\A(float64|float32|integers|[0-9]{1,2} bits)\Z")]
    operations: CountText


class DataFields(Fields, frozen=True):
    """How much of a data array the steps read."""

    name: Name
    dtype: Name
    shape: Lengths
    digest: Digest
    rows_read: CountText
    distinct_rows: CountText
    elements_read: CountText
    filling_rows: CountText


class ScoreCountFields(Fields, frozen=True):
    """What was counted under one name."""

    name: Name
    shape: Lengths
    values: Annotated[tuple[CountText, ...], Meta(max_length=MAX_SCORES)]


class ScoreFields(Fields, frozen=True):
    """What a model scored on data; docs/evaluations.md."""

    model_root: Digest
    data_root: Digest
    counts: Annotated[tuple[ScoreCountFields, ...], Meta(min_length=1, max_length=MAX_SCORES)]


class FactsFields(Fields, frozen=True):
    """What a run shows of itself; counts are text. docs/facts.md."""

    order: Digest
    run_root: Digest
    trainer_key: DigestText
    client_key: Annotated[str, Meta(pattern=r"\A([0-9a-f]{64})?\Z")]
    title: Words
    steps: StepNumber
    steps_ordered: StepNumber
    batch_size: Length
    parameters: CountText
    optimizer: Words
    precision: Name
    compute: Literal["float64", "float32"]
    exact_bits: Annotated[int, Meta(ge=EXACT_BITS[0], le=EXACT_BITS[1])] | None
    programs: Annotated[dict[Name, Digest], Meta(min_length=1, max_length=MAX_PROGRAMS)]
    total_operations: CountText
    operations: Annotated[tuple[OperationFields, ...], Meta(max_length=MAX_COUNTED)]
    tokens: CountText
    data: Annotated[tuple[DataFields, ...], Meta(max_length=MAX_DATA)]
    started: Moment | Literal[""]
    signed: Moment
    seconds: Length | None
    machine: Lines
    energy_kwh: Annotated[str, Meta(pattern=r"\A([0-9]{1,12}(\.[0-9]{1,6})?)?\Z")]
    score: ScoreFields | UnsetType = UNSET


class FactsStatement(Dated, frozen=True):
    """What a run shows of itself, as somebody counted it."""

    KIND: ClassVar = kinds.FACTS
    ABOUT: ClassVar = (About("run", "facts.run_root", ROOT),)

    facts: FactsFields


def fields_of(facts: RunFacts) -> FactsFields:
    """Return facts in the form in which they are signed; raises SignatureError where one is out of its bounds."""
    alike = {name: getattr(facts, name) for name in FactsFields.__struct_fields__ if name != "programs"}
    told = alike | {
        "programs": dict(facts.program_digests),
        "machine": dict(facts.machine),
        **{name: str(alike[name]) for name in ("parameters", "total_operations", "tokens")},
        "operations": [vars(each) | {"operations": str(each.operations)} for each in facts.operations],
        "data": [vars(each) | {name: str(vars(each)[name]) for name in _COUNTS} for each in facts.data],
    }
    if facts.score is None:
        del told["score"]
    else:
        score = facts.score
        counts = [vars(each) | {"values": [str(value) for value in each.values]} for each in score.counts]
        told["score"] = vars(score) | {"counts": counts}
    try:
        return msgspec.convert(msgspec.to_builtins(told, enc_hook=str), FactsFields, dec_hook=read_value)
    except msgspec.ValidationError as error:
        raise SignatureError(
            say("The facts of the run cannot be signed: one of them is longer or larger than a verdict has room for."),
            remedy=say("Audit without the facts, and look at them by themselves."),
            detail=str(error),
        ) from error


def facts_from(fields: FactsFields) -> RunFacts:
    """Return the value that was signed; :func:`fields_of` of it gives these fields, but for a wrong total."""
    alike = {name: getattr(fields, name) for name in FactsFields.__struct_fields__ if name in RunFacts.__annotations__}
    told = alike | {
        "program_digests": tuple(sorted(fields.programs.items())),
        "machine": tuple(sorted(fields.machine.items())),
        **{name: int(alike[name]) for name in ("parameters", "tokens")},
        "operations": tuple(
            OperationCount(each.part, each.kind, int(each.operations), each.precision) for each in fields.operations
        ),
        "data": tuple(
            DataUse(each.name, each.dtype, each.shape, each.digest, *(int(getattr(each, name)) for name in _COUNTS))
            for each in fields.data
        ),
        "score": None if isinstance(fields.score, UnsetType) else _score_from(fields.score),
    }
    return RunFacts(**told)


def _score_from(fields: ScoreFields) -> Score:
    counts = (ScoreCount(each.name, each.shape, tuple(map(int, each.values))) for each in fields.counts)
    return Score(fields.model_root, fields.data_root, tuple(counts))


def differing_facts(said: FactsFields, facts: RunFacts) -> tuple[str, ...]:
    """Return the names of the facts that are not as they were signed. Pure.

    Args:
        said: What was signed.
        facts: What the run shows, with the energy that was signed.
    """
    ours = fields_of(facts)
    return tuple(sorted(name for name in ours.__struct_fields__ if getattr(ours, name) != getattr(said, name)))
