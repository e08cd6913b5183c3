"""Bytes of HDF5's indexes changed, their checksums made right: libhdf5 2.0.0 writes outside its memory, or hangs."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil_core.bundle.reader import BundleReader
from support.bundles import make_contents, write_bundle
from support.hdf5_files import Block, blocks_of, changed, only
from support.hostile import refuse

SECONDS = 2.0
"""Each of these files is refused in a fraction of it."""
INDEXES = [
    ("BTHD", 9, b"\1", "the node size of a tree: endless loop"),
    ("BTHD", 10, b"\0", "the size of its records: division by zero"),
    ("BTHD", 24, b"\xff", "the records of its root: reads beyond a node"),
    ("BTHD", 24, b"\0\0", "the records of its root: none"),
    ("BTHD", 26, b"\xff", "all its records: writes beyond the memory taken for them"),
    ("BTHD", 26, struct.pack("<Q", 2**62), "all its records: memory"),
    ("FRHP", 110, b"\0", "the width of a heap: division by zero"),
    ("FRHP", 110, b"\xff", "the width of a heap: memory"),
    ("FRHP", 113, b"\xff", "its first block: 3.9 GB"),
    ("FRHP", 113, b"\0", "its first block: none"),
]


def refused_at_once(path: Path, sentence: str) -> None:
    start = time.process_time()
    refuse(path, sentence)
    assert time.process_time() - start < SECONDS


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An honest bundle whose state has more tensors than a group keeps in its header."""
    contents = make_contents(run=False)
    path = write_bundle(tmp_path_factory.mktemp("dense") / "a.cfoil", contents)
    with h5py.File(path, "r+", libver=("v110", "v110")) as file:
        for number in range(60):
            file[f"order/initial/layer.{number}"] = np.zeros(3, np.float32)
    BundleReader.open(path).close()
    return path.read_bytes()


def made_by_h5py(path: Path, *, chunks: bool) -> bytes:
    """A file as h5py makes it unless told otherwise, but for the version of its superblock."""
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file.attrs["format"] = np.array(b"counterfoil-3", "S32")
        group = file.create_group("order")
        for number in range(60):
            group.create_dataset(f"layer.{number}", data=np.arange(number))
        if chunks:
            file.create_dataset("log", data=np.arange(100_000), chunks=(100,), maxshape=(None,))
            file.create_dataset("two", data=np.zeros((100, 100)), chunks=(10, 10), maxshape=(None, None))
    return path.read_bytes()


@pytest.mark.parametrize(
    ("kind", "offset", "new", "what"), INDEXES, ids=[f"{kind}+{at}: {w}" for kind, at, _, w in INDEXES]
)
def test_the_index_of_a_group(dense: bytes, tmp_path: Path, kind: str, offset: int, new: bytes, what: str) -> None:
    block = only(blocks_of(dense), kind)
    (tmp_path / "a.cfoil").write_bytes(changed(dense, block, offset, new))
    refused_at_once(tmp_path / "a.cfoil", "settings that no bundle has|does not fit its B-tree|records")


@pytest.mark.parametrize(
    ("kind", "offset", "new", "what"), INDEXES, ids=[f"{kind}+{at}: {w}" for kind, at, _, w in INDEXES]
)
def test_the_same_in_a_file_of_h5py(tmp_path: Path, kind: str, offset: int, new: bytes, what: str) -> None:
    data = made_by_h5py(tmp_path / "a.cfoil", chunks=False)
    (tmp_path / "a.cfoil").write_bytes(changed(data, only(blocks_of(data), kind), offset, new))
    refused_at_once(tmp_path / "a.cfoil", "settings that no bundle has|does not fit its B-tree|records")


@pytest.mark.parametrize("value", [0, 1, 0xFF])
def test_the_index_of_chunks(tmp_path: Path, value: int) -> None:
    """EAHD+48, the count of an extensible array: nothing follows it, since nothing may lie in chunks."""
    data = made_by_h5py(tmp_path / "a.cfoil", chunks=True)
    (tmp_path / "a.cfoil").write_bytes(changed(data, only(blocks_of(data), "EAHD"), 48, bytes([value])))
    refused_at_once(tmp_path / "a.cfoil", "keeps its data in chunks")


def test_trees_of_the_first_version_that_lead_to_themselves(tmp_path: Path) -> None:
    """They belong to superblocks without checksums, which are refused before anything else is read."""
    path = tmp_path / "a.cfoil"
    with h5py.File(path, "w", libver="earliest") as file:
        file.attrs["format"] = np.array(b"counterfoil-3", "S32")
        for number in range(100):
            file.create_dataset(f"order/layer.{number}", data=np.arange(number))
        file.create_dataset("log", data=np.arange(100_000), chunks=(10,))
    data = bytearray(path.read_bytes())
    trees = [at for at in range(0, len(data) - 24) if data[at : at + 4] == b"TREE"]
    assert trees
    for at in trees:
        # The level, and the siblings to the left and to the right: each tree is its own neighbour.
        data[at + 5] = 1
        data[at + 8 : at + 24] = struct.pack("<QQ", at, at)
    path.write_bytes(data)
    refused_at_once(path, "superblock of version 0")


def test_nodes_that_are_their_own_children(dense: bytes, tmp_path: Path) -> None:
    """A child's address in an inner node is that of the node itself, or of its sibling."""
    block = only(blocks_of(dense), "BTIN")
    records = (block.end - block.start - 6 - 4 - 9) // 20
    at = 6 + 11 * records
    sibling = dense[block.start + at + 9 : block.start + at + 17]
    for address in (struct.pack("<Q", block.start), sibling):
        (tmp_path / "a.cfoil").write_bytes(changed(dense, block, at, address))
        refused_at_once(tmp_path / "a.cfoil", "wrong mark|share the same place|checksum|records")


def test_blocks_that_are_each_other(dense: bytes, tmp_path: Path) -> None:
    """All blocks of a heap in one place."""
    block = only(blocks_of(dense), "FHIB")
    first = dense[block.start + 17 : block.start + 25]
    for place in (25, 33, 41):
        (tmp_path / "a.cfoil").write_bytes(changed(dense, block, place, first))
        refused_at_once(tmp_path / "a.cfoil", "wrong mark")


def test_a_header_that_goes_on_in_itself(dense: bytes, tmp_path: Path) -> None:
    """A continuation leads to the block that it stands in."""
    found = 0
    for block in blocks_of(dense):
        place = dense[block.start : block.end].find(b"\x10\x10\0\0")
        if block.kind not in ("OHDR", "OCHK") or place < 0:
            continue
        found += 1
        itself = struct.pack("<QQ", block.start, block.end - block.start)
        (tmp_path / "a.cfoil").write_bytes(changed(dense, block, place + 4, itself))
        refused_at_once(tmp_path / "a.cfoil", "lacks its mark|names a place twice|blocks|messages|same place")
    assert found > 1


def test_control_nothing_changed(dense: bytes, tmp_path: Path) -> None:
    """The same changes with the bytes that were there before: the file opens."""
    for kind, offset, new, _ in INDEXES:
        block: Block = only(blocks_of(dense), kind)
        old = dense[block.start + offset : block.start + offset + len(new)]
        (tmp_path / "a.cfoil").write_bytes(changed(dense, block, offset, old))
        BundleReader.open(tmp_path / "a.cfoil").close()
