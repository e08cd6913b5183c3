"""The compiled loops beside hashlib: the same hashes, and hashlib where they cannot be had."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from counterfoil_core.commit import sha256 as module
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.state import tensor_digest


@pytest.fixture
def anew() -> Iterator[None]:
    module.compiled_loops.cache_clear()
    yield
    module.compiled_loops.cache_clear()


LOOPS = [
    module.PLAIN,
    pytest.param(module.compiled_loops(), marks=pytest.mark.skipif(not module.compiled_loops(), reason="hidden")),
]


@pytest.mark.parametrize("loops", LOOPS, ids=["hashlib", "compiled"])
@given(data=st.binary(max_size=3000), chunk=st.integers(1, 300))
def test_leaves_and_root_are_those_of_the_definition(loops: module.Loops, data: bytes, chunk: int) -> None:
    wanted = [leaf_hash(data[at : at + chunk]) for at in range(0, len(data), chunk)]
    nodes = np.empty((len(wanted), 32), np.uint8)
    loops.leaves(np.frombuffer(data, np.uint8), chunk, nodes)
    assert nodes.tobytes() == b"".join(leaf.value for leaf in wanted)
    if wanted:
        loops.reduce(nodes)
        assert nodes[0].tobytes() == MerkleTree(wanted).root.value


def test_little_is_hashed_without_loading_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "compiled_loops", lambda: pytest.fail("loaded"))
    assert module.loops_for(1000) is module.PLAIN


@pytest.mark.usefixtures("anew")
def test_where_the_functions_are_hidden_hashlib_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(0).integers(0, 256, 2**21 + 5).astype(np.uint8)
    usual = tensor_digest("a", array)
    monkeypatch.setattr(module, "_FUNCTIONS", (*module._FUNCTIONS, "SHA256_of_no_library"))
    module.compiled_loops.cache_clear()
    assert module.loops_for(2**21) is module.PLAIN
    assert tensor_digest("a", array) == usual


@pytest.mark.usefixtures("anew")
def test_functions_that_do_something_else_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    if not module.compiled_loops():
        pytest.skip("OpenSSL's functions are hidden here")
    found = module._checked
    monkeypatch.setattr(module, "_checked", lambda loops: found(loops) if loops is module.PLAIN else (b"", b""))
    module.compiled_loops.cache_clear()
    assert module.loops_for(2**21) is module.PLAIN
