"""Sums and products without rounding errors, against rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from counterfoil_core.operators.judging import numbers as module
from counterfoil_core.operators.judging.numbers import (
    MP,
    NotExactError,
    dyadic,
    exact_dot,
    exact_sum,
    fixed_point,
    number,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.lists(FLOATS, min_size=1, max_size=30)


def fraction(value: object) -> Fraction:
    """An mpf as a fraction: all of its bits."""
    sign, significand, exponent, _ = value._mpf_  # type: ignore[attr-defined]
    return Fraction((-1) ** sign * int(significand)) * Fraction(2) ** exponent


def test_a_sum_keeps_what_cancellation_would_lose() -> None:
    values = np.array([2.0**60, 1.0, -(2.0**60)])
    assert values[:2].sum() + values[2] != 1.0  # control: float64 loses it
    assert fixed_point(values).total == 1


def test_a_sum_over_the_whole_range_of_float64() -> None:
    values = np.array([1e300, 5e-324, -1e300])
    assert fraction(fixed_point(values).total) == Fraction(5e-324)


def test_products_that_cancel() -> None:
    a, b = np.array([1 + 2.0**-52, 1.0]), np.array([1 - 2.0**-52, -1.0])
    assert float(a @ b) == 0.0  # control: the product is rounded to 1
    assert fixed_point(a).dot(fixed_point(b)) == -(MP.mpf(2) ** -104)


@given(ROWS)
def test_totals(values: list[float]) -> None:
    assert fraction(fixed_point(np.array(values)).total) == sum(map(Fraction, values))
    assert fraction(fixed_point(np.array(values)).magnitudes.total) == sum(abs(Fraction(x)) for x in values)


@given(ROWS)
def test_squared_distances_from_the_mean(values: list[float]) -> None:
    exact = list(map(Fraction, values))
    expected = sum((x - sum(exact) / len(exact)) ** 2 for x in exact)
    assert abs(fraction(fixed_point(np.array(values)).spread) - expected) <= expected / 2**255


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=30))
def test_inner_products(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    assert fraction(fixed_point(a).dot(fixed_point(b))) == sum(Fraction(x) * Fraction(y) for x, y in pairs)


@given(st.lists(FLOATS, min_size=1, max_size=6))
def test_products(values: list[float]) -> None:
    assert fraction(fixed_point(np.array(values)).product) == math.prod(map(Fraction, values))


@given(ROWS)
def test_single_numbers_come_back(values: list[float]) -> None:
    whole = fixed_point(np.array(values))
    assert [float(whole[i]) for i in range(len(values))] == values


@given(st.integers(), st.integers(-2000, 2000))
def test_dyadic_numbers_keep_every_bit(significand: int, exponent: int) -> None:
    assert fraction(dyadic(significand, exponent)) == Fraction(significand) * Fraction(2) ** exponent


def test_integers_float32_and_empty_rows() -> None:
    assert fixed_point(np.array([2**62, 1, -(2**62)])).total == 1
    assert fixed_point(np.array([True, True])).total == 2
    assert fixed_point(np.array([0.1], np.float32)).total == number(float(np.float32(0.1)))
    assert fixed_point(np.array([])).total == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_exact_sum(bad: float) -> None:
    with pytest.raises(NotExactError, match="infinite"):
        fixed_point(np.array([1.0, bad]))


def test_the_context_is_our_own() -> None:
    import mpmath

    assert mpmath.mp.prec == 53
    assert MP.prec >= 250


# Many terms: one integer for each exponent, instead of one for each term.


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything counts as many, in chunks that leave a rest."""
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(module, "_CHUNK", 7)


@given(ROWS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_long_sums(many: None, values: list[float]) -> None:
    assert fraction(exact_sum(np.array(values))) == sum(map(Fraction, values))


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_long_inner_products(many: None, pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    assert fraction(exact_dot(a, b)) == sum(Fraction(x) * Fraction(y) for x, y in pairs)


@pytest.mark.parametrize("size", [module._FEW - 1, module._FEW, 3 * module._CHUNK // 2])
def test_the_largest_significands_of_one_exponent_do_not_overflow(size: int) -> None:
    largest = math.nextafter(2.0, 0.0)
    values = np.full(size, largest)
    assert fraction(exact_sum(values)) == size * Fraction(largest)
    assert fraction(exact_sum(-values)) == -size * Fraction(largest)
    assert fraction(exact_dot(values, -values)) == -size * Fraction(largest) ** 2


def test_long_sums_of_integers_and_of_what_is_not_finite(many: None) -> None:
    assert exact_sum(np.array([2**62, 1, -(2**62)])) == 1
    assert exact_dot(np.array([2**40, 1]), np.array([2**40, 1])) == 2**80 + 1
    assert exact_sum(np.array([])) == 0
    assert exact_sum(np.zeros(9)) == 0
    with pytest.raises(NotExactError, match="infinite"):
        exact_sum(np.array([1.0, math.inf]))
    with pytest.raises(NotExactError, match="infinite"):
        exact_dot(np.array([1.0, 2.0]), np.array([1.0, math.nan]))
