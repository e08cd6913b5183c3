"""What an audit knows so far; it becomes the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from counterfoil.arithmetic.compute.devices import environment_after
from counterfoil.arithmetic.profiles import arithmetic_of
from counterfoil.audit.conclusion import Coverage, conclude
from counterfoil.audit.inspection import Inspection
from counterfoil.audit.keeping import (
    Basis,
    Keeper,
)
from counterfoil.audit.nonces import KeptNonce
from counterfoil.audit.outside import Outside
from counterfoil.audit.parts.work import here
from counterfoil.audit.step.steering import SteeringAccount
from counterfoil.audit.values.dispute import Dispute
from counterfoil.audit.values.events import (
    CheckChanged,
)
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, OrderSource
from counterfoil.audit.values.report import AuditReport, Steering
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.sampling import Sample, planned_steps
from counterfoil.audit.values.steptable import StepTable
from counterfoil.audit.values.workers import ReplayedAt, Where, by_place, elsewhere
from counterfoil.base.digest import Digest
from counterfoil.base.errors import (
    CounterfoilError,
    NonFiniteError,
    RefusedError,
)
from counterfoil.base.precision import ExactPrecision
from counterfoil.bundle.capsule import CapsuleContents
from counterfoil.bundle.schema import OrderManifest


@dataclass
class Progress:
    """What is known so far; becomes the report."""

    request: AuditRequest
    outside: Outside
    inspection: Inspection | None = None
    client_order: Digest | None = None
    bundle_digest: Digest | None = None
    sample: Sample | None = None
    started: bool = False
    cancelled: bool = False
    error: CounterfoilError | None = None
    steps: StepTable = field(default_factory=StepTable)
    dispute: Dispute | None = None
    seconds: float = 0.0
    evidence: CapsuleContents | None = None
    account: SteeringAccount | None = None
    environment: tuple[tuple[str, str], ...] = ()
    later_checks: dict[CheckNumber, Check] = field(default_factory=dict)
    keeper: Keeper | None = None
    basis: Basis | None = None
    nonce: KeptNonce | None = None
    places: dict[int, Where] = field(default_factory=dict)
    """Who replayed each segment, and where, by number."""

    @property
    def interrupted(self) -> bool:
        """Whether the audit did not come to its end, for no reason that lies in the run."""
        return self.cancelled or not isinstance(self.error, (RefusedError, NonFiniteError, type(None)))

    def settle_keeping(self) -> None:
        """Keep the progress of an audit that was interrupted; one that came to its end needs none."""
        staying = self.interrupted or self.request.retain
        if self.nonce is not None and not staying:
            self.nonce.remove()
        if self.keeper is not None and staying:
            self.keeper.flush()
        elif self.keeper is not None:
            self.keeper.remove()

    def leftover(self) -> tuple[Path, ...]:
        """What is left of the progress of an audit that came to its end."""
        if self.interrupted or not self.request.retain:
            return ()
        kept = () if self.keeper is None else self.keeper.files
        return kept if self.nonce is None else (*kept, self.nonce.path)

    def note(self, number: CheckNumber, state: CheckState, detail: str) -> CheckChanged:
        """Record the result of a check that follows the inspection."""
        check = Check(number, state, detail)
        self.later_checks[number] = check
        return CheckChanged(check)

    def checks(self, rest: CheckState = CheckState.PENDING) -> tuple[Check, ...]:
        """All ten checks in order; those not made have the state ``rest``."""
        known = {**(self.inspection.checks if self.inspection else {}), **self.later_checks}
        return tuple(known.get(number, Check(number, rest)) for number in CheckNumber)

    def final_checks(self) -> tuple[Check, ...]:
        """The checks when nothing goes on any more: one that had begun and has no result was not made."""
        open_ones = (CheckState.PENDING, CheckState.RUNNING)
        return tuple(
            Check(check.number, CheckState.SKIPPED) if check.state in open_ones else check for check in self.checks()
        )

    def _coverage(self, manifest: OrderManifest | None) -> Coverage:
        if manifest is None:
            return Coverage(0, 0)
        planned = manifest.steps if self.sample is None else planned_steps(manifest, self.sample)
        return Coverage(manifest.steps, planned, self.sample)

    def report(self) -> AuditReport:
        """Conclude, and report what was found."""
        inspection, tally = self.inspection, self.steps.tally()
        manifest = inspection.reader.manifest if inspection else None
        if inspection is None and isinstance(self.error, RefusedError):
            self.note(CheckNumber.FORMAT, CheckState.FAILED, self.error.sentence)
        coverage = self._coverage(manifest)
        outcome, reason, changed = conclude(
            tally,
            dispute=self.dispute,
            coverage=coverage,
            error=self.error,
            cancelled=self.cancelled,
            steering=self._steering(),
            exact=self._exact_bits(manifest) is not None,
        )
        for check in changed:
            self.later_checks.setdefault(check.number, check)
            if self.later_checks[check.number].state is CheckState.RUNNING:
                self.later_checks[check.number] = check
        claim = inspection.claim if inspection else None
        # Check 2 reads the client's order again; what it compared is what counts.
        client = (inspection.client_order if inspection else None) or self.client_order
        known = self.request.client_key
        if inspection is not None and inspection.broken_signature and client == inspection.reader.manifest.digest:
            client = None  # check 2 ended before it could compare them
        held = manifest.digest if manifest else None
        return AuditReport(
            outcome=outcome,
            reason=reason,
            checks=self.final_checks(),
            order_digest=client or held,
            order_source=self._order_source(client),
            run_order=held,
            run_root=claim.run_root if claim else None,
            bundle_digest=self.bundle_digest,
            bundle_name=Path(self.request.run).name,
            trainer_key=inspection.trainer_key if inspection else "",
            given_key=self.request.trainer_key.key_id if self.request.trainer_key else "",
            title=manifest.title if manifest else "",
            steps_ordered=coverage.ordered,
            steps_planned=coverage.planned,
            steps_replayed=tally.judged,
            mismatched_steps=tally.mismatched,
            dispute=self.dispute,
            corrections=tally.corrections,
            contradictions=tally.contradictions,
            omissions=tally.omissions,
            log_entries=tally.log_entries,
            log_bytes=tally.log_bytes,
            rounded_values=tally.rounded_values,
            seconds=self.seconds,
            environment=environment_after(self.environment),
            trainer_environment=claim.environment if claim else (),
            client_key=inspection.client_key if inspection else "",
            given_client_key=known.key_id if known else "",
            accepted_at=inspection.acceptance.accepted_at if inspection and inspection.acceptance else "",
            accepted_client=(inspection.acceptance.client_key or "") if inspection and inspection.acceptance else "",
            sample=self.sample,
            steering=self._steering(),
            without_bound=self._without_bound(),
            exact_bits=self._exact_bits(manifest),
            replayed_at=self.replayed_at,
        )

    @property
    def replayed_at(self) -> tuple[ReplayedAt, ...]:
        """Where the segments were replayed; empty when this machine replayed them all."""
        return by_place(self.places) if elsewhere(self.places, here(self.environment)) else ()

    @staticmethod
    def _exact_bits(manifest: OrderManifest | None) -> int | None:
        precision = None if manifest is None else manifest.precision
        return precision.bits if isinstance(precision, ExactPrecision) else None

    def _order_source(self, client: Digest | None) -> OrderSource:
        if client is not None:
            return "client"
        whose = None if self.inspection is None else self.inspection.whose
        return "bundle" if whose is None else whose.source

    def _without_bound(self) -> tuple[str, ...] | None:
        order = self.inspection.order if self.inspection else None
        return (
            None if order is None else arithmetic_of(order.manifest.precision).kinds_without_proof(order.programs.all)
        )

    def _steering(self) -> Steering | None:
        return self.account.result() if self.account is not None and self.steps.judged else None
