"""Nonces of audits that have not come to their end.

Who draws anew whenever an audit was stopped, or ended in an error, draws until a sample suits. So a nonce is kept,
sealed, from before its sample is replayed until an audit of it comes to its end, and an audit that begins anew has the
same one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from counterfoil.base.joberrors import SealError
from counterfoil.base.seal import SEAL_BYTES, check_seal, seal
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileWriteError
from counterfoil_core.base.sentence import say
from counterfoil_core.hearing.outside import NONCE_BYTES, draw_nonce
from counterfoil_core.values.sampling import SegmentRequest

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
