from __future__ import annotations

import hashlib
from itertools import pairwise

import pymerkle
import pytest
from hypothesis import given, strategies as st

from counterfoil.commit.frontier import MerkleFrontier
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import ProofError
from counterfoil_core.commit.merkle import (
    MerkleTree,
    first_difference,
    inclusion_proof_length,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)

# The vectors of RFC 6962's reference implementation (certificate-transparency, merkle tree tests), which RFC 9162
# leaves unchanged.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
D = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
F = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
INCLUSION = [(0, 1, []), (0, 8, [A, B, C]), (5, 8, [D, E, ROOTS[4]]), (2, 3, [ROOTS[2]]), (1, 5, [ROOTS[1], B, D])]
CONSISTENCY = [
    (1, 1, []),
    (1, 8, [A, B, C]),
    (2, 8, [B, C]),
    (6, 8, [F, E, ROOTS[4]]),
    (2, 5, [B, D]),
    (6, 7, [F, "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f", ROOTS[4]]),
]


def vector_tree(size: int) -> MerkleTree:
    return MerkleTree(map(leaf_hash, LEAVES[:size]))


def tree_of(size: int, salt: bytes = b"") -> MerkleTree:
    return MerkleTree(leaf_hash(salt + index.to_bytes(4, "big")) for index in range(size))


def flip(digest: Digest, bit: int) -> Digest:
    value = bytearray(digest.value)
    value[bit // 8] ^= 1 << bit % 8
    return Digest(bytes(value))


@pytest.mark.parametrize("size", range(9))
def test_roots_of_the_published_vectors(size: int) -> None:
    assert vector_tree(size).root.hex == ROOTS[size]


@pytest.mark.parametrize(("index", "size", "proof"), INCLUSION)
def test_inclusion_proofs_of_the_published_vectors(index: int, size: int, proof: list[str]) -> None:
    tree = vector_tree(size)
    assert [digest.hex for digest in tree.inclusion_proof(index)] == proof
    verify_inclusion(leaf_hash(LEAVES[index]), index, size, tree.inclusion_proof(index), Digest.from_hex(ROOTS[size]))


@pytest.mark.parametrize(("old", "new", "proof"), CONSISTENCY)
def test_consistency_proofs_of_the_published_vectors(old: int, new: int, proof: list[str]) -> None:
    found = vector_tree(new).consistency_proof(old)
    assert [digest.hex for digest in found] == proof
    verify_consistency(old, new, Digest.from_hex(ROOTS[old]), Digest.from_hex(ROOTS[new]), found)


def test_leaf_and_node_prefixes() -> None:
    assert leaf_hash(b"abc").value == hashlib.sha256(b"\0abc").digest()
    left, right = leaf_hash(b"l"), leaf_hash(b"r")
    assert node_hash(left, right).value == hashlib.sha256(b"\1" + left.value + right.value).digest()


def test_a_node_cannot_pass_as_a_leaf() -> None:
    """Without the prefixes a tree of two leaves would have the root of the one leaf made of their hashes."""
    left, right = leaf_hash(b"l"), leaf_hash(b"r")
    assert MerkleTree([leaf_hash(left.value + right.value)]).root != MerkleTree([left, right]).root


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 31, 64, 100])
def test_roots_and_proofs_agree_with_pymerkle(size: int) -> None:
    other = pymerkle.InmemoryTree(algorithm="sha256")
    data = [bytes([index]) for index in range(size)]
    for item in data:
        other.append_entry(item)
    tree = MerkleTree(map(leaf_hash, data))
    assert tree.root.value == other.get_root()
    for index in range(size):
        theirs = set(other.prove_inclusion(index + 1).serialize()["path"])
        assert {digest.hex for digest in tree.inclusion_proof(index)} | {tree.leaf(index).hex} == theirs
    for old in range(1, size):
        # Its consistency proofs are cut differently, but lead from and to the same roots.
        before = MerkleTree(map(leaf_hash, data[:old])).root
        pymerkle.verify_consistency(before.value, tree.root.value, other.prove_consistency(old, size))


