"""The Merkle tree as a binary search."""

from __future__ import annotations

from hypothesis import given, strategies as st

from counterfoil import Digest
from counterfoil_app.model.search_tree import NodeState, levels_to, search_levels
from counterfoil_core.commit.merkle import MerkleTree, first_difference


def trees(size: int, differing: int) -> tuple[MerkleTree, MerkleTree]:
    leaves = [Digest.of(str(leaf).encode()) for leaf in range(size)]
    other = list(leaves)
    other[differing] = Digest.of(b"other")
    return MerkleTree(leaves), MerkleTree(other)


@given(st.integers(1, 300), st.data())
def test_the_search_is_the_one_that_was_made(size: int, data: st.DataObject) -> None:
    differing = data.draw(st.integers(0, size - 1))
    trainer, replay = trees(size, differing)
    found, path = first_difference(trainer, replay)
    levels = search_levels(path)
    assert levels[-1].node.first == levels[-1].node.last == found == differing
    numbered = sorted((node for level in levels for node in level.nodes if node.number), key=lambda node: node.number)
    assert [(node.first, node.last) for node in numbered] == [(item.first_leaf, item.last_leaf) for item in path]
    for level in levels:
        assert level.node.finding is NodeState.DIFFERENT
        assert level.node.trainer == trainer.node(level.node.first, level.node.last)
        for node in level.nodes:
            if node.finding is NodeState.EQUAL:
                assert node.last < differing, "all that is equal lies before the first difference"
            if node.finding is NodeState.NOT_COMPARED:
                assert node.first > differing, "all that was not needed lies after it"


@given(st.integers(1, 300), st.data())
def test_the_way_to_any_leaf(size: int, data: st.DataObject) -> None:
    leaf = data.draw(st.integers(0, size - 1))
    levels = levels_to(leaf, size)
    tree, _ = trees(size, 0)
    assert (levels[-1].node.first, levels[-1].node.last) == (leaf, leaf)
    for level in levels:
        assert level.node.covers(leaf)
        for node in level.nodes:
            tree.node(node.first, node.last)  # raises where the real tree has no such node


def test_no_comparison_no_level() -> None:
    assert search_levels(()) == []
