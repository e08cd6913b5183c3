"""A file on a disk that gives other bytes each time: what was hashed is what is read."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, FileChangedError, GivenFileError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle import steady
from counterfoil_core.bundle.steady import LEAST_BLOCK, MOST_BLOCKS, SteadyFile, block_size

SIZE = 5 * LEAST_BLOCK + 17


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(SIZE))
    return path


class Share(io.FileIO):
    """An open file whose owner shows other bytes than before when told to; size and times are those of the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.lie: dict[int, int] = {}
        self.bytes_read = 0

    def readinto(self, target: memoryview) -> int:
        start = self.tell()
        count = super().readinto(target) or 0
        self.bytes_read += count
        for at, value in self.lie.items():
            if start <= at < start + count:
                memoryview(target)[at - start] ^= value
        return count


class Slow(Share):
    """A file on a drive that gives a few bytes at a time, as a signal or a network can make any."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(3, SIZE if size is None or size < 0 else size)) or b""

    def readinto(self, target: memoryview) -> int:
        return super().readinto(memoryview(target)[:1000])


def test_reads_that_are_cut_short_are_gone_on_with(path: Path) -> None:
    data = path.read_bytes()
    with SteadyFile(path, Slow(path)) as file:
        assert file.read(5, 100) == data[5:105]
        assert file.read(SIZE - 7, 100) == data[-7:]
        list(file.settle())
        assert file.read(0, SIZE) == data


@pytest.mark.parametrize("piece", [LEAST_BLOCK, 3 * LEAST_BLOCK, 2**23])
def test_reads_give_the_bytes_that_were_hashed(path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(steady, "_PIECE_BYTES", piece)
    data = path.read_bytes()
    with SteadyFile.open(path) as file:
        assert file.digest is None
        seen = list(file.settle())
        assert seen[-1] == (SIZE, SIZE)
        assert file.digest == Digest.of(data)
        for start, count in [(0, SIZE), (1, 5), (LEAST_BLOCK - 1, 2), (3, 3 * LEAST_BLOCK), (SIZE - 1, 1), (7, 0)]:
            assert file.read(start, count) == data[start : start + count]
        assert file.read(SIZE - 3, 100) == data[-3:]
        assert file.read(SIZE, 1) == b""
        file.check_unchanged()


@pytest.mark.parametrize("at", [0, LEAST_BLOCK - 1, LEAST_BLOCK, 3 * LEAST_BLOCK + 5, SIZE - 1])
def test_another_byte_is_noticed_wherever_it_lies(path: Path, at: int) -> None:
    share = Share(path)
    with SteadyFile(path, share) as file:
        finish(file.settle())
        share.lie = {at: 1}
        with pytest.raises(FileChangedError, match="changed while it was read: the log"):
            file.read_into(at, memoryview(bytearray(1)), "the log")
        with pytest.raises(FileChangedError):
            file.read(0, SIZE)
        # Control: other blocks are as they were, and so is this one when the bytes are.
        other = (at // LEAST_BLOCK + 1) % 6 * LEAST_BLOCK
        assert file.read(other, 1)
        share.lie = {}
        assert file.read(0, SIZE) == path.read_bytes()


def test_without_a_digest_nothing_is_compared(path: Path) -> None:
    """Control: this is what the comparison is for."""
    share = Share(path)
    with SteadyFile(path, share) as file:
        share.lie = {9: 1}
        found = bytearray(10)
        file.read_into(0, memoryview(found), "the log")
        assert found[:9] == path.read_bytes()[:9]
        assert found[9] == path.read_bytes()[9] ^ 1


def test_what_was_compared_is_given_again_from_memory(path: Path) -> None:
    share = Share(path)
    with SteadyFile(path, share) as file:
        finish(file.settle())
        data = path.read_bytes()
        before = share.bytes_read
        assert [file.read(at, 3) for at in range(0, 300, 3)] == [data[at : at + 3] for at in range(0, 300, 3)]
        assert share.bytes_read - before == LEAST_BLOCK, "one block is read once"
        share.lie = {1: 1}
        assert file.read(0, 4) == data[:4]


def test_the_cache_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "CACHED_BYTES", 2 * LEAST_BLOCK)
    share = Share(path)
    with SteadyFile(path, share) as file:
        finish(file.settle())
        for block in (0, 1, 2):
            file.read(block * LEAST_BLOCK, 1)
        before = share.bytes_read
        file.read(2 * LEAST_BLOCK, 1)
        file.read(LEAST_BLOCK, 1)
        assert share.bytes_read == before
        file.read(0, 1)
        assert share.bytes_read == before + LEAST_BLOCK


def test_size_and_times(path: Path) -> None:
    with SteadyFile.open(path) as file:
        finish(file.settle())
        path.touch()
        file.check_unchanged()  # only touched: hashed again, and the same
        with path.open("r+b") as other:
            other.truncate(SIZE - 1)
        with pytest.raises(FileChangedError):
            file.check_unchanged()
        with pytest.raises(FileChangedError):
            file.read(SIZE - 4, 4)
        assert file.read(0, 4)
    with SteadyFile.open(path) as file:
        with path.open("ab") as other:
            other.write(b"more")
        with pytest.raises(FileChangedError):
            finish(file.settle())


def test_a_byte_that_is_changed_with_the_time_put_back(path: Path) -> None:
    status = path.stat()

    def put(value: bytes) -> None:
        with path.open("r+b") as other:
            other.write(value)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    first = path.read_bytes()[:1]
    with SteadyFile.open(path) as file:
        finish(file.settle())
        put(bytes([first[0] ^ 1]))
        with pytest.raises(FileChangedError):
            file.check_unchanged()
        put(first)
        file.check_unchanged()


def test_a_file_that_is_replaced_is_read_to_its_end(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    with SteadyFile.open(path) as file:
        finish(file.settle())
        (tmp_path / "other").write_bytes(bytes(SIZE))
        (tmp_path / "other").replace(path)
        assert file.read(0, SIZE) == data
        file.check_unchanged()


def test_stopping_and_what_is_no_file(path: Path, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with SteadyFile.open(path) as file, pytest.raises(CancelledError):
        finish(file.settle(token))
    with pytest.raises(GivenFileError, match="is a folder"):
        SteadyFile.open(tmp_path)
    with pytest.raises(GivenFileError, match="There is no file"):
        SteadyFile.open(tmp_path / "none")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(GivenFileError, match="is a pipe"):
            SteadyFile.open(tmp_path / "pipe")


def test_blocks_of_large_files() -> None:
    assert block_size(0) == block_size(LEAST_BLOCK * MOST_BLOCKS) == LEAST_BLOCK
    assert block_size(LEAST_BLOCK * MOST_BLOCKS + 1) == 2 * LEAST_BLOCK
    assert block_size(10**13) * MOST_BLOCKS >= 10**13


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with SteadyFile.open(tmp_path / "empty") as file:
        assert finish(file.settle()) == Digest.of(b"")
        assert file.read(0, 8) == b""
