from __future__ import annotations

import pytest
import torch
from hypothesis import given, strategies as st

from counterfoil_core.kernels.exact.philox import philox4x32, uniform
from support import kernelrules as rules

# Random123, examples/kat_vectors, philox4x32-10: counter, key, answer.
KNOWN = [
    (("00000000",) * 4, ("00000000",) * 2, ("6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8")),
    (("ffffffff",) * 4, ("ffffffff",) * 2, ("408f276d", "41c83b0e", "a20bc7c6", "6d5451fd")),
    (
        ("243f6a88", "85a308d3", "13198a2e", "03707344"),
        ("a4093822", "299f31d0"),
        ("d16cfe09", "94fdcceb", "5001e420", "24126ea1"),
    ),
]
WORD = st.integers(0, 2**32 - 1)


def words(texts):
    return tuple(int(text, 16) for text in texts)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN, ids=["zeros", "ones", "pi"])
def test_known_answers(counter, key, answer):
    assert philox4x32(words(counter), words(key)) == rules.philox(words(counter), words(key)) == words(answer)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 40))
def test_uniform_is_a_pure_function_of_seed_step_draw_and_index(seed, step, draw, count):
    drawn = uniform((count,), seed=seed, step=step, draw=draw, dtype=torch.float64, device="cpu")
    expected = []
    for index in range(count):
        block = philox4x32((index // 4, 0, step, draw), (seed & 0xFFFFFFFF, seed >> 32))
        expected.append((block[index % 4] >> 8) / 2**24)
    assert drawn.tolist() == expected


def test_uniform_lies_on_the_lattice_and_below_one():
    drawn = uniform((100_000,), seed=2**64 - 1, step=9, draw=1, dtype=torch.float64, device="cpu")
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert torch.equal(drawn * 2**24, torch.floor(drawn * 2**24))
    # float32 holds every value exactly.
    assert torch.equal(drawn.to(torch.float32).to(torch.float64), drawn)
    assert abs(float(drawn.mean()) - 0.5) < 0.005
    assert abs(float(drawn.var()) - 1 / 12) < 0.001


def test_the_shape_only_arranges_the_numbers():
    settings = {"seed": 1, "step": 2, "draw": 3, "dtype": torch.float64, "device": "cpu"}
    flat = uniform((30,), **settings)
    assert torch.equal(uniform((5, 2, 3), **settings).flatten(), flat)
    assert torch.equal(uniform((17,), **settings), flat[:17])
    assert uniform((0, 4), **settings).shape == (0, 4)
    assert uniform((), **settings).item() == flat[0]


@pytest.mark.parametrize("change", [{"seed": 2}, {"seed": 1 + 2**32}, {"step": 3}, {"draw": 4}])
def test_every_part_of_the_key_matters(change):
    settings = {"seed": 1, "step": 2, "draw": 3, "dtype": torch.float64, "device": "cpu"}
    assert not torch.equal(uniform((8,), **settings), uniform((8,), **(settings | change)))
