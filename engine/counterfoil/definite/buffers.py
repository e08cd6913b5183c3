"""Memory for large results on the CPU that serves the next result when nobody reads this one any more.

The C library takes each large piece of memory from the system and gives it back at once, and the system clears every
page when it is touched again: that took four fifths of the time of an addition of 64 MiB.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

_SMALLEST = 1 << 20
"""Bytes below which the C library serves from memory that it keeps."""


class _Lease(np.ndarray[Any, np.dtype[np.uint8]]):
    """Memory that goes back to its pool when the last tensor over it is gone.

    Views of it are of this class too, and have no pool.
    """

    pool: Pool | None = None

    def __del__(self) -> None:
        if self.pool is not None and self.base is not None:
            self.pool.take_back(self.base)


class Pool:
    """Pieces of memory by size.

    Args:
        most: Bytes that lie ready at most.
    """

    def __init__(self, most: int = 1 << 31) -> None:
        self._most = most
        self._free: defaultdict[int, list[npt.NDArray[np.uint8]]] = defaultdict(list)
        self.kept = 0
        """Bytes that lie ready."""

    def empty(self, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensor:
        """Return a tensor on the CPU that nothing has been written to, contiguous.

        Args:
            shape: Its shape.
            dtype: Its dtype.
        """
        size = math.prod(shape) * dtype.itemsize
        if size < _SMALLEST:
            return torch.empty(shape, dtype=dtype)
        free = self._free[size]
        try:
            memory = free.pop()
            self.kept -= size
        except IndexError:
            memory = np.empty(size, np.uint8)
        lease = memory.view(_Lease)
        lease.pool = self
        return torch.from_numpy(lease).view(dtype).view(tuple(shape))

    def take_back(self, memory: npt.NDArray[np.uint8]) -> None:
        """Keep a piece for the next tensor of its size, unless much lies ready."""
        if self.kept + memory.nbytes <= self._most:
            self._free[memory.nbytes].append(memory)
            self.kept += memory.nbytes


_POOL = Pool()
empty = _POOL.empty
"""The pool of this process."""
