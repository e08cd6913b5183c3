"""What reached a script's models, kept once: the rows of tensors by their contents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from torch import Tensor

from counterfoil.training.leaves import check_dtype, numbers_of
from counterfoil_core.base.arrays import Array

_MOST_ROWS = 4096
"""A tensor with more rows is kept whole."""
Kind = tuple[str, tuple[int, ...]]
"""Dtype and shape of a row."""


@dataclass(frozen=True)
class Brought:
    """A tensor that a script brought along."""

    kind: Kind  #: Of its rows.
    rows: tuple[int, ...]  #: The numbers of its rows among those of their kind.
    by_row: bool  #: Whether its first axis is one of rows; else it is one row as a whole.

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor."""
        return (len(self.rows), *self.kind[1]) if self.by_row else self.kind[1]


class Pool:
    """Rows, each kept once."""

    def __init__(self) -> None:
        self._numbers: dict[Kind, dict[bytes, int]] = defaultdict(dict)
        self._rows: dict[Kind, list[Array]] = defaultdict(list)

    def put(self, tensor: Tensor, place: str) -> Brought:
        """Keep the rows of a tensor.

        Args:
            tensor: The tensor, with values.
            place: Where it was used, for a sentence.

        Raises:
            DataError: An order cannot hold its dtype.
        """
        array = numbers_of(tensor, place)
        if array.dtype == np.float64 and not array.ndim:
            # A number among tensors takes their dtype.
            array = array.astype(np.float32)
        check_dtype(place, array)
        by_row = array.ndim > 0 and 0 < len(array) <= _MOST_ROWS
        rows = array if by_row else array[None]
        kind = (array.dtype.name, rows.shape[1:])
        return Brought(kind, tuple(self._put(kind, row) for row in rows), by_row)

    def _put(self, kind: Kind, row: Array) -> int:
        digest = blake2b(np.ascontiguousarray(row).tobytes(), digest_size=32).digest()
        number = self._numbers[kind].setdefault(digest, len(self._rows[kind]))
        if number == len(self._rows[kind]):
            self._rows[kind].append(np.array(row))
        return number

    def rows(self, kind: Kind, numbers: Sequence[int]) -> Array:
        """Return rows of a kind, stacked: ``[numbers, *row]``."""
        kept = self._rows[kind]
        return np.stack([kept[number] for number in numbers])

    def tensor(self, brought: Brought) -> Array:
        """Return a tensor as it was brought."""
        rows = self.rows(brought.kind, brought.rows)
        return rows.reshape(brought.shape)
