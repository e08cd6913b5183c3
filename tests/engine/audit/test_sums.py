"""The judge's own sum of shares: what the definition says in fractions, and what the kernels that it judges give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from counterfoil_core.bundle.shares import NO_EXPONENT, sum_bits
from counterfoil_core.judge import sums
from counterfoil_core.kernels.exact import combine
from support import kernelrules as rules

LARGEST = float(np.finfo(np.float32).max)
NUMBERS = st.one_of(
    st.floats(-LARGEST, LARGEST, width=32),
    st.floats(-1, 1, width=32),
    st.sampled_from([0.0, -0.0, 2.0**-149, -(2.0**-149), 2.0**-126, LARGEST, -LARGEST, 1.0, -1.0, 2.0**-24, 0.5]),
)
SHARES = st.integers(1, 9).flatmap(
    lambda shares: st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=shares, max_size=shares)
)


@settings(max_examples=300)
@given(rows=SHARES)
def test_a_sum_is_the_one_that_the_definition_gives_in_fractions(rows: list[list[float]]) -> None:
    shares, bits = np.array(rows, np.float32), sum_bits(len(rows))
    exponent = sums.common_exponent(shares)
    largest = max(abs(Fraction(value)) for row in rows for value in row)
    assert (exponent is None) == (largest == 0)
    if exponent is not None:
        assert Fraction(2) ** exponent > largest >= Fraction(2) ** (exponent - 1)
    own = sums.sum_of_shares(shares, exponent, bits)
    try:
        expected = np.array(rules.combined(rows), np.float32)
    except OverflowError:
        expected = np.array([np.inf])
    if not np.isfinite(expected).all():
        assert own is None
        return
    assert own is not None
    assert own.tobytes() == (expected + np.float32(0)).tobytes()


@pytest.mark.parametrize("scale", [1.0, 1e-44, 1e30, 2.0**-126])
def test_a_sum_is_the_one_that_the_kernels_give(scale: float) -> None:
    rng = np.random.default_rng(3)
    shares = (rng.standard_normal((5, 7, 300)) * scale * np.exp2(-40 * rng.random((5, 7, 300)))).astype(np.float32)
    exponent, bits = combine.exponent_of(torch.from_numpy(shares)), combine.combine_bits(5)
    total = torch.zeros(shares.shape[1:], dtype=torch.int64)
    for share in shares:
        combine.quantise_into(total, torch.from_numpy(share), exponent, bits)
    own = sums.sum_of_shares(shares, sums.common_exponent(shares), bits)
    assert own is not None
    assert own.tobytes() == combine.combined(total, exponent, bits).numpy().tobytes()
    wrong = shares.copy()
    wrong[0, 0, 0] += np.float32(scale)
    other = sums.sum_of_shares(wrong, sums.common_exponent(wrong), bits)
    assert other is None or other.tobytes() != own.tobytes(), "the control"


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = np.random.default_rng(4).standard_normal((3, 100)).astype(np.float32)
    whole = sums.sum_of_shares(shares, sums.common_exponent(shares), 52)
    monkeypatch.setattr(sums, "_BLOCK", 7)
    pieces = sums.sum_of_shares(shares, sums.common_exponent(shares), 52)
    assert whole is not None
    assert pieces is not None
    assert whole.tobytes() == pieces.tobytes()


def test_zeros_have_no_exponent_and_no_elements_none() -> None:
    assert sums.common_exponent(np.zeros((2, 3), np.float32)) is None
    assert sums.common_exponent(np.zeros((2, 0), np.float32)) is None
    assert (combine.ZERO, NO_EXPONENT) == (NO_EXPONENT, combine.ZERO)
    scalars = sums.sum_of_shares(np.array([-0.0, 0.0], np.float32), None, 52)
    assert scalars is not None
    assert (scalars.shape, scalars.tobytes()) == ((), bytes(4))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_has_no_exponent(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        sums.common_exponent(np.array([1.0, value], np.float32))
