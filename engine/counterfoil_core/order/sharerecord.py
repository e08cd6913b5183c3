"""The record of a share, and how many elements it has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil_core.arithmetic.compute.interpreter import StepResult
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.shares import COUNT, ShareRecord
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.statedigest import root_of


def share_record(
    share: int,
    result: StepResult,
    buffers: Mapping[str, Tensor],
    log: Digest,
    fingerprints: npt.NDArray[np.uint64],
) -> ShareRecord:
    """Return what the leaf of a share commits to.

    Args:
        share: Its number.
        result: What its gradient program gave.
        buffers: The state tensors among that which the program changes.
        log: SHA-256 of its rounding log.
        fingerprints: uint64 ``[places]``.
    """
    return ShareRecord(
        share,
        root_of(result.combined),
        root_of(buffers),
        log,
        fingerprints_digest(fingerprints),
        result.loss,
        count_of(result),
    )


def count_of(result: StepResult) -> float:
    """Return of how many numbers the loss of a share is the sum; 1 where it is not weighed by a count."""
    count = result.combined.get(COUNT)
    return 1.0 if count is None else float(count)
