"""Tensors that travel together: large enough to be worth a message, small enough that one travels while others wait."""

from __future__ import annotations

from collections.abc import Sequence

BUCKET_BYTES = 25 * 2**20
"""Most bytes of a bucket of several tensors; DistributedDataParallel's, too."""


def buckets(sizes: Sequence[int], most: int = BUCKET_BYTES) -> list[range]:
    """Cut a row of tensors into buckets of neighbours.

    Args:
        sizes: Bytes of each.
        most: Bytes of a bucket; a tensor of more has one of its own.

    Returns:
        The numbers of the tensors in each.
    """
    found, first, held = list[range](), 0, 0
    for number, size in enumerate(sizes):
        if held + size > most and number > first:
            found.append(range(first, number))
            first, held = number, 0
        held += size
    if sizes:
        found.append(range(first, len(sizes)))
    return found
