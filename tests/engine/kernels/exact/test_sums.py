"""Sums: what fractions give, in any order; windows, overlaps, and values that meet at an index."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.kernels.exact import cpusums
from counterfoil_core.kernels.exact.limits import sum_bits, windows_over_one
from counterfoil_core.kernels.exact.quantise import quantise
from counterfoil_core.kernels.exact.sums import (
    running_total,
    total,
    total_by_place,
    total_of_overlaps,
)
from support import definite_reference as reference, kernelrules as rules
from support.definite_reference import same_bits, wild

SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(SINGLES, min_size=1, max_size=20))
def test_the_sum_of_all(values: list[float]) -> None:
    expected = torch.tensor(reference.total(values, sum_bits(len(values))))
    assert same_bits(total(torch.tensor(values)), expected)


@pytest.mark.parametrize("axes", [None, (0,), (1,), (-1,), (0, 2), (1, 2), ()])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_over_axes_have_exponents_of_their_own(axes: tuple[int, ...] | None, keepdim: bool) -> None:
    x = wild((3, 4, 5), 1)
    summed = tuple(range(3)) if axes is None else tuple(a % 3 for a in axes)
    kept = [a for a in range(3) if a not in summed]
    rows = x.numpy().transpose(*kept, *summed).reshape(*(x.shape[a] for a in kept), -1)
    count = math.prod(x.shape[a] for a in summed)
    expected = np.array([reference.total(row, sum_bits(count)) for row in rows.reshape(-1, count)], np.float32)
    shape = [1 if a in summed and keepdim else x.shape[a] for a in range(3) if keepdim or a in kept]
    assert same_bits(total(x, axes, keepdim=keepdim), torch.from_numpy(expected).reshape(shape))


@pytest.mark.parametrize(
    "shape", [(7,), (1, 9, 1), (3, 50), (50, 3), (4, 3, 70), (2, 3, 4, 5), (3, 1, 4), (2, 3, 2, 3, 2), (0, 3), (3, 0)]
)
def test_kernels_give_the_bits_of_torchs_operators(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every choice of axes; rows of zeros, of subnormal numbers, of the largest; terms that cancel."""
    x = wild(shape, 5)
    flat = x.view(-1)
    flat[::5] = torch.tensor([0.0, 2.0**-149, -3.4e38, 2.0**-130])[torch.arange(len(flat[::5])) % 4]
    flat[1::5] = -flat[::5][: len(flat[1::5])]
    for count in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            with monkeypatch.context() as patch:
                patch.setattr(cpusums, "takes", lambda *_: False)
                expected = total(x, axes, keepdim=True)
            assert same_bits(total(x, axes, keepdim=True), expected)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("axes", [None, (0,), (1,), (0, 2)])
def test_kernels_refuse_what_is_not_finite(axes: tuple[int, ...] | None, bad: float) -> None:
    x = wild((3, 70, 5), 6)
    assert cpusums.takes(x, axes or (0, 1, 2))
    x[2, 69, 4] = bad
    with pytest.raises(NonFiniteError):
        total(x, axes)


def test_sums_of_as_many_bits_as_there_are() -> None:
    """Terms of the largest magnitude: 2^b units each, n of them, of one sign and of both."""
    x = torch.full((2, 1 << 12), 2.0**127)
    x[1, 1:] = -x[1, 1:]
    x[:, 0] = torch.finfo(torch.float32).max
    small = x * 2.0**-20
    expected = [reference.total(row.tolist(), sum_bits(row.numel())) for row in small]
    assert total(small, (1,)).tolist() == expected


def test_a_row_of_small_numbers_is_summed_as_if_alone() -> None:
    rows = torch.cat((wild((1, 500), 1, 60, 70), wild((1, 500), 2, -70, -60)))
    assert same_bits(total(rows, (1,))[1], total(rows[1]))


