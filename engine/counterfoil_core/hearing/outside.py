"""What a hearing reaches beside the files that it judges, as protocols: whoever starts it says how.

Kept progress, the nonce of a sample, workers, addresses and the facts of a run come through here. The court has no
implementation of its own: without one it reaches nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.hearing.keptaudit import Basis, KeptAudit
from counterfoil_core.hearing.knowledge import Known
from counterfoil_core.hearing.result import Found, Identity, Missing
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Ranges
from counterfoil_core.values.events import WorkersReported
from counterfoil_core.values.report import Kept
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import SegmentRequest

NONCE_BYTES = 32


def draw_nonce() -> bytes:
    """Draw the nonce of a sample from the system's randomness; a verdict says that the audit drew it."""
    return secrets.token_bytes(NONCE_BYTES)


class Keeper(Protocol):
    """Keeps the progress of one audit."""

    kept: Kept | None
    """What is kept; None while nothing is."""
    problem: str
    """Why it could not be kept or removed, as a sentence; else empty."""

    @property
    def files(self) -> tuple[Path, ...]:
        """What is written, where there is something to write."""

    def earlier(self) -> KeptAudit | None:
        """Return the progress of an audit with this very basis; None where there is none of use."""

    def fitting(self, *, begin: bool) -> KeptAudit | None:
        """Return the progress that the audit can go on from.

        Args:
            begin: Whether None is returned where nothing was kept of any audit of this run.

        Raises:
            ProgressError: There is none, or it is that of another audit.
        """

    def evidence(self, audit: KeptAudit) -> CapsuleContents | None:
        """Read the dispute capsule that was kept with some progress; raises ProgressError if it is another one."""

    def adopt(self, audit: KeptAudit, evidence: CapsuleContents | None = None) -> None:
        """Take note of what is kept: progress with fewer segments will not replace it."""

    def keep(self, known: Known) -> None:
        """Note what is known where a segment ends."""

    def flush(self) -> None:
        """Write what was noted last."""

    def remove(self) -> None:
        """Remove what was written, since the audit has come to its end."""


class Nonce(Protocol):
    """The nonce of one audit, kept from before its sample is replayed until an audit of it comes to its end."""

    problem: str
    """Why it could not be kept or removed, as a sentence; else empty."""

    @property
    def path(self) -> Path:
        """Where it is kept."""

    def find(self) -> str:
        """Return the nonce that was kept, as hexadecimal digits; empty when there is none of use."""

    def draw(self) -> str:
        """Draw a nonce (:func:`draw_nonce`) and keep it."""

    def remove(self) -> None:
        """Remove it, since the audit has come to its end."""


class Helpers(Protocol):
    """Who replays segments beside the audit; what they find is taken by :mod:`counterfoil_core.hearing.check` alone."""

    def offered(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return those of some segments that somebody else replays."""

    def result(self, number: int) -> Generator[WorkersReported, None, Found | Missing]:
        """Wait for a segment; raises WorkerError where nobody is left, and CancelledError."""

    def pump(self, seconds: float = 0.0) -> Iterator[WorkersReported]:
        """Keep them busy; yields what they do, now and then."""

    def report(self) -> Iterator[WorkersReported]:
        """Say what they do."""


class Outside(Protocol):
    """How a hearing reaches what lies outside of the files that it judges."""

    def keeper(self, place: Path, basis: Basis) -> Keeper:
        """Return who keeps the progress of an audit, in a file or a folder."""

    def nonce(self, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> Nonce:
        """Return the nonce of an audit whose progress is kept at a place."""

    def ranges(self, address: Address, cancel: CancelToken) -> Ranges:
        """Open a run that lies elsewhere; raises GivenFileError, FileReadError and CancelledError."""

    def helpers(
        self, request: AuditRequest, numbers: Sequence[int], identity: Identity, cancel: CancelToken, flops: float
    ) -> AbstractContextManager[Helpers | None]:
        """Provide whoever the request names; None where the audit replays everything itself.

        Args:
            request: The audit.
            numbers: The segments that are still to be replayed.
            identity: What is audited.
            cancel: Looked at while the audit waits for them.
            flops: Floating-point operations of a step: how long nobody need say a word.

        Raises:
            PartError: A part file is none, or another audit's.
            WorkerError: No worker can be started.
        """

    def facts(self, inspection: Inspection) -> RunFacts:
        """Count what a run shows of itself."""
