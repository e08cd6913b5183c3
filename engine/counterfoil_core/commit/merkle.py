"""Merkle trees, inclusion proofs and consistency proofs as in RFC 9162, section 2.1, with SHA-256.

Pure: nothing here touches a file. A tree keeps the hashes of all its nodes, so that two trees can be descended
together to the first Merkle leaf in which they differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import ProofError
from counterfoil_core.base.sentence import say

LEAF_PREFIX = b"\x00"
"""First byte of what is hashed for a Merkle leaf (RFC 9162, section 2.1.1)."""
NODE_PREFIX = b"\x01"
"""First byte of what is hashed for an inner node, so that a node cannot pass as a leaf."""
MAX_SIZE = 2**62
"""Largest tree size that a proof may speak of."""


@dataclass(frozen=True)
class MerkleComparison:
    """One comparison on the way from the root to the first differing Merkle leaf."""

    first_leaf: int  #: First leaf (step number) below the node.
    last_leaf: int  #: Last leaf below the node, inclusive.
    trainer: Digest  #: The trainer's hash of the node.
    replay: Digest  #: The replay's hash of the node.

    @property
    def equal(self) -> bool:
        """Whether both sides have the same hash."""
        return self.trainer == self.replay


def leaf_hash(data: bytes) -> Digest:
    """Return the Merkle leaf hash of ``data``: SHA-256 of 0x00 and the data (RFC 9162, section 2.1.1)."""
    return Digest.of(LEAF_PREFIX + data)


def node_hash(left: Digest, right: Digest) -> Digest:
    """Return the hash of an inner node: SHA-256 of 0x01 and both children (RFC 9162, section 2.1.1)."""
    return Digest.of(NODE_PREFIX + left.value + right.value)


def left_leaves(size: int) -> int:
    """Return the number of leaves in the left child: the largest power of two smaller than ``size`` (at least 2)."""
    return 1 << ((size - 1).bit_length() - 1)


def _levels(leaves: list[bytes]) -> list[list[bytes]]:
    """Hash level by level, the leaves first, the root last.

    Pairing neighbours and promoting a lone last node gives RFC 9162's tree: its left children are perfect subtrees
    at positions that are multiples of their size.
    """
    sha256 = hashlib.sha256
    levels = [leaves]
    level = leaves
    while len(level) > 1:
        above = [
            sha256(NODE_PREFIX + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        if len(level) % 2:
            above.append(level[-1])
        levels.append(above)
        level = above
    return levels


def _last_parent(level: list[bytes]) -> bytes:
    """The node above the last one of a level, which is promoted where it has no neighbour."""
    return level[-1] if len(level) % 2 else hashlib.sha256(NODE_PREFIX + level[-2] + level[-1]).digest()


class MerkleTree:
    """The tree over a sequence of Merkle leaf hashes.

    Args:
        leaves: The leaf hashes, in order; may be empty.
    """

    def __init__(self, leaves: Iterable[Digest]) -> None:
        self._levels = _levels([leaf.value for leaf in leaves])

    @classmethod
    def from_packed(cls, packed: bytes | bytearray) -> MerkleTree:
        """Build the tree from leaf hashes that lie one after the other, 32 bytes each.

        Raises:
            ValueError: The length is no multiple of 32.
        """
        if len(packed) % DIGEST_BYTES:
            raise ValueError("packed leaf hashes are 32 bytes each")
        tree = cls(())
        tree._levels = _levels([bytes(packed[at : at + DIGEST_BYTES]) for at in range(0, len(packed), DIGEST_BYTES)])
        return tree

    def append(self, leaf: Digest) -> None:
        """Add the next Merkle leaf hash: only the nodes of the tree's right edge change."""
        levels = self._levels
        levels[0].append(leaf.value)
        below = levels[0]
        for above in levels[1:]:
            del above[(len(below) - 1) // 2 :]
            above.append(_last_parent(below))
            below = above
        if len(below) > 1:
            levels.append([_last_parent(below)])

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self._levels[0])

    @property
    def root(self) -> Digest:
        """The root hash; SHA-256 of the empty string for the empty tree (RFC 9162, section 2.1.1)."""
        return Digest(self._levels[-1][0]) if self.size else Digest.of(b"")

    def leaf(self, index: int) -> Digest:
        """Return the hash of one leaf; raises ProofError when ``index`` is out of range."""
        return self.node(index, index)

    def node(self, first: int, last: int) -> Digest:
        """Return the hash of the node above the leaves ``first`` to ``last``, inclusive.

        Raises:
            ProofError: No single node of the tree stands above exactly these leaves.
        """
        if 0 <= first <= last < self.size:
            level = (last - first).bit_length()
            index = first >> level
            if index << level == first and min((index + 1) << level, self.size) - 1 == last:
                return Digest(self._levels[level][index])
        raise ProofError(
            say("No node of a Merkle tree of {0} leaves stands above the leaves {1} to {2}.", self.size, first, last)
        )

    def inclusion_proof(self, index: int) -> tuple[Digest, ...]:
        """Return the proof that a leaf is in the tree, lowest sibling first (RFC 9162, section 2.1.3.1).

        Raises:
            ProofError: ``index`` is out of range.
        """
        _check_index(index, self.size)
        proof = []
        for level in self._levels[:-1]:
            sibling = index ^ 1
            if sibling < len(level):
                proof.append(Digest(level[sibling]))
            index >>= 1
        return tuple(proof)

    def consistency_proof(self, old_size: int) -> tuple[Digest, ...]:
        """Return the proof that the tree extends its own first ``old_size`` leaves (RFC 9162, section 2.1.4.1).

        Empty when ``old_size`` is the tree's size.

        Raises:
            ProofError: ``old_size`` is not in 1 to ``size``.
        """
        if not 1 <= old_size <= self.size:
            raise ProofError(say("There is no consistency proof from {0} to {1} leaves.", old_size, self.size))
        proof: list[Digest] = []
        first, last, known = 0, self.size - 1, True
        old_last = old_size - 1
        while old_last < last:
            middle = first + left_leaves(last - first + 1)
            if old_last < middle:
                proof.append(self.node(middle, last))
                last = middle - 1
            else:
                proof.append(self.node(first, middle - 1))
                first, known = middle, False
        if not known:
            proof.append(self.node(first, last))
        return tuple(reversed(proof))


