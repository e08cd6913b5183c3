"""Writes the in-toto statements that an auditor signs: on an audit, and on an adjudication.

docs/verdict.md lists every field.

The predicate is shaped like SLSA's verification summary (slsa.dev/spec/v1.1/verification_summary), under a type of
its own, since that one knows no result between PASSED and FAILED.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints
from urllib.parse import quote

from msgspec import UNSET, UnsetType

from counterfoil_core import __version__
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.signing.kinds import ACCEPTANCE, ORDER, ROOT, RUN, SHA256, SHARE, Fields
from counterfoil_core.statement.factfields import fields_of
from counterfoil_core.statement.model import (
    VERIFIER_ID,
    AdjudicationStatement,
    AttestationFields,
    BeaconFields,
    CheckFields,
    ComparisonFields,
    Count,
    CountFields,
    CoverageFields,
    DisputeFields,
    EnvironmentFields,
    ExactDecimal,
    FetchedFields,
    FindingFields,
    LogCountFields,
    Number,
    OrderDigestFields,
    PlaceFields,
    PolicyFields,
    SampleFields,
    SteeringFields,
    SteeringRowFields,
    StepsFields,
    SubjectFields,
    VerdictStatement,
    VerifierFields,
)
from counterfoil_core.statement.parts import parts_of
from counterfoil_core.values.adjudication import AdjudicationReport
from counterfoil_core.values.dispute import Dispute
from counterfoil_core.values.events import IMITATION
from counterfoil_core.values.report import AuditReport, Report, Steering
from counterfoil_core.values.sampling import Sample, ranges
from counterfoil_core.values.workers import ReplayedAt

FieldsT = TypeVar("FieldsT", bound=Fields)


def verdict_statement(
    report: AuditReport, signed_at: datetime, model: tuple[str, Digest] | None = None
) -> VerdictStatement:
    """Return what a verdict says of ``report``.

    Args:
        report: The report of an audit.
        signed_at: When it is signed, with its zone; counted in whole seconds.
        model: Name and OpenSSF Model Signing digest of the folder whose weights were found to be the run's.

    Raises:
        SignatureError: There is nothing to make a statement about: the audit could not read the bundle file, or
            imitated other hardware.
    """
    if not report.is_about:
        raise SignatureError(
            say("There is no verdict to sign: the bundle file could not be read, or changed while it was read."),
            remedy=say("Look at the reason that the audit gave."),
        )
    if IMITATION in dict(report.environment):
        raise SignatureError(
            say("There is no verdict to sign: the run was replayed on imitated hardware."),
            remedy=say("Audit it without imitated hardware."),
        )
    delivered = () if model is None else (SubjectFields(model[0], {SHA256: model[1].hex}),)
    return VerdictStatement(
        subject=(*_subjects(report.bundle_name, report.bundle_digest, report.run_root), *delivered),
        **_shared(report, report.bundle_name if report.fetched is None else report.fetched, signed_at),
        result=report.outcome,
        coverage=_like(
            CoverageFields,
            report,
            mismatched_steps=tuple(ranges(report.mismatched_steps)),
            sample=None if report.sample is None else _sample(report.sample),
            steps_recorded=_recorded(report),
        ),
        counts=_like(CountFields, report),
        steering=None if report.steering is None else _steering(report.steering),
        without_bound=report.without_bound,
        exact_bits=report.exact_bits,
        replayed_at=_places(report.replayed_at) or UNSET,
        fetched=UNSET if report.fetched is None else _like(FetchedFields, report.fetched),
        facts=UNSET if report.facts is None else fields_of(report.facts),
    )


def adjudication_statement(report: AdjudicationReport, signed_at: datetime) -> AdjudicationStatement:
    """Return what an adjudication says; raises SignatureError when the capsule could not be read."""
    if report.capsule_digest is None:
        raise SignatureError(
            say("There is nothing to sign: the capsule could not be read, or changed while it was read."),
            remedy=say("Look at the reason that the adjudication gave."),
        )
    return AdjudicationStatement(
        subject=_subjects(report.capsule_name, report.capsule_digest, report.run_root),
        **_shared(report, report.capsule_name, signed_at),
        result=report.outcome,
        steps=StepsFields(
            ordered=report.steps_ordered,
            agreed=report.agreed_step,
            disputed=report.step,
            replayed=report.steps_replayed,
            recorded=_recorded(report),
        ),
        counts=_like(LogCountFields, report),
    )


def _recorded(report: Report) -> int | UnsetType:
    """Number of steps of a run that ends before its last ordered step."""
    return report.steps_recorded if report.steps_recorded < report.steps_ordered else UNSET


def _subjects(name: str, file_digest: Digest | None, run_root: Digest | None) -> tuple[SubjectFields, ...]:
    printable = name.encode("utf-8", "replace").decode()
    run = {} if run_root is None else {ROOT: run_root.hex}
    if file_digest is None:
        return (SubjectFields(printable, run),)
    file = SubjectFields(printable, {SHA256: file_digest.hex})
    return (file, SubjectFields("run", run)) if run else (file,)


def _shared(report: Report, file: str | Fetched, signed_at: datetime) -> dict[str, Any]:
    """What verdicts and adjudications say alike, as the fields of JudgedStatement."""
    return {
        "verifier": VerifierFields(VERIFIER_ID, __version__),
        "time_verified": timestamp(signed_at),
        "resource_uri": file.place if isinstance(file, Fetched) else "file:" + quote(file, errors="surrogateescape"),
        "title": report.title,
        "policy": PolicyFields(
            order_digest=_order(report.order_digest),
            order_source=report.order_source,
            run_order_digest=_order(report.run_order),
            trainer_key_id=report.given_key or None,
            client_key_id=report.given_client_key or None,
        ),
        "input_attestations": _attestations(report),
        "reason": report.reason,
        "reason_parts": parts_of(report.reason),
        "checks": tuple(
            _like(CheckFields, check, title=check.number.title, detail_parts=parts_of(check.detail))
            for check in report.checks
        ),
        "seconds": Number.of(report.seconds),
        "dispute": None if report.dispute is None else _dispute(report.dispute),
        "environment": EnvironmentFields(dict(report.environment), dict(report.trainer_environment)),
    }


def _attestations(report: Report) -> tuple[AttestationFields, ...]:
    """What signed things it rests on: the order's signature, its acceptance, the run's claim, the parties' shares."""
    signed = [
        (ORDER.predicate, report.client_key),
        (ACCEPTANCE.predicate, report.trainer_key if report.accepted_at else ""),
        (RUN.short if report.steps_recorded < report.steps_ordered else RUN.predicate, report.trainer_key),
        *((SHARE.predicate, party) for party in report.parties),
    ]
    return tuple(AttestationFields(kind, key) for kind, key in signed if key)


