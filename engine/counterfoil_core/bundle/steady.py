"""The bytes of one open file. From the moment at which they were hashed, every read gives the bytes that were hashed.

A file may lie on a share whose owner shows each reader other bytes, and puts size and times back. While the SHA-256 of
the file is made, the digest of each of its blocks is kept; whoever reads later gets bytes in memory that were compared
with these, or an error that blames nobody. So a verdict that names the SHA-256 of a file speaks of the bytes that were
judged, whatever the disk does meanwhile (ADR 11).
"""

from __future__ import annotations

import hashlib
import io
import os
from collections import OrderedDict
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import BundleError, FileChangedError, GivenFileError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.obstacles import file_changed, read_failure
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.openfile import OpenFile

LEAST_BLOCK = 2**16
"""A block of 64 KiB is hashed in the time of a few short reads, so that structure that lies scattered is read fast."""
MOST_BLOCKS = 2**18
"""Files of more than 16 GiB have larger blocks: the digests of all take 8 MiB at most."""
CACHED_BYTES = 2**26
"""How much of what was compared is kept, for reads that share blocks."""
_PIECE_BYTES = 2**23
"""How much is read at a time while the file is hashed; a multiple of the block."""

Settling = Generator[tuple[int, int], None, Digest]
"""Yields the bytes hashed so far and their total; returns the SHA-256 of the file."""


