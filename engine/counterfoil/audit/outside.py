"""What an audit reaches beside the files that it judges: the user's progress, the nonce of its sample, its workers.

An audit in a box reaches none of these itself: it has a :class:`LocalOutside` that asks whoever started it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from counterfoil.audit.nonces import KeptNonce
from counterfoil.audit.parts.crew import patience_for
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.helpers import executor_of, open_helpers
from counterfoil.audit.progressfile import ProgressKeeper, Shelf
from counterfoil.audit.runfacts import facts_in
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.hearing.keptaudit import Basis
from counterfoil_core.hearing.outside import Helpers
from counterfoil_core.hearing.result import Identity
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Ranges
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import SegmentRequest


class LocalOutside:
    """Reaches it from this process: a :class:`counterfoil_core.hearing.outside.Outside`."""

    @property
    def shelf(self) -> Shelf:
        """Where progress lies."""
        return Shelf()

    def keeper(self, place: Path, basis: Basis) -> ProgressKeeper:
        """Return who keeps the progress of an audit."""
        return ProgressKeeper(place, basis, self.shelf)

    def nonce(self, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> KeptNonce:
        """Return the nonce that is kept of an audit; see :class:`KeptNonce`."""
        return KeptNonce(place, order, run_root, segments)

    def ranges(self, address: Address, cancel: CancelToken) -> Ranges:
        """Open a run that lies elsewhere; raises GivenFileError, FileReadError and CancelledError."""
        from counterfoil.remote.files import open_transfer  # with the libraries for networks

        return open_transfer(address, cancel)

    @contextmanager
    def helpers(
        self, request: AuditRequest, numbers: Sequence[int], identity: Identity, cancel: CancelToken, flops: float
    ) -> Iterator[Helpers | None]:
        """Provide whoever replays segments too; see :func:`counterfoil.audit.parts.helpers.open_helpers`."""
        patience = patience_for(flops)
        with open_helpers(request, numbers, identity, cancel, self.executor, patience) as found:
            yield found

    def facts(self, inspection: Inspection) -> RunFacts:
        """Count what a run shows of itself."""
        return facts_in(inspection)

    def write_capsule(self, evidence: CapsuleContents, path: Path) -> None:
        """Write a dispute capsule; raises FileWriteError and BundleError."""
        from counterfoil.bundle.capsulewriter import write_capsule

        write_capsule(evidence, path)

    def executor(self, request: AuditRequest, segments: int) -> Executor:
        """Return what runs the workers of an audit, for so many segments; raises WorkerError."""
        return executor_of(request, segments)