@given(size=st.integers(1, 300), data=st.data())
def test_every_inclusion_proof_holds_and_every_change_breaks_it(size: int, data: st.DataObject) -> None:
    tree = tree_of(size)
    index = data.draw(st.integers(0, size - 1))
    proof = tree.inclusion_proof(index)
    leaf = tree.leaf(index)
    verify_inclusion(leaf, index, size, proof, tree.root)

    bit = data.draw(st.integers(0, 255))
    with pytest.raises(ProofError):
        verify_inclusion(flip(leaf, bit), index, size, proof, tree.root)
    with pytest.raises(ProofError):
        verify_inclusion(leaf, index, size, proof, flip(tree.root, bit))
    with pytest.raises(ProofError):
        verify_inclusion(leaf, index, size, (*proof, leaf), tree.root)
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        with pytest.raises(ProofError):
            verify_inclusion(leaf, index, size, (*proof[:at], flip(proof[at], bit), *proof[at + 1 :]), tree.root)
        with pytest.raises(ProofError):
            verify_inclusion(leaf, index, size, proof[:-1], tree.root)
        other = data.draw(st.integers(0, size - 1).filter(lambda value: value != index))
        with pytest.raises(ProofError):
            verify_inclusion(leaf, other, size, proof, tree.root)


@given(size=st.integers(1, 200), other=st.integers(1, 400))
def test_a_proof_for_another_size_that_is_accepted_is_that_sizes_own_proof(size: int, other: int) -> None:
    """A proof says nothing of sizes whose path has the same shape, so the size must come from what is signed."""
    tree = tree_of(size)
    index = size - 1
    try:
        verify_inclusion(tree.leaf(index), index, other, tree.inclusion_proof(index), tree.root)
    except ProofError:
        return
    assert len(tree_of(other).inclusion_proof(index)) == len(tree.inclusion_proof(index))


def test_another_size_is_refused_where_the_shape_differs() -> None:
    tree = tree_of(8)
    for size in (4, 9, 16, 17):
        with pytest.raises(ProofError):
            verify_inclusion(tree.leaf(3), 3, size, tree.inclusion_proof(3), tree.root)


@pytest.mark.parametrize(("index", "size"), [(-1, 8), (8, 8), (9, 8), (0, 0), (0, -1), (-1, 0), (0, 2**63)])
def test_an_index_out_of_range_is_refused(index: int, size: int) -> None:
    tree = tree_of(8)
    with pytest.raises(ProofError):
        verify_inclusion(tree.leaf(0), index, size, (), tree.leaf(0))
    if size == 8:
        with pytest.raises(ProofError):
            tree.inclusion_proof(index)
        with pytest.raises(ProofError):
            tree.leaf(index)


@given(old=st.integers(1, 200), extra=st.integers(0, 200), data=st.data())
def test_every_consistency_proof_holds_and_every_change_breaks_it(old: int, extra: int, data: st.DataObject) -> None:
    new = old + extra
    tree = tree_of(new)
    before, after = tree_of(old).root, tree.root
    proof = tree.consistency_proof(old)
    verify_consistency(old, new, before, after, proof)

    bit = data.draw(st.integers(0, 255))
    with pytest.raises(ProofError):
        verify_consistency(old, new, flip(before, bit), after, proof)
    with pytest.raises(ProofError):
        verify_consistency(old, new, before, flip(after, bit), proof)
    with pytest.raises(ProofError):
        verify_consistency(old, new, before, after, (*proof, before))
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        with pytest.raises(ProofError):
            verify_consistency(old, new, before, after, (*proof[:at], flip(proof[at], bit), *proof[at + 1 :]))
        with pytest.raises(ProofError):
            verify_consistency(old, new, before, after, proof[:-1])


@pytest.mark.parametrize(("old", "new"), [(0, 4), (-1, 4), (5, 4), (0, 0), (1, 2**63)])
def test_sizes_out_of_range_are_refused(old: int, new: int) -> None:
    root = tree_of(4).root
    with pytest.raises(ProofError):
        verify_consistency(old, new, root, root, ())
    if new == 4:
        with pytest.raises(ProofError):
            tree_of(4).consistency_proof(old)


def test_a_consistency_proof_between_unequal_trees_of_one_size_is_refused() -> None:
    with pytest.raises(ProofError):
        verify_consistency(4, 4, tree_of(4).root, tree_of(4, b"x").root, ())


def test_nodes_are_addressed_by_the_leaves_below_them() -> None:
    tree = vector_tree(7)
    assert tree.node(0, 6) == tree.root
    assert tree.node(0, 3).hex == ROOTS[4]
    assert tree.node(4, 6) == node_hash(tree.node(4, 5), tree.leaf(6))
    for first, last in [(0, 2), (1, 2), (2, 5), (4, 7), (5, 4), (-1, 0), (6, 7)]:
        with pytest.raises(ProofError):
            tree.node(first, last)


