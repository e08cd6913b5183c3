"""Every form of a rule against that rule on Python's integers, element by element, and at the edges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.directions import apply_directions
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cpu.rounding import CpuKernel, mix_values
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact import digitproducts
from counterfoil_core.kernels.exact.digits import KARATSUBA_BLOCK, digit_count, recombine, split
from counterfoil_core.kernels.exact.philox import philox4x32, words, words_by_torch
from counterfoil_core.kernels.exact.products import Form, matmul
from counterfoil_core.kernels.exact.quantise import quantise
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.kernels.result import Rounded
from counterfoil_core.kernels.torch.rounding import TorchKernel, mix
from support import kernelrules as rules
from support.definite_reference import bits_of

TRITON = find_spec("triton") is not None
DEVICE = "cuda:0" if TRITON and torch.cuda.is_available() else "cpu"
FORMS, DEVICES = ["cpu", "torch"], [DEVICE]
if TRITON:
    from support.triton_device import DEVICES, GPU, on_machine

    FORMS += [pytest.param("triton", marks=GPU), *on_machine("triton")]
else:
    FORMS.append(pytest.param("triton", marks=pytest.mark.skip(reason="there is no Triton here")))
KEYS = [0, 0xF123456789ABCDEF, 2**64 - 1]
TINY = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, -(2.0**-1023), 2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-127)]
GRIDS = [
    Grid(exponent, p, guard, margin)
    for exponent, p, guard, margin in [
        (0, 24, 8, 44), (3, 24, 8, 36), (-140, 24, 8, 44), (100, 18, 8, 38), (-1, 8, 4, 16), (5, 21, 0, 40),
        (-118, 8, 4, 14), (-32768, 24, 8, 44),
    ]
]  # fmt: skip


# The rules themselves.

GRID = GRIDS[0]


def test_ties_go_to_even() -> None:
    u = 2.0**-23
    found = [rules.rounded(value, GRID) for value in (1 + u / 2, 1 + 3 * u / 2, -1 - u / 2, -1 - 3 * u / 2)]
    assert [(one.value, one.is_up) for one in found] == [(1, False), (1 + 2 * u, True), (-1, True), (-1 - 2 * u, False)]
    assert [one.other for one in found] == [1 + u, 1 + u, -1 - u, -1 - u]
    assert all(one.distance == 0 for one in found)


@pytest.mark.parametrize("exponent", [-8, -1, 0, 1])
def test_the_grid_is_finer_below_a_power_of_two_down_to_its_floor(exponent: int) -> None:
    assert rules.rounded(2.0**exponent * (1 - 2.0**-25), GRID).value == 2.0**exponent
    representable = 2.0**exponent * (1 - 2.0**-24)
    assert (rules.rounded(representable, GRID).value == representable) == (exponent > -8)
    unit = 2.0 ** (0 - 8 - 23)
    assert [rules.rounded(unit * share, GRID).value for share in (0.49, 0.51, 2.51)] == [0, unit, 3 * unit]


def test_float32s_subnormals_are_the_finest_grid() -> None:
    values = [rules.rounded(2.0**-149 * share, GRIDS[2]).value for share in (1.4, 0.6, 0.4, -0.4)]
    assert [value.hex() for value in values] == [one.hex() for one in (2.0**-149, 2.0**-149, 0.0, 0.0)]


def test_one_rounding_to_float32_is_numpys() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 2**64, 3000, np.uint64).view(np.float64)
    near = np.ldexp(rng.integers(2**24, 2**26, 3000) * 2 + 1.0, rng.integers(-180, 105, 3000))
    largest = float(np.finfo(np.float32).max)
    edges = [*TINY, largest, 2.0**128 - 2.0**103, math.nextafter(2.0**128 - 2.0**103, 0), -(2.0**128)]
    values = [value for value in [*drawn.tolist(), *near.tolist(), *edges] if math.isfinite(value)]
    with np.errstate(over="ignore"):
        expected = np.array(values).astype(np.float32) + np.float32(0)
    assert bits_of(np.array([rules.single(Fraction(value)) for value in values])) == bits_of(expected)


# Rounding.


def kernel_of(form: str) -> tuple[Callable[..., Rounded], str]:
    if form == "triton":
        from counterfoil_core.kernels.cuda.rounding import TritonKernel

        return TritonKernel().round, DEVICE
    return (CpuKernel(1).round, "") if form == "cpu" else (TorchKernel().round, "cpu")


def round_by(form: str, values: np.ndarray, grid: Grid, tau: float, key: int) -> tuple[np.ndarray, Rounded]:
    round_all, device = kernel_of(form)
    if not device:
        here = values.copy()
        return here, round_all(here, grid, tau, key)
    there = torch.from_numpy(values.copy()).to(device)
    found = round_all(there, grid, tau, key)
    return there.cpu().numpy(), found


def around(grid: Grid, seed: int, count: int = 60) -> np.ndarray:
    """Points and midpoints of a grid; the ends of tau/4, tau and 2 tau about midpoints; one ulp on either side; any."""
    rng = np.random.default_rng(seed)
    p = grid.significand_bits
    exponents = rng.integers(grid.floor_exponent - 3, max(grid.floor_exponent, grid.exponent) + 2, count)
    units = np.ldexp(1.0, np.maximum(exponents, grid.floor_exponent) - p + 1)
    multiples = rng.integers(2 ** (p - 1), 2**p, count) * rng.choice([-1, 1], count)
    powers = np.ldexp(rng.choice([-1.0, 1.0], count), exponents)
    points, midpoints = multiples * units, (multiples + 0.5) * units
    ends = [midpoints + sign * share * grid.tau for sign in (-1, 1) for share in (0.25, 1, 2)]
    exact = np.concatenate([points, midpoints, powers, *ends])
    drawn = rng.standard_normal(count) * units * 2.0 ** rng.integers(-3, p + 2, count)
    beside = (np.nextafter(exact, np.inf), np.nextafter(exact, -np.inf))
    return np.concatenate([exact, *beside, drawn, TINY])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_rounding(form: str, grid: Grid) -> None:
    values = around(grid, grid.exponent + 40000)
    expected = [rules.rounded(value, grid) for value in values.tolist()]
    for share, key in zip((1.0, 0.25, 2.0), KEYS, strict=True):
        near = [one.distance <= Fraction(grid.tau * share) for one in expected]
        after, found = round_by(form, values, grid, grid.tau * share, key)
        assert [value.hex() for value in after.tolist()] == [one.value.hex() for one in expected]
        assert found.indices.tolist() == np.flatnonzero(near).tolist()
        assert found.ups.tolist() == [one.is_up for one in itertools.compress(expected, near)]
        assert found.fingerprint == rules.fingerprint([one.value for one in expected], key)
        assert found.largest == max(abs(one.value) for one in expected)
        assert found.largest_exponent == rules.floor_log2(max(abs(Fraction(value)) for value in values.tolist()))
        assert grid.exponent == -32768 or sum(near) > 100


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("grid", [GRIDS[4], GRIDS[6]], ids=str)
def test_float32_values_round_as_their_float64_forms_do(form: str, grid: Grid) -> None:
    values = around(grid, 7).astype(np.float32)
    expected = [rules.rounded(value, grid) for value in values.tolist()]
    after, found = round_by(form, values, grid, grid.tau, KEYS[1])
    assert after.dtype == np.float32
    assert [value.hex() for value in after.tolist()] == [one.value.hex() for one in expected]
    assert found.fingerprint == rules.fingerprint([one.value for one in expected], KEYS[1])
    assert found.indices.tolist() == [i for i, one in enumerate(expected) if one.distance <= Fraction(grid.tau)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_shows_in_the_largest_exponent(form: str, bad: float) -> None:
    _, found = round_by(form, np.array([1.0, bad, 2.0]), GRID, GRID.tau, KEYS[1])
    assert found.largest_exponent == 1024


# Logged directions.


def directed_by_triton(
    own: np.ndarray, rounded: np.ndarray, ups: np.ndarray, grid: Grid, dtype: torch.dtype, device: str
) -> Tensor:
    """Round and direct in one pass, with a log of all elements."""
    from counterfoil_core.kernels.cuda.rounding import SLOTS, Directions, GridChoice, Pass, Slot

    slot = torch.zeros(SLOTS, dtype=torch.int64, device=device)
    slot[Slot.KEY], slot[Slot.GIVEN] = KEYS[1] - 2**64, grid.exponent
    values = torch.from_numpy(own.copy()).to(dtype).to(device)
    log = torch.from_numpy(2 * np.arange(own.size) + ups).to(device)
    bits, before, entries = (torch.zeros(own.size, dtype=torch.int64, device=device) for _ in range(3))
    size = 0.0 if grid.exponent == -32768 else 2.0**grid.exponent
    scale = DeviceNumber.read(torch.tensor(size, dtype=torch.float64, device=device))
    choice = GridChoice(scale, grid.guard_bits, grid.margin_bits, Directions(log, bits, before, grid.margin_bits))
    Pass(grid.significand_bits).round(values, slot, entries, torch.zeros_like(slot[:1]), choice=choice)
    found = values.double().cpu()
    assert (int(slot[Slot.EXPONENT]), int(slot[Slot.FLOOR])) == (grid.exponent, grid.floor_biased)
    assert bits.cpu().numpy().view(np.float64).tobytes() == own.tobytes()
    finite = np.isfinite(own)
    assert before.cpu().numpy().view(np.float64)[finite].tobytes() == rounded[finite].tobytes()
    assert int(slot[Slot.FINGERPRINT]) % 2**64 == rules.fingerprint(found.tolist(), KEYS[1])
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_logged_directions(grid: Grid, device: str) -> None:
    """Both directions of all, so also of what lies 2 tau from a midpoint, and one ulp nearer and further."""
    own = np.repeat(np.concatenate([around(grid, grid.exponent + 50000), [math.inf, -math.inf]]), 2)
    ups = np.arange(own.size) % 2 == 1
    expected = [rules.directed(value, up, grid) for value, up in zip(own.tolist(), ups.tolist(), strict=True)]
    rounded = np.array([value if math.isinf(value) else rules.rounded(value, grid).value for value in own.tolist()])
    counts, after, changed = apply_directions(own, rounded, ups, grid, 0.75)
    assert [value.hex() for value in after.tolist()] == [value.hex() for value in expected]
    assert changed.tolist() == [here != there for here, there in zip(rounded.tolist(), expected, strict=True)]
    assert grid.exponent == -32768 or min(counts.corrections, counts.contradictions) > 100
    if TRITON:
        for dtype in (torch.float64, torch.float32):
            # Of float32 those that are such numbers, and whose own rounding and direction are.
            fits = [
                i
                for i, each in enumerate(zip(own.tolist(), rounded.tolist(), expected, strict=True))
                if all(torch.tensor(one, dtype=dtype).item() == one for one in each)
            ]
            assert len(fits) > 100
            found = directed_by_triton(own[fits], rounded[fits], ups[fits], grid, dtype, device)
            assert [value.hex() for value in found.tolist()] == [expected[i].hex() for i in fits]


# Fingerprints and draws.


@pytest.mark.often
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("key", KEYS)
def test_fingerprints(key: int, device: str) -> None:
    values = [*TINY, 1.5, -math.inf, math.inf, *np.random.default_rng(2).standard_normal(50).tolist()]
    bits, indices = np.array(values).view(np.int64), [0, 1, 2**31, 2**46 - 1, *range(7, 7 + len(values) - 4)]
    terms = [rules.mixed(int(b) % 2**64, i, key) for b, i in zip(bits, indices, strict=True)]
    found = mix(torch.from_numpy(bits), torch.tensor(indices), key)
    assert [int(term) % 2**64 for term in found] == terms
    assert int(mix_values(np.array(values), np.array(indices), np.uint64(key))) == sum(terms) % 2**64
    strange = np.array([*values, math.nan, -math.nan])
    expected = rules.fingerprint(strange.tolist(), key), False
    integers = sum(rules.mixed(int(b) % 2**64, i, key) for i, b in enumerate(bits)) % 2**64
    assert CpuKernel(1).fingerprint_finite(strange, key) == expected
    assert TorchKernel().fingerprint_finite(torch.from_numpy(strange), key) == expected
    assert CpuKernel(1).fingerprint(bits.view(np.uint64), key) == integers
    assert TorchKernel().fingerprint(torch.from_numpy(bits), key) == integers
    if TRITON:
        from counterfoil_core.kernels.cuda.rounding import TritonKernel

        assert TritonKernel().fingerprint_finite(torch.from_numpy(strange).to(device), key) == expected
        assert TritonKernel().fingerprint(torch.from_numpy(bits).to(device), key) == integers


@pytest.mark.parametrize("seed", [0, 2**32 - 1, 0xA4093822299F31D0, 2**64 - 1])
@pytest.mark.parametrize("first", [0, 2**32 - 2])
def test_draws(seed: int, first: int) -> None:
    step, draw, blocks = 2**32 - 1, 0x13198A2E, range(first, first + 4)
    key = (seed % 2**32, seed >> 32)
    counters = [(block % 2**32, block >> 32, step, draw) for block in blocks]
    expected = [rules.philox(counter, key) for counter in counters]
    flat = [word for four in expected for word in four]
    assert [philox4x32(counter, key) for counter in counters] == expected
    assert words_by_torch(blocks, seed=seed, step=step, draw=draw, device="cpu").tolist() == flat
    for upper in (1, 24, 31, 32):
        found = words(blocks, seed=seed, step=step, draw=draw, device="cpu", upper=upper)
        assert found.tolist() == [word >> (32 - upper) for word in flat]


# The exact profiles.


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which form computes: compiled loops, torch's operators, or Triton's kernels."""
    if request.param != "cpu":
        monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    if request.param == "triton":
        monkeypatch.setattr(devices, "triton_reaches", lambda device: True)
    return str(request.param)


