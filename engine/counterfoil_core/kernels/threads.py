"""Threads for compiled loops over elements, which release the GIL: as many as torch uses.

Parts of a range do not meet, so the number of threads shows in no result.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import torch

_Part = TypeVar("_Part")

SMALLEST = 1 << 16
"""Elements of a part below which a thread costs more than it brings."""


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="definite")


def in_parts(count: int, work: Callable[[int, int], _Part]) -> list[_Part]:
    """Cut ``range(count)`` into ranges, one for each thread, the calling one included, and work on them at once.

    Args:
        count: Length of the range.
        work: Called with the first index of a part and the index after its last.

    Returns:
        The results in the order of the parts; for a short range that of one part.
    """
    parts = min(torch.get_num_threads(), count // SMALLEST)
    if parts < 2:
        return [work(0, count)]
    size = -(-count // parts)
    pool = _pool(torch.get_num_threads() - 1)
    futures = [pool.submit(work, start, min(start + size, count)) for start in range(size, count, size)]
    return [work(0, size), *(future.result() for future in futures)]
