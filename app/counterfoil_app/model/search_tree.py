"""The Merkle tree as a binary search: which nodes were compared on the way from the run root to a leaf. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from counterfoil import Digest, MerkleComparison
from counterfoil_core.commit.merkle import left_leaves


class NodeState(Enum):
    """What is known of a node."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_COMPARED = "not compared"
    """The search did not need it."""


@dataclass(frozen=True)
class TreeNode:
    """A node of both trees."""

    first: int  #: The first leaf it stands above; leaf 0 is the initial state, leaf k is step k.
    last: int  #: The last leaf.
    finding: NodeState  #: How both sides compare.
    number: int = 0  #: Number of the comparison, from 1; 0 when it was not compared.
    trainer: Digest | None = None  #: The trainer's hash; None when it was not compared.
    replay: Digest | None = None  #: The replay's hash; None when it was not compared.

    def covers(self, leaf: int) -> bool:
        """Whether it stands above a leaf."""
        return self.first <= leaf <= self.last


@dataclass(frozen=True)
class SearchLevel:
    """One level of the search: both children of the node above, or the root alone."""

    nodes: tuple[TreeNode, ...]  #: The root, or the left and the right child.
    taken: int  #: Position of the node in which the search goes on.

    @property
    def node(self) -> TreeNode:
        """The node in which the search goes on."""
        return self.nodes[self.taken]


def _children(first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = first + left_leaves(last - first + 1)
    return (first, middle - 1), (middle, last)


def search_levels(path: Sequence[MerkleComparison]) -> list[SearchLevel]:
    """Put the comparisons of a search into levels, with the nodes that did not have to be compared.

    Args:
        path: The comparisons from the root down to the leaf: at each level the left child and, where that is equal,
            the right child.
    """
    compared = {(item.first_leaf, item.last_leaf): (number, item) for number, item in enumerate(path, start=1)}

    def node(span: tuple[int, int]) -> TreeNode:
        if span not in compared:
            return TreeNode(*span, NodeState.NOT_COMPARED)
        number, item = compared[span]
        finding = NodeState.EQUAL if item.equal else NodeState.DIFFERENT
        return TreeNode(*span, finding, number, item.trainer, item.replay)

    if not path:
        return []
    levels = [SearchLevel((node((path[0].first_leaf, path[0].last_leaf)),), 0)]
    while (above := levels[-1].node).finding is NodeState.DIFFERENT and above.first < above.last:
        left, right = (node(span) for span in _children(above.first, above.last))
        levels.append(SearchLevel((left, right), 0 if left.finding is NodeState.DIFFERENT else 1))
    return levels


def levels_to(leaf: int, leaves: int) -> list[SearchLevel]:
    """Return the levels from the root to a leaf of a tree that nobody searched: nothing in them is compared."""
    levels = [SearchLevel((TreeNode(0, leaves - 1, NodeState.NOT_COMPARED),), 0)]
    while (above := levels[-1].node).first < above.last:
        left, right = (TreeNode(*span, NodeState.NOT_COMPARED) for span in _children(above.first, above.last))
        levels.append(SearchLevel((left, right), 0 if left.covers(leaf) else 1))
    return levels
