"""Q_b, the step to float32, and the limits, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.kernels.exact.digits import digit_count, recombine, split
from counterfoil_core.kernels.exact.limits import check_operands, float64_block, log2_ceiling, sum_bits
from counterfoil_core.kernels.exact.quantise import exponents_of, quantise
from counterfoil_core.kernels.exact.single import from_float64, from_int64, power_of_two
from support import kernelrules as rules
from support.definite_reference import bits_of, quantised, wild

SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(SINGLES, min_size=1, max_size=12), st.integers(1, 51))
def test_every_element_goes_to_the_nearest_multiple(values: list[float], bits: int) -> None:
    found = quantise(torch.tensor(values), bits)
    e = rules.shared_exponent(values)
    assert int(found.exponents) == e
    assert [Fraction(v) for v in found.values.tolist()] == [quantised(v, e, bits) for v in values]
    assert not torch.signbit(found.values[found.values == 0]).any()
    units = [int(n) for n in found.integers]
    assert units == [int(quantised(v, e, bits) / Fraction(2) ** (e - bits)) for v in values]
    assert all(abs(unit) <= 2**bits for unit in units)


def test_rows_have_exponents_of_their_own() -> None:
    x = torch.tensor([[1.0, 2.0**-30], [2.0**-30, 2.0**-31]])
    assert exponents_of(x, (-1,)).tolist() == [[1], [-29]]
    assert quantise(x, 8, (-1,)).values.tolist() == [[1.0, 0.0], [2.0**-30, 2.0**-31]]
    assert quantise(x, 8).values.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert exponents_of(x, ()).tolist() == [[1, -29], [-29, -30]]


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(NonFiniteError, match="infinite or not a number"):
        quantise(torch.tensor([1.0, bad]), 20)


def test_zeros_and_nothing() -> None:
    assert quantise(torch.tensor([-0.0, 0.0]), 20).values.tolist() == [0.0, 0.0]
    assert quantise(torch.empty(0, 3), 20, (-1,)).values.shape == (0, 3)


@pytest.mark.parametrize("e", [-1022, -172, -1, 0, 1, 1023])
def test_powers_of_two_are_exact(e: int) -> None:
    assert float(power_of_two(torch.tensor(e))) == math.ldexp(1.0, e)


@given(st.integers(-(2**62), 2**62), st.integers(-400, 200))
def test_integers_are_rounded_once(integer: int, e: int) -> None:
    found = from_int64(torch.tensor([integer]), torch.tensor(e))
    assert bits_of(found) == bits_of(np.array([rules.single(Fraction(integer) * Fraction(2) ** e)]))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("offset", [-1, 0, 1])
@pytest.mark.parametrize("kept", [2**24 + 1, 2**24 + 3, 2**25 - 1])
def test_integers_beside_a_midpoint_that_float64_would_take_for_it(kept: int, offset: int, sign: int) -> None:
    integer = sign * (kept * 2**36 + offset)  # a midpoint of float32 and its neighbours, 61 bits
    found = from_int64(torch.tensor([integer]), torch.tensor(0))
    assert bits_of(found) == bits_of(np.array([rules.single(Fraction(integer))]))


def test_two_roundings_would_show() -> None:
    integer = (2**24 + 1) * 2**36 + 1
    twice = torch.tensor([integer]).to(torch.float64).to(torch.float32)  # control
    assert from_int64(torch.tensor([integer]), torch.tensor(0)) != twice


def test_subnormal_results_are_rounded_to_their_own_spacing() -> None:
    wide = torch.tensor([2.0**-150, 1.5 * 2.0**-149, 2.0**-150 + 2.0**-190, -(2.0**-151)], dtype=torch.float64)
    assert from_float64(wide).tolist() == [0.0, 2.0**-148, 2.0**-149, 0.0]
    assert not torch.signbit(from_float64(wide)[3])


@given(st.integers(8, 24), st.integers(1, 11), st.data())
def test_digits_hold_their_integers(bits: int, digit_bits: int, data: st.DataObject) -> None:
    edges = [2**bits, -(2**bits), 2**bits - 1, 1 - 2**bits]
    integers = torch.tensor([*edges, *data.draw(st.lists(st.integers(-(2**bits), 2**bits), max_size=8))])
    for dtype in (torch.int32, torch.int64):
        digits = split(integers.to(dtype), bits, digit_bits)
        assert len(digits) == digit_count(bits, digit_bits)
        assert all(int(d.abs().max()) <= 2**digit_bits for d in digits)
        assert torch.equal(recombine(digits, digit_bits), integers)


@pytest.mark.parametrize(("bits", "digits"), [(6, 1), (7, 2), (13, 2), (14, 3), (20, 3), (21, 4), (24, 4), (27, 4)])
def test_how_many_digits_of_six_bits(bits: int, digits: int) -> None:
    assert digit_count(bits) == digits
    # Control: one bit more than they are for, and the highest digit is beyond.
    assert int(split(torch.tensor([2 ** (7 * digits)]), 7 * digits - 1)[-1]) > 2**6


def test_limits_of_products() -> None:
    assert float64_block(40) == 2**13
    check_operands(20, 20, 2**22)
    with pytest.raises(ProgramError, match="4,194,305 terms"):
        check_operands(20, 20, 2**22 + 1)
    check_operands(13, 20, 2**29)
    for bits in (7, 25):
        with pytest.raises(ValueError, match="8 to 24"):
            check_operands(bits, 20, 1)


@given(st.integers(1, 2**40))
def test_logarithms_of_counts(count: int) -> None:
    assert 2 ** log2_ceiling(count) >= count
    assert count == 1 or 2 ** (log2_ceiling(count) - 1) < count


def test_limits_of_sums() -> None:
    assert [sum_bits(n) for n in (0, 1, 4, 5, 1024, 1025, 2**29)] == [51, 51, 51, 50, 43, 42, 24]
    with pytest.raises(ProgramError, match="536,870,913 terms"):
        sum_bits(2**29 + 1)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5, 2, 3), (2, 2, 3, 4)])
def test_strides_and_rows_do_not_matter(shape: tuple[int, ...]) -> None:
    """What lies in rows takes compiled passes, transposed as well; what does not, torch's operators."""
    x = wild(shape, 9)
    x[..., 0, 0] = 2.0**-149
    copies = [x, x.mT.contiguous().mT, torch.stack((x, x), -1)[..., 0]]
    assert len({y.stride() for y in copies}) == 3
    axes = (-2, -1)
    magnitudes = x.abs().amax(axes, keepdim=True).to(torch.float64)
    exponents = torch.frexp(magnitudes).exponent
    unit = torch.ldexp(torch.ones_like(magnitudes), exponents - 13)
    for y in copies:
        found = quantise(y, 13, axes)
        assert torch.equal(found.exponents, exponents.to(torch.int64))
        assert torch.equal(found.values, (x.to(torch.float64) / unit).round() * unit)


def test_a_single_number_without_axes() -> None:
    for axes in (None, ()):
        found = quantise(torch.tensor(3.25), 8, axes)
        assert (found.values.item(), found.exponents.item(), found.exponents.shape) == (3.25, 2, ())