@pytest.mark.parametrize("bits", [1, 8, 13, 20, 51])
def test_quantising(form: str, bits: int) -> None:
    rng = np.random.default_rng(bits)
    ties = np.ldexp(rng.integers(-(2 ** min(bits, 20)), 2 ** min(bits, 20), 40) + 0.5, -min(bits, 20))
    just_below, largest = float(np.nextafter(np.float32(1), np.float32(0))), float(np.finfo(np.float32).max)
    rows = [ties.tolist(), rng.standard_normal(40).tolist(), [just_below, *TINY], TINY, [largest, *TINY], [-0.0, 0.0]]
    for values in rows:
        x = torch.tensor(values, dtype=torch.float32)
        found = quantise(x.to(DEVICE if form == "triton" else "cpu"), bits)
        exponent = rules.shared_exponent(x.tolist())
        assert int(found.exponents) == exponent
        expected = [rules.quantised(value, exponent, bits) * rules.power(exponent - bits) for value in x.tolist()]
        assert [value.hex() for value in found.values.tolist()] == [float(value).hex() for value in expected]


EDGES = [-64, -63, -1, 0, 1, 62, 63]
"""Digits but the highest, which may be 64 as well."""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_digits(count: int, device: str) -> None:
    bits = 7 * count - 1
    every = [rules.recombined(row) for row in itertools.product(*[EDGES] * (count - 1), [*EDGES, 64])]
    integers = [n for n in every if abs(n) <= 2**bits]
    rows = [rules.digits(n, digit_count(bits)) for n in integers]
    assert [rules.recombined(row) for row in rows] == integers
    assert {digit for row in rows for digit in row[:-1]} <= set(EDGES)
    assert max(row[-1] for row in rows) == 64
    for dtype in (torch.int32, torch.int64):
        digits = split(torch.tensor(integers, dtype=dtype), bits)
        assert [list(row) for row in zip(*(digit.tolist() for digit in digits), strict=True)] == rows
        assert recombine(digits).tolist() == integers
    planes = [list(plane) for plane in zip(*rows, strict=True)]
    planes += [[a + b for a, b in zip(*two, strict=True)] for two in itertools.combinations(planes, 2)]
    # In units of 2^-bits; a magnitude of 1 would make the unit twice as large.
    inside = [place for place, n in enumerate(integers) if abs(n) < 2**bits]
    x = torch.tensor([[integers[place] / 2**bits for place in inside]])
    expected = [[plane[place] for place in inside] for plane in planes]
    if count > 1:
        cut = digitproducts.cut(x, bits)
        assert cut.unit == -bits
        assert cut.planes[:, 0].tolist() == expected


