"""Digests of tensors and of states (named sets of tensors).

A tensor digest is the RFC 9162 Merkle leaf hash of a record that holds the tensor's name, dtype and shape and the
root over its 16 KiB chunks. Chunks let a third party check one part of a tensor with a short proof, and let several
threads hash one tensor. A state root is the RFC 9162 root over the tensor digests, sorted by name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterfoil import canonical
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import LEAF_PREFIX, MerkleTree, leaf_hash, verify_inclusion
from counterfoil.dtypes import TENSOR_DTYPES, tensor_bytes
from counterfoil.errors import DataError, ProofError
from counterfoil.sentence import say

CHUNK_BYTES = 16 * 1024
"""Size of a chunk; the last chunk of a tensor may be shorter."""
_BLOCK_BYTES = 256 * CHUNK_BYTES  # What one thread hashes at a time; smaller tensors are not worth a thread.
_WORKERS = min(8, os.cpu_count() or 1)

Array = NDArray[np.generic]


def _dtype_name(name: str, array: Array) -> str:
    if array.dtype.name not in TENSOR_DTYPES:
        raise DataError(
            say("The tensor {0} has the dtype {1}, which has no digest.", repr(name), array.dtype.name),
            remedy=say("Supported are {0}.", ", ".join(TENSOR_DTYPES)),
        )
    return array.dtype.name


def _little_endian_bytes(array: Array) -> memoryview:
    """View the array's elements as little-endian C-order bytes; copies only what is not in that form already."""
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return little.reshape(-1).view(np.uint8).data


def _hash_block(block: memoryview) -> bytes:
    """Return the leaf hashes of a block's chunks, one after the other."""
    digests = []
    for start in range(0, len(block), CHUNK_BYTES):
        # hashlib lets other threads run while it hashes a chunk, since chunks are longer than 2 KiB.
        leaf = hashlib.sha256(LEAF_PREFIX)
        leaf.update(block[start : start + CHUNK_BYTES])
        digests.append(leaf.digest())
    return b"".join(digests)


def _blocks(data: memoryview) -> list[memoryview]:
    return [data[start : start + _BLOCK_BYTES] for start in range(0, len(data), _BLOCK_BYTES)]


def _chunk_trees(arrays: list[Array]) -> Iterator[MerkleTree]:
    """Yield the tree over the chunks of each array, hashing with several threads where it pays."""
    if sum(array.nbytes for array in arrays) <= _BLOCK_BYTES:
        for array in arrays:
            yield MerkleTree.from_packed(_hash_block(_little_endian_bytes(array)))
        return
    with ThreadPoolExecutor(_WORKERS) as pool:
        pending = [pool.map(_hash_block, _blocks(_little_endian_bytes(array))) for array in arrays]
        for packed in pending:
            yield MerkleTree.from_packed(b"".join(packed))


def chunk_tree(array: Array) -> MerkleTree:
    """Return the tree over the 16 KiB chunks of the little-endian C-order bytes of ``array``; empty for no elements."""
    return next(_chunk_trees([array]))


def _record(name: str, dtype: str, shape: tuple[int, ...], chunks_root: Digest) -> bytes:
    return canonical.encode({"name": name, "dtype": dtype, "shape": list(shape), "chunks": chunks_root.hex})


def tensor_record(name: str, array: Array) -> bytes:
    """Return the canonical JSON of name, dtype, shape and chunk root that a tensor digest is taken of.

    Args:
        name: The tensor's name in its state.
        array: Any shape and strides, either byte order; dtype one of ``TENSOR_DTYPES``.

    Raises:
        DataError: The dtype is not supported.
    """
    return _record(name, _dtype_name(name, array), array.shape, chunk_tree(array).root)


def tensor_digest(name: str, array: Array) -> Digest:
    """Return the Merkle leaf hash of :func:`tensor_record`; raises DataError as it does."""
    return leaf_hash(tensor_record(name, array))


