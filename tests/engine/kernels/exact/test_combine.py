"""The combine rule against fractions, element by element; and at the edges of float32, float64 and int64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor

from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.kernels import devices, threads
from counterfoil_core.kernels.exact.combine import (
    MOST_SHARES,
    NOT_FINITE,
    ZERO,
    combine_bits,
    combined,
    exponent_of,
    exponents_of,
    is_exponent,
    mean_of,
    quantise_into,
    quantised,
)
from counterfoil_core.kernels.exact.refusals import Noted, note_refusals
from support import kernelrules as rules
from support.definite_reference import bits_of, same_bits, wild

SMALLEST, LARGEST = 2.0**-149, float(np.finfo(np.float32).max)
SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False)
SHARES = [1, 2, 3, 7, 64, 1024, 1025, MOST_SHARES - 1, MOST_SHARES]


@pytest.fixture(params=["loops", "torch"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which form computes: compiled loops, or torch's operators."""
    if request.param == "torch":
        monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    return str(request.param)


def exponent_of_all(shares: Sequence[Tensor]) -> int:
    return max(map(exponent_of, shares))


def test_which_exponents_a_tensor_can_have() -> None:
    found = {exponent_of(torch.tensor([value])) for value in (0.0, SMALLEST, 1.0, LARGEST)}
    assert {ZERO, -148, 1, 128} == found
    assert all(map(is_exponent, found))
    assert not any(map(is_exponent, (ZERO + 1, -149, 129, NOT_FINITE)))


def total_of(shares: Sequence[Tensor]) -> tuple[Tensor, int, int]:
    exponent, bits = exponent_of_all(shares), combine_bits(len(shares))
    total = torch.zeros(shares[0].shape, dtype=torch.int64)
    for share in shares:
        assert bool(quantise_into(total, share, exponent, bits))
    return total, exponent, bits


