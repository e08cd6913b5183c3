"""The report of an audit, made of what is known when it ends."""

from __future__ import annotations

from dataclasses import replace

from counterfoil_core.arithmetic.beforehand import beforehand
from counterfoil_core.arithmetic.compute.devices import environment_after
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileChangedError, RefusedError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.hearing.conclusion import Coverage, conclude
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.hearing.knowledge import Known
from counterfoil_core.hearing.work import here
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.replay.steering import SteeringSites
from counterfoil_core.signing.parties import party_ids
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, OrderSource
from counterfoil_core.values.report import AuditReport, Steering
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import planned_steps
from counterfoil_core.values.workers import elsewhere


def report_of(request: AuditRequest, known: Known) -> AuditReport:
    """Conclude, and report what was found."""
    inspection, judged, tally = known.inspection, known.judged, known.steps.tally()
    manifest = inspection.reader.manifest if inspection else None
    claim = inspection.claim if inspection else None
    acceptance = inspection.acceptance if inspection else None
    client, held = _client_order(known), manifest.digest if manifest else None
    coverage, steering, exact_bits = _coverage(request, known), _steering(known), _exact_bits(inspection)
    outcome, reason, concluded = conclude(
        tally,
        dispute=judged.dispute,
        coverage=coverage,
        error=None if known.cancelled else known.error,
        cancelled=known.cancelled,
        steering=steering,
        exact=exact_bits is not None,
    )
    here_too = elsewhere(judged.replayed_at, here(known.environment))
    return AuditReport(
        outcome=outcome,
        reason=reason,
        checks=_final_checks(known, concluded),
        order_digest=client or held,
        order_source=_order_source(client, inspection),
        run_order=held,
        run_root=claim.run_root if claim else None,
        bundle_digest=known.bundle_digest,
        bundle_name=request.run.name,
        trainer_key=inspection.trainer_key if inspection else "",
        given_key=request.trainer_key.key_id if request.trainer_key else "",
        title=manifest.title if manifest else "",
        steps_ordered=coverage.ordered,
        steps_recorded=coverage.recorded,
        steps_planned=coverage.planned,
        steps_replayed=tally.judged,
        mismatched_steps=tally.mismatched,
        dispute=judged.dispute,
        corrections=tally.corrections,
        contradictions=tally.contradictions,
        omissions=tally.omissions,
        log_entries=tally.log_entries,
        log_bytes=tally.log_bytes,
        rounded_values=tally.rounded_values,
        seconds=judged.seconds,
        environment=environment_after(known.environment),
        trainer_environment=tuple(claim.environment.items()) if claim else (),
        client_key=inspection.client_key if inspection else "",
        given_client_key=request.client_key.key_id if request.client_key else "",
        parties=party_ids(manifest) if manifest and claim else (),
        accepted_at=acceptance.accepted_at if acceptance else "",
        accepted_client=(acceptance.client_key or "") if acceptance else "",
        sample=judged.sample,
        steering=steering,
        without_bound=_without_bound(inspection),
        exact_bits=exact_bits,
        replayed_at=judged.replayed_at if here_too else (),
        fetched=_fetched(known),
        facts=known.facts,
        begun_at=judged.begun,
        ended_at=judged.ended,
        sittings=max(1, judged.sittings),
    )


def _fetched(known: Known) -> Fetched | None:
    """How much was fetched, and whether it is what the signed run root commits to."""
    fetched = None if known.inspection is None else known.inspection.fetched
    if fetched is None or not isinstance(known.error, FileChangedError):
        return fetched
    return replace(fetched, compared=False)


def _final_checks(known: Known, concluded: tuple[Check, ...]) -> tuple[Check, ...]:
    """The checks when nothing goes on any more: one that had begun and has no result was not made."""
    checks = {check.number: check for check in known.checks}
    if known.inspection is None and isinstance(known.error, RefusedError):
        checks[CheckNumber.FORMAT] = Check(CheckNumber.FORMAT, CheckState.FAILED, known.error.sentence)
    open_ones = (CheckState.PENDING, CheckState.RUNNING)
    for check in concluded:
        if checks[check.number].state in open_ones:
            checks[check.number] = check
    return tuple(
        Check(check.number, CheckState.SKIPPED) if check.state in open_ones else check for check in checks.values()
    )


def _coverage(request: AuditRequest, known: Known) -> Coverage:
    if known.inspection is None:
        return Coverage(0, 0, 0)
    reader, sample = known.inspection.reader, known.judged.sample
    # Until check 5 has passed, how many steps a run has is only what the file says.
    extent = reader.manifest.extent if known.inspection.claim is None else reader.extent
    return Coverage(
        reader.manifest.steps,
        extent.steps,
        extent.steps if sample is None else planned_steps(extent, sample),
        sample,
        may_stop=reader.manifest.may_stop_early is not None,
        shares=len(request.shares),
        shares_of=0 if reader.manifest.shares is None else reader.manifest.shares.count,
        shares_matched=known.judged.shares,
    )


def _client_order(known: Known) -> Digest | None:
    """The client's own order, as check 2 read it, once more: what that compared is what counts."""
    inspection = known.inspection
    if inspection is None:
        return known.client_order
    client = inspection.client_order or known.client_order
    if inspection.broken_signature and client == inspection.reader.manifest.digest:
        return None  # check 2 ended before it could compare them
    return client


def _order_source(client: Digest | None, inspection: Inspection | None) -> OrderSource:
    if client is not None:
        return "client"
    whose = None if inspection is None else inspection.whose
    return "bundle" if whose is None else whose.source


def _exact_bits(inspection: Inspection | None) -> int | None:
    precision = None if inspection is None else inspection.reader.manifest.precision
    return precision.bits if isinstance(precision, ExactPrecision) else None


def _without_bound(inspection: Inspection | None) -> tuple[str, ...] | None:
    order = inspection.order if inspection else None
    return None if order is None else beforehand(order.manifest.precision).kinds_without_proof(order.all_programs)


def _steering(known: Known) -> Steering | None:
    """How far the matching steps could have been steered; None where no step was judged, and under an exact profile."""
    order = known.inspection.order if known.inspection else None
    sites = None if order is None else SteeringSites.of(order)
    return sites.result(known.judged.account) if sites is not None and known.steps.judged else None
