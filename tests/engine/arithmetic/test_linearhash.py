"""Hashes of what is added: their sums, the second implementation, and what changes them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterfoil_core.arithmetic.combination import common_exponents
from counterfoil_core.arithmetic.linearhash import PRIME, LinearHash, read_hashes, seed_of, seen_of, sum_digest
from counterfoil_core.base.digest import Digest
from counterfoil_core.kernels.exact.combine import ZERO, combine_bits, quantised
from independent import shares as independent

SIZES = {"a": 1, "b": 4096, "c": 4097, "d": 70_001, "none": 0, "zero": 5}
"""Rows that are whole, that are not, and more than are taken at a time."""
COUNT = 3
SEED = bytes(range(32))


def given(share: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(share)
    found = {name: torch.randn(size, generator=generator) * 2.0 ** (9 * share) for name, size in SIZES.items()}
    found["zero"].zero_()
    # The largest integer there is.
    found["b"][-1] = float(np.nextafter(np.float32(2**20), np.float32(0)))
    return found


@pytest.fixture(scope="module")
def shares() -> list[dict[str, torch.Tensor]]:
    return [given(share) for share in range(COUNT)]


@pytest.fixture(scope="module")
def exponents(shares) -> dict[str, int]:
    return dict(zip(sorted(SIZES), common_exponents(shares).tolist(), strict=True))


def integers(tensor: torch.Tensor, exponent: int) -> torch.Tensor:
    return quantised(tensor, exponent, combine_bits(COUNT))


def test_hashes_of_shares_add_up_to_that_of_the_sum(shares, exponents) -> None:
    weights = LinearHash(SEED, list(SIZES), COUNT)
    hashes = [read_hashes(weights.of_shares(share, tensors, exponents)) for share, tensors in enumerate(shares)]
    own = np.stack([common_exponents([tensors]) for tensors in shares])
    assert exponents["zero"] == ZERO
    for place, name in enumerate(sorted(SIZES)):
        total = sum(integers(tensors[name], exponents[name]) for tensors in shares)
        wanted = weights.of_sum(name, total, own[:, place].tolist())
        assert sum(row[place] for row in hashes) % PRIME == wanted
        if total.numel():
            total.view(-1)[-1] += 1
            assert weights.of_sum(name, total, own[:, place].tolist()) != wanted
        assert weights.of_sum(name, total, (own[:, place] + np.array([1, -1, 0])).tolist()) != wanted


def test_a_second_implementation_has_the_same_hashes(shares, exponents) -> None:
    weights, names = LinearHash(SEED, list(SIZES), COUNT), sorted(SIZES)
    for share, tensors in enumerate(shares):
        found = weights.of_shares(share, tensors, exponents)
        for place, name in enumerate(names):
            own = independent.exponent_of([tensors[name].numpy()])
            added = independent.in_integers(tensors[name].numpy(), exponents[name], combine_bits(COUNT))
            wanted = independent.hash_of(SEED, place, share, COUNT, own, added)
            assert found[16 * place : 16 * place + 16] == wanted


@pytest.mark.parametrize("value", [2**62, -(2**62), 2**62 - 1, -1, 0, 2**27, -(2**27) - 1, 2**54])
def test_sums_of_every_magnitude_are_hashed_exactly(value) -> None:
    weights = LinearHash(SEED, ["x"], 1)
    total = torch.full((4099,), value)
    wanted = independent.hash_of(SEED, 0, 0, 1, 7, total.numpy())
    assert weights.of_sum("x", total, [7]).to_bytes(16, "little") == wanted


def test_a_share_that_does_not_fit_its_exponent_has_none(shares, exponents) -> None:
    weights = LinearHash(SEED, list(SIZES), COUNT)
    for exponent in (exponents["b"] - 1, 129, ZERO, 2**31 - 1):
        with pytest.raises(ValueError, match=r"exponent|below"):
            weights.of_share(2, "b", shares[2]["b"], exponent)


def test_weights_follow_from_all_that_was_sent() -> None:
    own, total = np.zeros((COUNT, 1), np.int32), torch.zeros(3, dtype=torch.int64)
    one, other = Digest.of(b"1"), Digest.of(b"2")
    seen = seen_of(own, {"x": sum_digest(total)})
    assert seen.value == independent.seen_of(own, [total.numpy()])
    assert seen != seen_of(own + 1, {"x": sum_digest(total)})
    assert seen != seen_of(own, {"x": sum_digest(total + 1)})
    seeds = {
        seed_of(one, 7, one, one, one), seed_of(other, 7, one, one, one), seed_of(one, 8, one, one, one),
        seed_of(one, 7, other, one, one), seed_of(one, 7, one, other, one), seed_of(one, 7, one, one, other),
    }  # fmt: skip
    assert len(seeds) == 6
