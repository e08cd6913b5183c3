"""The facts of a run as they stand in what is signed: in a statement of their own, or in a verdict; docs/facts.md.

The names are those of :class:`counterfoil_core.values.runfacts.RunFacts`, and not in camel case as a verdict's other
fields, so that facts are the same object wherever they are signed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from counterfoil_core.base.canonical import MAX_EXACT_INTEGER
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.precision import EXACT_BITS
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import MAX_ENVIRONMENT_TEXT, MAX_PROGRAMS, MAX_STEPS, MAX_WORDS
from counterfoil_core.values.runfacts import DataUse, OperationCount, RunFacts

MAX_NAME = 1000
MAX_DIMENSIONS = 64
MAX_COUNTED = 1000
"""Rows of operations: parts by kinds by precisions, with room."""
MAX_DATA = 100_000
"""Data arrays of an order."""
MAX_LINES = 1000
"""Lines of a machine."""

DigestText = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Name = Annotated[str, Meta(max_length=MAX_NAME)]
Words = Annotated[str, Meta(max_length=MAX_WORDS)]
CountText = Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,39})\Z")]
"""A count as text. A verdict's others have 20 digits; the operations of the largest trainings have more."""
Moment = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")]
StepNumber = Annotated[int, Meta(ge=0, le=MAX_STEPS)]
Length = Annotated[int, Meta(ge=0, le=MAX_EXACT_INTEGER)]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of one JSON object: all of them, and no others."""


class OperationFields(_Strict, frozen=True):
    """Operations of one kind and precision in one part of the steps."""

    part: Literal["forward", "backward", "update"]
    kind: Literal["matrix product", "convolution", "elementwise", "reduction", "other"]
    precision: Annotated[str, Meta(pattern=r"\A(float64|float32|integers|[0-9]{1,2} bits)\Z")]
    operations: CountText


class DataFields(_Strict, frozen=True):
    """How much of a data array the steps read."""

    name: Name
    dtype: Name
    shape: Annotated[tuple[Length, ...], Meta(max_length=MAX_DIMENSIONS)]
    digest: DigestText
    rows_read: CountText
    distinct_rows: CountText
    elements_read: CountText
    filling_rows: CountText


class FactsFields(_Strict, frozen=True):
    """What a run shows of itself, as :class:`counterfoil_core.values.runfacts.RunFacts`; counts are text."""

    order: DigestText
    run_root: DigestText
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
    programs: Annotated[dict[Name, DigestText], Meta(min_length=1, max_length=MAX_PROGRAMS)]
    total_operations: CountText
    operations: Annotated[tuple[OperationFields, ...], Meta(max_length=MAX_COUNTED)]
    tokens: CountText
    data: Annotated[tuple[DataFields, ...], Meta(max_length=MAX_DATA)]
    started: Moment | Literal[""]
    signed: Moment
    seconds: Length | None
    machine: Annotated[dict[Name, Annotated[str, Meta(max_length=MAX_ENVIRONMENT_TEXT)]], Meta(max_length=MAX_LINES)]
    energy_kwh: Annotated[str, Meta(pattern=r"\A([0-9]{1,12}(\.[0-9]{1,6})?)?\Z")]


def fields_of(facts: RunFacts) -> dict[str, Any]:
    """Return facts as JSON values; counts are text, since JSON loses large numbers."""
    return {
        "order": facts.order.hex,
        "run_root": facts.run_root.hex,
        "trainer_key": facts.trainer_key,
        "client_key": facts.client_key,
        "title": facts.title,
        "steps": facts.steps,
        "steps_ordered": facts.steps_ordered,
        "batch_size": facts.batch_size,
        "parameters": str(facts.parameters),
        "optimizer": facts.optimizer,
        "precision": facts.precision,
        "compute": facts.compute,
        "exact_bits": facts.exact_bits,
        "programs": {name: digest.hex for name, digest in facts.program_digests},
        "total_operations": str(facts.total_operations),
        "operations": [
            {"part": each.part, "kind": each.kind, "precision": each.precision, "operations": str(each.operations)}
            for each in facts.operations
        ],
        "tokens": str(facts.tokens),
        "data": [
            {
                "name": each.name,
                "dtype": each.dtype,
                "shape": list(each.shape),
                "digest": each.digest.hex,
                "rows_read": str(each.rows_read),
                "distinct_rows": str(each.distinct_rows),
                "elements_read": str(each.elements_read),
                "filling_rows": str(each.filling_rows),
            }
            for each in facts.data
        ],
        "started": facts.started,
        "signed": facts.signed,
        "seconds": facts.seconds,
        "machine": dict(facts.machine),
        "energy_kwh": facts.energy_kwh,
    }


def written(facts: RunFacts) -> FactsFields:
    """Return facts in the form in which they are signed; raises SignatureError where one is out of its bounds."""
    try:
        return msgspec.convert(fields_of(facts), FactsFields)
    except msgspec.ValidationError as error:
        raise SignatureError(
            say("The facts of the run cannot be signed: one of them is longer or larger than a verdict has room for."),
            remedy=say("Audit without the facts, and look at them by themselves."),
            detail=str(error),
        ) from error


def facts_from(fields: FactsFields) -> RunFacts:
    """Return the value that was signed; :func:`fields_of` of it gives these fields, but for a wrong total."""
    return RunFacts(
        order=Digest.from_hex(fields.order),
        run_root=Digest.from_hex(fields.run_root),
        trainer_key=fields.trainer_key,
        client_key=fields.client_key,
        title=fields.title,
        steps=fields.steps,
        steps_ordered=fields.steps_ordered,
        batch_size=fields.batch_size,
        parameters=int(fields.parameters),
        optimizer=fields.optimizer,
        precision=fields.precision,
        compute=fields.compute,
        exact_bits=fields.exact_bits,
        program_digests=tuple((name, Digest.from_hex(digest)) for name, digest in sorted(fields.programs.items())),
        operations=tuple(
            OperationCount(each.part, each.kind, int(each.operations), each.precision) for each in fields.operations
        ),
        data=tuple(
            DataUse(
                each.name, each.dtype, each.shape, Digest.from_hex(each.digest), int(each.rows_read),
                int(each.distinct_rows), int(each.elements_read), int(each.filling_rows),
            )
            for each in fields.data
        ),
        started=fields.started,
        signed=fields.signed,
        machine=tuple(sorted(fields.machine.items())),
        energy_kwh=fields.energy_kwh,
        tokens=int(fields.tokens),
        seconds=fields.seconds,
    )  # fmt: skip