def test_the_order_of_terms_does_not_show() -> None:
    x = wild((100_003,), 3, -12, 12)
    expected = total(x)
    generator = torch.Generator().manual_seed(0)
    orders = [torch.arange(len(x) - 1, -1, -1), *(torch.randperm(len(x), generator=generator) for _ in range(3))]
    assert all(same_bits(total(x[order]), expected) for order in orders)
    exact = quantise(x, sum_bits(len(x))).values
    assert len({float(exact[order].sum()) for order in orders}) == 1
    assert len({float(x.to(torch.float64)[order].cumsum(0)[-1]) for order in orders}) > 1  # control: unquantised
    assert len({float(x[order].sum()) for order in orders}) > 1  # control: float32


def test_one_bit_more_is_inexact() -> None:
    """2^20 terms of 33 bits are exact, and of 34 bits not: the running sum passes 2^53."""
    count = 1 << 20
    bits = sum_bits(count)
    assert bits == 33
    for extra, exact in ((0, True), (1, False)):
        terms = torch.full((count,), 2.0 ** (bits + extra), dtype=torch.float64)
        terms[0] = 1 - terms[1]  # so that the sum is odd
        forwards, backwards = terms.cumsum(0)[-1], terms.flip(0).cumsum(0)[-1]
        true = (count - 1) * 2 ** (bits + extra) + 1 - 2 ** (bits + extra)
        assert (int(forwards) == true and int(backwards) == true) == exact


@pytest.fixture
def _threads_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads_back")
def test_the_number_of_threads_does_not_show() -> None:
    x, found = wild((400, 1001), 4, -9, 9), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append((total(x), total(x, (0,)), total(x, (1,)), running_total(x, 0)))
    assert all(same_bits(a, b) for a, b in zip(*found, strict=True))


def test_zeros_and_nothing_and_what_vanishes() -> None:
    for x in (torch.tensor([-0.0, -0.0]), torch.empty(0), torch.tensor([1e30, -1e30])):
        assert same_bits(total(x), torch.tensor(0.0))
    assert same_bits(total(torch.empty(2, 0, 3), (1,)), torch.zeros(2, 3))
    largest = torch.finfo(torch.float32).max
    assert total(torch.tensor([largest, largest])).item() == math.inf
    assert total(torch.tensor([largest, largest, -largest])).item() == largest


def test_what_is_not_finite_is_refused() -> None:
    for bad in (math.inf, math.nan):
        with pytest.raises(NonFiniteError):
            total(torch.tensor([1.0, bad]))


@given(st.lists(SINGLES, min_size=1, max_size=12))
def test_running_sums(values: list[float]) -> None:
    e, bits = rules.shared_exponent(values), sum_bits(len(values))
    expected = [reference.total(values[: i + 1], bits, e) for i in range(len(values))]
    assert same_bits(running_total(torch.tensor(values), 0), torch.tensor(expected))


# Values that meet at an index.


@given(st.data())
def test_values_that_meet(data: st.DataObject) -> None:
    size, count, width = (data.draw(st.integers(low, high)) for low, high in ((1, 5), (1, 9), (1, 3)))
    places = data.draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count))
    seed = data.draw(st.integers(0, 2**32 - 1))
    values = wild((count, width), seed)
    for base in (None, wild((size, width), seed + 1)):
        found = total_by_place(values, torch.tensor(places), size, count, base)
        bits = sum_bits(count + (base is not None))
        every = values.flatten().tolist() + ([] if base is None else base.flatten().tolist())
        e = rules.shared_exponent(every)
        expected = [
            [
                reference.total(
                    [float(values[i, j]) for i in range(count) if places[i] == place]
                    + ([] if base is None else [float(base[place, j])]),
                    bits,
                    e,
                )
                for j in range(width)
            ]
            for place in range(size)
        ]
        assert same_bits(found, torch.tensor(expected))


