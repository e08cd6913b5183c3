"""Runs the chains of a step for an interpreter, rounded as a recorder or a replayer does.

A site's grid needs E before the first element is rounded, and E comes of the largest element. So E is assumed: the
replayer takes the log's, the recorder the one that the site had in the step before; where the sweep finds another,
the chain is computed again, since nothing outside of it was overwritten. Whatever is out of the ordinary (an infinity,
a scale of zero, a value that somebody wants to look at) is left to the ordinary way, operator by operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.grid.tiles import DTYPES, SiteRounding, Swept, sweep
from counterfoil_core.program.chains import Chain


@dataclass(frozen=True)
class Made:
    """What a chain gave."""

    results: list[Tensor]  #: Its results in the order of the chain.
    #: For each whether it is state as it is stored, and all of it finite. Where nobody waits for a device, the bits of
    #: its largest magnitude, int32 ``[1]`` there.
    finite: tuple[bool | Tensor, ...]


def run_chain(
    chain: Chain,
    operands: Sequence[Tensor],
    numbers: Sequence[Tensor | float],
    rounder: object,
) -> Made | None:
    """Compute a chain.

    Args:
        chain: The chain.
        operands: Its operands in its order.
        numbers: Its scalars.
        rounder: The rounder of the step; None leaves the results as computed.

    Returns:
        What it gave; None where its operators must be computed one after the other.

    Raises:
        CancelledError: The token that is looked at was set.
    """
    scalars = [float(one) for one in numbers]
    if not all(map(math.isfinite, scalars)) or not _as_declared(chain, operands):
        return None
    whole = [tensor.contiguous() for tensor in operands]

    def run(sites: Sequence[SiteRounding] | None, watch_keys: Sequence[int]) -> Swept:
        return sweep(chain, whole, scalars, sites, watch_keys)

    swept: Swept | None = None
    if rounder is None:
        swept = run(None, ())
    # What is derived from these looks at what single operators give, or changes it.
    elif type(rounder) is RecordingRounder or type(rounder) is ReplayingRounder:
        swept = rounder.sweep(chain, run)
    return None if swept is None else Made(swept.results, swept.finite)


def _as_declared(chain: Chain, operands: Sequence[Tensor]) -> bool:
    for item, tensor in zip(chain.operands, operands, strict=True):
        if tensor.dtype is not DTYPES[item.dtype] or tensor.shape != chain.shape or not tensor.is_cpu:
            return False
    return True
