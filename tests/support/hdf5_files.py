"""HDF5 files for tests: what our reader and h5py find in them, and changes that keep the checksums right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil_core.bundle.hdf5.checksum import lookup3
from counterfoil_core.bundle.hdf5.format import DTYPES
from counterfoil_core.bundle.hdf5.source import ByteSource
from counterfoil_core.bundle.hdf5.walk import Inventory, walk

Content = Mapping[str, tuple[str, tuple[int, ...], bytes] | None]
"""By path: dtype, shape and bytes of a dataset, None for a group."""


def source_of(data: bytes) -> ByteSource:
    """A file that lies in memory."""
    return ByteSource(lambda offset, count: data[offset : offset + count], len(data))


def inventory_of(data: bytes) -> Inventory:
    """What our reader lists."""
    return walk(source_of(data), "bundle")


def read_by_us(data: bytes) -> Content:
    """Everything that a file holds, as our reader finds it."""
    found: dict[str, tuple[str, tuple[int, ...], bytes] | None] = {}
    for group, members in inventory_of(data).groups.items():
        found[group] = None
        for name, stored in members.items():
            info, offset = stored
            content = data[offset : offset + info.data_bytes] if info.data_bytes else b""
            if stored.left_out:
                content = bytes(info.data_bytes)
            assert len(content) == info.data_bytes
            found[f"{group if group != '/' else ''}/{name}"] = (info.dtype, info.shape, content)
    return found


def read_by_h5py(path: Path) -> Content:
    """Everything that a file holds, as h5py finds it."""
    import h5py

    found: dict[str, tuple[str, tuple[int, ...], bytes] | None] = {"/": None}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            kind = "bool" if item.id.get_type() == h5py.h5t.STD_B8LE else item.dtype.name
            array = np.empty(item.shape, DTYPES[kind])
            if array.size:
                item.id.read(h5py.h5s.ALL, h5py.h5s.ALL, array, item.id.get_type())
            found[f"/{name}"] = (kind, item.shape, array.tobytes())
        else:
            found[f"/{name}"] = None

    with h5py.File(path, locking=False) as file:
        file.visititems(visit)
    return found


def same_as_h5py(path: Path) -> int:
    """Check that both find the same in a file; returns how many objects."""
    found = read_by_us(path.read_bytes())
    assert found == read_by_h5py(path)
    return len(found)


@dataclass(frozen=True)
class Block:
    """A structure with a checksum: its bytes from ``start`` to ``end``, and where among them the checksum lies."""

    kind: str
    start: int
    end: int
    sum_at: int

    def seal(self, data: bytearray) -> None:
        """Make the checksum right."""
        data[self.sum_at : self.sum_at + 4] = self._sum(data).to_bytes(4, "little")

    def holds(self, data: bytes) -> bool:
        """Whether the checksum is right."""
        inside = self.end <= len(data)
        return inside and self._sum(data) == int.from_bytes(data[self.sum_at : self.sum_at + 4], "little")

    def _sum(self, data: bytes | bytearray) -> int:
        covered = bytes(data[self.start : self.end])
        at = self.sum_at - self.start
        # At the end it is left out; within, it counts as zero.
        return lookup3(covered[:at] if self.sum_at + 4 == self.end else covered[:at] + bytes(4) + covered[at + 4 :])


def blocks_of(data: bytes) -> list[Block]:
    """Every structure with a checksum, found by its mark and by a length for which the checksum holds."""
    found = [Block("superblock", 0, 48, 44)]
    for match in re.finditer(rb"OHDR\x02|FRHP\0|BTHD\0|BTLF\0|BTIN\0|FHDB\0|FHIB\0|EAHD\0", data):
        start, kind = match.start(), match.group()[:4].decode()
        for length, sum_at in _lengths(kind, data, start):
            block = Block(kind, start, start + length, start + sum_at)
            if block.holds(data):
                found.append(block)
                break
    for header in [block for block in found if block.kind == "OHDR"]:
        # Continuation messages: type 16, length 16, flags 0, address, length.
        pending = [header]
        while pending:
            block = pending.pop()
            for match in re.finditer(rb"\x10\x10\0\0(.{8})(.{8})", data[block.start : block.end], re.DOTALL):
                start, length = (int.from_bytes(part, "little") for part in match.groups())
                if data[start : start + 4] == b"OCHK" and length < 2**16:
                    pending.append(Block("OCHK", start, start + length, start + length - 4))
                    found.append(pending[-1])
    return sorted(found, key=lambda block: block.start)


def _lengths(kind: str, data: bytes, start: int) -> Iterator[tuple[int, int]]:
    if kind == "OHDR":
        flags = data[start + 5]
        at = start + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        end = at + width + int.from_bytes(data[at : at + width], "little") - start
        yield end + 4, end
    elif kind == "FHDB":
        for bits in range(9, 17):
            yield 1 << bits, 17
    else:
        lengths = {
            "FRHP": [142],
            "BTHD": [34],
            "EAHD": [68],
            "BTLF": [6 + 11 * records for records in range(1, 46)],
            "BTIN": [6 + 11 * n + pointer * (n + 1) for n in range(1, 25) for pointer in (9, 11, 12)],
            "FHIB": [17 + 32 * rows for rows in range(1, 23)],
        }[kind]
        for length in lengths:
            yield length + 4, length


def changed(data: bytes, block: Block, offset: int, new: bytes, *, sealed: bool = True) -> bytes:
    """The file with other bytes at an offset of a structure, its checksum made right unless told otherwise."""
    spoiled = bytearray(data)
    assert block.start <= block.start + offset <= block.start + offset + len(new) <= block.end
    spoiled[block.start + offset : block.start + offset + len(new)] = new
    if sealed:
        block.seal(spoiled)
    return bytes(spoiled)


def only(blocks: list[Block], kind: str) -> Block:
    """The first structure of a kind."""
    return next(block for block in blocks if block.kind == kind)
