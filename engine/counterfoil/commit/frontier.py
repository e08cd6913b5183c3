"""The frontier of a Merkle tree that still grows (RFC 9162): its root in logarithmic memory."""

from __future__ import annotations

from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.merkle import node_hash


class MerkleFrontier:
    """The root over leaves that come one after the other, in the memory of a few hashes.

    Keeps the roots of the perfect subtrees on the tree's right edge: a leaf merges those that it completes, as in
    adding one to a binary number, so that n leaves take about n hashes in all.
    """

    def __init__(self) -> None:
        self.size = 0
        """Number of leaves so far."""
        self._edge: list[Digest] = []

    def append(self, leaf: Digest) -> None:
        """Add the next Merkle leaf hash."""
        complete = self.size
        while complete & 1:
            leaf = node_hash(self._edge.pop(), leaf)
            complete >>= 1
        self._edge.append(leaf)
        self.size += 1

    @property
    def root(self) -> Digest:
        """The root over the leaves so far; SHA-256 of the empty string when there are none."""
        if not self._edge:
            return Digest.of(b"")
        *larger, root = self._edge
        for subtree in reversed(larger):
            root = node_hash(subtree, root)
        return root
