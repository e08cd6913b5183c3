"""Reads the members of groups that have many: a B-tree of version 2 over the hashes of names, and a fractal heap.

Sections III.A.2 and III.G of the HDF5 File Format Specification 3.0. Every setting must be the one that HDF5 gives
such groups, so that the sizes below are constants; many groups are read at a time, as their checksums are.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.names import NamedAddress, Names
from counterfoil_core.bundle.hdf5.source import CHECKSUM_BYTES, UNDEFINED, ByteSource, check_sums, check_values

# The B-tree.
_TREE_HEADER = struct.Struct("<4sBBIHHBBQHQ")
_TREE_SETTINGS = (b"BTHD", 0, 5, 512, 11, 100, 40)
"""Signature, version, type (names of a group), node size, record size, split and merge percentages."""
_NODE_BYTES, _RECORD_BYTES = 512, 11
_NODE_START = 6
_RECORD = struct.Struct("<IBIH")
"""Hash of the name; kind of the heap ID (0: an object of the heap itself), offset in the heap, length."""
_MAX_DEPTH = 4

# The heap.
_HEAP_HEADER = struct.Struct("<4sBHHBI12QHQQHHQH")
_WIDTH, _FIRST_BLOCK, _LAST_BLOCK, _HEAP_BITS, _MAX_OBJECT = 4, 512, 2**16, 32, 4096
_DIRECT_ROWS = 9
"""Rows of 512, 512, 1024, ... 65,536 bytes; behind them come indirect blocks."""
_MAX_ROWS = 22
_BLOCKS_AT_ONCE = 256
_BLOCK_START = struct.Struct("<4sBQI")
"""Signature, version, address of the heap's header, offset in the heap; direct blocks go on with a checksum."""


@dataclass
class _Group:
    """One group being read."""

    path: str
    heap: int
    members: int = 0
    tree: list[bytes | _Node] = field(default_factory=list)
    blocks: dict[int, bytes] = field(default_factory=dict)
    root: _Block | None = None


@dataclass(frozen=True)
class _Node:
    """A node of a B-tree: where it lies, its records, and the levels below it."""

    address: int
    records: int
    depth: int


@dataclass(frozen=True)
class _Block:
    """A block of a heap; ``rows`` is 0 for a direct one."""

    address: int
    offset: int
    size: int
    rows: int


def _levels() -> tuple[tuple[int, int, int], ...]:
    """For each depth: the most records of a node, and how many bytes a child's number and total of records take."""
    most = (_NODE_BYTES - _NODE_START - CHECKSUM_BYTES) // _RECORD_BYTES
    levels = [(most, 0, 0)]
    total, total_bytes = most, 0
    for _ in range(_MAX_DEPTH):
        pointer = 8 + 1 + total_bytes
        count = (_NODE_BYTES - _NODE_START - CHECKSUM_BYTES - pointer) // (_RECORD_BYTES + pointer)
        levels.append((count, 1, total_bytes))
        total = (count + 1) * total + count
        total_bytes = (total.bit_length() - 1) // 8 + 1
    return tuple(levels)


_LEVELS = _levels()


def read_members(
    source: ByteSource, names: Names, groups: Sequence[tuple[str, int, int]], most: int
) -> list[list[NamedAddress]]:
    """Return the members of each of some groups.

    Args:
        source: The file.
        names: Reads its names.
        groups: Path, address of the heap and address of the B-tree of each.
        most: How many members there may be in all.

    Raises:
        BundleError: A structure is damaged, is not as HDF5 makes it, or names more members than allowed.
    """
    if not groups:
        return []
    found = [_Group(path, heap) for path, heap, _ in groups]
    _read_headers(source, found, [tree for _, _, tree in groups])
    if sum(group.members for group in found) > most:
        raise BundleError(say("The file's large groups hold more objects than the {0} that are still allowed.", most))
    _read_trees(source, found)
    _read_blocks(source, found)
    return _cut(names, found)