def _check_index(index: int, size: int) -> None:
    if not 0 <= index < size <= MAX_SIZE:
        raise ProofError(say("The leaf index {0} does not lie in a Merkle tree of {1} leaves.", index, size))


def inclusion_proof_length(index: int, size: int) -> int:
    """Return how many hashes the inclusion proof of a leaf has; raises ProofError when ``index`` is out of range."""
    _check_index(index, size)
    length, node, last = 0, index, size - 1
    while last:
        # A lone last node is promoted without a sibling.
        length += bool(node & 1 or node != last)
        node >>= 1
        last >>= 1
    return length


def verify_inclusion(leaf: Digest, index: int, size: int, proof: Sequence[Digest], root: Digest) -> None:
    """Check an inclusion proof (RFC 9162, section 2.1.3.2).

    Args:
        leaf: The Merkle leaf hash (not the leaf's data).
        index: Position of the leaf, from 0.
        size: Number of leaves of the tree.
        proof: Sibling hashes, lowest first.
        root: The root that is trusted.

    Raises:
        ProofError: The index or the proof's length does not fit the size, or the proof leads to another root.
    """
    _check_index(index, size)
    # The position of the hash, and of the last one, on its level; both are halved on the way up.
    node, last, current = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProofError(say("The inclusion proof is longer than the Merkle tree is high."))
        if node & 1 or node == last:
            current = node_hash(sibling, current)
            # A last node without a sibling is promoted: its levels have no hash in the proof.
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            current = node_hash(current, sibling)
        node >>= 1
        last >>= 1
    if last:
        raise ProofError(say("The inclusion proof is shorter than the Merkle tree is high."))
    if current != root:
        raise ProofError(say("The inclusion proof of leaf {0} leads to another root.", index))


