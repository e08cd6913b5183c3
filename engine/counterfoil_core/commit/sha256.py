"""SHA-256 of many chunks in one call, with no Python between two of them.

hashlib spends about a microsecond on each hash beside hashing, and asks for the interpreter's lock; a chunk of 16 KiB
takes nine on a processor with instructions for SHA-256. So a compiled loop calls the functions of OpenSSL that hashlib
itself rests on: threads hash at the machine's rate, and one that computes meanwhile is not held up. Where this Python's
OpenSSL does not show these functions, hashlib does the work.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterfoil_core.base.arrays import Bytes
from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.commit.merkle import LEAF_PREFIX, NODE_PREFIX

_FUNCTIONS = ("SHA256_Init", "SHA256_Update", "SHA256_Final")
_LEAST_BYTES = 2**20
"""Loading the compiled loop takes longer than hashing less."""
_CHECKED = bytes(range(256)) * 3
"""What the compiled loop is compared with hashlib on, before anything rests on it."""
_CHECKED_CHUNK = 100


class Loops(NamedTuple):
    """What hashes chunks, and the tree over them."""

    #: Writes the Merkle leaf hash of each chunk of some bytes. Takes uint8 ``[n]``, the length of a chunk (the last may
    #: be shorter), and where they go: uint8 ``[chunks, 32]``, contiguous.
    leaves: Callable[[Bytes, int, Bytes], None]
    #: Takes leaf hashes, uint8 ``[n, 32]`` with n at least 1, and uses their place for the nodes above them; the first
    #: row becomes the RFC 9162 root.
    reduce: Callable[[Bytes], None]


def loops_for(count: int) -> Loops:
    """Return what to hash so many bytes with."""
    return (compiled_loops() if count >= _LEAST_BYTES else None) or PLAIN


def _leaves(data: Bytes, chunk_bytes: int, out: Bytes) -> None:
    for number, start in enumerate(range(0, data.size, chunk_bytes)):
        leaf = hashlib.sha256(LEAF_PREFIX)
        leaf.update(data[start : start + chunk_bytes].data)
        out[number] = np.frombuffer(leaf.digest(), np.uint8)


def _reduce(nodes: Bytes) -> None:
    level = [row.tobytes() for row in nodes]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        above = [hashlib.sha256(NODE_PREFIX + left + right).digest() for left, right in pairs]
        # A lone last node is promoted.
        level = above + level[-1:] if len(level) % 2 else above
    nodes[0] = np.frombuffer(level[0], np.uint8)


PLAIN = Loops(_leaves, _reduce)
"""With hashlib."""


@cache
def compiled_loops() -> Loops | None:
    """Return the compiled loops; None where OpenSSL's functions are not at hand or do not do what hashlib does."""
    addresses = _addresses()
    if addresses is None:
        return None
    # Both take a while to load, and what only opens a small file needs neither.
    import llvmlite.binding

    for name, address in addresses.items():
        llvmlite.binding.add_symbol(f"counterfoil_{name}", address)
    from counterfoil_core.kernels.cpu.sha256 import ROOM_WORDS, leaves_at, reduce_at

    def room(prefix: bytes) -> NDArray[np.uint64]:
        words = np.zeros(ROOM_WORDS, np.uint64)
        words.view(np.uint8)[-8] = prefix[0]
        return words

    def leaves(data: Bytes, chunk_bytes: int, out: Bytes) -> None:
        within = room(LEAF_PREFIX)
        leaves_at(data.ctypes.data, data.size, chunk_bytes, out.ctypes.data, within.ctypes.data)

    def reduce(nodes: Bytes) -> None:
        within = room(NODE_PREFIX)
        reduce_at(nodes.ctypes.data, nodes, within.ctypes.data)

    loops = Loops(leaves, reduce)
    return loops if _checked(loops) == _checked(PLAIN) else None


def _checked(loops: Loops) -> tuple[bytes, bytes]:
    """Return the leaves of a few chunks, and the root over them."""
    data = np.frombuffer(_CHECKED, np.uint8)
    nodes = np.empty((-(-data.size // _CHECKED_CHUNK), DIGEST_BYTES), np.uint8)
    loops.leaves(data, _CHECKED_CHUNK, nodes)
    leaves = nodes.tobytes()
    loops.reduce(nodes)
    return leaves, nodes[0].tobytes()


def _addresses() -> dict[str, int] | None:
    """Return where the functions lie of the OpenSSL that hashlib uses; None when they cannot be reached."""
    try:
        import _hashlib
    except ImportError:
        return None
    module = Path(_hashlib.__file__)
    # Looking a name up in the module finds it in the libraries that the module needs, but not on Windows.
    for library in (module, *sorted(module.parent.glob("libcrypto-*.dll"))):
        try:
            found = ctypes.CDLL(str(library))
            return {name: ctypes.cast(getattr(found, name), ctypes.c_void_p).value or 0 for name in _FUNCTIONS}
        except (OSError, AttributeError):
            continue
    return None
