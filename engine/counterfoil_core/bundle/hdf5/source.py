"""The bytes of one file: every structure is claimed once, lies within the file, and holds its checksum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add

import numpy as np

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.checksum import lookup3_all

UNDEFINED = 2**64 - 1
"""The address that says that there is nothing."""
CHECKSUM_BYTES = 4
MAX_METADATA_BYTES = 128 * 2**20
"""How much of a file may be structure: what 200,000 objects with long names take, and a bound on the work."""

_PAGE_BYTES = 4096
"""What is read ends at a multiple of this, so that no block of a file elsewhere is fetched for it alone."""

ReadAt = Callable[[int, int], bytes]
"""Returns the bytes from an offset on, fewer only at the end of the file."""
Ahead = Callable[[Sequence[tuple[int, int]]], None]
"""Is told where pieces begin that will be read soon, and how long they are."""


class ByteSource:
    """A file's bytes by address; remembers which were taken for what.

    Attributes:
        size: The file's length in bytes.
    """

    def __init__(self, read_at: ReadAt, size: int, ahead: Ahead | None = None) -> None:
        self.size = size
        self._read_at = read_at
        self._ahead = ahead
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._metadata_bytes = 0

    def ahead(self, places: Sequence[tuple[int, int]]) -> None:
        """Tell what will be read soon, by address and length: over a network many pieces come as fast as one."""
        if self._ahead is not None:
            self._ahead(places)

    def peek(self, address: int, count: int) -> bytes:
        """Return up to ``count`` bytes from an address, without taking them."""
        if not 0 <= address < self.size:
            raise BundleError(say("The file's structure names the byte {0}, which lies outside the file.", address))
        return self._read_at(address, count)

    def peek_all(self, addresses: Sequence[int], count: int) -> list[bytes]:
        """Return up to ``count`` bytes from each address, without taking them.

        HDF5 puts headers side by side, so what is read of one, to the end of a page, serves the next ones that lie in
        it.
        """
        self.ahead([(address, count) for address in addresses])
        found = [b""] * len(addresses)
        page, start = b"", 0
        for number in sorted(range(len(addresses)), key=addresses.__getitem__):
            address = addresses[number]
            at = address - start
            if at + count > len(page):
                page = self.peek(address, count + -(address + count) % _PAGE_BYTES)
                start, at = address, 0
            found[number] = page[at : at + count]
        return found

    def take(self, address: int, count: int) -> bytes:
        """Take bytes that belong to the structure of the file.

        Raises:
            BundleError: They lie outside the file, or more was taken than a file can hold.
        """
        self.claim_metadata([address], [count])
        data = self._read_at(address, count)
        if len(data) != count:
            raise BundleError(say("The file became shorter while it was read."))
        return data

    def take_all(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Take several pieces, by address and length; raises BundleError like :meth:`take`."""
        self.ahead(places)
        return [self.take(address, count) for address, count in places]

    def claim_metadata(self, addresses: Sequence[int], counts: Sequence[int]) -> None:
        """Take bytes that were peeked at, at some addresses; raises BundleError like :meth:`take`."""
        outside = self.claim(addresses, counts)
        if outside is not None:
            raise BundleError(
                say(
                    "The structure of the file names {0} bytes from byte {1}, which lie outside the file.",
                    counts[outside],
                    addresses[outside],
                )
            )
        self._metadata_bytes += sum(counts)
        if self._metadata_bytes > min(self.size, MAX_METADATA_BYTES):
            raise BundleError(
                say("The structure of the file is larger than that of any bundle, or names a place twice.")
            )

    def claim(self, addresses: Sequence[int], counts: Sequence[int]) -> int | None:
        """Note that bytes belong to one thing each and to nothing else; :meth:`check_disjoint` compares.

        Args:
            addresses: Where each thing begins.
            counts: How many bytes it has.

        Returns:
            The number of the first that does not lie within the file; None when all do.
        """
        ends = list(map(add, addresses, counts))
        if ends and max(ends) > self.size:
            return next(number for number, end in enumerate(ends) if end > self.size)
        self._starts += addresses
        self._ends += ends
        return None

    def check_disjoint(self) -> None:
        """Refuse bytes that were taken for two things: a small file would read as a huge one.

        Raises:
            BundleError: Two things share bytes.
        """
        starts = np.array(self._starts, np.int64)
        order = np.argsort(starts, kind="stable")
        ends = np.array(self._ends, np.int64)[order]
        shared = np.flatnonzero(starts[order][1:] < ends[:-1])
        if shared.size:
            raise BundleError(
                say(
                    "Two parts of the file share the same place, byte {0}, which is not allowed.",
                    starts[order][1 + int(shared[0])],
                )
            )


def check_sums(blocks: Sequence[bytes]) -> None:
    """Check that each block ends with the lookup3 of what comes before it.

    Raises:
        BundleError: One does not.
    """
    check_values(
        [block[:-CHECKSUM_BYTES] for block in blocks],
        [int.from_bytes(block[-CHECKSUM_BYTES:], "little") for block in blocks],
    )


def check_values(strings: Sequence[bytes], wanted: Sequence[int]) -> None:
    """Check the lookup3 of each of some strings of bytes; raises BundleError when one is another."""
    if lookup3_all(strings) != wanted:
        raise BundleError(
            say("The file is damaged: a checksum of its structure does not hold."),
            remedy=say("Ask for the file again."),
        )
