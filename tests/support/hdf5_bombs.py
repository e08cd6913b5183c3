"""HDF5 files made of nothing but structure, as large as one likes, all checksums right."""

from __future__ import annotations

import struct

from counterfoil_core.bundle.hdf5.checksum import lookup3

UNDEFINED = b"\xff" * 8
GROUP = b"\x02\x12\0\0\0\0" + 2 * UNDEFINED + b"\x0a\x02\0\0\0\0"
"""Link info and group info of a small group."""
NIL = b"\0\0\0\0"


def sealed(data: bytes) -> bytes:
    """With the checksum behind it."""
    return data + lookup3(data).to_bytes(4, "little")


def superblock(root: int, size: int) -> bytes:
    """The first 48 bytes of a file."""
    return sealed(b"\x89HDF\r\n\x1a\n\3\x08\x08\0" + struct.pack("<Q", 0) + UNDEFINED + struct.pack("<QQ", size, root))


def header(messages: bytes) -> bytes:
    """An object header of one block."""
    return sealed(b"OHDR\2\1" + struct.pack("<H", len(messages)) + messages)


def link(name: bytes, address: int) -> bytes:
    """A hard link."""
    body = b"\1\0" + bytes([len(name)]) + name + struct.pack("<Q", address)
    return b"\x06" + struct.pack("<HB", len(body), 0) + body


def bushy(depth: int, fan: int, *, empty: int = 30) -> bytes:
    """A tree of groups, ``fan`` in each, ``depth`` levels below the root; each header is full of empty messages."""

    def group(first: int, step: int, links: int) -> bytes:
        names = b"".join(link(b"%03d" % number, first + number * step) for number in range(links))
        return header(GROUP + names + NIL * (empty - links))

    inner, leaf = len(group(0, 0, fan)), len(group(0, 0, 0))
    parts = []
    start = 48
    for level in range(depth):
        count, below = fan**level, inner if level < depth - 1 else leaf
        children = start + count * inner
        parts += [group(children + number * fan * below, below, fan) for number in range(count)]
        start = children
    body = b"".join(parts) + group(0, 0, 0) * fan**depth
    return superblock(48, 48 + len(body)) + body
