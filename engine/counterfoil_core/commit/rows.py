"""Rows of a tensor without the rest of it: the chunks in which they lie, each proven to belong to the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import ProofError
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.state import CHUNK_BYTES, ChunkProof, verify_chunk


def chunks_of_rows(rows: NDArray[np.int64], row_bytes: int) -> list[range]:
    """Return which chunks of a tensor hold some of its rows, as ascending ranges with gaps between them.

    Args:
        rows: int64 of any shape: row numbers, not negative, in any order.
        row_bytes: Size of a row.
    """
    spans: list[range] = []
    if not row_bytes:
        return spans
    for row in np.unique(rows).tolist():
        first, stop = row * row_bytes // CHUNK_BYTES, -(-(row + 1) * row_bytes // CHUNK_BYTES)
        if spans and first <= spans[-1].stop:
            spans[-1] = range(spans[-1].start, stop)
        else:
            spans.append(range(first, stop))
    return spans


class ProvenRows:
    """Some rows of a tensor, from chunks that were proven to belong to it.

    Args:
        name: The tensor's name.
        dtype: Its dtype name.
        shape: Its shape; the first axis is the row.
        digest: Its tensor digest, which is trusted.
        rows: int64: the rows that are wanted.
        proofs: Proofs of exactly the chunks that hold these rows, ascending.

    Raises:
        ProofError: The tensor has no such rows, a chunk is missing or not needed, or a proof does not hold.
    """

    def __init__(
        self,
        name: str,
        dtype: str,
        shape: tuple[int, ...],
        digest: Digest,
        rows: NDArray[np.int64],
        proofs: Sequence[ChunkProof],
    ) -> None:
        if not shape or (rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < shape[0]):
            raise ProofError(say("The tensor {0} does not have all of the rows that are asked for.", repr(name)))
        self._length = shape[0]
        self._row_shape = shape[1:]
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._row_bytes = tensor_bytes(dtype, self._row_shape)
        spans = chunks_of_rows(rows, self._row_bytes)
        # Counted before the list is made: a shape can speak of any number of chunks, even of more than len() can say.
        if sum(span.stop - span.start for span in spans) != len(proofs) or [proof.index for proof in proofs] != [
            i for s in spans for i in s
        ]:
            raise ProofError(
                say("The chunks of tensor {0} are not those that hold the rows that are asked for.", repr(name))
            )
        for proof in proofs:
            verify_chunk(proof, name, dtype, shape, digest)
        self._chunks = {proof.index: proof.chunk for proof in proofs}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return rows by their numbers, int64 ``[n]``, in this order; they must be among those that were proven."""
        data = b"".join(map(self._row, rows.tolist()))
        # From bytes numpy makes arrays that cannot be written to, which torch does not like.
        return np.frombuffer(bytearray(data), self._dtype).reshape(len(rows), *self._row_shape)

    def _row(self, row: int) -> bytes:
        begin, end = row * self._row_bytes, (row + 1) * self._row_bytes
        chunks = range(begin // CHUNK_BYTES, -(-end // CHUNK_BYTES))
        found = b"".join(self._chunks[chunk] for chunk in chunks)
        start = begin - chunks.start * CHUNK_BYTES
        return found[start : start + self._row_bytes]