@pytest.mark.parametrize("bits", [13, 20])
@pytest.mark.parametrize("inner", [KARATSUBA_BLOCK, KARATSUBA_BLOCK + 1, 2 * KARATSUBA_BLOCK + 7])
def test_products_of_the_largest_digits_at_the_length_of_a_block(bits: int, inner: int) -> None:
    """Each digit -64 or 63, and sums of two -128, in every term; and sums beyond 2^53, which are rounded to odd."""
    count = digit_count(bits)
    lowest, highest = (rules.recombined([*[digit] * (count - 1), 63 * sign]) for digit, sign in ((-64, -1), (63, 1)))
    lowest_of_all = max(rules.recombined([-64] * count), -(2**bits) + 1)
    left, right = (lowest, highest, lowest_of_all), (lowest, highest, lowest_of_all, 2**bits - 1)
    a = torch.tensor(left, dtype=torch.float32)[:, None].repeat(1, inner)
    b = torch.tensor(right, dtype=torch.float32)[None, :].repeat(inner, 1)
    a[:, 0] += 1
    a[0, 0], b[0, 0] = 2.0**bits - 1, 2.0**bits - 1  # of one exponent
    columns = [[int(v) for v in column] for column in b.t()[:, :2].tolist()]
    expected = [
        [
            rules.single(Fraction(int(a[i, 0]) * columns[j][0] + (inner - 1) * int(a[i, 1]) * columns[j][1]))
            for j in range(len(right))
        ]
        for i in range(len(left))
    ]
    for form in Form:
        assert matmul(a, b, bits, form).tolist() == expected, form
