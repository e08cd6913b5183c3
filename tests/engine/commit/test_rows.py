from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from counterfoil_core.base.errors import ProofError
from counterfoil_core.commit.rows import ProvenRows, chunks_of_rows
from counterfoil_core.commit.state import CHUNK_BYTES, ChunkProof, chunk_proofs, tensor_digest

ARRAY = np.random.default_rng(1).standard_normal((500, 77)).astype(np.float32)


def indices(rows: NDArray[np.int64], row_bytes: int) -> list[int]:
    return [index for span in chunks_of_rows(rows, row_bytes) for index in span]


def proven(rows: NDArray[np.int64], proofs: tuple[ChunkProof, ...], shape: tuple[int, ...] = ARRAY.shape) -> ProvenRows:
    return ProvenRows("x", "float32", shape, tensor_digest("x", ARRAY), rows, proofs)


@given(rows=st.lists(st.integers(0, 300), max_size=20), row_bytes=st.integers(0, 40_000))
def test_the_chunks_of_rows_are_those_that_share_bytes_with_them(rows: list[int], row_bytes: int) -> None:
    bytes_wanted = {
        byte // CHUNK_BYTES
        for row in rows
        if row_bytes
        for byte in (*range(row * row_bytes, (row + 1) * row_bytes, CHUNK_BYTES), (row + 1) * row_bytes - 1)
    }
    assert indices(np.array(rows, np.int64), row_bytes) == sorted(bytes_wanted)


@settings(max_examples=40)
@given(
    dtype=st.sampled_from(["float32", "int64", "uint8"]),
    shape=st.sampled_from([(5000,), (40, 900), (7, 3, 9001), (4, 0)]),
    seed=st.integers(0, 1000),
)
def test_proven_rows_are_the_rows(dtype: str, shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = rng.integers(0, 200, shape).astype(dtype)
    rows = rng.integers(0, shape[0], 9)
    proofs = chunk_proofs(array, indices(rows, array[:1].nbytes))
    found = ProvenRows("x", dtype, shape, tensor_digest("x", array), rows, proofs)
    assert len(found) == len(array)
    np.testing.assert_array_equal(found[rows], array[rows])
    np.testing.assert_array_equal(found[rows[:0]], array[rows[:0]])


def test_what_is_refused() -> None:
    rows = np.array([3, 499, 60])
    wanted = indices(rows, 77 * 4)
    assert wanted == [0, 1, 9]
    proofs = chunk_proofs(ARRAY, wanted)
    assert len(proven(rows, proofs)) == 500
    with pytest.raises(ProofError, match="are not those"):
        proven(rows, proofs[:-1])
    with pytest.raises(ProofError, match="are not those"):
        proven(rows, chunk_proofs(ARRAY, [0, 1, 5, 9]))
    with pytest.raises(ProofError, match="are not those"):
        proven(rows, (proofs[1], proofs[0], proofs[2]))
    with pytest.raises(ProofError, match="leads to another root"):
        proven(rows, (replace(proofs[1], index=0), *proofs[1:]))
    with pytest.raises(ProofError, match="leads to another root"):
        proven(rows, (replace(proofs[0], chunk=proofs[1].chunk), *proofs[1:]))
    with pytest.raises(ProofError, match="another tensor"):
        proven(rows, chunk_proofs(ARRAY + np.float32(1), wanted))
    for bad in (np.array([500]), np.array([-1])):
        with pytest.raises(ProofError, match="does not have all of the rows"):
            proven(bad, proofs)
    with pytest.raises(ProofError, match="does not have all of the rows"):
        proven(rows, proofs, ())


def test_an_enormous_declared_shape_costs_nothing() -> None:
    """The number of chunks is compared before a list of them is made."""
    with pytest.raises(ProofError, match="are not those"):
        proven(np.array([7]), (), (2**39, 2**39, 2**39))
