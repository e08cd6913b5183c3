"""What the ranks of a recording need of a process group, whether it is in this process or beside its box."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from counterfoil.distributed.liveness import Store

if TYPE_CHECKING:
    from torch import Tensor

PIECE_BYTES = 25 * 2**20
"""Most bytes of one collective: every rank cuts what is longer, since each is to cut alike, in a box or not."""
AT_ONCE = 4
"""Most collectives that are on their way at once."""


class Collective(Enum):
    """What all ranks do with a buffer, in place."""

    SUM = "sum"
    """Add int64 numbers."""
    SPREAD = "spread"
    """Take over the bytes of one rank."""
    GATHER = "gather"
    """Give rank 0 the row of each: uint8 ``[ranks, bytes]``."""
    GATHER_ALL = "gather all"
    """Give every rank the row of each: uint8 ``[ranks, bytes]``."""


class Work(Protocol):
    """A collective on its way; torch has it."""

    def is_completed(self) -> bool:
        """Whether it has come to its end, a bad one too."""

    def wait(self) -> object:
        """Wait for its end; raises RuntimeError where it was a bad one."""


class Group(Protocol):
    """All ranks of a recording, and nobody else."""

    @property
    def store(self) -> Store:
        """Values that all reach."""

    def begin(self, what: Collective, buffer: Tensor, source: int) -> Work:
        """Begin a collective, for which all ranks give a buffer of one length.

        Args:
            what: What is done.
            buffer: uint8, contiguous, of :data:`PIECE_BYTES` at most; it is looked at, and changed, until the end.
            source: The rank whose bytes are taken over, where they are.

        Raises:
            RuntimeError: A connection is broken.
        """
