"""What whoever reads a file that lies elsewhere asks for, and how much it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from counterfoil_core.remote.address import Address

Span = tuple[int, int]
"""Where a piece of a file begins, and how many bytes it has."""


@dataclass(frozen=True)
class Fetched:
    """How much of a file was fetched."""

    place: str  #: The file's address, as it may be shown.
    size: int  #: Bytes of the file.
    bytes: int  #: Bytes of it that came, some of them perhaps twice.
    requests: int  #: How many pieces were asked for.
    #: Whether all that was used of it was compared with the digests by which a signed run root commits to it, and is
    #: that.
    compared: bool = False


class Ranges(Protocol):
    """A file that lies elsewhere, open to be read in pieces."""

    address: Address  #: Where it lies.
    size: int  #: Its length in bytes when it was opened.

    def fetch(self, spans: Sequence[Span]) -> Sequence[bytes]:
        """Return some pieces, each of the length that was asked for.

        Raises:
            FileChangedError: The file is no longer the one that was opened.
            FileReadError: The server does not answer, or not with what was asked.
            CancelledError: The user stopped the work.
        """

    def check_unchanged(self) -> None:
        """Ask once more what the file is; raises as :meth:`fetch`."""

    def close(self) -> None:
        """Give up the connection."""
