"""What the processes of a recording tell each other of the shares of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil_core.arithmetic.combination import Given
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.signing.parties import SignedShares, Sum


@dataclass(frozen=True)
class ShareDone:
    """A share that was executed, as all processes hear of it."""

    record: ShareRecord  #: What its leaf commits to.
    log: bytes  #: Its rounding log, encoded.
    log_entries: int  #: Number of entries in it.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places]``.
    signature: bytes = b""  #: What the party that answers for it signed; empty where nobody but the trainer does.
    seen: bytes = b""  #: Digest of what its process saw of what all processes sent; empty where nobody compares.
    hashes: bytes = b""  #: Hashes of what was added of it, 16 bytes for each tensor; empty where nothing is added, too.
    sum_signature: bytes = b""  #: What the party signed of these.


class SignShare(Protocol):
    """Signs what a share gave, as the party that answers for it, and knows what others sign."""

    @property
    def signed(self) -> SignedShares:
        """Checks what parties signed; the keys of an order are read once, and not in each step."""

    def __call__(self, step: int, before: Digest, record: ShareRecord, /) -> bytes:
        """Return the signature, given the state root before the step; nothing where no party answers for the share."""

    def addition(self, added: Sum, share: int, hashes: bytes, /) -> bytes:
        """Return the signature on what was added of a share; nothing where no party answers for it."""


class Exchange(Protocol):
    """What the processes of a recording tell each other in a step."""

    @property
    def mine(self) -> Sequence[int]:
        """Numbers of the shares that this process runs, ascending."""

    @property
    def several(self) -> bool:
        """Whether there are other processes, which may have sent anything."""

    def known(self, mine: Sequence[bytes]) -> Sequence[bytes]:
        """Return what each share says of itself, as many bytes as any other, in their order."""

    def begin_sum(self, total: Tensor) -> Callable[[], None]:
        """Begin to add int64 numbers of all processes, in place; returns what waits until they are added."""

    def beside(self, mine: Sequence[Given]) -> Sequence[Given]:
        """Return what all shares give, in their order."""

    def buffers(self, first: Mapping[str, Tensor] | None, like: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return the buffers after share 0, which one process has; ``like`` has their shapes."""

    def shares(self, mine: Sequence[ShareDone]) -> Sequence[ShareDone]:
        """Return all shares in their order, or nothing in a process that writes nothing."""

    def agree(self, holds: bool) -> bool:
        """Return whether the process that writes finds that what all sent belongs together."""

    def collect(self, step: int, mine: Sequence[Given]) -> Iterator[Given]:
        """Send what the shares give to the process that writes, straight; yields there those of all, in their order."""

    def spread(self, tensors: Given) -> dict[str, Tensor]:
        """Return the tensors of the process that writes; others give some of their names, shapes and dtypes."""

    def rank_of(self, share: int) -> int:
        """Return the rank of the process that runs a share; 0 for a process alone."""


class Alone:
    """One process that runs all shares.

    Args:
        count: How many there are.
    """

    def __init__(self, count: int) -> None:
        self.mine = range(count)
        self.several = False

    def known(self, mine: Sequence[bytes]) -> Sequence[bytes]:
        """Its own are all."""
        return mine

    def begin_sum(self, total: Tensor) -> Callable[[], None]:
        """Nothing is to be added."""
        return lambda: None

    def beside(self, mine: Sequence[Given]) -> Sequence[Given]:
        """Its own are all."""
        return mine

    def buffers(self, first: Mapping[str, Tensor] | None, like: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """It has them."""
        assert first is not None
        return first

    def shares(self, mine: Sequence[ShareDone]) -> Sequence[ShareDone]:
        """Its own are all."""
        return mine

    def agree(self, holds: bool) -> bool:
        """It agrees with itself."""
        return holds

    def collect(self, step: int, mine: Sequence[Given]) -> Iterator[Given]:
        """Its own are all."""
        return iter(mine)

    def spread(self, tensors: Given) -> dict[str, Tensor]:
        """It has them."""
        return dict(tensors)

    def rank_of(self, share: int) -> int:
        """There is one process."""
        return 0