def _read_headers(source: ByteSource, groups: Sequence[_Group], trees: Sequence[int]) -> None:
    heaps = source.take_all([(group.heap, _HEAP_HEADER.size + CHECKSUM_BYTES) for group in groups])
    headers = source.take_all([(tree, _TREE_HEADER.size + CHECKSUM_BYTES) for tree in trees])
    check_sums([*heaps, *headers])
    for group, heap, header in zip(groups, heaps, headers, strict=True):
        # What a writer may choose has one value in every bundle: whatever else a header says is refused, not followed.
        *settings, root, records, total = _TREE_HEADER.unpack_from(header)
        signature, version, kind, node, record, depth, split, merge = settings
        if (signature, version, kind, node, record, split, merge) != _TREE_SETTINGS or depth > _MAX_DEPTH:
            raise BundleError(say("The B-tree of the group {0} has settings that no bundle has.", group.path))
        group.members = total
        group.tree = [_Node(root, records, depth)]
        group.root = _heap_root(heap, group)


def _heap_root(header: bytes, group: _Group) -> _Block:
    """Read the header of a heap, as far as reading needs it: free space and what is yet to come concern writing."""
    values = _HEAP_HEADER.unpack_from(header)
    signature, version, id_bytes, filter_bytes, flags, max_object = values[:6]
    _, huge_tree, _, _, _, _, _, objects, huge_size, huge, tiny_size, tiny = values[6:18]
    width, first, last, bits, start_rows, root, rows = values[18:]
    settings = (signature, version, id_bytes, filter_bytes, flags, max_object, width, first, last, bits, start_rows)
    if settings != (b"FRHP", 0, 7, 0, 2, _MAX_OBJECT, _WIDTH, _FIRST_BLOCK, _LAST_BLOCK, _HEAP_BITS, 1):
        raise BundleError(say("The heap of the group {0} has settings that no bundle has.", group.path))
    if (huge_tree, huge_size, huge, tiny_size, tiny) != (UNDEFINED, 0, 0, 0, 0):
        raise BundleError(say("The heap of the group {0} has objects outside its blocks.", group.path))
    if objects != group.members or rows > _MAX_ROWS:
        raise BundleError(say("The heap of the group {0} does not fit its B-tree.", group.path))
    return _Block(root, 0, _FIRST_BLOCK, rows)


def _read_trees(source: ByteSource, groups: Sequence[_Group]) -> None:
    """Replace every node by its records and children, level by level, until records are left, in their order."""
    while nodes := [(group, node) for group in groups for node in group.tree if isinstance(node, _Node)]:
        # Bounds what is read before it is read; the source gives each place once, so no node is its own descendant.
        if sum(node.records for _, node in nodes) > sum(group.members for group in groups):
            raise BundleError(say("A B-tree of the file has more records than it says."))
        lengths = []
        for group, node in nodes:
            most, count_bytes, total_bytes = _LEVELS[node.depth]
            if not 0 < node.records <= most:
                raise BundleError(
                    say("The B-tree of the group {0} has a node of {1} records.", group.path, node.records)
                )
            pointers = (node.records + 1) * (8 + count_bytes + total_bytes) if node.depth else 0
            lengths.append(_NODE_START + node.records * _RECORD_BYTES + pointers + CHECKSUM_BYTES)
        whole = source.take_all([(node.address, _NODE_BYTES) for _, node in nodes])
        blocks = [block[:used] for block, used in zip(whole, lengths, strict=True)]
        check_sums(blocks)
        expanded = iter([_expand(block, node, group) for block, (group, node) in zip(blocks, nodes, strict=True)])
        for group in groups:
            items: list[bytes | _Node] = []
            for item in group.tree:
                if isinstance(item, _Node):
                    items.extend(next(expanded))
                else:
                    items.append(item)
            group.tree = items


def _expand(block: bytes, node: _Node, group: _Group) -> list[bytes | _Node]:
    """Return the records of a node, with its children between them."""
    if block[:_NODE_START] != (b"BTIN" if node.depth else b"BTLF") + b"\0\x05":
        raise BundleError(say("The B-tree of the group {0} is damaged: a node has the wrong mark.", group.path))
    end = _NODE_START + node.records * _RECORD_BYTES
    if not node.depth:
        return [block[_NODE_START:end]]
    _, count_bytes, total_bytes = _LEVELS[node.depth]
    items: list[bytes | _Node] = []
    for number in range(node.records + 1):
        at = end + number * (8 + count_bytes + total_bytes)
        address = int.from_bytes(block[at : at + 8], "little")
        items.append(_Node(address, int.from_bytes(block[at + 8 : at + 8 + count_bytes], "little"), node.depth - 1))
        if number < node.records:
            items.append(block[_NODE_START + number * _RECORD_BYTES :][:_RECORD_BYTES])
    return items


