"""Damage to the structure of small files, all of it: refused, or read as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from counterfoil.bundle.writer import write_data_file
from counterfoil_core.base.errors import BundleError
from counterfoil_core.bundle.hdf5.walk import StructureLimits, walk
from support.bundles import make_contents, write_bundle
from support.hdf5_bombs import bushy
from support.hdf5_files import Block, blocks_of, changed, read_by_us, same_as_h5py, source_of
from support.hdf5_fuzz import SLOWEST_SECONDS, fuzz, try_to_read


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Small files of every structure."""
    folder = tmp_path_factory.mktemp("files")
    for name, count in (("few", 2), ("leaf", 10), ("tree", 60)):
        write_data_file(folder / name, {f"layer.{n}.weight": np.arange(n % 4, dtype=np.int32) for n in range(count)})
    write_bundle(folder / "run", make_contents(steps=2))
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".pem"}


def chosen(data: bytes) -> list[Block]:
    """Every structure of a file; of those of one kind and length, such as headers of datasets, the first and last."""
    alike: dict[tuple[str, int], list[Block]] = {}
    for block in blocks_of(data):
        alike.setdefault((block.kind, block.end - block.start), []).append(block)
    return [block for blocks in alike.values() for block in dict.fromkeys((blocks[0], blocks[-1]))]


def test_every_structure_is_there(files: dict[str, bytes]) -> None:
    """Control: what is damaged below are all structures that Counterfoil writes."""
    kinds = {block.kind for data in files.values() for block in blocks_of(data)}
    assert kinds == {"superblock", "OHDR", "OCHK", "BTHD", "BTIN", "BTLF", "FRHP", "FHIB", "FHDB"}


@pytest.mark.parametrize("name", ["few", "leaf"])
def test_a_file_cut_at_every_length(files: dict[str, bytes], name: str) -> None:
    data = files[name]
    content = read_by_us(data)
    assert {try_to_read(data[:length], content) for length in range(len(data))} == {"refused"}


@pytest.mark.parametrize("name", ["few", "leaf", "tree", "run"])
def test_a_byte_changed_anywhere_in_the_structure(files: dict[str, bytes], name: str) -> None:
    """Without the checksum made right: nothing goes unnoticed but what no structure covers."""
    data = files[name]
    content = read_by_us(data)
    for block in chosen(data):
        for offset in range(0, block.end - block.start, 1 if len(data) < 5000 else 7):
            for flip in (0x01, 0x80):
                new = bytes([data[block.start + offset] ^ flip])
                assert try_to_read(changed(data, block, offset, new, sealed=False), content) == "refused"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "flips"), [("few", (0x01, 0x80, 0xFF)), ("leaf", (0x01,))])
def test_a_byte_changed_anywhere_and_the_checksum_made_right(
    files: dict[str, bytes], name: str, flips: tuple[int, ...]
) -> None:
    """Each of these files is refused, or is a file of other content that is well formed, at once."""
    data = files[name]
    content = read_by_us(data)
    outcomes: dict[str, int] = {}
    for block in chosen(data):
        for offset in range(block.end - block.start):
            for new in {data[block.start + offset] ^ flip for flip in flips} | {0}:
                start = time.process_time()
                outcome = try_to_read(changed(data, block, offset, bytes([new])), content)
                assert time.process_time() - start < SLOWEST_SECONDS
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert outcomes["refused"] > 1000
    # Free room in the structures, and what only matters to programs that write.
    assert outcomes["same"] > 100


def test_fuzzing(files: dict[str, bytes]) -> None:
    """A short run; ``python -m tests.fuzz`` does more."""
    outcomes = fuzz(list(files.values()), 400, seed=11)
    assert outcomes["refused"] > 200
    assert sum(outcomes.values()) == 400


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_memory_is_bounded_when_a_file_is_nothing_but_structure() -> None:
    """27,931 groups in 4.8 MB, each header full of empty messages."""
    code = """
import resource
from support.hdf5_bombs import bushy
from support.hdf5_files import inventory_of
data = bushy(3, 30)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(inventory_of(data).groups), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    tests = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=tests, capture_output=True, text=True, check=True)
    groups, mebibytes = map(int, done.stdout.split())
    assert groups == 27_931
    assert mebibytes < 66


def test_control_the_large_file_is_one_that_h5py_reads(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(bushy(2, 20))
    assert same_as_h5py(path) == 421


@pytest.mark.parametrize(
    ("depth", "fan", "empty", "sentence"),
    [
        (9, 1, 20, "nested more than 8 deep"),
        (3, 20, 33, "of more than 32 messages"),
        (3, 15, 15, "more than 1000 objects"),
    ],
)
def test_structure_beyond_the_bounds(depth: int, fan: int, empty: int, sentence: str) -> None:
    with pytest.raises(BundleError, match=sentence):
        walk(source_of(bushy(depth, fan, empty=empty)), "bundle", StructureLimits(objects=1000))