class StreamedDigest:
    """The digest of a tensor whose bytes come in pieces, so that it need not fit in memory.

    Args:
        name: The tensor's name.
        dtype: Its dtype name.
        shape: Its shape.
    """

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        self._described = (name, dtype, shape)
        self._leaves = bytearray()
        self._rest = b""

    def add(self, piece: memoryview) -> None:
        """Take the next bytes, little-endian and in C order."""
        if self._rest:
            # Fill the chunk that the last piece began.
            missing = CHUNK_BYTES - len(self._rest)
            self._rest += bytes(piece[:missing])
            piece = piece[missing:]
            if len(self._rest) < CHUNK_BYTES:
                return
            self._leaves += _hash_block(memoryview(self._rest))
        whole = len(piece) - len(piece) % CHUNK_BYTES
        self._leaves += _hash_block(piece[:whole])
        self._rest = bytes(piece[whole:])

    def finish(self) -> tuple[Digest, bytes]:
        """Return the tensor digest, and the leaf hashes of the chunks, 32 bytes each; nothing can be added after."""
        if self._rest:
            self._leaves += _hash_block(memoryview(self._rest))
        packed = bytes(self._leaves)
        return leaf_hash(_record(*self._described, MerkleTree.from_packed(packed).root)), packed


def tensor_digests(state: Mapping[str, Array]) -> dict[str, Digest]:
    """Return the tensor digest of each tensor of a state, in the order of the state; raises DataError."""
    dtypes = [_dtype_name(name, array) for name, array in state.items()]
    trees = _chunk_trees(list(state.values()))
    return {
        name: leaf_hash(_record(name, dtype, array.shape, tree.root))
        for (name, array), dtype, tree in zip(state.items(), dtypes, trees, strict=True)
    }


def state_tree(digests: Mapping[str, Digest]) -> MerkleTree:
    """Return the tree over tensor digests, sorted by the UTF-8 bytes of their names."""
    return MerkleTree(digests[name] for name in sorted(digests, key=str.encode))


def state_root(state: Mapping[str, Array]) -> Digest:
    """Return the state root: the RFC 9162 root over the tensor digests, sorted by name.

    Args:
        state: Tensors by name, as for :func:`tensor_record`.

    Raises:
        DataError: A dtype is not supported.
    """
    return state_tree(tensor_digests(state)).root


@dataclass(frozen=True)
class ChunkProof:
    """Proof that some bytes are one chunk of a tensor whose digest is known.

    Attributes:
        index: Which chunk, from 0.
        chunk: Its bytes.
        chunks_root: Root over all chunks of the tensor.
        path: Inclusion proof of the chunk in ``chunks_root``, lowest sibling first.
    """

    index: int
    chunk: bytes
    chunks_root: Digest
    path: tuple[Digest, ...]


def chunk_proof(array: Array, chunk_index: int) -> ChunkProof:
    """Return the proof for one chunk of ``array``; raises ProofError when there is no such chunk."""
    return chunk_proofs(array, [chunk_index])[0]


def chunk_proofs(array: Array, chunk_indices: Sequence[int]) -> tuple[ChunkProof, ...]:
    """Return the proofs for some chunks of ``array``, in the order asked for; raises ProofError as chunk_proof does."""
    tree = chunk_tree(array)
    data = _little_endian_bytes(array)
    return tuple(
        ChunkProof(
            index, bytes(data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]), tree.root, tree.inclusion_proof(index)
        )
        for index in chunk_indices
    )


def chunk_count(dtype: str, shape: tuple[int, ...]) -> int:
    """Return the number of chunks of a tensor."""
    return -(-tensor_bytes(dtype, shape) // CHUNK_BYTES)


def chunk_length(index: int, dtype: str, shape: tuple[int, ...]) -> int:
    """Return the size in bytes of one chunk of a tensor; not positive when there is no such chunk."""
    return min(CHUNK_BYTES, tensor_bytes(dtype, shape) - index * CHUNK_BYTES)


def verify_chunk(proof: ChunkProof, name: str, dtype: str, shape: tuple[int, ...], digest: Digest) -> None:
    """Check that a chunk belongs to the tensor of this name, dtype and shape with this tensor digest.

    Raises:
        ProofError: It does not, or the proof is malformed.
    """
    if dtype not in TENSOR_DTYPES:
        raise ProofError(say("A tensor of dtype {0} has no digest.", repr(dtype)))
    if leaf_hash(_record(name, dtype, shape, proof.chunks_root)) != digest:
        raise ProofError(say("The chunk proof of tensor {0} speaks of another tensor.", repr(name)))
    verify_inclusion(leaf_hash(proof.chunk), proof.index, chunk_count(dtype, shape), proof.path, proof.chunks_root)
    if len(proof.chunk) != chunk_length(proof.index, dtype, shape):
        raise ProofError(say("Chunk {0} of tensor {1} has the wrong length.", proof.index, repr(name)))
