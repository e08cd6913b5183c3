"""What an audit reaches beside the files that it judges: the user's progress, the nonce of its sample, its workers.

An audit in a box reaches none of these itself: it has a :class:`LocalOutside` that asks whoever started it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from counterfoil.audit.parts.crew import patience_for
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.helpers import executor_of, open_helpers
from counterfoil.audit.progressfile import ProgressKeeper, Shelf
from counterfoil.audit.runfacts import facts_in
from counterfoil.base.joberrors import SealError
from counterfoil.base.seal import SEAL_BYTES, check_seal, seal
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, FileWriteError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.hearing.keptaudit import Basis
from counterfoil_core.hearing.outside import NONCE_BYTES, Helpers, draw_nonce
from counterfoil_core.hearing.result import Identity
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Ranges
from counterfoil_core.values.beacon import LAST_ROUND, QUICKNET, SIGNATURE_BYTES, Beacon
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import SegmentRequest

# A round of a public beacon, read from the file that was fetched of it.

_MOST_BYTES = 10_000


_FORM = say("Give a round as the beacon publishes it: a JSON object with round and signature.")


def read_beacon(path: str | os.PathLike[str]) -> Beacon:
    """Read a round as drand publishes it, a JSON object with ``round``, ``signature`` and, if it likes, ``randomness``.

    Its signature is not checked here.

    Raises:
        DataError: It is none, or its randomness is not that of its signature.
    """
    data = read_input(path, say("a round of a beacon"), DataError, most=_MOST_BYTES)
    try:
        said = canonical.parse(data)
        beacon = Beacon(QUICKNET, said["round"], said["signature"])
        if not isinstance(beacon.round, int) or isinstance(beacon.round, bool) or not 1 <= beacon.round <= LAST_ROUND:
            raise ValueError("a round that cannot be")
        if len(bytes.fromhex(beacon.signature)) != SIGNATURE_BYTES or beacon.signature != beacon.signature.lower():
            raise ValueError("a signature of another length or form")
        randomness = said.get("randomness", beacon.nonce)
    except (CanonicalError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            say("{0} is no round of a public beacon.", os.fspath(path)), remedy=_FORM, detail=str(error)
        ) from error
    if randomness != beacon.nonce:
        raise DataError(say("The randomness in {0} is not that of its signature.", os.fspath(path)), remedy=_FORM)
    return beacon


# Nonces of audits that have not come to their end. Who draws anew whenever an audit was stopped, or ended in an error,
# draws until a sample suits. So a nonce is kept, sealed, from before its sample is replayed until an audit of it comes
# to its end, and an audit that begins anew has the same one.

MARK = b"counterfoil nonce of an audit 1\n"


class KeptNonce:
    """The nonce of one audit.

    Args:
        place: Where the audit's progress is kept: a file, or a folder.
        order: Digest of the order.
        run_root: The signed run root.
        segments: What was asked for.

    Attributes:
        path: Where the nonce is kept.
        problem: Why it could not be kept or removed, as a sentence; else empty.
    """

    def __init__(self, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> None:
        asked = hashlib.sha256(order.value + msgspec.msgpack.encode(segments)).digest()
        name = f"{run_root.hex[:32]}-{asked.hex()[:16]}.nonce"
        self.path = place / name if place.is_dir() else place.with_name(place.name + ".nonce")
        self._about = MARK + run_root.value + asked
        self.problem = ""

    def find(self) -> str:
        """Return the nonce that was kept, as hexadecimal digits; empty when there is none of use."""
        try:
            data = self.path.read_bytes() if self.path.is_file() else b""
            nonce = data[len(MARK) + SEAL_BYTES :]
            if not data.startswith(MARK) or len(nonce) != NONCE_BYTES:
                return ""
            check_seal(self._about + nonce, data[len(MARK) : len(MARK) + SEAL_BYTES])
        except (OSError, SealError):  # it is replaced
            return ""
        return nonce.hex()

    def draw(self) -> str:
        """Draw a nonce and keep it; what fails is said in :attr:`problem`, since an audit must not fail for it."""
        nonce = draw_nonce()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            data = MARK + seal(self._about + nonce) + nonce
            write_whole(self.path, data, what=say("the nonce of the audit"), mode=0o600)
        except (FileWriteError, SealError, OSError) as error:
            sentence = say("{0}.", error.strerror or error) if isinstance(error, OSError) else error.sentence
            self.problem = say("The nonce of the sample could not be kept. {0}", sentence)
        return nonce.hex()

    def remove(self) -> None:
        """Remove it, since the audit has come to its end."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            self.problem = say("{0} could not be removed: {1}.", self.path, error.strerror or error)


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
