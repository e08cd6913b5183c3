"""How this process was started: alone, or as a rank among several, as torchrun and its kin say in the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass

from counterfoil.base.joberrors import RankError


@dataclass(frozen=True)
class Launch:
    """A process among several that were started together."""

    rank: int  #: Its number, from 0.
    size: int  #: How many there are.
    local: int  #: Its number on its machine, which is that of its GPU.


def launch() -> Launch | None:
    """Return what the environment says of this process; None where it was started alone.

    Raises:
        RankError: The environment names a rank that cannot be.
    """
    rank, size = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    if rank is None or size is None:
        return None
    try:
        found = Launch(int(rank), int(size), int(os.environ.get("LOCAL_RANK", rank)))
    except ValueError:
        found = Launch(-1, 0, -1)
    if not 0 <= found.rank < found.size or found.local < 0:
        raise RankError(
            f"The environment says that this is rank {rank} of {size}, which cannot be.",
            remedy="Start with torchrun, which sets RANK and WORLD_SIZE; or unset both to train with one process.",
        )
    return found if found.size > 1 else None