def _order(digest: Digest | None) -> OrderDigestFields | None:
    return None if digest is None else OrderDigestFields(digest.hex)


def _sample(sample: Sample) -> SampleFields:
    return SampleFields(
        segments=sample.total,
        chosen=sample.spans,
        selection=sample.selection,
        nonce=sample.nonce,
        nonce_source=sample.source,
        beacon=None if sample.beacon is None else _like(BeaconFields, sample.beacon),
        bad_segments=sample.bad,
        passing_probability=Number.of(sample.passing),
    )


def _places(replayed_at: tuple[ReplayedAt, ...]) -> tuple[PlaceFields, ...]:
    return tuple(
        PlaceFields(by=at.by, machine=at.place.machine, environment=dict(at.place.environment), segments=at.segments)
        for at in replayed_at
    )


def _steering(steering: Steering) -> SteeringFields:
    return _like(SteeringFields, steering, operators=tuple(_like(SteeringRowFields, row) for row in steering.rows))


def _dispute(dispute: Dispute) -> DisputeFields:
    comparisons = tuple(_like(ComparisonFields, node) for node in dispute.path)
    part, signer = dispute.part or UNSET, dispute.signer or UNSET
    finding = dispute.finding
    found = None if finding is None else _like(FindingFields, finding, sentence_parts=parts_of(finding.sentence))
    return _like(DisputeFields, dispute, comparisons=comparisons, part=part, signer=signer, finding=found)


def _like(kind: type[FieldsT], value: object, **other: object) -> FieldsT:
    """Write a value: each field holds what the value has under that name, in the form that the field's type asks for.

    Args:
        kind: The fields.
        value: What is written.
        other: Fields that the value has under another name, or not at all.
    """
    return kind(
        **{
            name: other[name] if name in other else _written(getattr(value, name), hint)
            for name, hint in _hints(kind).items()
        }
    )


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _written(value: Any, hint: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_written(each, hint) for each in value)
    if isinstance(value, Digest):
        return value.hex
    forms = (Count, ExactDecimal, Fields)
    form = next((each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, forms)), None)
    if value is None or form is None:
        return value
    if form is Number:
        return Number.of(value)
    return _like(form, value) if issubclass(form, Fields) else form(value)
