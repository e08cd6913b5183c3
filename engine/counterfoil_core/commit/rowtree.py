"""A Merkle tree over the rows of an array, each leaf salted: single rows are proven, and no digest tells of another.

A tensor digest has leaves of 16 KiB, which hold neighbours too. And the leaf of a label without a salt would be found
by hashing all labels that there are. docs/bundle-format.md, section 20.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import ProofError
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash, verify_inclusion
from counterfoil_core.commit.sha256 import loops_for

ROW_KEY_BYTES = 32
"""Size of the key that salts are made with."""
SALT_BYTES = 32
"""Size of the salt of a row."""
_BLOCK_BYTES = 4 * 2**20
"""How many bytes of salted rows are in memory at a time, a single row apart."""


@dataclass(frozen=True)
class RowProof:
    """Proof that some bytes are one row of an array whose row root is known."""

    row: int  #: Which row, from 0.
    value: bytes  #: Its bytes, little-endian and in C order.
    salt: bytes  #: Its salt, 32 bytes.
    path: tuple[Digest, ...]  #: Inclusion proof of its leaf in the row root, lowest sibling first.


def new_row_key() -> bytes:
    """Return a new random key, 32 bytes, that whoever holds the data holds too."""
    return secrets.token_bytes(ROW_KEY_BYTES)


def row_salt(key: bytes, name: str, row: int) -> bytes:
    """Return the salt of a row: HMAC-SHA256 (RFC 2104) of its number and its array's name. Pure.

    Whoever has some salts learns nothing of others: HMAC is a pseudorandom function (Bellare, CRYPTO 2006).
    """
    return hmac.digest(key, row.to_bytes(8, "little") + name.encode(), "sha256")


def row_leaves(key: bytes, name: str, array: Array, cancel: CancelToken | None = None) -> NDArray[np.uint8]:
    """Return the leaf hash of each row, SHA-256(0x00 || salt || row): uint8 ``[rows, 32]``.

    Args:
        key: The key of the salts, 32 bytes.
        name: The array's name.
        array: At least one axis, the first of which is the row.
        cancel: Looked at now and then.

    Raises:
        CancelledError: ``cancel`` was set.
    """
    width, count = tensor_bytes(array.dtype.name, array.shape[1:]), len(array)
    leaves = np.empty((count, DIGEST_BYTES), np.uint8)
    block = max(1, _BLOCK_BYTES // (SALT_BYTES + width))
    loops = loops_for(count * (SALT_BYTES + width))
    for first in range(0, count, block):
        if cancel is not None:
            cancel.check()
        last = min(count, first + block)
        salted = np.empty((last - first, SALT_BYTES + width), np.uint8)
        salts = b"".join(row_salt(key, name, row) for row in range(first, last))
        salted[:, :SALT_BYTES] = np.frombuffer(salts, np.uint8).reshape(-1, SALT_BYTES)
        rows = array[first:last]
        rows = rows.astype(rows.dtype.newbyteorder("<"), order="C", copy=False)
        salted[:, SALT_BYTES:] = np.frombuffer(rows.tobytes(), np.uint8).reshape(last - first, width)
        loops.leaves(salted.reshape(-1), SALT_BYTES + width, leaves[first:last])
    return leaves


def row_root(key: bytes, name: str, array: Array, cancel: CancelToken | None = None) -> Digest:
    """Return the RFC 9162 root over the leaves of :func:`row_leaves`; raises as that does."""
    leaves = row_leaves(key, name, array, cancel)
    if not len(leaves):
        return MerkleTree(()).root
    loops_for(leaves.nbytes).reduce(leaves)
    return Digest(leaves[0].tobytes())


def row_proofs(key: bytes, name: str, array: Array, rows: NDArray[np.int64]) -> tuple[RowProof, ...]:
    """Prove some rows of an array, each once and ascending.

    Args:
        key: The key of the salts.
        name: The array's name.
        array: The array.
        rows: int64 of any shape: row numbers, in any order.

    Raises:
        ProofError: The array has no such row.
    """
    tree = MerkleTree.from_packed(row_leaves(key, name, array).tobytes())
    little = array.dtype.newbyteorder("<")
    proofs = []
    for row in np.unique(rows).tolist():
        path = tree.inclusion_proof(row)
        proofs.append(RowProof(row, array[row].astype(little).tobytes(), row_salt(key, name, row), path))
    return tuple(proofs)


class SaltedRows:
    """Some rows of an array, each of which was proven to belong to it.

    Args:
        name: The array's name.
        dtype: Its dtype name.
        shape: Its shape; the first axis is the row.
        root: Its row root, which is trusted.
        rows: int64: the rows that are wanted.
        proofs: Proofs of exactly these rows, each once and ascending.

    Raises:
        ProofError: The array has no such rows, one is missing or not needed, or a proof does not hold.
    """

    def __init__(
        self,
        name: str,
        dtype: str,
        shape: tuple[int, ...],
        root: Digest,
        rows: NDArray[np.int64],
        proofs: Sequence[RowProof],
    ) -> None:
        if not shape or [proof.row for proof in proofs] != np.unique(rows).tolist():
            raise ProofError(say("The rows of {0} are not those that are asked for.", repr(name)))
        width = tensor_bytes(dtype, shape[1:])
        for proof in proofs:
            if len(proof.value) != width or len(proof.salt) != SALT_BYTES:
                raise ProofError(say("Row {0} of {1} has the wrong length.", proof.row, repr(name)))
            verify_inclusion(leaf_hash(proof.salt + proof.value), proof.row, shape[0], proof.path, root)
        self._length, self._row_shape = shape[0], shape[1:]
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._values = {proof.row: proof.value for proof in proofs}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return rows by their numbers, int64 ``[n]``, in this order; they must be among those that were proven."""
        data = b"".join(self._values[row] for row in rows.tolist())
        # From bytes numpy makes arrays that cannot be written to, which torch does not like.
        return np.frombuffer(bytearray(data), self._dtype).reshape(len(rows), *self._row_shape)
