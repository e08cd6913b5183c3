from __future__ import annotations

from collections.abc import Sequence

import pytest

from counterfoil_core.base.errors import (
    BundleError,
    CommitmentError,
    DeviceError,
    FileChangedError,
    OrderMismatchError,
    ServedError,
)
from counterfoil_core.bundle import farfile
from counterfoil_core.bundle.farfile import AT_ONCE_BLOCKS, BLOCK_BYTES, GAP_BLOCKS, LONGEST_BLOCKS, FetchedFile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Span
from support.jobs import Job

SIZE = 40 * BLOCK_BYTES + 100


class Held:
    """A file in memory that is read in pieces."""

    def __init__(self, data: bytes) -> None:
        self.address = Address("https://me:secret@example.org/runs/run.cfoil?signature=abc")
        self.data, self.size = data, len(data)
        self.asked: list[list[Span]] = []
        self.looks = 0
        self.closed = False

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        self.asked.append(list(spans))
        return [self.data[start : start + count] for start, count in spans]

    def check_unchanged(self) -> None:
        self.looks += 1

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def held() -> Held:
    return Held(bytes(number * 7 % 251 for number in range(SIZE)))


def blocks(*numbers: int) -> list[Span]:
    return [(number * BLOCK_BYTES, BLOCK_BYTES) for number in numbers]


@pytest.mark.parametrize(
    ("offset", "count"), [(0, 1), (1, 4095), (4095, 2), (0, SIZE), (SIZE - 1, 1), (5000, 90_000), (SIZE, 0)]
)
def test_what_is_read_is_what_lies_there(held: Held, offset: int, count: int) -> None:
    file = FetchedFile(held)
    assert file.read(offset, count) == held.data[offset : offset + count]
    assert file.read(offset, count + 10**6) == held.data[offset:], "fewer at the end, as of any file"


def test_only_what_is_read_is_fetched_once_and_counted(held: Held) -> None:
    file = FetchedFile(held)
    file.read(10, 5)
    file.read(BLOCK_BYTES - 1, 2)
    file.read(0, 2 * BLOCK_BYTES)
    file.read(SIZE - 1, 1)
    assert held.asked == [blocks(0), blocks(1), [(40 * BLOCK_BYTES, 100)]]
    assert (file.fetched.bytes, file.fetched.requests, file.fetched.size) == (2 * BLOCK_BYTES + 100, 3, SIZE)
    assert not file.fetched.compared


def test_what_will_be_read_soon_comes_with_the_first_piece(held: Held) -> None:
    file = FetchedFile(held)
    file.ahead([(2 * BLOCK_BYTES, 10), (20 * BLOCK_BYTES, 10), (30 * BLOCK_BYTES + 5, 10)])
    assert held.asked == [], "a note asks for nothing"
    file.read(2 * BLOCK_BYTES, 10)
    file.read(30 * BLOCK_BYTES + 5, 10)
    assert held.asked == [blocks(2, 20, 30)]


def test_pieces_that_lie_close_are_one_and_long_ones_are_several(held: Held) -> None:
    file = FetchedFile(held)
    near, far = GAP_BLOCKS + 1, 2 * GAP_BLOCKS + 3
    file.ahead([(0, 1), (near * BLOCK_BYTES, 1), (far * BLOCK_BYTES, 1)])
    file.read(0, 1)
    assert held.asked == [[(0, (near + 1) * BLOCK_BYTES), *blocks(far)]]
    large = Held(bytes(3 * LONGEST_BLOCKS * BLOCK_BYTES))
    FetchedFile(large).read(0, large.size)
    assert [count for _, count in large.asked[0]] == [LONGEST_BLOCKS * BLOCK_BYTES] * 3


def test_nothing_that_is_there_is_fetched_again_to_close_a_gap(held: Held) -> None:
    file = FetchedFile(held)
    file.read(BLOCK_BYTES, 1)
    file.ahead([(0, 1), (2 * BLOCK_BYTES, 1)])
    file.read(0, 1)
    assert held.asked == [blocks(1), blocks(0, 2)]


def test_no_question_asks_for_more_than_fits_in_memory() -> None:
    large = Held(bytes(2 * AT_ONCE_BLOCKS * BLOCK_BYTES + 17))
    file = FetchedFile(large)
    file.ahead([(0, large.size)])
    assert file.read(0, large.size) == large.data
    assert [sum(count for _, count in spans) for spans in large.asked] == [AT_ONCE_BLOCKS * BLOCK_BYTES] * 2 + [17]


def test_what_was_forgotten_is_fetched_again(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farfile, "CACHED_BLOCKS", 4)
    file = FetchedFile(held)
    for number in range(40):
        file.read(number * BLOCK_BYTES, 1)
    assert file.read(0, 2) == held.data[:2]
    assert held.asked[0] == held.asked[-1] == blocks(0)


def test_a_place_outside_of_the_file_is_read_as_no_other(held: Held) -> None:
    file = FetchedFile(held)
    with pytest.raises(FileChangedError):
        file.read_into(SIZE - 1, memoryview(bytearray(2)), "a part")
    file.ahead([(SIZE + 1, 10), (-5, 10), (SIZE - 1, 10**9), (3, 0)])
    assert file.read(0, 1) == held.data[:1]
    assert held.asked == [[(0, BLOCK_BYTES), (40 * BLOCK_BYTES, 100)]]


@pytest.mark.parametrize("found", [BundleError("A checksum."), CommitmentError("A digest.")])
def test_nothing_that_a_server_gives_is_held_against_a_file(held: Held, found: BundleError) -> None:
    with pytest.raises(ServedError, match=r"signed it\. A .*cannot be told from here") as caught:
        FetchedFile(held).stand_by(found)
    assert isinstance(caught.value, FileChangedError), "it ends as a file that changed: nobody is blamed"
    assert "SHA-256" in caught.value.remedy
    assert held.looks == 1, "a file that was replaced is told from one that was never good"


@pytest.mark.parametrize("found", [OrderMismatchError("Another order."), DeviceError("No device.")])
def test_what_does_not_hang_on_the_bytes_stands(held: Held, found: OrderMismatchError) -> None:
    FetchedFile(held).stand_by(found)
    assert held.looks == 0


def test_a_run_is_read_as_from_a_disk(digits_job: Job) -> None:
    held = Held(digits_job.run.read_bytes())
    with BundleReader.open(digits_job.run) as disk, BundleReader(FetchedFile(held)) as reader:
        assert reader.step_records() == disk.step_records()
        assert reader.manifest == disk.manifest
        last = reader.checkpoint_steps()[-1]
        mine, theirs = reader.checkpoint(last), disk.checkpoint(last)
        assert all((mine[name] == theirs[name]).all() for name in theirs)
        assert reader.file.place == "https://example.org/runs/run.cfoil"
    assert held.closed


def test_a_file_without_structure_is_closed_and_blames_nobody() -> None:
    held = Held(b"<html>Not found</html>" * 100)
    with pytest.raises(ServedError, match="not a run as its trainer signed it"):
        BundleReader.over(FetchedFile(held))
    assert held.closed
