"""Digests of tensors and of states (named sets of tensors).

A tensor digest is the RFC 9162 Merkle leaf hash of a record that holds the tensor's name, dtype and shape and the
root over its 16 KiB chunks. Chunks let a third party check one part of a tensor with a short proof, and let several
threads hash one tensor. A state root is the RFC 9162 root over the tensor digests, sorted by name.
docs/bundle-format.md, sections 5 and 6.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.dtypes import TENSOR_DTYPES, tensor_bytes
from counterfoil_core.base.errors import DataError, ProofError
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.merkle import LEAF_PREFIX, MerkleTree, leaf_hash, verify_inclusion
from counterfoil_core.commit.sha256 import Loops, loops_for

CHUNK_BYTES = 16 * 1024
"""Size of a chunk; the last chunk of a tensor may be shorter."""
_BLOCK_CHUNKS = 256
_BLOCK_BYTES = _BLOCK_CHUNKS * CHUNK_BYTES  # What one thread hashes at a time; less is not worth a thread.
_WORKERS = min(8, os.cpu_count() or 1)

Leaves = NDArray[np.uint8]
"""Leaf hashes, uint8 ``[n, 32]``."""
Piece = tuple[memoryview, Leaves]
"""Some whole chunks, and where their leaf hashes go."""


def _dtype_name(name: str, array: Array) -> str:
    return _supported(name, _of_dtype(array.dtype)[0])


@cache
def _of_dtype(dtype: np.dtype[np.generic]) -> tuple[str, bool]:
    """Its name, which numpy puts together anew each time that it is asked for; and whether it is little-endian."""
    return dtype.name, dtype == dtype.newbyteorder("<")


def _supported(name: str, dtype: str) -> str:
    if dtype not in TENSOR_DTYPES:
        raise DataError(
            say("The tensor {0} has the dtype {1}, which has no digest.", repr(name), dtype),
            remedy=say("Supported are {0}.", ", ".join(TENSOR_DTYPES)),
        )
    return dtype


def _little_endian_bytes(array: Array) -> memoryview:
    """View the array's elements as little-endian C-order bytes; copies only what is not in that form already."""
    if not (_of_dtype(array.dtype)[1] and array.flags.c_contiguous):
        array = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return array.reshape(-1).view(np.uint8).data


def _hash_leaves(pieces: Iterable[Piece], loops: Loops) -> None:
    for data, leaves in pieces:
        loops.leaves(np.frombuffer(data, np.uint8), CHUNK_BYTES, leaves)