def held(values: Sequence[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


def check(shares: Sequence[Tensor]) -> None:
    """Sum and mean of shares are what fractions give, and no order of the shares shows in them."""
    rows = [share.flatten().tolist() for share in shares]
    total, exponent, bits = total_of(shares)
    assert torch.equal(total, total_of(shares[::-1])[0])
    assert bits_of(mean_of(total, exponent, bits, len(shares))) == bits_of(held(rules.combined(rows, len(shares))))
    expected = held(rules.combined(rows))
    if bool(torch.isfinite(expected).all()):
        assert bits_of(combined(total, exponent, bits)) == bits_of(expected)
    else:
        with pytest.raises(NonFiniteError):
            combined(total, exponent, bits)


# Bits and exponents.


def test_every_sum_of_shares_fits_into_62_bits() -> None:
    assert [combine_bits(shares) for shares in (1, 2, 3, 64, 1024, 1025, 2048)] == [52, 52, 52, 52, 52, 51, 51]
    assert combine_bits(MOST_SHARES) == 46
    for shares in SHARES:
        bits = combine_bits(shares)
        assert bits == rules.combine_bits(shares)
        assert shares * 2**bits <= 2**62
        assert bits == 52 or shares * 2 ** (bits + 1) > 2**62
    for wrong in (0, -1, MOST_SHARES + 1):
        with pytest.raises(ValueError, match="shares"):
            combine_bits(wrong)


@pytest.mark.parametrize("exponent", [-149, -148, -127, -126, -125, -1, 0, 1, 127])
def test_the_exponent_is_above_every_magnitude(form: str, exponent: int) -> None:
    power = np.float32(2.0**exponent)
    below, above = (float(np.nextafter(power, np.float32(end))) for end in (0, np.inf))
    assert exponent_of(held([0.0, float(power), -0.0])) == exponent_of(held([-float(power)])) == exponent + 1
    assert exponent_of(held([[below]])) == (exponent if below else ZERO)
    for value in (float(power), below, above):
        assert not value or exponent_of(held([value])) == rules.shared_exponent([value])


def test_exponents_of_several_tensors_travel_as_int32(form: str) -> None:
    tensors = [
        held(row) for row in ([1.0, -3.0], [], [0.0, -0.0], [math.nan, 1], [2, -math.inf], [SMALLEST], [LARGEST])
    ]
    found = exponents_of([*tensors, held([[1.0, 2.0], [3.0, 9.0]]).t()])
    assert found.dtype == torch.int32
    assert found.tolist() == [2, ZERO, ZERO, NOT_FINITE, NOT_FINITE, -148, 128, 4]
    # Greatest of all is what MAX finds: a share of zeros counts for nothing, and one bad value for all.
    assert ZERO < -148
    assert NOT_FINITE > 128


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_has_no_exponent(form: str, bad: float) -> None:
    with pytest.raises(NonFiniteError):
        exponent_of(held([1.0, bad, 0.0]))


# Sums.


@pytest.mark.parametrize("shares", [1, 2, 3, 12, 64])
def test_shares_add_up_to_what_fractions_give(form: str, shares: int) -> None:
    check([wild((7, 30), seed, -40, 3) for seed in range(shares)])


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(SINGLES, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_any_shares_do(rows: list[list[float]]) -> None:
    check([held(row) for row in rows])


@pytest.mark.parametrize("shares", [1, 2, 3, 64])
@pytest.mark.parametrize(
    "edges",
    [
        [0.0, -0.0],
        [SMALLEST, -SMALLEST, 0.0, -0.0],
        [2.0**-126, -(2.0**-127), 3 * SMALLEST, 2.0**-126 - SMALLEST],
        [LARGEST, -LARGEST, 1.0, SMALLEST],
        [2.0**127, -(2.0**127), 2.0**104, 2.0**75],
        [1.0, 1.0 - 2.0**-24, -1.0, 2.0**-24, 2.0**-52, 2.0**-53, 3 * 2.0**-53, -(2.0**-53)],
    ],
    ids=["zeros", "smallest", "subnormal", "largest", "2^127", "ties"],
)
def test_edges(form: str, edges: list[float], shares: int) -> None:
    """Each share holds the edges in another order, so that everything meets everything."""
    turns = [edges[i % len(edges) :] + edges[: i % len(edges)] for i in range(shares)]
    check([held(row) for row in turns])
    check([held(edges)] * shares)


def test_ties_go_to_even_where_bits_end(form: str) -> None:
    unit = 2.0**-52
    values = [unit * share for share in (0.5, 1.5, 2.5, -0.5, -1.5, 0.25, 0.75, -0.75)]
    assert quantised(held([*values, 0.5]), 0, 52).tolist() == [0, 2, 2, 0, -2, 0, 1, -1, 2**51]
    assert quantised(held([1.0 - 2.0**-24]), 0, 1).tolist() == [2], "2^b itself is reached by rounding"


def test_zeros_are_positive(form: str) -> None:
    assert bits_of(combined(*total_of([held([-0.0, 0.0])]))) == [0, 0]
    assert bits_of(combined(*total_of([held([1.0, -0.0]), held([-1.0, -0.0])]))) == [0, 0]
    # Beyond the smallest number; half of it is a tie, and goes to zero.
    assert bits_of(mean_of(*total_of([held([-SMALLEST]), held([0.0])]), 2)) == [0]
    assert bits_of(mean_of(*total_of([held([-SMALLEST]), held([0.0]), held([0.0])]), 3)) == [0]


def test_a_sum_beyond_float32_is_refused_and_its_mean_is_not(form: str) -> None:
    total, exponent, bits = total_of([held([LARGEST, 2.0**100])] * 2)
    with pytest.raises(NonFiniteError):
        combined(total, exponent, bits)
    with note_refusals(noted := Noted()):
        assert combined(total, exponent, bits).tolist() == [math.inf, 2.0**101]
    assert [bool(flag) for flag in noted.raised()] == [True]
    assert mean_of(total, exponent, bits, 2).tolist() == [LARGEST, 2.0**100]


def around_midpoints(shares: int) -> list[int]:
    """Sums beside those whose mean is the middle of two float32 numbers, or one of these, as near as there are."""
    rng = np.random.default_rng(shares)
    found = {0, 1, -1, shares, 2**53 - 1, 2**53, 2**53 + 1, 2**62 - 1, 2**62, -(2**62)}
    for middle in [*(rng.integers(2**24, 2**25, 60) | 1).tolist(), 2**24 + 1, 2**25 - 1, 2**24, 2**25]:
        room = (2**62 // (middle * shares)).bit_length() - 1
        # The sum that is just beyond 2^53 is the one that loses most.
        for shift in {0, room, int(rng.integers(0, room + 1)), max(54 - (middle * shares).bit_length(), 0)}:
            found |= {sign * ((middle * shares << shift) + near) for sign in (1, -1) for near in (-2, -1, 0, 1, 2)}
    return sorted(integer for integer in found if abs(integer) <= 2**62)


@pytest.mark.parametrize("shares", [2, 3, 5, 7, 64, 1025, MOST_SHARES - 1])
@pytest.mark.parametrize("exponent", [-148, 20])
def test_sums_and_means_are_rounded_once(form: str, shares: int, exponent: int) -> None:
    integers = around_midpoints(shares)
    bits = combine_bits(shares)
    unit = rules.power(exponent - bits)
    total = torch.tensor(integers)
    expected = [rules.single(integer * unit / shares) for integer in integers]
    assert bits_of(mean_of(total, exponent, bits, shares)) == bits_of(held(expected))
    expected = [rules.single(Fraction(integer) * unit) for integer in integers]
    assert bits_of(combined(total, exponent, bits)) == bits_of(held(expected))


def test_control_two_roundings_are_not_one() -> None:
    """What dividing as everybody does gives, on the same sums."""
    integers = around_midpoints(3)
    once = mean_of(torch.tensor(integers), 0, 52, 3)
    twice = (torch.tensor(integers).double() / 3 * 2.0**-52).float()
    assert not same_bits(once, twice + 0.0)


# What does not fit.


@pytest.mark.parametrize("bad", [1.0, -1.0, 1.5, LARGEST, math.inf, -math.inf, math.nan])
def test_an_element_that_does_not_fit_is_told_and_adds_nothing(form: str, bad: float) -> None:
    total = torch.tensor([5, 6, 7])
    assert not bool(quantise_into(total, held([0.5, bad, -0.5]), 0, 52))
    assert total.tolist() == [5 + 2**51, 6, 7 - 2**51]
    with pytest.raises(ValueError, match=r"2\^0"):
        quantised(held([bad]), 0, 52)
    assert not bool(quantise_into(total, held([0.0, bad, 0.0]), ZERO, 52))
    assert total.tolist() == [5 + 2**51, 6, 7 - 2**51]


def test_a_tensor_of_zeros_adds_nothing(form: str) -> None:
    total = torch.tensor([5, 6])
    for exponent in (ZERO, -148, 128):
        assert bool(quantise_into(total, held([0.0, -0.0]), exponent, 52))
    assert total.tolist() == [5, 6]
    assert quantised(held([[-0.0]]), ZERO, 52).tolist() == [[0]]
    assert bits_of(combined(torch.zeros(2, dtype=torch.int64), ZERO, 52)) == [0, 0]
    assert bits_of(mean_of(torch.zeros(2, dtype=torch.int64), ZERO, 52, 3)) == [0, 0]


def test_largest_shares_of_all_fill_int64_and_no_more(form: str) -> None:
    """Sums of 2^62 are those of the most shares of 2^b each."""
    value, bits = 1.0 - 2.0**-24, combine_bits(MOST_SHARES)
    whole = quantised(held([value, -value, 1.0 - 2.0**-24]), 0, bits) * MOST_SHARES
    assert combined(whole, 0, bits).tolist() == [value * MOST_SHARES, -value * MOST_SHARES, value * MOST_SHARES]
    top = torch.tensor([2**62, -(2**62)])
    assert combined(top, 0, bits).tolist() == [MOST_SHARES, -MOST_SHARES]
    assert mean_of(top, 0, bits, MOST_SHARES).tolist() == [1.0, -1.0]


# Memory and threads.


@pytest.fixture
def _threads_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads_back")
def test_neither_threads_nor_strides_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALLEST", 7)
    shares = [wild((20, 31), seed).t() for seed in range(3)]
    results = []
    for number, turned in itertools.product((1, 2, 3), (False, True)):
        torch.set_num_threads(number)
        total, exponent, bits = total_of([share.contiguous() for share in shares] if turned else shares)
        results.append((exponent, combined(total, exponent, bits), mean_of(total, exponent, bits, 3)))
    for exponent, whole, mean in results[1:]:
        assert exponent == results[0][0]
        assert same_bits(whole, results[0][1])
        assert same_bits(mean, results[0][2])


@pytest.mark.usefixtures("_threads_back")
def test_one_bad_element_is_seen_in_whichever_part_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALLEST", 7)
    torch.set_num_threads(3)
    for place in range(0, 30, 3):
        x = torch.zeros(30)
        x[place] = 1.0
        assert exponent_of(x) == 1
        assert not bool(quantise_into(torch.zeros(30, dtype=torch.int64), x, 0, 52))