class SteadyFile(OpenFile):
    """An open file of this machine; ``digest`` is None until :meth:`settle` has made it."""

    def __init__(self, path: Path, handle: io.FileIO) -> None:
        self.path = path
        self._handle = handle
        # Before anything is read: what is compared at the end.
        self._opened = os.fstat(handle.fileno())
        self.size = self._opened.st_size
        self.digest: Digest | None = None
        self._block = block_size(self.size)
        self._blocks = b""
        self._cache: OrderedDict[int, memoryview] = OrderedDict()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a regular file for reading; it is not changed, and not locked.

        Raises:
            GivenFileError: It is not there, may not be read, or is a folder, a pipe or a device.
            ObstacleError: The system fails to read it.
        """
        path = Path(path)
        return cls(path, open_input(path, say("a file of Counterfoil's"), GivenFileError))

    def close(self) -> None:
        """As :class:`OpenFile`."""
        self._handle.close()

    def settle(self, cancel: CancelToken | None = None) -> Settling:
        """Hash the file: from then on every read gives the bytes that were hashed here.

        Args:
            cancel: Looked at between pieces of 8 MiB.

        Raises:
            BundleError: The file cannot be read to its end.
            FileChangedError: It is not what it was when it was opened.
            CancelledError: The token was cancelled.
        """
        whole = hashlib.sha256()
        blocks = bytearray()
        with ThreadPoolExecutor(1) as other_core:
            for piece, done in self._pieces(cancel):
                hashing = other_core.submit(whole.update, piece)
                for start in range(0, len(piece), self._block):
                    blocks += hashlib.sha256(piece[start : start + self._block]).digest()
                hashing.result()
                yield done, self.size
        self.check_unchanged()
        self._blocks = bytes(blocks)
        self.digest = Digest(whole.digest())
        return self.digest

    def check_unchanged(self) -> None:
        """As :class:`OpenFile`: size and times are compared.

        Where the times differ and the file was hashed, it is hashed again, so that one that was only touched or renamed
        passes.
        """
        with bundle_errors(say("the file")):
            now = os.fstat(self._handle.fileno())
        same = (now.st_size, now.st_mtime_ns) == (self.size, self._opened.st_mtime_ns)
        if self.digest is not None and now.st_size == self.size:
            # The owner of a file can put its time of change back, but not the time at which it did so.
            same = (same and now.st_ctime_ns == self._opened.st_ctime_ns) or self._hash() == self.digest
        if not same:
            raise self.changed(say("its size, its time or a part of it"))

    def changed(self, what: str) -> FileChangedError:
        """As :class:`OpenFile`."""
        return file_changed(self.path.name, what)

    def read(self, offset: int, count: int) -> bytes:
        """As :class:`OpenFile`."""
        if self.digest is None:
            return self._piece(offset, count)
        data = bytearray(max(0, min(count, self.size - offset)))
        self.read_into(offset, memoryview(data), say("its structure"))
        return bytes(data)

    def _piece(self, offset: int, count: int) -> bytes:
        """Read some bytes of the structure: there may be 100,000 such pieces, so errors are looked at afterwards."""
        try:
            self._handle.seek(offset)
            data = self._handle.read(count)
            while len(data) < min(count, self.size - offset):  # a signal, or a network drive, cuts a read short
                more = self._handle.read(count - len(data))
                if not more:
                    break
                data += more
            return data
        except (OSError, ValueError, MemoryError):
            with bundle_errors(say("its structure")):
                raise

    def read_into(self, offset: int, target: memoryview, what: str) -> None:
        """As :class:`OpenFile`."""
        if self.digest is None or not target:
            self._fill(offset, target, what)
            return
        if offset + len(target) > self.size:
            raise self.changed(what)
        while target:
            number, inside = divmod(offset, self._block)
            length = min(self._block, self.size - number * self._block)
            if not inside and len(target) >= length and number not in self._cache:
                part = target[:length]
                self._fill(offset, part, what)
                self._compare(number, part, what)
            else:
                part = target[: length - inside]
                part[:] = self._cached(number, length, what)[inside : inside + len(part)]
            target = target[len(part) :]
            offset += len(part)

    def _cached(self, number: int, length: int, what: str) -> memoryview:
        """Return a block that is the one that was hashed."""
        block = self._cache.get(number)
        if block is None:
            block = memoryview(bytearray(length))
            self._fill(number * self._block, block, what)
            self._compare(number, block, what)
            self._cache[number] = block
            if len(self._cache) * self._block > CACHED_BYTES:
                self._cache.popitem(last=False)
        else:
            self._cache.move_to_end(number)
        return block

    def _compare(self, number: int, block: memoryview, what: str) -> None:
        if hashlib.sha256(block).digest() != self._blocks[DIGEST_BYTES * number :][:DIGEST_BYTES]:
            raise self.changed(what)

    def _fill(self, offset: int, target: memoryview, what: str) -> None:
        """Read from the disk, which may give other bytes each time."""
        with bundle_errors(what):
            if target:  # without data there is no place either
                self._handle.seek(offset)
            while target:
                done = self._handle.readinto(target)
                if not done:
                    raise self.changed(what)
                target = target[done:]

    def _pieces(self, cancel: CancelToken | None = None) -> Iterator[tuple[memoryview, int]]:
        """Yield the file piece by piece, each a multiple of the block but for the last, and how much that was."""
        buffer = memoryview(bytearray(min(max(_PIECE_BYTES, self._block), self.size)))
        done = 0
        while done < self.size:
            if cancel:
                cancel.check()
            piece = buffer[: self.size - done]
            self._fill(done, piece, say("a part of it"))
            done += len(piece)
            yield piece, done

    def _hash(self) -> Digest:
        digest = hashlib.sha256()
        for piece, _ in self._pieces():
            digest.update(piece)
        return Digest(digest.digest())


def block_size(size: int) -> int:
    """Return how many bytes of a file of this size are hashed together: a power of two."""
    block = LEAST_BLOCK
    while block * MOST_BLOCKS < size:
        block *= 2
    return block


@contextmanager
def bundle_errors(what: str) -> Iterator[None]:
    """Turn what a damaged or closed file gives into a BundleError, and failures of the system into an ObstacleError."""
    try:
        yield
    except (OSError, ValueError, MemoryError) as error:
        obstacle = read_failure(what, error)
        if obstacle is not None:
            raise obstacle from error
        raise BundleError(
            say("Reading {0} failed: the file is damaged.", what),
            remedy=say("Ask for the file again."),
            detail=f"{type(error).__name__}: {error}",
        ) from error
