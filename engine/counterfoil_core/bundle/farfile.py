"""The bytes of a file that lies elsewhere: only those that are read are fetched, and nothing is refused for them.

Nobody has the SHA-256 of such a file, since it would have to be read whole for that. What is used of it is digested by
the reader as it is loaded, and compared with what the signed claim commits to; whatever does not fit may be the
server's doing as well as the file's, so it ends in an error that blames nobody (ADR 17).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from counterfoil_core.base.errors import (
    CounterfoilError,
    FileChangedError,
    OrderMismatchError,
    ProgramError,
    RefusedError,
    ServedError,
)
from counterfoil_core.base.obstacles import file_changed
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.bundle.openfile import OpenFile
from counterfoil_core.remote.ranges import Fetched, Ranges, Span

BLOCK_BYTES = 2**12
"""What is fetched at least: as much as lies around a description of the structure, which is scattered."""
GAP_BLOCKS = 4
"""Pieces that lie no further apart are one piece: what lies between comes faster than another answer."""
AT_ONCE_BLOCKS = 2**11
"""How many blocks are asked for together, 8 MiB."""
LONGEST_BLOCKS = 2**8
"""How many blocks are one piece, so that several come side by side."""
CACHED_BLOCKS = 2**14
"""How many blocks are kept, 64 MiB."""
_WELL_FOUNDED = (OrderMismatchError, ProgramError)
"""What may be held against a file that was not read whole: both are of an order whose digest the trainer signed, or a
check that compares that fails beside them."""


class FetchedFile(OpenFile):
    """A file that lies elsewhere; as :class:`OpenFile`.

    Args:
        ranges: It, open to be read in pieces.
    """

    def __init__(self, ranges: Ranges) -> None:
        self.path = Path(ranges.address.shown)
        self.size = ranges.size
        self._ranges = ranges
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._hinted: list[int] = []
        """Blocks that will be read soon, ascending."""
        self._account = Fetched(ranges.address.shown, ranges.size, 0, 0)

    @property
    def place(self) -> str:
        """As :class:`OpenFile`."""
        return self._account.place

    @property
    def fetched(self) -> Fetched:
        """As :class:`OpenFile`."""
        return self._account

    def close(self) -> None:
        """As :class:`OpenFile`."""
        self._ranges.close()

    def read(self, offset: int, count: int) -> bytes:
        """As :class:`OpenFile`."""
        data = bytearray(max(0, min(count, self.size - offset)))
        self.read_into(offset, memoryview(data), say("its structure"))
        return bytes(data)

    def read_into(self, offset: int, target: memoryview, what: str) -> None:
        """As :class:`OpenFile`."""
        if offset + len(target) > self.size:
            raise self.changed(what)
        while target:
            number, inside = divmod(offset, BLOCK_BYTES)
            last = (offset + len(target) - 1) // BLOCK_BYTES
            if number not in self._blocks:
                self._fetch(number, min(last, number + AT_ONCE_BLOCKS - 1))
            self._blocks.move_to_end(number)
            part = self._blocks[number][inside : inside + len(target)]
            target[: len(part)] = part
            target, offset = target[len(part) :], offset + len(part)

    def ahead(self, spans: Sequence[Span]) -> None:
        """As :class:`OpenFile`; what was noted before and not read is forgotten."""
        wanted = {
            number
            for offset, count in spans
            if 0 <= offset < self.size and count > 0
            for number in range(offset // BLOCK_BYTES, (min(offset + count, self.size) - 1) // BLOCK_BYTES + 1)
        }
        self._hinted = sorted(wanted)

    def check_unchanged(self) -> None:
        """As :class:`OpenFile`: the server is asked for the file's length, time and tag once more."""
        self._ranges.check_unchanged()

    def stand_by(self, error: CounterfoilError) -> None:
        """As :class:`OpenFile`: but for an order that is not the client's nothing may be held against the file."""
        if isinstance(error, RefusedError) and not isinstance(error, _WELL_FOUNDED):
            self.check_unchanged()
            raise ServedError(
                joined(
                    say("What the server gives of {0} is not a run as its trainer signed it.", self.path.name),
                    error.sentence,
                    say("Whether the file, the server or the way from there is at fault cannot be told from here."),
                ),
                remedy=say("Download the file, compare its SHA-256 with the trainer's, and give the path of the copy."),
                detail=error.detail,
            ) from error

    def changed(self, what: str) -> FileChangedError:
        """As :class:`OpenFile`."""
        return file_changed(self.path.name, what)

    def _fetch(self, first: int, last: int) -> None:
        """Fetch some blocks, and of those that will be read soon as many as come with them."""
        wanted = {number for number in range(first, last + 1) if number not in self._blocks}
        for number in self._hinted[bisect_left(self._hinted, first) :]:
            if len(wanted) >= AT_ONCE_BLOCKS:
                break
            if number not in self._blocks:
                wanted.add(number)
        runs = list(_runs(sorted(wanted), self._blocks))
        spans = [_span(run, self.size) for run in runs]
        # Before new ones come: those are about to be read.
        while self._blocks and len(self._blocks) + sum(map(len, runs)) > CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        for run, data in zip(runs, self._ranges.fetch(spans), strict=True):
            for number in run:
                at = (number - run.start) * BLOCK_BYTES
                self._blocks[number] = data[at : at + BLOCK_BYTES]
        self._account = replace(
            self._account,
            bytes=self._account.bytes + sum(count for _, count in spans),
            requests=self._account.requests + len(spans),
        )


def _span(run: range, size: int) -> Span:
    start = run.start * BLOCK_BYTES
    return start, min(run.stop * BLOCK_BYTES, size) - start


def _runs(numbers: Sequence[int], held: Container[int]) -> Iterator[range]:
    """Yield ascending numbers as ranges: over small gaps of what is not held, and none too long."""
    run = range(0)
    for number in numbers:
        gap = range(run.stop, number)
        if run and len(gap) <= GAP_BLOCKS and number < run.start + LONGEST_BLOCKS and not any(n in held for n in gap):
            run = range(run.start, number + 1)
            continue
        if run:
            yield run
        run = range(number, number + 1)
    if run:
        yield run
