"""What the window asks of the engine, and the real engine behind it.

The window calls an :class:`Engine` from its worker thread; :class:`LibraryEngine` runs in the engine's own process
(engine/process.py), so that the window's process never loads torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import counterfoil
from counterfoil import (
    AuditReport,
    BundleSummary,
    CancelToken,
    Check,
    CounterfoilError,
    Digest,
    Event,
    Kept,
    Outcome,
    Plan,
    PlanProgress,
    SegmentRequest,
    SignatureError,
    StepRow,
)
from counterfoil.inputs import read_input
from counterfoil.sentence import say
from counterfoil_app.engine.sample import SampleKind, SampleProgress, record_sample

if TYPE_CHECKING:
    from counterfoil import AuditRequest, Verdict  # importing it would import what signs, which the window does without

MAX_VERDICT_BYTES = 64 * 2**20
"""A verdict on a million steps is far smaller; more is not read."""


@dataclass(frozen=True)
class ReplayPlan:
    """One replay as the user asked for it.

    Attributes:
        run: The bundle.
        order: The client's own order file; None to take the order from the bundle.
        device: Name of the device, for instance ``cpu`` or ``cuda:0``.
        data: The data file; None when none was chosen.
        segments: Which segments of the run to replay; all unless said otherwise.
        threads: Threads on the CPU; None for torch's choice.
        allow_large: Whether a program beyond the limits is computed.
        resume: Go on where an earlier replay was stopped.
    """

    run: Path
    order: Path | None
    device: str
    data: Path | None = None
    segments: SegmentRequest = field(default_factory=SegmentRequest)
    threads: int | None = None
    allow_large: bool = False
    resume: bool = False


@dataclass(frozen=True)
class SignedVerdict:
    """A verdict whose signature holds.

    Attributes:
        key_id: The key for which it holds.
        key_file: The file of that key.
        outcome: The conclusion.
        headline: The outcome in words, with its reach.
        reason: Why.
        title: Title of the order.
        bundle_name: File name of the bundle it speaks of.
        bundle_digest: SHA-256 of that file.
        run_root: The run root; None when the audit could not read it.
        order_digest: Digest of the order; None when the audit could not read it.
        order_source: ``client`` when the order was compared with the client's file, else ``bundle``.
        checks: All checks, in order.
        steps_ordered: Number of steps ordered.
        steps_replayed: Number of steps replayed and judged.
        disputed_step: The first step that differs; None when there is no dispute.
        signed_at: When the auditor signed, as the auditor says.
    """

    key_id: str
    key_file: Path
    outcome: Outcome
    headline: str
    reason: str
    title: str
    bundle_name: str
    bundle_digest: Digest
    run_root: Digest | None
    order_digest: Digest | None
    order_source: str
    checks: tuple[Check, ...]
    steps_ordered: int
    steps_replayed: int
    disputed_step: int | None
    signed_at: str


@dataclass(frozen=True)
class VerdictReading:
    """What a verdict file turned out to be.

    Attributes:
        key_ids: The keys that it says it was signed with; nothing is proved by that.
        verdict: The verdict; None when none of the given keys is among them, so that nothing could be checked.
        bundle_matches: Whether it speaks of the bundle it was compared with; None when it was not compared.
    """

    key_ids: tuple[str, ...]
    verdict: SignedVerdict | None = None
    bundle_matches: bool | None = None


@dataclass(frozen=True)
class DeviceInfo:
    """A device that can replay.

    Attributes:
        name: Name that the engine takes, for instance ``cuda:0``.
        title: Name for people, for instance ``NVIDIA H200``.
        float64_note: A few words on the device's float64.
    """

    name: str
    title: str
    float64_note: str


class Engine(Protocol):
    """The engine as the window sees it; each method may block and is called from the worker thread only."""

    def devices(self) -> Sequence[DeviceInfo]:
        """Return the devices of this machine."""

    def outline(self, path: Path) -> BundleSummary:
        """Say what a bundle says of itself before anything large is read; raises CounterfoilError."""

    def inspect(self, path: Path, order: Path | None, cancel: CancelToken) -> Iterator[BundleSummary]:
        """Say what a bundle says of itself, more in each summary; raises CounterfoilError."""

    def plan(self, plan: ReplayPlan, bad_fraction: float, cancel: CancelToken) -> Iterator[PlanProgress | Plan]:
        """Measure a few steps and say what audits would cost; raises CounterfoilError."""

    def kept(self, plan: ReplayPlan, order: Digest, run_root: Digest) -> Kept | None:
        """Return what is kept of an earlier replay of this run, to go on from; raises CounterfoilError."""

    def audit(self, plan: ReplayPlan, cancel: CancelToken) -> Iterator[Event]:
        """Replay a run; raises CounterfoilError."""

    def preview(self, report: AuditReport, signed_at: datetime) -> bytes:
        """Return the statement that the signer is to sign, as canonical JSON; raises CounterfoilError."""

    def read_verdict(self, path: Path, keys: Sequence[Path], bundle: Path | None) -> VerdictReading:
        """Check a verdict file with the first of the public keys that signed it; raises CounterfoilError."""

    def write_steps(self, rows: Sequence[StepRow], path: Path) -> None:
        """Write the step table as CSV; raises CounterfoilError."""

    def make_sample(self, folder: Path, kind: SampleKind, cancel: CancelToken) -> Iterator[SampleProgress]:
        """Record a run of the sample; raises CounterfoilError."""

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit, whose report this is; raises CounterfoilError."""

    def close(self) -> None:
        """Let go of everything the engine holds; a later call starts it again."""