def test_packed_leaves_give_the_same_tree() -> None:
    tree = tree_of(11)
    packed = b"".join(tree.leaf(index).value for index in range(11))
    assert MerkleTree.from_packed(packed).root == tree.root
    with pytest.raises(ValueError, match="32 bytes"):
        MerkleTree.from_packed(packed[:-1])


@given(size=st.integers(1, 400), data=st.data())
def test_the_descent_ends_at_the_first_differing_leaf(size: int, data: st.DataObject) -> None:
    wrong = sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=5)))
    leaves = [leaf_hash(index.to_bytes(4, "big")) for index in range(size)]
    trainer = MerkleTree(leaves)
    for index in wrong:
        leaves[index] = leaf_hash(b"other" + index.to_bytes(4, "big"))
    replay = MerkleTree(leaves)

    step, path = first_difference(trainer, replay)

    assert step == wrong[0]
    assert (path[0].first_leaf, path[0].last_leaf) == (0, size - 1)
    assert (path[-1].first_leaf, path[-1].last_leaf, path[-1].equal) == (step, step, False)
    assert len({(entry.first_leaf, entry.last_leaf) for entry in path}) == len(path)
    opened = sum(not entry.equal for entry in path)
    assert opened - 1 <= (size - 1).bit_length()
    assert len(path) <= 1 + 2 * (size - 1).bit_length()
    for entry in path:
        assert entry.trainer == trainer.node(entry.first_leaf, entry.last_leaf)
        assert entry.replay == replay.node(entry.first_leaf, entry.last_leaf)


def test_the_descent_goes_down() -> None:
    step, path = first_difference(tree_of(8), MerkleTree([*(tree_of(8).leaf(i) for i in range(7)), leaf_hash(b"x")]))
    assert step == 7
    differing = [entry for entry in path if not entry.equal]
    assert [(entry.first_leaf, entry.last_leaf) for entry in differing] == [(0, 7), (4, 7), (6, 7), (7, 7)]
    assert all(above.first_leaf <= below.first_leaf for above, below in pairwise(differing))


def test_equal_trees_have_no_difference() -> None:
    step, path = first_difference(tree_of(9), tree_of(9))
    assert step is None
    assert len(path) == 1
    assert path[0].equal


@pytest.mark.parametrize(("one", "other"), [(3, 4), (0, 0), (0, 1)])
def test_trees_of_different_size_are_not_descended(one: int, other: int) -> None:
    with pytest.raises(ProofError):
        first_difference(tree_of(one), tree_of(other))


def test_a_large_tree_proves_its_last_leaf() -> None:
    tree = tree_of(100_000)
    verify_inclusion(tree.leaf(99_999), 99_999, 100_000, tree.inclusion_proof(99_999), tree.root)


@given(size=st.integers(1, 300), data=st.data())
def test_the_length_of_an_inclusion_proof_is_known_beforehand(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    assert inclusion_proof_length(index, size) == len(tree_of(size).inclusion_proof(index))
    for outside in (-1, size):
        with pytest.raises(ProofError):
            inclusion_proof_length(outside, size)


@given(st.integers(0, 200))
def test_a_frontier_has_the_root_of_the_tree_after_every_leaf(size: int) -> None:
    leaves = [leaf_hash(bytes([number % 251])) for number in range(size)]
    frontier = MerkleFrontier()
    assert frontier.root == MerkleTree(()).root
    for count, leaf in enumerate(leaves, start=1):
        frontier.append(leaf)
        assert frontier.size == count
        assert frontier.root == MerkleTree(leaves[:count]).root


def test_a_frontier_keeps_few_hashes() -> None:
    frontier = MerkleFrontier()
    for number in range(1000):
        frontier.append(leaf_hash(number.to_bytes(4, "little")))
    assert len(frontier._edge) == (1000).bit_count()


def test_a_tree_that_grows_is_at_every_size_the_tree_over_its_leaves() -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(70)]
    growing = MerkleTree(())
    for size, leaf in enumerate(leaves, 1):
        growing.append(leaf)
        whole = MerkleTree(leaves[:size])
        assert (growing.size, growing.root) == (size, whole.root)
        for index in range(size):
            assert growing.inclusion_proof(index) == whole.inclusion_proof(index)
            assert growing.consistency_proof(index + 1) == whole.consistency_proof(index + 1)
