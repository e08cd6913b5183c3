"""Fuzzes the reader of HDF5 with knowledge of the structure: what is changed keeps its checksum, mostly."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence

from counterfoil_core.base.errors import BundleError
from support.hdf5_files import Block, Content, blocks_of, read_by_us

SLOWEST_SECONDS = 5.0
"""No file, whatever it says, may keep the reader longer."""
_NUMBERS = (0, 1, 2, 3, 7, 8, 9, 16, 48, 127, 128, 255, 2**15, 2**16 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)


def fuzz(files: Sequence[bytes], cases: int, seed: int) -> Counter[str]:
    """Change files and read them; returns how often each outcome came about.

    Outcomes are ``refused``, ``same`` (the content is the file's own) and ``other`` (a file of other content that is
    well formed: only digests can tell). An exception that is no BundleError passes.

    Args:
        files: Files that the reader reads.
        cases: How many changed files to try.
        seed: Of the changes; case ``n`` of a seed is always the same.

    Raises:
        AssertionError: A file took longer than ``SLOWEST_SECONDS``, or was read as another although its checksums fail.
    """
    outcomes: Counter[str] = Counter()
    known = [(data, blocks_of(data), read_by_us(data)) for data in files]
    for number in range(cases):
        chance = random.Random(f"{seed} {number}")
        data, blocks, content = chance.choice(known)
        spoiled, sealed = spoil_structure(data, blocks, chance)
        start = time.process_time()
        outcome = try_to_read(spoiled, content)
        assert time.process_time() - start < SLOWEST_SECONDS, (seed, number)
        assert sealed or outcome != "other", (seed, number)
        outcomes[outcome] += 1
    return outcomes


def try_to_read(data: bytes, content: Content) -> str:
    """``refused``, ``same`` or ``other``; see :func:`fuzz`."""
    try:
        found = read_by_us(data)
    except BundleError:
        return "refused"
    return "same" if found == content else "other"


def spoil_structure(data: bytes, blocks: Sequence[Block], chance: random.Random) -> tuple[bytes, bool]:
    """Return a changed file, and whether the checksums of what was changed were made right.

    Args:
        data: An HDF5 file.
        blocks: Its structures with a checksum.
        chance: Of the changes.
    """
    spoiled = bytearray(data)
    touched = []
    sealed = chance.random() < 0.9
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        block = chance.choice(blocks)
        width = chance.choice((1, 1, 1, 2, 4, 8))
        if block.end - block.start <= width:
            continue
        at = chance.randrange(block.start, block.end - width)
        kind = chance.randrange(5)
        if kind == 0:
            spoiled[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            spoiled[at : at + width] = (chance.choice(_NUMBERS) % 2 ** (8 * width)).to_bytes(width, "little")
        elif kind == 2:
            # An address of another structure: cycles, aliases, one structure read as another.
            spoiled[at : at + 8] = chance.choice(blocks).start.to_bytes(8, "little")[: len(spoiled[at : at + 8])]
        elif kind == 3:
            other = chance.choice(blocks)
            length = min(block.end - block.start, other.end - other.start)
            spoiled[block.start : block.start + length] = data[other.start : other.start + length]
            # A whole structure brings its checksum with it.
            sealed = sealed or length == other.end - other.start
        else:
            spoiled[at : at + width] = chance.randbytes(width)
        touched.append(block)
    if sealed:
        for block in touched:
            block.seal(spoiled)
    if chance.random() < 0.05:
        del spoiled[chance.randrange(len(spoiled)) :]
    return bytes(spoiled), sealed
