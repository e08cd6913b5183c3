"""What the window asks of the engine, and the real engine behind it.

Everything here runs in the worker thread. The engine's names are looked up when they are used, since the first of them
imports torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import counterfoil
from counterfoil import AuditReport, BundleSummary, CancelToken, CounterfoilError, Event, StepRow


@dataclass(frozen=True)
class ReplayPlan:
    """One replay as the user asked for it.

    Attributes:
        run: The bundle.
        order: The client's own order file; None to take the order from the bundle.
        device: Name of the device, for instance ``cpu`` or ``cuda:0``.
        data: The data file; None when none was chosen.
    """

    run: Path
    order: Path | None
    device: str
    data: Path | None = None


class DeviceInfo(Protocol):
    """A device that can replay: its name, a title for people, and what to know of its float64."""

    @property
    def name(self) -> str:
        """Name that the engine takes, for instance ``cuda:0``."""

    @property
    def title(self) -> str:
        """Name for people, for instance ``NVIDIA H200``."""

    @property
    def float64_note(self) -> str:
        """One sentence on the device's float64."""


class Engine(Protocol):
    """The engine as the window sees it; each method may block and is called from the worker thread only."""

    def devices(self) -> Sequence[DeviceInfo]:
        """Return the devices of this machine."""

    def inspect(self, path: Path, order: Path | None) -> BundleSummary:
        """Return what a bundle says of itself; raises CounterfoilError."""

    def audit(self, plan: ReplayPlan, cancel: CancelToken) -> Iterator[Event]:
        """Replay a run; raises CounterfoilError."""

    def create_key(self, private: Path, passphrase: str | None) -> Path:
        """Write a new key pair and return where the public key lies; raises CounterfoilError."""

    def sign(self, report: AuditReport, private: Path, passphrase: str | None) -> bytes:
        """Return the signed verdict as a DSSE envelope in JSON; raises CounterfoilError."""

    def write_steps(self, rows: Sequence[StepRow], path: Path) -> None:
        """Write the step table as CSV; raises CounterfoilError."""

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit, whose report this is; raises CounterfoilError."""


class LibraryEngine:
    """The engine of the installed library.

    The evidence of the last audit stays in here: it holds a whole state, which the window has no use for.
    """

    def __init__(self) -> None:
        self._last: counterfoil.AuditFinished | None = None

    def devices(self) -> Sequence[DeviceInfo]:
        """Return the devices of this machine."""
        return tuple(counterfoil.list_devices())

    def inspect(self, path: Path, order: Path | None) -> BundleSummary:
        """Return what a bundle says of itself; raises CounterfoilError."""
        return counterfoil.inspect(path, order)

    def audit(self, plan: ReplayPlan, cancel: CancelToken) -> Iterator[Event]:
        """Replay a run; raises CounterfoilError."""
        request = counterfoil.AuditRequest(run=plan.run, order=plan.order, device=plan.device, data=plan.data)
        self._last = None
        for event in counterfoil.run_audit(request, cancel):
            if isinstance(event, counterfoil.AuditFinished):
                self._last = event
                event = counterfoil.AuditFinished(event.report)
            yield event

    def create_key(self, private: Path, passphrase: str | None) -> Path:
        """Write a new key pair and return where the public key lies; raises CounterfoilError."""
        return Path(counterfoil.generate_key(private, passphrase))

    def sign(self, report: AuditReport, private: Path, passphrase: str | None) -> bytes:
        """Return the signed verdict as a DSSE envelope in JSON; raises CounterfoilError."""
        return bytes(counterfoil.sign_verdict(report, counterfoil.load_private_key(private, passphrase)))

    def write_steps(self, rows: Sequence[StepRow], path: Path) -> None:
        """Write the step table as CSV; raises CounterfoilError."""
        counterfoil.write_steps_csv(rows, path)

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit, whose report this is; raises CounterfoilError."""
        if self._last is None or self._last.evidence is None or _disputed(self._last.report) != _disputed(report):
            raise CounterfoilError(
                "What a capsule of this dispute would hold is no longer at hand.", remedy="Replay the run again."
            )
        counterfoil.write_capsule(self._last.evidence, path)


def _disputed(report: AuditReport) -> tuple[object, ...]:
    """What tells the dispute of one report from that of another."""
    dispute = report.dispute
    return report.bundle_digest, *((dispute.trainer_leaf, dispute.replay_leaf) if dispute is not None else ())
