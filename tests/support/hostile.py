"""What the tests of hostile files share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterfoil_core.base.errors import BundleError
from counterfoil_core.bundle.reader import BundleReader
from support.bundles import make_contents, opened_for_change, write_bundle


def refuse(path: Path, match: str) -> None:
    """Expect that a bundle is refused when it is opened, before any of its data is read, with this sentence."""
    with pytest.raises(BundleError, match=match):
        BundleReader.open(path)


@contextmanager
def hostile_bundle(folder: Path) -> Iterator[tuple[Path, Any]]:
    """Write a good bundle, check that it opens, and hand it out to be spoiled: its path and an open h5py file."""
    path = write_bundle(folder / "hostile.cfoil", make_contents())
    with BundleReader.open(path) as reader:
        reader.check_order_contents()
    with opened_for_change(path) as file:
        yield path, file


def lookup3(data: bytes) -> int:
    """Bob Jenkins' lookup3 with start value 0: the checksum of HDF5's metadata."""
    mask = 0xFFFFFFFF

    def turn(value: int, by: int) -> int:
        return ((value << by) | (value >> (32 - by))) & mask

    state = [(0xDEADBEEF + len(data)) & mask] * 3
    blocks = [data[at : at + 12].ljust(12, b"\0") for at in range(0, len(data), 12)]
    for block in blocks:
        for place in range(3):
            word = int.from_bytes(block[4 * place : 4 * place + 4], "little")
            state[place] = (state[place] + word) & mask
        if block is not blocks[-1]:
            # a -= c; a ^= c <<< n; c += b, then with the letters moved on: b, a, c and c, b, a.
            for round_, by in enumerate((4, 6, 8, 16, 19, 4)):
                x, y, z = round_ % 3, (round_ + 2) % 3, (round_ + 1) % 3
                state[x] = ((state[x] - state[y]) & mask) ^ turn(state[y], by)
                state[y] = (state[y] + state[z]) & mask
    # c ^= b; c -= b <<< n, then a by c, b by a, and so on.
    for round_, by in enumerate((14, 11, 25, 16, 4, 14, 24)):
        x, y = (round_ + 2) % 3, (round_ + 1) % 3
        state[x] = ((state[x] ^ state[y]) - turn(state[y], by)) & mask
    return state[2]


def patch_header(path: Path, address: int, old: bytes, new: bytes) -> None:
    """Replace bytes in the HDF5 object header at ``address`` and make its checksum right again."""
    data = bytearray(path.read_bytes())
    assert data[address : address + 4] == b"OHDR"
    flags = data[address + 5]
    start = address + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    end = start + width + int.from_bytes(data[start : start + width], "little")
    assert lookup3(bytes(data[address:end])) == int.from_bytes(data[end : end + 4], "little")
    header = bytes(data[address:end])
    assert header.count(old) == 1
    assert len(old) == len(new)
    header = header.replace(old, new)
    data[address:end] = header
    data[end : end + 4] = lookup3(header).to_bytes(4, "little")
    path.write_bytes(data)