class LibraryEngine:
    """The engine of the installed library.

    Its names are looked up when they are used, since the first of them imports torch, which takes seconds. The evidence
    of the last audit stays in here: it holds a whole state, which the window has no use for.
    """

    def __init__(self) -> None:
        self._last: counterfoil.AuditFinished | None = None

    def devices(self) -> Sequence[DeviceInfo]:
        """Return the devices of this machine."""
        return tuple(DeviceInfo(item.name, item.title, item.float64_note) for item in counterfoil.list_devices())

    def outline(self, path: Path) -> BundleSummary:
        """Say what a bundle says of itself before anything large is read; raises CounterfoilError."""
        return next(counterfoil.inspect_stages(path))

    def inspect(self, path: Path, order: Path | None, cancel: CancelToken) -> Iterator[BundleSummary]:
        """Say what a bundle says of itself, more in each summary; raises CounterfoilError."""
        yield from counterfoil.inspect_stages(path, order, cancel=cancel)

    def plan(self, plan: ReplayPlan, bad_fraction: float, cancel: CancelToken) -> Iterator[PlanProgress | Plan]:
        """Measure a few steps and say what audits would cost; raises CounterfoilError."""
        yield from counterfoil.plan_audit(
            plan.run,
            data=plan.data,
            bad_fraction=bad_fraction,
            device=plan.device,
            cancel=cancel,
            limits=counterfoil.limits_for(plan.allow_large),
        )

    def kept(self, plan: ReplayPlan, order: Digest, run_root: Digest) -> Kept | None:
        """Return what is kept of an earlier replay of this run, to go on from; raises CounterfoilError."""
        return counterfoil.find_progress(_request(plan), order, run_root)

    def audit(self, plan: ReplayPlan, cancel: CancelToken) -> Iterator[Event]:
        """Replay a run; raises CounterfoilError."""
        self._last = None
        for event in counterfoil.run_audit(_request(plan), cancel):
            if isinstance(event, counterfoil.AuditFinished):
                self._last = event
                event = replace(event, evidence=None)
            yield event

    def preview(self, report: AuditReport, signed_at: datetime) -> bytes:
        """Return the statement that the signer is to sign, as canonical JSON; raises CounterfoilError."""
        return bytes(counterfoil.preview_verdict(report, signed_at))

    def read_verdict(self, path: Path, keys: Sequence[Path], bundle: Path | None) -> VerdictReading:
        """Check a verdict file with the first of the public keys that signed it; raises CounterfoilError."""
        envelope = read_input(path, say("a verdict"), CounterfoilError, most=MAX_VERDICT_BYTES)
        key_ids = counterfoil.claimed_key_ids(envelope)
        for key_file in keys:
            key = counterfoil.load_public_key(key_file)
            if key.key_id in key_ids:
                verdict = counterfoil.verify_verdict(envelope, key)
                return VerdictReading(key_ids, _signed(verdict, key_file), _speaks_of(verdict, bundle))
        return VerdictReading(key_ids)

    def write_steps(self, rows: Sequence[StepRow], path: Path) -> None:
        """Write the step table as CSV; raises CounterfoilError."""
        counterfoil.write_steps_csv(rows, path)

    def make_sample(self, folder: Path, kind: SampleKind, cancel: CancelToken) -> Iterator[SampleProgress]:
        """Record a run of the sample; raises CounterfoilError."""
        return record_sample(folder, kind, cancel)

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit, whose report this is; raises CounterfoilError."""
        if self._last is None or self._last.evidence is None or _disputed(self._last.report) != _disputed(report):
            raise CounterfoilError(
                say("The evidence for a capsule of this dispute is no longer in memory."),
                remedy=say("Replay the run again."),
            )
        counterfoil.write_capsule(self._last.evidence, path)

    def close(self) -> None:
        """Let go of the evidence."""
        self._last = None


def _request(plan: ReplayPlan) -> AuditRequest:
    return counterfoil.AuditRequest(
        run=plan.run,
        order=plan.order,
        device=plan.device,
        data=plan.data,
        segments=plan.segments,
        threads=plan.threads,
        limits=counterfoil.limits_for(plan.allow_large),
        progress=counterfoil.state_folder(),
        resume=plan.resume,
    )


def _signed(verdict: Verdict, key_file: Path) -> SignedVerdict:
    return SignedVerdict(
        key_id=verdict.key_id,
        key_file=key_file,
        outcome=verdict.outcome,
        headline=verdict.headline,
        reason=verdict.reason,
        title=str(verdict.predicate["title"]),
        bundle_name=verdict.bundle_name,
        bundle_digest=verdict.bundle_digest,
        run_root=verdict.run_root,
        order_digest=verdict.order_digest,
        order_source=verdict.order_source,
        checks=verdict.checks,
        steps_ordered=verdict.steps_ordered,
        steps_replayed=verdict.steps_replayed,
        disputed_step=verdict.disputed_step,
        signed_at=verdict.signed_at,
    )


def _speaks_of(verdict: Verdict, bundle: Path | None) -> bool | None:
    if bundle is None:
        return None
    try:
        counterfoil.check_bundle_file(verdict, bundle)
    except SignatureError:
        return False
    return True


def _disputed(report: AuditReport) -> tuple[object, ...]:
    """What tells the dispute of one report from that of another."""
    dispute = report.dispute
    return report.bundle_digest, *((dispute.trainer_leaf, dispute.replay_leaf) if dispute is not None else ())