def _read_blocks(source: ByteSource, groups: Sequence[_Group]) -> None:
    """Read every block of the heaps, level by level; the blocks below one are smaller, which is where it ends."""
    pending = [(group, group.root) for group in groups if group.root]
    direct = []
    while pending:
        indirect = [(group, block) for group, block in pending if block.rows]
        direct += [(group, block) for group, block in pending if not block.rows]
        tables = source.take_all(
            [(block.address, _BLOCK_START.size + 8 * _WIDTH * block.rows + CHECKSUM_BYTES) for _, block in indirect]
        )
        check_sums(tables)
        pending = []
        for (group, block), table in zip(indirect, tables, strict=True):
            _check_block(table, b"FHIB", block, group)
            pending += [(group, child) for child in _children(block, table)]
    at, end = _BLOCK_START.size, _BLOCK_START.size + CHECKSUM_BYTES
    for first in range(0, len(direct), _BLOCKS_AT_ONCE):
        some = direct[first : first + _BLOCKS_AT_ONCE]
        blocks = source.take_all([(block.address, block.size) for _, block in some])
        for (group, block), data in zip(some, blocks, strict=True):
            _check_block(data, b"FHDB", block, group)
            group.blocks[block.offset] = data
        # The checksum stands in the middle of what it covers, and counts as zero.
        check_values(
            [data[:at] + bytes(CHECKSUM_BYTES) + data[end:] for data in blocks],
            [int.from_bytes(data[at:end], "little") for data in blocks],
        )


def _check_block(data: bytes, signature: bytes, block: _Block, group: _Group) -> None:
    if _BLOCK_START.unpack_from(data) != (signature, 0, group.heap, block.offset):
        raise BundleError(say("The heap of the group {0} is damaged: a block has the wrong mark.", group.path))


def _children(block: _Block, table: bytes) -> list[_Block]:
    """Return the blocks below an indirect one (section III.G.2)."""
    children = []
    offset = block.offset
    addresses = struct.unpack_from(f"<{_WIDTH * block.rows}Q", table, _BLOCK_START.size)
    for number, address in enumerate(addresses):
        row = number // _WIDTH
        size = _FIRST_BLOCK << max(0, row - 1)
        # An indirect block covers as much as its size: rows of 512, 512, 1024, ... bytes, four to a row.
        rows = 0 if row < _DIRECT_ROWS else size.bit_length() - (_FIRST_BLOCK * _WIDTH).bit_length() + 1
        if address != UNDEFINED:
            children.append(_Block(address, offset, size, rows))
        offset += size
    return children


def _cut(names: Names, groups: Sequence[_Group]) -> list[list[NamedAddress]]:
    """Cut the members out of the heaps; their hashes must be those of the B-trees, in ascending order."""
    links: list[list[NamedAddress]] = []
    hashes: list[int] = []
    for group in groups:
        starts = sorted(group.blocks)
        members: list[NamedAddress] = []
        last = 0
        records = b"".join(item for item in group.tree if isinstance(item, bytes))
        if len(records) != group.members * _RECORD_BYTES:
            raise BundleError(say("The B-tree of the group {0} does not have as many records as it says.", group.path))
        for hash_value, kind, offset, length in _RECORD.iter_unpack(records):
            place = bisect_right(starts, offset) - 1
            start = starts[place] if place >= 0 else offset + 1
            block = group.blocks[start] if place >= 0 else b""
            inside = offset - start
            # HDF5 finds members by ascending hashes; that these are the names' own is checked below, for all at once.
            if kind or inside < _BLOCK_START.size + CHECKSUM_BYTES or inside + length > len(block) or hash_value < last:
                raise BundleError(say("The B-tree of the group {0} is damaged: a record names no member.", group.path))
            last = hash_value
            members.append(names.read(block[inside : inside + length], group.path))
            hashes.append(hash_value)
        links.append(members)
    names.check_hashes([name for members in links for name, _ in members], hashes)
    return links
