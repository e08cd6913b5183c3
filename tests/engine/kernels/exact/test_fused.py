"""The CPU's kernels give the bits of the same product by torch's operators."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor

from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.kernels.exact import digitproducts
from counterfoil_core.kernels.exact.products import Form, matmul
from support.definite_reference import same_bits, wild

BITS = (8, 13, 17, 20)


@settings(max_examples=30)
@given(
    st.tuples(st.integers(1, 40), st.integers(1, 200), st.integers(1, 40)),
    st.sampled_from(BITS),
    st.integers(0, 2**32 - 1),
    st.integers(0, 40),
)
def test_products(shape: tuple[int, int, int], bits: int, seed: int, spread: int) -> None:
    m, k, n = shape
    a, b = wild((m, k), seed, -spread - 1, spread), wild((k, n), seed + 1, -spread - 1, spread)
    assert same_bits(digitproducts.matmul(a, b, bits), matmul(a, b, bits, Form.FLOAT64))


@pytest.mark.parametrize("bits", BITS)
def test_a_matrix_that_is_cut_once_serves_both_ways(bits: int) -> None:
    """The three products of a linear layer, from three matrices that are cut."""
    x, weight, g = wild((30, 41), 1, -4, 4), wild((23, 41), 2, -4, 4), wild((30, 23), 3, -4, 4)
    cut_x, cut_w, cut_g = (digitproducts.cut(matrix, bits) for matrix in (x, weight, g))
    products = [
        (digitproducts.multiply(cut_x, cut_w.t()), matmul(x, weight.t(), bits)),
        (digitproducts.multiply(cut_g, cut_w), matmul(g, weight, bits)),
        (digitproducts.multiply(cut_g.t(), cut_x), matmul(g.t(), x, bits)),
    ]
    assert all(same_bits(found, expected) for found, expected in products)


@pytest.mark.parametrize("bits", [13, 20])
def test_long_sums_that_two_roundings_would_spoil(bits: int) -> None:
    """Exact sums beside a midpoint of float32, of more bits than float64 has."""
    inner = 1 << 14
    a, b = torch.full((1, inner), float(2**bits - 2)), torch.full((inner, 64), float(2**bits - 2))
    a[0, 0], b[0] = 1.0, torch.arange(64.0)
    assert same_bits(digitproducts.matmul(a, b, bits), matmul(a, b, bits))


def test_what_is_no_ordinary_number() -> None:
    for x in (torch.zeros(2, 3), torch.tensor([[2.0**-149, -(2.0**-140), 0.0], [-0.0, 2.0**-130, 1e-40]])):
        for other in (torch.full((3, 2), 2.0**127), torch.full((3, 2), 2.0**-149), torch.full((3, 2), -0.0)):
            assert same_bits(digitproducts.matmul(x, other, 20), matmul(x, other, 20))
    largest = torch.finfo(torch.float32).max
    for other in (1.0, 0.5, -2.0):
        operands = torch.tensor([[largest]]), torch.tensor([[other]])
        assert same_bits(digitproducts.matmul(*operands, 20), matmul(*operands, 20))
    for bad in (math.inf, -math.inf, math.nan):
        with pytest.raises(NonFiniteError):
            digitproducts.cut(torch.tensor([[1.0, bad]]), 20)


def test_batches_and_strides() -> None:
    a, b = wild((3, 9, 17), 4), wild((3, 17, 5), 5)
    expected = matmul(a, b, 20)
    for left in (a, a.transpose(1, 2).contiguous().transpose(1, 2), torch.cat((a, a), 2)[:, :, :17]):
        assert same_bits(matmul(left, b, 20, Form.KARATSUBA), expected)
    assert matmul(a[:0], b[:0], 20, Form.KARATSUBA).shape == (0, 9, 5)


def test_when_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def seen(left: Tensor, right: Tensor, bits: int) -> Tensor:
        asked.append(bits)
        return original(left, right, bits)

    original = digitproducts.matmul
    monkeypatch.setattr(digitproducts, "matmul", seen)
    a, b = wild((4, 6), 6), wild((6, 4), 7)
    for bits, used in ((20, True), (13, True), (24, False)):  # the last has four digits
        asked.clear()
        found = matmul(a, b, bits, Form.KARATSUBA)
        assert bool(asked) == used
        assert same_bits(found, matmul(a, b, bits, Form.FLOAT64))