def verify_consistency(
    old_size: int, new_size: int, old_root: Digest, new_root: Digest, proof: Sequence[Digest]
) -> None:
    """Check that the tree with ``new_root`` extends the tree with ``old_root`` (RFC 9162, section 2.1.4.2).

    Args:
        old_size: Number of leaves of the smaller tree.
        new_size: Number of leaves of the larger one.
        old_root: Root of the smaller tree.
        new_root: Root of the larger one.
        proof: The hashes of :meth:`MerkleTree.consistency_proof`, in their order.

    Raises:
        ProofError: The sizes are out of range, the proof's length does not fit them, or it leads to other roots.
    """
    if not 1 <= old_size <= new_size <= MAX_SIZE:
        raise ProofError(say("There is no consistency proof from {0} to {1} leaves.", old_size, new_size))
    if old_size == new_size:
        if proof:
            raise ProofError(say("A consistency proof between trees of equal size is empty."))
        if old_root != new_root:
            raise ProofError(say("Two Merkle trees of the same size have different roots."))
        return
    path = list(proof)
    # Of a perfect tree the old root is a node of the new one, and the proof leaves out what the reader knows.
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        raise ProofError(say("The consistency proof is shorter than the Merkle tree is high."))
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProofError(say("The consistency proof is longer than the Merkle tree is high."))
        if node & 1 or node == last:
            # Siblings to the left are in both trees, those to the right in the new one alone.
            old = node_hash(sibling, old)
            new = node_hash(sibling, new)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        node >>= 1
        last >>= 1
    if last:
        raise ProofError(say("The consistency proof is shorter than the Merkle tree is high."))
    if old != old_root:
        raise ProofError(say("The consistency proof leads to another old root."))
    if new != new_root:
        raise ProofError(say("The consistency proof leads to another new root."))


def first_difference(trainer: MerkleTree, replay: MerkleTree) -> tuple[int | None, tuple[MerkleComparison, ...]]:
    """Descend two trees of equal size from the root to the first Merkle leaf in which they differ.

    At each node the left children are compared. If they are equal, the difference lies in the right child, whose
    hashes are then recorded too, so that the last comparison is always the differing leaf. One pair of children is
    opened per level: about log2 n of them.

    Returns:
        The index of the leaf, or None when the roots are equal; and the comparisons, from the root down.

    Raises:
        ProofError: The trees differ in size, or are empty.
    """
    if trainer.size != replay.size or not trainer.size:
        raise ProofError(
            say("Merkle trees of {0} and {1} leaves cannot be compared leaf by leaf.", trainer.size, replay.size)
        )

    def compare(first: int, last: int) -> bool:
        path.append(MerkleComparison(first, last, trainer.node(first, last), replay.node(first, last)))
        return path[-1].equal

    path: list[MerkleComparison] = []
    first, last = 0, trainer.size - 1
    if compare(first, last):
        return None, tuple(path)
    while first < last:
        middle = first + left_leaves(last - first + 1)
        if compare(first, middle - 1):
            compare(middle, last)
            first = middle
        else:
            last = middle - 1
    return first, tuple(path)


def descent_to(
    index: int, size: int, proof: Sequence[Digest], trainer: Digest, replay: Digest
) -> tuple[MerkleComparison, ...]:
    """Return what :func:`first_difference` finds in two trees that differ in one Merkle leaf, from an inclusion proof.

    All siblings on the way are the same in both trees, so the proof has the hash of each.

    Args:
        index: Position of the leaf.
        size: Number of leaves of either tree.
        proof: Inclusion proof of the leaf in one of them, lowest sibling first.
        trainer: The leaf hash in one tree.
        replay: The leaf hash in the other.

    Raises:
        ProofError: The index or the proof's length does not fit the size.
    """
    if len(proof) != inclusion_proof_length(index, size):
        raise ProofError(say("The inclusion proof is not as long as the Merkle tree is high."))
    spans = [(0, size - 1)]
    while (first := spans[-1][0]) < (last := spans[-1][1]):
        middle = first + left_leaves(last - first + 1)
        spans.append((first, middle - 1) if index < middle else (middle, last))
    nodes = [MerkleComparison(*spans.pop(), trainer, replay)]
    rows = [nodes]
    for sibling, (first, last) in zip(proof, reversed(spans), strict=True):
        below = nodes[-1]
        if below.first_leaf == first:
            nodes = [MerkleComparison(first, last, node_hash(below.trainer, sibling), node_hash(below.replay, sibling))]
        else:
            rows[-1] = [MerkleComparison(first, below.first_leaf - 1, sibling, sibling), below]
            nodes = [MerkleComparison(first, last, node_hash(sibling, below.trainer), node_hash(sibling, below.replay))]
        rows.append(nodes)
    return tuple(node for level in reversed(rows) for node in level)
