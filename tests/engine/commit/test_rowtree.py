from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, ProofError
from counterfoil_core.commit.rowtree import SaltedRows, new_row_key, row_leaves, row_proofs, row_root, row_salt

KEY = b"k" * 32
ARRAY = np.random.default_rng(1).standard_normal((37, 3)).astype(np.float32)


def test_the_leaves_are_those_of_the_format() -> None:
    for row, leaf in enumerate(row_leaves(KEY, "x", ARRAY)):
        salt = hmac.new(KEY, row.to_bytes(8, "little") + b"x", hashlib.sha256).digest()
        assert salt == row_salt(KEY, "x", row)
        assert leaf.tobytes() == hashlib.sha256(b"\0" + salt + ARRAY[row].tobytes()).digest()


def test_salts_differ_by_key_row_and_name() -> None:
    salts = {row_salt(key, name, row) for key in (KEY, b"l" * 32) for name in ("x", "y") for row in (0, 1, 256)}
    assert len(salts) == 12
    assert new_row_key() != new_row_key()


@settings(max_examples=40)
@given(
    dtype=st.sampled_from(["<f4", ">f4", "<i8", "u1"]),
    shape=st.sampled_from([(1,), (5,), (64, 2, 2), (9, 0), (3, 70_000)]),
    data=st.data(),
)
def test_rows_that_are_proven_are_the_rows(dtype: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    array = (np.arange(np.prod(shape)).reshape(shape) % 251).astype(dtype)
    rows = np.array(data.draw(st.lists(st.integers(0, shape[0] - 1), max_size=12)), np.int64)
    root = row_root(KEY, "x", array)
    proofs = row_proofs(KEY, "x", array, rows)
    held = SaltedRows("x", array.dtype.name, shape, root, rows, proofs)
    assert len(held) == shape[0]
    assert np.array_equal(held[rows], array[rows])
    other = Digest.of(root.value)
    if proofs:
        with pytest.raises(ProofError):
            SaltedRows("x", array.dtype.name, shape, other, rows, proofs)


def test_large_arrays_are_hashed_as_small_ones_are() -> None:
    """Above some size a compiled loop hashes, some rows at a time."""
    array = np.random.default_rng(2).integers(0, 255, (150_000, 40), np.uint8)
    leaves = row_leaves(KEY, "x", array)
    for row in (0, 1, 58_253, 58_254, 58_255, 116_508, 149_999):
        expected = hashlib.sha256(b"\0" + row_salt(KEY, "x", row) + array[row].tobytes()).digest()
        assert leaves[row].tobytes() == expected
    rows = np.array([149_999, 58_254])
    SaltedRows("x", "uint8", array.shape, row_root(KEY, "x", array), rows, row_proofs(KEY, "x", array, rows))


def test_an_array_without_rows_has_the_root_of_no_leaves() -> None:
    assert row_root(KEY, "x", ARRAY[:0]) == Digest.of(b"")


def test_what_does_not_belong_is_refused() -> None:
    rows, root = np.array([3, 5]), row_root(KEY, "x", ARRAY)
    proofs = row_proofs(KEY, "x", ARRAY, rows)
    first, second = proofs
    longer = replace(first, salt=first.salt + first.value[:1], value=first.value[1:])
    shorter = replace(first, salt=first.salt[:-1], value=first.salt[-1:] + first.value)
    for wrong in [
        (first,), (second, first), (first, second, second), (longer, second), (shorter, second),
        (replace(first, value=second.value), second), (replace(first, salt=second.salt), second),
        (replace(first, path=first.path[1:]), second), (replace(second, row=3), second),
    ]:  # fmt: skip
        with pytest.raises(ProofError):
            SaltedRows("x", "float32", ARRAY.shape, root, rows, wrong)
    with pytest.raises(ProofError):
        SaltedRows("x", "float32", (), root, rows, proofs)
    with pytest.raises(ProofError):
        row_proofs(KEY, "x", ARRAY, np.array([37]))
    SaltedRows("x", "float32", ARRAY.shape, root, rows, proofs)


def test_hashing_can_be_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        row_leaves(KEY, "x", ARRAY, cancel)