def test_the_order_of_values_that_meet_does_not_show() -> None:
    values, places = wild((5000, 3), 5, -9, 9), torch.arange(5000) % 7
    expected = total_by_place(values, places, 7, 5000)
    order = torch.randperm(5000, generator=torch.Generator().manual_seed(0))
    assert same_bits(total_by_place(values[order], places[order], 7, 5000), expected)
    plain = [torch.zeros(7, 3).index_add(0, places[o], values[o]) for o in (torch.arange(5000), order)]
    assert not torch.equal(*plain)  # control


def test_more_may_not_meet_than_was_said() -> None:
    with pytest.raises(AssertionError, match="more values meet than the 2 "):
        total_by_place(torch.ones(3), torch.zeros(3, dtype=torch.int64), 1, 2)
    with pytest.raises(ProgramError):
        total_by_place(torch.ones(3), torch.zeros(3, dtype=torch.int64), 1, 2**29 + 1)


# Windows.

GEOMETRIES = [
    ((2,), (1,), (0,), (1,)),
    ((3,), (2,), (1,), (2,)),
    ((3,), (3,), (1,), (3,)),
    ((2, 3), (1, 2), (1, 0), (2, 1)),
    ((3, 3), (2, 2), (1, 1), (1, 1)),
    ((2, 2, 1), (2, 1, 1), (0, 1, 0), (1, 1, 1)),
]


def places_of(
    size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> dict[tuple[int, ...], list[tuple[int, ...] | None]]:
    """For each position, the place under each element of its window; None in the padding."""
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    found = {}
    for position in itertools.product(*map(range, counts)):
        under = []
        for tap in itertools.product(*map(range, kernel)):
            place = tuple(
                w * s + t * d - p for w, t, s, d, p in zip(position, tap, stride, dilation, padding, strict=True)
            )
            under.append(place if all(0 <= i < n for i, n in zip(place, size, strict=True)) else None)
        found[position] = under
    return found


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_sums_of_overlaps(geometry: tuple[tuple[int, ...], ...]) -> None:
    kernel, stride, padding, dilation = geometry
    size = tuple(range(7, 7 + len(kernel)))
    under = places_of(size, kernel, stride, padding, dilation)
    counts = [max(axis) + 1 for axis in zip(*under, strict=True)]
    g = wild((2, *counts, *kernel), 7)
    meeting = windows_over_one(kernel, stride, dilation)
    e, bits = rules.shared_exponent(g.flatten().tolist()), sum_bits(meeting)
    expected = torch.zeros(2, *size)
    for plane in range(2):
        flat = g[plane].reshape(math.prod(counts), -1)
        terms: dict[tuple[int, ...], list[float]] = {}
        for row, places in zip(flat.tolist(), under.values(), strict=True):
            for value, place in zip(row, places, strict=True):
                if place is not None:
                    terms.setdefault(place, []).append(value)
        for place, met in terms.items():
            assert len(met) <= meeting
            expected[(plane, *place)] = reference.total(met, bits, e)
    assert same_bits(total_of_overlaps(g, size, stride, padding, dilation), expected)


def test_the_adjoint_of_unfolding_is_torchs() -> None:
    g = torch.arange(2.0 * 12 * 20).reshape(2, 12, 20)
    shaped = g.view(2, 3, 2, 2, 4, 5).permute(0, 1, 4, 5, 2, 3)
    found = total_of_overlaps(shaped.contiguous(), (5, 6), (1, 1), (0, 0), (1, 1))
    assert torch.equal(found, torch.nn.functional.fold(g, (5, 6), (2, 2)))


def test_a_sum_is_rounded_once() -> None:
    """Terms whose float32 sum in any order would round twice."""
    x = torch.tensor([1.0, 2.0**-24, 2.0**-48])
    assert total(x).item() == 1 + 2.0**-23
    assert float((x[0] + x[1]) + x[2]) == 1.0  # control
    assert Fraction(total(x).item()) == rules.single(Fraction(1) + Fraction(2) ** -24 + Fraction(2) ** -48)