def _leaves_of(arrays: Sequence[Array], loops: Loops) -> list[Leaves]:
    """Return the leaf hashes of the chunks of each array, hashing with several threads where it pays."""
    found: list[Leaves] = []
    pieces: list[Piece] = []
    for array in arrays:
        data = _little_endian_bytes(array)
        leaves = np.empty((-(-len(data) // CHUNK_BYTES), DIGEST_BYTES), np.uint8)
        found.append(leaves)
        for first in range(0, len(leaves), _BLOCK_CHUNKS):
            end = first + _BLOCK_CHUNKS
            pieces.append((data[first * CHUNK_BYTES : end * CHUNK_BYTES], leaves[first:end]))
    threads = min(_WORKERS, sum(array.nbytes for array in arrays) // _BLOCK_BYTES)
    # Whoever is ready takes the next piece; taking one off an iterator of a list is one operation of the interpreter.
    waiting = iter(pieces)
    if threads < 2:
        _hash_leaves(waiting, loops)
        return found
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="digest") as pool:
        others = [pool.submit(_hash_leaves, waiting, loops) for _ in range(threads - 1)]
        _hash_leaves(waiting, loops)
        for other in others:
            other.result()
    return found


def _root(leaves: Leaves, loops: Loops) -> Digest:
    """Return the root over leaf hashes, whose place is used up."""
    if not len(leaves):
        return Digest.of(b"")
    loops.reduce(leaves)
    return Digest(leaves[0].tobytes())


def chunk_tree(array: Array) -> MerkleTree:
    """Return the tree over the 16 KiB chunks of the little-endian C-order bytes of ``array``; empty for no elements."""
    return MerkleTree.from_packed(_leaves_of([array], loops_for(array.nbytes))[0].tobytes())


def _record(name: str, dtype: str, shape: tuple[int, ...], chunks_root: str) -> bytes:
    """Return the canonical JSON of an object whose first key is that of the root; the rest is that of a tensor."""
    return b'{"chunks":"' + chunks_root.encode() + b'",' + _described(name, dtype, shape)


@lru_cache(2**16)
def _described(name: str, dtype: str, shape: tuple[int, ...]) -> bytes:
    return canonical.encode({"name": name, "dtype": dtype, "shape": list(shape)})[1:]


def tensor_record(name: str, array: Array) -> bytes:
    """Return the canonical JSON of name, dtype, shape and chunk root that a tensor digest is taken of.

    Args:
        name: The tensor's name in its state.
        array: Any shape and strides, either byte order; dtype one of ``TENSOR_DTYPES``.

    Raises:
        DataError: The dtype is not supported.
    """
    dtype, loops = _dtype_name(name, array), loops_for(array.nbytes)
    return _record(name, dtype, array.shape, _root(_leaves_of([array], loops)[0], loops).hex)


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
            self._hash(memoryview(self._rest))
        whole = len(piece) - len(piece) % CHUNK_BYTES
        self._hash(piece[:whole])
        self._rest = bytes(piece[whole:])

    def finish(self) -> tuple[Digest, bytes]:
        """Return the tensor digest, and the leaf hashes of the chunks, 32 bytes each; nothing can be added after."""
        if self._rest:
            self._hash(memoryview(self._rest))
        packed = bytes(self._leaves)
        leaves = np.frombuffer(bytearray(packed), np.uint8).reshape(-1, DIGEST_BYTES)
        root = _root(leaves, loops_for(CHUNK_BYTES * len(leaves)))
        return leaf_hash(_record(*self._described, root.hex)), packed

    def _hash(self, data: memoryview) -> None:
        leaves = np.empty((-(-len(data) // CHUNK_BYTES), DIGEST_BYTES), np.uint8)
        _hash_leaves([(data, leaves)], loops_for(len(data)))
        self._leaves += leaves.tobytes()


def tensor_digests(state: Mapping[str, Array]) -> dict[str, Digest]:
    """Return the tensor digest of each tensor of a state, in the order of the state; raises DataError."""
    dtypes = {name: _dtype_name(name, array) for name, array in state.items()}
    # Most tensors of a model are one chunk, whose leaf hash is the root: no loop and no tree.
    small = {name: array for name, array in state.items() if 0 < array.nbytes <= CHUNK_BYTES}
    large = {name: array for name, array in state.items() if name not in small}
    loops = loops_for(sum(array.nbytes for array in large.values()))
    found = zip(large, _leaves_of(list(large.values()), loops), strict=True)
    roots = {name: _root(leaves, loops).hex for name, leaves in found}
    for name, array in small.items():
        roots[name] = hashlib.sha256(LEAF_PREFIX + _little_endian_bytes(array)).hexdigest()
    return {name: leaf_hash(_record(name, dtypes[name], array.shape, roots[name])) for name, array in state.items()}


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


def root_of_leaves(state: Mapping[str, tuple[str, tuple[int, ...], Leaves]]) -> Digest:
    """Return the state root from the leaf hashes of the chunks of each tensor, for whoever hashed these elsewhere.

    Args:
        state: By name the dtype's name, the shape, and uint8 ``[chunks, 32]``, whose place is used up.

    Raises:
        DataError: A dtype is not supported.
    """
    loops = loops_for(sum(leaves.nbytes for _, _, leaves in state.values()))
    return state_tree(
        {
            name: leaf_hash(_record(name, _supported(name, dtype), shape, _root(leaves, loops).hex))
            for name, (dtype, shape, leaves) in state.items()
        }
    ).root


@dataclass(frozen=True)
class ChunkProof:
    """Proof that some bytes are one chunk of a tensor whose digest is known."""

    index: int  #: Which chunk, from 0.
    chunk: bytes  #: Its bytes.
    chunks_root: Digest  #: Root over all chunks of the tensor.
    path: tuple[Digest, ...]  #: Inclusion proof of the chunk in ``chunks_root``, lowest sibling first.


def chunk_proofs(array: Array, chunk_indices: Sequence[int]) -> tuple[ChunkProof, ...]:
    """Return the proofs for some chunks of ``array``, in the order asked for.

    Raises:
        ProofError: The array has no such chunk.
    """
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
    """Return the size in bytes of one chunk of a tensor; not positive when there is no such chunk.

    Args:
        index: Which chunk, from 0.
        dtype: The tensor's dtype.
        shape: Its shape.
    """
    return min(CHUNK_BYTES, tensor_bytes(dtype, shape) - index * CHUNK_BYTES)


def verify_chunk(proof: ChunkProof, name: str, dtype: str, shape: tuple[int, ...], digest: Digest) -> None:
    """Check that a chunk belongs to a tensor whose digest is trusted.

    Args:
        proof: The chunk and its proof, of a stranger.
        name: The tensor's name in its state.
        dtype: Its dtype.
        shape: Its shape.
        digest: Its digest.

    Raises:
        ProofError: It does not, or the proof is malformed.
    """
    if dtype not in TENSOR_DTYPES:
        raise ProofError(say("A tensor of dtype {0} has no digest.", repr(dtype)))
    if leaf_hash(_record(name, dtype, shape, proof.chunks_root.hex)) != digest:
        raise ProofError(say("The chunk proof of tensor {0} speaks of another tensor.", repr(name)))
    verify_inclusion(leaf_hash(proof.chunk), proof.index, chunk_count(dtype, shape), proof.path, proof.chunks_root)
    if len(proof.chunk) != chunk_length(proof.index, dtype, shape):
        raise ProofError(say("Chunk {0} of tensor {1} has the wrong length.", proof.index, repr(name)))
