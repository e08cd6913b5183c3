"""The digest of a step's fingerprints."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.digest import Digest


def fingerprint_bytes(fingerprints: npt.NDArray[np.uint64]) -> bytes:
    """Return fingerprints, uint64 ``[places]``, as they are stored and hashed: little-endian."""
    return fingerprints.astype("<u8").tobytes()


def fingerprints_digest(fingerprints: npt.NDArray[np.uint64]) -> Digest:
    """Return the digest of fingerprints, uint64 ``[places]``, that a step record names."""
    return Digest.of(fingerprint_bytes(fingerprints))
