"""What our reader refuses, by name: one setting of each structure changed, its checksum made right."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from counterfoil.bundle.writer import write_data_file
from counterfoil_core.base.errors import BundleError
from counterfoil_core.bundle.hdf5 import format as structures
from counterfoil_core.bundle.hdf5.format import HeaderMessage, parse_object, parse_space
from counterfoil_core.bundle.hdf5.source import MAX_METADATA_BYTES, UNDEFINED, ByteSource
from counterfoil_core.bundle.hdf5.walk import StructureLimits, walk
from counterfoil_core.bundle.kind import BUNDLE, CAPSULE, DATA_FILE, FileKind, check_mark
from support.hdf5_files import Block, blocks_of, changed, inventory_of, only, read_by_us, source_of


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with one small group, and an empty dataset at its end."""
    path = tmp_path_factory.mktemp("few") / "a.cfdata"
    write_data_file(path, {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros(0, np.uint8)})
    return path.read_bytes()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with a large group: a tree of depth 1, an indirect block over direct ones."""
    path = tmp_path_factory.mktemp("many") / "a.cfdata"
    write_data_file(path, {f"layer.{number}.weight": np.arange(number % 3) for number in range(120)})
    return path.read_bytes()


def refused(data: bytes, sentence: str) -> None:
    with pytest.raises(BundleError, match=sentence):
        read_by_us(data)


def header_of(data: bytes, path: str) -> tuple[Block, dict[int, int]]:
    """The object header of a dataset or group in one block, and where in it the content of each message begins."""
    for block in blocks_of(data):
        if block.kind == "OHDR" and _is(data, block, path):
            at = 6 + (1 << (data[block.start + 5] & 3))
            places = {}
            while at + 8 <= block.end - block.start:
                kind, size = struct.unpack_from("<BH", data, block.start + at)
                places.setdefault(kind, at + 4)
                at += 4 + size
            return block, places
    raise AssertionError(path)


def _is(data: bytes, block: Block, path: str) -> bool:
    stored = inventory_of(data).find(path)
    address = struct.pack("<Q", stored.offset if stored else 0)
    return (
        stored is not None and address in data[block.start : block.end] and b"\x03\x01" in data[block.start : block.end]
    )


# Superblock.


@pytest.mark.parametrize(
    ("offset", "new", "sentence"),
    [
        (0, b"\x88", "it is not an HDF5 file"),
        (8, b"\0", "superblock of version 0"),
        (8, b"\4", "superblock of version 4"),
        (9, b"\4", "settings that no bundle has"),
        (10, b"\4", "settings that no bundle has"),
        (11, b"\1", "was not closed by the program that wrote it"),
        (12, b"\1", "settings that no bundle has"),
        (20, b"\0", "settings that no bundle has"),
        (28, b"\0", "it says that it has"),
        (36, struct.pack("<Q", UNDEFINED), "lies outside the file"),
        (36, struct.pack("<Q", 2**63), "lies outside the file"),
        (36, struct.pack("<Q", 0), "no object header of version 2"),
    ],
)
def test_the_superblock(few: bytes, offset: int, new: bytes, sentence: str) -> None:
    refused(changed(few, only(blocks_of(few), "superblock"), offset, new), sentence)


def test_a_file_that_was_cut_or_made_longer(few: bytes) -> None:
    refused(few + b"\0", "it says that it has")
    refused(few[:-1], "it says that it has")
    refused(few[:40], "names 48 bytes from byte 0")
    refused(few[:8], "superblock of version -1")
    refused(b"", "it is not an HDF5 file")


def test_the_root_is_a_dataset(few: bytes) -> None:
    block, _ = header_of(few, "/data/a")
    superblock = only(blocks_of(few), "superblock")
    refused(changed(few, superblock, 36, struct.pack("<Q", block.start)), "root of the file is not a group")


# Object headers.


@pytest.mark.parametrize(
    ("offset", "new", "sentence"),
    [
        (0, b"XHDR", "has no object header of version 2"),
        (0, b"\1", "has an old object header without a checksum"),
        (4, b"\1", "has no object header of version 2"),
        (5, b"\x10", "has an object header with settings"),
        (5, b"\x04", "has an object header with settings"),
        (5, b"\x02", "has an object header longer than 4096 bytes"),
        (5, b"\x03", "has an object header longer than 4096 bytes"),
    ],
)
def test_the_start_of_an_object_header(few: bytes, offset: int, new: bytes, sentence: str) -> None:
    block, _ = header_of(few, "/data/a")
    refused(changed(few, block, offset, new), f"/data/a {sentence}")


MESSAGES: list[tuple[int, int, bytes, str]] = [
    # Message, offset in its content (the four bytes before are type, size and flags), new bytes.
    (structures.TYPE, -4, b"\x07", "/data/a has a data type that a bundle does not know"),
    (structures.TYPE, -1, b"\x03", "/data/a has a data type that a bundle does not know"),
    (structures.TYPE, 0, b"\x12", "/data/a has a data type that a bundle does not know"),
    (structures.TYPE, 1, b"\x21", "/data/a has a data type that a bundle does not know"),
    (structures.TYPE, 4, b"\x08", "/data/a has a data type that a bundle does not know"),
    (structures.TYPE, -3, b"\xff\xff", "a message does not end within it"),
    (structures.TYPE, -1, b"\x80", "has a message with flags that no bundle has"),
    (structures.SPACE, 0, b"\1", "/data/a has a shape of a form that no bundle has"),
    (structures.SPACE, 1, b"\x21", "/data/a has a shape of a form that no bundle has"),
    (structures.SPACE, 1, b"\1", "its dataspace message has the wrong length"),
    (structures.SPACE, 1, b"\0", "/data/a has no shape"),
    (structures.SPACE, 2, b"\2", "/data/a has a shape of a form that no bundle has"),
    (structures.SPACE, 3, b"\0", "/data/a has no shape"),
    (structures.SPACE, 3, b"\2", "/data/a has no shape"),
    (structures.SPACE, 4, b"\3", "/data/a can grow"),
    (structures.SPACE, -1, b"\2", "/data/a shares a part of its header"),
    (structures.SPACE, -4, b"\x04", "/data/a has a fill value of the old form"),
    (structures.FILL, 0, b"\2", "/data/a declares a fill value"),
    (structures.FILL, 1, b"\x25", "/data/a declares a fill value"),
    (structures.FILL, -4, b"\x0b", "/data/a uses HDF5 filters"),
    (structures.FILL, -4, b"\x07", "/data/a keeps its data in another file"),
    (structures.FILL, -4, b"\x0c", "/data/a has an attribute"),
    (structures.FILL, -4, b"\x0d", "/data/a has a comment"),
    (structures.FILL, -4, b"\x0e", "/data/a stores the times"),
    (structures.FILL, -4, b"\x0f", "/data/a has shared messages"),
    (structures.FILL, -4, b"\x12", "/data/a stores the times"),
    (structures.FILL, -4, b"\x13", "/data/a has an HDF5 message of the type 19"),
    (structures.FILL, -4, b"\x16", "/data/a has a second name"),
    (structures.FILL, -4, b"\xff", "/data/a has an HDF5 message of the type 255"),
    (structures.FILL, -4, b"\x10", "its continuation message has the wrong length"),
    (structures.FILL, -4, b"\x00", "/data/a declares a fill value, or none as a bundle does"),
    (structures.FILL, -4, b"\x03", "The object header of /data/a says something twice"),
    (structures.LAYOUT, 0, b"\2", "/data/a has a layout of a form that no bundle has"),
    (structures.LAYOUT, 0, b"\4", "/data/a has a layout of a form that no bundle has"),
    (structures.LAYOUT, 1, b"\0", "/data/a keeps its data within its header"),
    (structures.LAYOUT, 1, b"\2", "/data/a keeps its data in chunks"),
    (structures.LAYOUT, 1, b"\3", "/data/a is put together from other datasets"),
    (structures.LAYOUT, 1, b"\4", "/data/a has a layout of an unknown kind"),
    (structures.LAYOUT, -4, b"\x00", "/data/a has no shape, or no place for its data"),
    (structures.LAYOUT, 2, struct.pack("<Q", UNDEFINED), "/data/a declares 24 bytes of data and does not hold as many"),
    (structures.LAYOUT, 2, struct.pack("<Q", 2**62), "/data/a has its data outside the file"),
    (structures.LAYOUT, 2, struct.pack("<Q", 0), "Two parts of the file share the same place, byte 0"),
    (structures.LAYOUT, 10, struct.pack("<Q", 23), "/data/a declares 24 bytes of data and does not hold as many"),
]


@pytest.mark.parametrize(("message", "offset", "new", "sentence"), MESSAGES)
def test_the_messages_of_a_dataset(few: bytes, message: int, offset: int, new: bytes, sentence: str) -> None:
    block, places = header_of(few, "/data/a")
    refused(changed(few, block, places[message] + offset, new), sentence)


def test_lengths_that_overflow() -> None:
    """A shape with an empty axis takes no bytes, and its other axes are bounded all the same."""
    space = bytes([2, 3, 0, 1]) + struct.pack("<3Q", 0, 2**62, 2**62)
    layout = b"\x03\x01" + struct.pack("<QQ", UNDEFINED, 0)
    kind = bytes.fromhex("100000000100000000000800")
    parts = [
        (structures.SPACE, space),
        (structures.TYPE, kind),
        (structures.FILL, b"\3\5"),
        (structures.LAYOUT, layout),
    ]
    with pytest.raises(BundleError, match="larger than any file"):
        parse_object([HeaderMessage(number, body, 0, False) for number, body in parts], "/x")
    assert parse_space(space, "/x") == (0, 2**62, 2**62)
    with pytest.raises(BundleError, match="neither a group nor a dataset"):
        parse_object([HeaderMessage(structures.TYPE, kind, 0, False)], "/x")


@pytest.mark.parametrize("cut", range(24))
def test_messages_cut_short(few: bytes, cut: int) -> None:
    """Whatever the length of a message, its content is never read beyond it."""
    block, places = header_of(few, "/data/a")
    for message in (structures.SPACE, structures.TYPE, structures.FILL, structures.LAYOUT):
        spoiled = changed(few, block, places[message] - 3, struct.pack("<H", cut))
        if struct.unpack_from("<H", few, block.start + places[message] - 3)[0] != cut:
            refused(spoiled, ".")


# Groups.


def group_block(data: bytes) -> Block:
    """The object header of ``/data``."""
    return next(
        b for b in blocks_of(data) if b.kind == "OHDR" and b"\x02\x12\0\0" in data[b.start : b.end] and b.start > 48
    )


@pytest.mark.parametrize(
    ("find", "offset", "new", "sentence"),
    [
        (b"\x0a\x02\0\1", 4, b"\1", "The group /data has settings"),
        (b"\x0a\x02\0\1", 5, b"\1", "The group /data has settings"),
        (b"\x0a\x02\0\1", 0, b"\x0d", "/data has a comment"),
        (b"\x0a\x02\0\1", 0, b"\x11", "/data is a group of the old form"),
        (b"\x0a\x02\0\1", 3, b"\2", "/data shares a part of its header"),
        (b"\x02\x12\0\0", 5, b"\1", "The group /data tracks the order of its members"),
        (b"\x02\x12\0\0", 4, b"\1", "The group /data tracks the order of its members"),
        (b"\x02\x12\0\0", 6, b"\0", "The group /data names its members in two places"),
        (b"\x06\x0c\0\0", 4, b"\2", "has a link of a form that no bundle has"),
        (b"\x06\x0c\0\0", 5, b"\4", "has a link of a form that no bundle has"),
        (b"\x06\x0c\0\0", 5, b"\1", "has a link of a form that no bundle has"),
        (b"\x06\x0c\0\0", 5, b"\x08", "is a link to somewhere else"),
        (b"\x06\x0c\0\0", 6, b"\2", "its link message has the wrong length"),
        (b"\x06\x0c\0\0", 7, b"/", "holds an object with the name '/'"),
        (b"\x06\x0c\0\0", 7, b"b", "holds two objects of the same name"),
        (b"\x06\x0c\0\0", 8, struct.pack("<Q", 48), "second name for another object"),
        (b"\x06\x0c\0\0", 8, struct.pack("<Q", 2**64 - 1), "lies outside the file"),
        (b"\x06\x0c\0\0", 1, b"\x00\x00", "."),
    ],
)
def test_the_messages_of_a_group(few: bytes, find: bytes, offset: int, new: bytes, sentence: str) -> None:
    block = group_block(few)
    at = few[block.start : block.end].index(find)
    refused(changed(few, block, at + offset, new), sentence)


# The tree and the heap of large groups.

SETTINGS: list[tuple[str, int, bytes, str]] = [
    ("BTHD", 4, b"\1", "B-tree of the group /data has settings"),
    ("BTHD", 5, b"\6", "B-tree of the group /data has settings"),
    ("BTHD", 6, b"\1", "B-tree of the group /data has settings"),
    ("BTHD", 9, b"\1", "B-tree of the group /data has settings"),
    ("BTHD", 10, b"\0", "B-tree of the group /data has settings"),
    ("BTHD", 12, b"\5", "B-tree of the group /data has settings"),
    ("BTHD", 12, b"\2", "a checksum of its structure does not hold|wrong mark|has a node of|outside the file"),
    ("BTHD", 14, b"\1", "B-tree of the group /data has settings"),
    ("BTHD", 15, b"\1", "B-tree of the group /data has settings"),
    ("BTHD", 16, struct.pack("<Q", UNDEFINED), "outside the file"),
    ("BTHD", 16, struct.pack("<Q", 48), "."),
    ("BTHD", 24, b"\0\0", "has a node of 0 records"),
    ("BTHD", 24, b"\xff\xff", "has more records than it says"),
    ("BTHD", 26, b"\0", "does not fit its B-tree"),
    ("BTHD", 26, struct.pack("<Q", 2**64 - 1), "does not fit its B-tree"),
    ("BTIN", 0, b"BTLF", "a node has the wrong mark"),
    ("BTIN", 4, b"\1", "a node has the wrong mark"),
    ("BTIN", 5, b"\6", "a node has the wrong mark"),
    ("BTLF", 4, b"\1", "a node has the wrong mark"),
    ("BTLF", 6, b"\xff\xff\xff\xff", "a record names no member"),
    ("BTLF", 10, b"\x10", "a record names no member"),
    ("BTLF", 11, struct.pack("<I", 0), "a record names no member"),
    ("BTLF", 11, struct.pack("<I", 2**32 - 1), "a record names no member"),
    ("BTLF", 15, struct.pack("<H", 65535), "a record names no member"),
    ("BTLF", 15, struct.pack("<H", 3), "has a link of a form|wrong length"),
    ("FRHP", 4, b"\1", "heap of the group /data has settings"),
    ("FRHP", 5, b"\x08", "heap of the group /data has settings"),
    ("FRHP", 7, b"\1", "heap of the group /data has settings"),
    ("FRHP", 9, b"\0", "heap of the group /data has settings"),
    ("FRHP", 10, b"\1", "heap of the group /data has settings"),
    ("FRHP", 22, struct.pack("<Q", 48), "has objects outside its blocks"),
    ("FRHP", 70, b"\1", "does not fit its B-tree"),
    ("FRHP", 78, b"\1", "has objects outside its blocks"),
    ("FRHP", 86, b"\1", "has objects outside its blocks"),
    ("FRHP", 94, b"\1", "has objects outside its blocks"),
    ("FRHP", 102, b"\1", "has objects outside its blocks"),
    ("FRHP", 110, b"\0", "heap of the group /data has settings"),
    ("FRHP", 110, b"\1", "heap of the group /data has settings"),
    ("FRHP", 113, b"\0", "heap of the group /data has settings"),
    ("FRHP", 112, struct.pack("<Q", 0), "heap of the group /data has settings"),
    ("FRHP", 120, struct.pack("<Q", 0), "heap of the group /data has settings"),
    ("FRHP", 128, b"\x40", "heap of the group /data has settings"),
    ("FRHP", 130, b"\2", "heap of the group /data has settings"),
    ("FRHP", 132, struct.pack("<Q", 0), "wrong mark|does not hold"),
    ("FRHP", 140, b"\xff", "does not fit its B-tree"),
    ("FHIB", 0, b"FHDB", "a block has the wrong mark"),
    ("FHIB", 5, b"\0", "a block has the wrong mark"),
    ("FHIB", 13, b"\1", "a block has the wrong mark"),
    ("FHIB", 17, struct.pack("<Q", UNDEFINED), "a record names no member"),
    ("FHIB", 17, struct.pack("<Q", 48), "a block has the wrong mark"),
    ("FHDB", 5, b"\0", "a block has the wrong mark"),
    ("FHDB", 13, b"\xff", "a block has the wrong mark"),
]


@pytest.mark.parametrize(("kind", "offset", "new", "sentence"), SETTINGS)
def test_the_structures_of_a_large_group(many: bytes, kind: str, offset: int, new: bytes, sentence: str) -> None:
    refused(changed(many, only(blocks_of(many), kind), offset, new), sentence)


def test_a_name_that_the_tree_does_not_find(many: bytes) -> None:
    """h5py finds a member by the hash of its name; what it would not find is not there for us either."""
    block = only(blocks_of(many), "FHDB")
    at = many[block.start : block.end].index(b".weight")
    refused(changed(many, block, at, b".Weight"), "a name does not have the hash by which it is found")


def test_control_the_files_are_read(few: bytes, many: bytes) -> None:
    assert len(read_by_us(few)) == 4
    assert len(read_by_us(many)) == 122


# Bounds.


def test_a_header_that_goes_on_for_ever(few: bytes) -> None:
    """A continuation that leads to itself, as libhdf5 has followed."""
    block = only(blocks_of(few), "OCHK")
    length = block.end - block.start
    loop = b"\x10\x10\0\0" + struct.pack("<QQ", block.start, length)
    nothing = bytes([0, length - 32, 0, 0])
    refused(changed(few, block, 4, loop + nothing), "more than 16 blocks|names a place twice")


@pytest.mark.parametrize("length", [0, 7, 4097, 2**64 - 1])
def test_a_continuation_of_an_impossible_length(few: bytes, length: int) -> None:
    root = blocks_of(few)[1]
    refused(changed(few, root, 19, struct.pack("<Q", length)), f"with a block of {length} bytes")


def test_objects_and_depth_are_bounded(many: bytes) -> None:
    assert walk(source_of(many), "bundle", StructureLimits(objects=122))
    with pytest.raises(BundleError, match="large groups hold more objects than the 119 that are still allowed"):
        walk(source_of(many), "bundle", StructureLimits(objects=121))
    with pytest.raises(BundleError, match="holds more than 1 objects"):
        walk(source_of(many), "bundle", StructureLimits(objects=1))
    assert walk(source_of(many), "bundle", StructureLimits(depth=2))
    with pytest.raises(BundleError, match="nested more than 1 deep"):
        walk(source_of(many), "bundle", StructureLimits(depth=1))


def test_a_structure_is_not_larger_than_its_file() -> None:
    source = ByteSource(lambda offset, count: bytes(count), 1000)
    source.take(0, 600)
    with pytest.raises(BundleError, match="names a place twice"):
        source.take(0, 600)
    large = ByteSource(lambda offset, count: b"", 2**40)
    with pytest.raises(BundleError, match="became shorter"):
        large.take(0, 8)
    with pytest.raises(BundleError, match="larger than that of any bundle"):
        large.claim_metadata([8], [MAX_METADATA_BYTES])


def test_places_that_are_shared() -> None:
    source = ByteSource(lambda offset, count: bytes(count), 100)
    assert source.claim([50, 0, 10], [10, 10, 40]) is None
    source.check_disjoint()
    assert source.claim([59], [1]) is None
    with pytest.raises(BundleError, match="share the same place, byte 59"):
        source.check_disjoint()
    assert source.claim([0, 99, 2**64 - 1], [1, 2, 1]) == 1
    assert source.claim([], []) is None
    ByteSource(lambda offset, count: b"", 0).check_disjoint()


# The mark.


def mark(value: bytes, name: bytes = b"format", kind: bytes = b"\x13\0\0\0") -> bytes:
    """An attribute message, of a string of 32 bytes unless told otherwise."""
    head = struct.pack("<BBHHHB", 3, 0, len(name) + 1, 8, 4, 0)
    return head + name + b"\0" + kind + struct.pack("<I", 32) + b"\2\0\0\0" + value.ljust(32, b"\0")


@pytest.mark.parametrize("kind", [BUNDLE, CAPSULE, DATA_FILE])
def test_the_mark(kind: FileKind) -> None:
    check_mark([mark(kind.mark)], kind)
    check_mark([mark(kind.mark, kind=b"\x13\1\0\0")], kind)


SPOIL: list[Callable[[bytes], list[bytes]]] = [
    lambda good: [],
    lambda good: [good, good],
    lambda good: [good[:-1]],
    lambda good: [good + b"\0"],
    lambda good: [good[:9]],
    lambda good: [b""],
    lambda good: [b"\2" + good[1:]],
    lambda good: [good.replace(b"format", b"Format")],
    lambda good: [good.replace(b"counterfoil", b"Counterfoil")],
    lambda good: [good.replace(b"\x13\0\0\0", b"\x19\0\0\0")],
    lambda good: [good.replace(b"\x13\0\0\0", b"\x13\2\0\0")],
    lambda good: [good.replace(b"\2\0\0\0", b"\2\1\0\0")],
]


@pytest.mark.parametrize("spoil", SPOIL)
def test_what_is_no_mark(spoil: Callable[[bytes], list[bytes]]) -> None:
    with pytest.raises(BundleError, match="lacks the mark"):
        check_mark(spoil(mark(BUNDLE.mark)), BUNDLE)


def test_marks_of_other_kinds_and_formats() -> None:
    with pytest.raises(BundleError, match="is a Counterfoil capsule, where a bundle is needed"):
        check_mark([mark(CAPSULE.mark)], BUNDLE)
    with pytest.raises(BundleError, match="is a Counterfoil bundle, where a data file is needed"):
        check_mark([mark(BUNDLE.mark)], DATA_FILE)
    with pytest.raises(BundleError, match="has format 77; this Counterfoil reads format"):
        check_mark([mark(b"counterfoil-77")], BUNDLE)
    with pytest.raises(BundleError, match=r"has format \\xff"):
        check_mark([mark(b"counterfoil-\xff")], BUNDLE)


def test_every_checksum_is_looked_at(many: bytes) -> None:
    """One bit of any checksummed structure, left without its checksum made right."""
    for block in blocks_of(many):
        middle = (block.end - block.start) // 2
        refused(changed(many, block, middle, bytes([many[block.start + middle] ^ 1]), sealed=False), "damaged")
