from __future__ import annotations

import dataclasses
import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, ProofError
from counterfoil_core.commit import state as module
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.state import (
    CHUNK_BYTES,
    TENSOR_DTYPES,
    chunk_proofs,
    state_root,
    state_tree,
    tensor_digest,
    tensor_digests,
    tensor_record,
    verify_chunk,
)

EMPTY = hashlib.sha256(b"").hexdigest()
ARRAYS = hnp.arrays(
    dtype=st.sampled_from([np.dtype(name) for name in TENSOR_DTYPES]),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9),
)


def slow_digest(name: str, array: np.ndarray) -> Digest:
    """The definition of docs/bundle-format.md, written down without any of the module's code."""
    data = array.astype(array.dtype.newbyteorder("<")).tobytes(order="C")
    leaves = [leaf_hash(data[at : at + 16384]) for at in range(0, len(data), 16384)]
    record = {
        "chunks": MerkleTree(leaves).root.hex,
        "dtype": array.dtype.name,
        "name": name,
        "shape": list(array.shape),
    }
    return leaf_hash(json.dumps(record, separators=(",", ":")).encode())


def test_record_of_a_known_tensor() -> None:
    array = np.array([1.0, -2.0], np.float32)
    chunk = hashlib.sha256(bytes.fromhex("00" + "0000803f" + "000000c0")).hexdigest()
    expected = f'{{"chunks":"{chunk}","dtype":"float32","name":"w","shape":[2]}}'.encode()
    assert tensor_record("w", array) == expected
    assert tensor_digest("w", array).value == hashlib.sha256(b"\0" + expected).digest()


def test_record_of_an_empty_tensor() -> None:
    record = tensor_record("w", np.zeros((0, 3), np.float32))
    assert record == f'{{"chunks":"{EMPTY}","dtype":"float32","name":"w","shape":[0,3]}}'.encode()


@given(array=ARRAYS)
def test_digest_is_that_of_the_definition(array: np.ndarray) -> None:
    assert tensor_digest("a", array) == slow_digest("a", array)


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("size", [CHUNK_BYTES, 2 * CHUNK_BYTES, module._BLOCK_BYTES, 2 * module._BLOCK_BYTES])
def test_digest_at_the_edges_of_chunks_and_blocks(size: int, extra: int) -> None:
    array = np.random.default_rng(size).integers(0, 256, size + extra).astype(np.uint8)
    assert tensor_digest("a", array) == slow_digest("a", array)


@given(array=ARRAYS)
def test_strides_and_byte_order_do_not_matter(array: np.ndarray) -> None:
    plain = tensor_digest("a", array)
    assert tensor_digest("a", np.asfortranarray(array).reshape(array.shape)) == plain
    assert tensor_digest("a", array.astype(array.dtype.newbyteorder(">"))) == plain
    if array.ndim:
        doubled = np.repeat(array, 2, axis=0)
        assert tensor_digest("a", doubled[::2]) == plain
        assert tensor_digest("a", array[::-1].copy()[::-1]) == plain


def test_name_dtype_and_shape_are_bound() -> None:
    array = np.zeros((2, 6), np.int32)
    digest = tensor_digest("a", array)
    others = {
        tensor_digest("b", array),
        tensor_digest("a", array.reshape(6, 2)),
        tensor_digest("a", array.reshape(12)),
        tensor_digest("a", array.view(np.float32)),
        tensor_digest("a", array.view(np.int64)),
    }
    assert len(others) == 5
    assert digest not in others


@given(array=ARRAYS.filter(lambda array: array.size > 0), data=st.data())
def test_any_flipped_bit_changes_the_digest(array: np.ndarray, data: st.DataObject) -> None:
    raw = bytearray(array.tobytes())
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    if array.dtype == bool:
        bit -= bit % 8
    raw[bit // 8] ^= 1 << bit % 8
    other = np.frombuffer(bytes(raw), array.dtype).reshape(array.shape)
    assert tensor_digest("a", other) != tensor_digest("a", array)


def test_signed_zeros_and_nan_payloads_differ() -> None:
    values = [np.array(bits, np.uint32).view(np.float32) for bits in (0, 0x80000000, 0x7FC00000, 0x7FC00001)]
    assert len({tensor_digest("a", value) for value in values}) == 4


@pytest.mark.parametrize("dtype", ["float16", "complex64", "int8", "uint64", "U3", "object"])
def test_other_dtypes_are_refused(dtype: str) -> None:
    array = np.zeros(2, dtype)
    with pytest.raises(DataError, match="has no digest"):
        tensor_digest("a", array)
    with pytest.raises(DataError, match="has no digest"):
        state_root({"a": array})


def test_state_root_is_over_tensor_digests_sorted_by_name() -> None:
    state = {name: np.array([number], np.int64) for number, name in enumerate(["b", "a.b", "a", "B", "a-b"])}
    names = ["B", "a", "a-b", "a.b", "b"]
    assert state_root(state) == MerkleTree(tensor_digest(name, state[name]) for name in names).root
    assert state_root(dict(reversed(state.items()))) == state_root(state)
    assert state_tree(tensor_digests(state)).root == state_root(state)


def test_names_are_sorted_by_their_utf8_bytes() -> None:
    # In UTF-16 the emoji would come first.
    names = ["\uffee", "\U0001f600"]
    state = {name: np.zeros(1, np.uint8) for name in names}
    assert state_root(state) == MerkleTree(tensor_digest(name, state[name]) for name in names).root


def test_exchanging_two_tensors_changes_the_root() -> None:
    one, two = np.zeros(3, np.float32), np.ones(3, np.float32)
    assert state_root({"a": one, "b": two}) != state_root({"a": two, "b": one})


def test_the_empty_state_has_the_empty_root() -> None:
    assert state_root({}).hex == EMPTY


def test_threads_do_not_change_the_root() -> None:
    rng = np.random.default_rng(1)
    state = {str(number): rng.random((700, 300 + number)) for number in range(6)}
    assert sum(array.nbytes for array in state.values()) > module._BLOCK_BYTES
    assert state_root(state) == MerkleTree(slow_digest(name, state[name]) for name in sorted(state)).root


@pytest.mark.parametrize("index", [0, 3, 6])
def test_chunk_proofs_hold_and_changes_break_them(index: int) -> None:
    array = np.random.default_rng(2).standard_normal((6 * 64, 66)).astype(np.float32)
    digest = tensor_digest("w", array)
    (proof,) = chunk_proofs(array, [index])
    verify_chunk(proof, "w", "float32", array.shape, digest)

    spoiled = bytearray(proof.chunk)
    spoiled[5] ^= 4
    for changes in (
        {"chunk": bytes(spoiled)},
        {"chunk": proof.chunk + b"\0"},
        {"index": index + 1},
        {"index": -1},
        {"index": 7},
        {"chunks_root": digest},
        {"path": proof.path[:-1]},
    ):
        with pytest.raises(ProofError):
            verify_chunk(dataclasses.replace(proof, **changes), "w", "float32", array.shape, digest)
    for name, dtype, shape in (
        ("v", "float32", array.shape),
        ("w", "int32", array.shape),
        ("w", "float16", array.shape),
        ("w", "float32", (66, 6 * 64)),
    ):
        with pytest.raises(ProofError):
            verify_chunk(proof, name, dtype, shape, digest)


def test_there_is_no_proof_for_a_chunk_that_is_not_there() -> None:
    with pytest.raises(ProofError):
        chunk_proofs(np.zeros(3, np.float32), [1])
    with pytest.raises(ProofError):
        chunk_proofs(np.zeros(0, np.float32), [0])
