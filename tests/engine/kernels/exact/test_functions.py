"""Functions are correctly rounded: against mpmath, beside rounding boundaries, at ties, whatever a library errs by."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings, strategies as st
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact import functions, truth
from counterfoil_core.kernels.exact.bracket import bracketed, bracketed_by_torch
from counterfoil_core.kernels.exact.functions import ERROR, FUNCTIONS, evaluate, round_function
from counterfoil_core.kernels.exact.truth import correctly_rounded, power_is
from counterfoil_core.operators.judging.ieee import round_to
from counterfoil_core.operators.pointwise.judge.singles import FUNCTION_KINDS
from support.definite_reference import bits_of, same_bits

MP = mpmath.MPContext()
MP.prec = 700
REFERENCE: dict[str, Any] = {
    **{name: getattr(MP, name) for name in (
        "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
        "asinh", "acosh", "atanh", "erf", "erfc", "sqrt", "atan2",
    )},
    "exp2": lambda x: MP.power(2, x),
    "log2": lambda x: MP.log(x) / MP.log(2),
    "sigmoid": lambda x: MP.exp(x) / (1 + MP.exp(x)),
    "rsqrt": lambda x: MP.sqrt(1 / x),
    "reciprocal": lambda x: 1 / x,
    "pow": MP.power,
    "xlogy": lambda x, y: x * MP.log(y),
}  # fmt: skip
POSITIVE = {"log", "log2", "log10", "sqrt", "rsqrt"}
INTERVALS = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "log1p": (-1, 2**40), "acosh": (1, 2**40)}
OF_ONE = sorted(FUNCTIONS - {"pow", "atan2", "xlogy"})


def expected(kind: str, *operands: float) -> float:
    value = REFERENCE[kind](*map(MP.mpf, operands))
    sign, significand, exponent, _ = value._mpf_
    magnitude = Fraction(int(significand)) * Fraction(2) ** exponent
    return round_to(-magnitude if sign else magnitude, "float32") + 0.0


def arguments(kind: str, count: int, seed: int) -> Tensor:
    """Float32 numbers over the whole range in which a function is neither zero nor infinite nor constant."""
    generator = np.random.default_rng(seed)
    low, high = INTERVALS.get(kind, (0 if kind in POSITIVE else -(2**7), 2**7))
    exponents = generator.integers(-30, 8, count)
    values = np.ldexp(generator.uniform(-2, 2, count), exponents)
    if kind in POSITIVE:
        values = np.abs(np.ldexp(values, generator.integers(-90, 90, count)))
    if kind == "acosh":
        values = 1 + np.abs(values)
    inside = (values > low) & (values < high) if kind in INTERVALS else np.ones(count, bool)
    return torch.from_numpy(values[inside].astype(np.float32))


def closeness(kind: str, *operands: Tensor) -> Tensor:
    """How far float64 values lie from a midpoint of float32, in parts of themselves."""
    wide = functions._LIBRARY[kind](*(x.to(torch.float64) for x in operands))
    single = wide.to(torch.float32)
    away = torch.where(wide > single, math.inf, -math.inf).to(torch.float32)
    middle = (single.to(torch.float64) + torch.nextafter(single, away).to(torch.float64)) / 2
    distance = ((wide - middle) / wide).abs()
    return torch.where(torch.isfinite(distance), distance, torch.ones_like(distance))


def test_every_function_of_one_number_is_there() -> None:
    assert FUNCTIONS == FUNCTION_KINDS


@pytest.mark.parametrize("kind", OF_ONE)
def test_values_beside_rounding_boundaries(kind: str) -> None:
    """Of half a million arguments the 30 closest to a midpoint: nearer than 2^-36, where float32 libraries guess."""
    x = arguments(kind, 1 << 19, 1)
    near = x[closeness(kind, x).topk(30, largest=False).indices]
    assert float(closeness(kind, near).max()) < 2.0**-36
    assert bits_of(evaluate(kind, near)) == bits_of(torch.tensor([expected(kind, v) for v in near.tolist()]))


@pytest.mark.parametrize("kind", OF_ONE)
def test_any_values(kind: str) -> None:
    x = arguments(kind, 150, 2)
    assert bits_of(evaluate(kind, x)) == bits_of(torch.tensor([expected(kind, v) for v in x.tolist()]))


BOUNDARIES = [
    ("exp", (2.0**-24,), 1 + 2.0**-23),  # 1 + 2^-24 + 2^-49: above the midpoint
    ("exp", (-(2.0**-25),), 1.0),  # 1 - 2^-25 + 2^-51: above the midpoint of 1 - 2^-24 and 1
    ("cos", (2.0**-12,), 1.0),  # 1 - 2^-25 + 2^-48 / 24
    ("sigmoid", (2.0**-23,), 0.5),  # 1/2 + 2^-25 - 2^-69 / 48: float64 cannot tell it from the midpoint
    ("sigmoid", (-(2.0**-24),), 0.5),  # 1/2 - 2^-26 + 2^-72 / 48
    ("sigmoid", (3 * 2.0**-23,), 0.5 + 2.0**-24),  # below 1/2 + 3 * 2^-25, whose even neighbour is above
    ("sqrt", (1 + 2.0**-23,), 1.0),  # 1 + 2^-24 - 2^-49
    ("rsqrt", (1 - 2.0**-23,), 1 + 2.0**-23),  # 1 + 2^-24 + 3 * 2^-49
    ("reciprocal", (1 - 2.0**-24,), 1 + 2.0**-23),  # 1 + 2^-24 + 2^-48
    ("pow", (1 + 2.0**-23, 0.5), 1.0),
    ("pow", (1 - 2.0**-24, -1.0), 1 + 2.0**-23),
    ("exp2", (-150.0,), 0.0),  # half of the smallest number: a tie, and zero is even
    ("pow", (4097.0, 2.0), 16785408.0),  # 2^24 + 2^13 + 1: ties between even numbers
    ("pow", (4099.0, 2.0), 16801800.0),  # 16801801: the even half is below
    ("pow", (-4097.0, 2.0), 16785408.0),
    ("pow", (-11.0, 7.0), -19487172.0),  # 11^7 = 19487171
    ("pow", (14641.0, 1.75), 19487172.0),  # the same as (11^4)^(7/4)
    ("pow", (2.0**-75, 2.0), 0.0),
    ("pow", (2.0**-50, 3.0), 0.0),
    ("pow", (3 * 2.0**-75, 2.0), 2.0**-147),  # 4.5 of the smallest number: a tie, four is even
    ("pow", (2.0, -150.0), 0.0),
    ("atan2", (2.0**-149, 2.0), 0.0),  # 2^-150 less a third of 2^-450: below the tie, by no number of bits that is kept
    ("atan2", (3 * 2.0**-149, 2.0), 2.0**-149),  # 1.5 of the smallest number, less 2^-450: not the even neighbour
    ("atan2", (-3 * 2.0**-149, 2.0), -(2.0**-149)),
    ("atan2", (5 * 2.0**-149, 2.0), 2 * 2.0**-149),
]


@pytest.mark.parametrize(("kind", "operands", "value"), BOUNDARIES)
def test_constructed_boundaries(
    kind: str, operands: tuple[float, ...], value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def seen(*args: Any) -> float:
        asked.append(args)
        return correctly_rounded(*args)

    monkeypatch.setattr(functions, "correctly_rounded", seen)
    found = evaluate(kind, *(torch.tensor([x]) for x in operands))
    assert bits_of(found) == bits_of(np.array([value])) == bits_of(np.array([expected(kind, *operands)]))
    assert len(asked) == (kind != "sqrt")  # that one is an instruction of the processor's


@pytest.mark.parametrize("kind", ["exp", "sqrt", "pow", "xlogy"])
def test_pieces_do_not_matter(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces, with doubtful values in several of them; operands with strides, and single numbers."""
    x = torch.linspace(0.5, 3.0, 70_000).view(7, 100, 100).transpose(1, 2)
    doubtful = torch.tensor(2.0**-40 if kind == "exp" else 1 + 2.0**-23)
    x[::2, 3, 4] = doubtful
    others = {"pow": [torch.tensor([0.5])], "xlogy": [x + 1]}.get(kind, [])
    approximate = functions._LIBRARY[kind](*(v.to(torch.float64) for v in (x, *others)))
    operands = tuple(v.expand(x.shape) for v in (x, *others))
    whole = round_function(kind, operands, approximate)
    for piece in (1 << 14, 999):
        monkeypatch.setattr(functions, "_PIECE", piece)
        assert same_bits(evaluate(kind, x, *others), whole)


@pytest.mark.parametrize("low", [0, 0x00800000 - 5_000, 0x3F800000 - 500_000, 0x7F800000 - 500_000])
def test_square_roots_are_the_processors(low: int) -> None:
    """Subnormal numbers, a whole power of four, the end of the range; against float64, whose roots are as exact."""
    x = torch.arange(low, low + 500_000, dtype=torch.int32).view(torch.float32)
    root = np.sqrt(x.numpy().astype(np.float64))
    assert same_bits(evaluate("sqrt", x), torch.from_numpy(root.astype(np.float32)))


def test_float64_alone_is_wrong_somewhere() -> None:
    """The control of all this: rounding the library's float64 again is not correct rounding."""
    x = torch.tensor([3 * 2.0**-23])
    assert evaluate("sigmoid", x) != torch.sigmoid(x.to(torch.float64)).to(torch.float32)


@pytest.mark.parametrize("kind", sorted(FUNCTIONS))
def test_the_library_may_err_as_much_as_it_is_said_to(kind: str) -> None:
    """Values near midpoints, moved by up to ERROR either way, give the same bits; moved farther they do not."""
    x = (arguments(kind, 1 << 18, 3),)
    if kind in {"pow", "atan2", "xlogy"}:
        y = arguments("exp", 1 << 18, 4)
        x = (y, x[0]) if kind == "atan2" else (x[0].abs(), y) if kind == "pow" else (x[0], y.abs())
    near = closeness(kind, *x).topk(200, largest=False).indices
    operands = tuple(v[near] for v in x)
    wide = functions._LIBRARY[kind](*(v.to(torch.float64) for v in operands))
    expected_bits = bits_of(evaluate(kind, *operands))
    for share in (-0.9, -0.5, 0.5, 0.9):
        assert bits_of(round_function(kind, operands, wide * (1 + share * ERROR))) == expected_bits
    beyond = [bits_of(round_function(kind, operands, wide * (1 + far))) for far in (-(2.0**-34), 2.0**-34)]
    assert any(bits != expected_bits for bits in beyond)


@settings(max_examples=60)
@given(st.floats(2.0**-20, 2.0**20, width=32), st.floats(-8, 8, width=32))
def test_powers(x: float, y: float) -> None:
    assert bits_of(evaluate("pow", torch.tensor([x]), torch.tensor([y]))) == bits_of(np.array([expected("pow", x, y)]))


@settings(max_examples=60)
@given(st.floats(-(2.0**20), 2.0**20, width=32), st.floats(-(2.0**20), 2.0**20, width=32))
def test_functions_of_two(x: float, y: float) -> None:
    assume(x and y)
    for kind, operands in (("atan2", (x, y)), ("xlogy", (x, abs(y)))):
        found = evaluate(kind, *(torch.tensor([v]) for v in operands))
        assert bits_of(found) == bits_of(np.array([expected(kind, *operands)]))


@pytest.mark.parametrize(("y", "x"), [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (math.inf, 2.0), (math.inf, -math.inf)])
def test_angles_of_the_axes(y: float, x: float) -> None:
    turns = round(math.atan2(y, x) / (math.pi / 4))
    value = MP.pi * turns / 4
    assert float(evaluate("atan2", torch.tensor([y]), torch.tensor([x]))) == float(np.float32(float(value)))


@given(st.integers(0, 12), st.integers(-40, 40), st.integers(-9, 9), st.integers(0, 3))
def test_whether_a_power_is_a_number(odd: int, exponent: int, n: int, root: int) -> None:
    """Built so that it is; and beside it, where it is not."""
    base = Fraction(2 * odd + 1) * Fraction(2) ** exponent
    x, y = base ** (2**root), Fraction(n, 2**root)
    assume(float(x) == x and n % 2 and (n > 0 or not odd))
    assert power_is(float(x), float(y), base**n)
    assert not power_is(float(x), float(y), base**n * 3)
    assert not power_is(float(x), float(y), base**n * 2)


def test_what_is_no_power_is_told_quickly() -> None:
    assert not power_is(3.0, 1 + 2.0**-23, Fraction(5))
    assert not power_is(3.0, 2.0**100, Fraction(5))
    assert not power_is(3.0, 2.0**-149, Fraction(1))
    assert not power_is(3.0, -1.0, Fraction(1, 4))
    assert power_is(1.0, 2.0**-149, Fraction(1))
    assert power_is(5.0, 0.0, Fraction(1))


# What is no ordinary number.


def test_ends_of_the_range() -> None:
    x = torch.tensor([88.72283, 88.72284, -103.97208, -103.97209, -87.5, 1000.0, -1000.0])
    assert bits_of(evaluate("exp", x)) == bits_of(torch.tensor([expected("exp", v) for v in x.tolist()]))
    assert evaluate("exp2", torch.tensor([-149.99998])).item() == 2.0**-149
    assert evaluate("pow", torch.tensor([2.0**-149]), 0.5).item() == float(np.float32(2.0**-74.5))
    tiny = torch.tensor([2.0**-149, -(2.0**-149), 2.0**-127])
    for kind in ("sin", "tanh", "erf", "expm1", "log1p", "atan", "sinh"):
        assert bits_of(evaluate(kind, tiny)) == bits_of(torch.tensor([expected(kind, v) for v in tiny.tolist()]))
    largest = torch.tensor([torch.finfo(torch.float32).max])
    assert bits_of(evaluate("reciprocal", largest)) == bits_of(np.array([expected("reciprocal", float(largest))]))


def test_infinities_and_nan_are_handed_on() -> None:
    inf, nan = math.inf, math.nan
    assert evaluate("exp", torch.tensor([-inf, inf])).tolist() == [0.0, inf]
    assert evaluate("tanh", torch.tensor([-inf, inf])).tolist() == [-1.0, 1.0]
    assert evaluate("log", torch.tensor([0.0])).tolist() == [-inf]
    bad = evaluate("log", torch.tensor([-1.0, nan]))
    assert torch.isnan(bad).all()
    assert torch.isnan(evaluate("pow", torch.tensor([-2.0]), 0.5)).all()


def test_zeros_have_no_sign() -> None:
    zeros = torch.tensor([-0.0, 0.0])
    for kind in ("sin", "tan", "tanh", "asin", "atan", "sinh", "asinh", "atanh", "erf", "expm1", "log1p", "sqrt"):
        assert bits_of(evaluate(kind, zeros)) == [0, 0], kind
    assert bits_of(evaluate("pow", torch.tensor([-(2.0**-100)]), 3.0)) == [0]
    assert bits_of(evaluate("log", torch.ones(1))) == [0]


def test_shapes_numbers_and_strides() -> None:
    x = arguments("exp", 12, 5)[:12].view(3, 4)
    assert same_bits(evaluate("tanh", x.t()), evaluate("tanh", x).t().contiguous())
    assert same_bits(evaluate("pow", x.abs(), 0.1), evaluate("pow", x.abs(), torch.tensor(0.1)))
    assert evaluate("pow", x.abs(), torch.ones(2, 1, 1)).shape == (2, 3, 4)
    assert evaluate("exp", torch.empty(0, 3)).shape == (0, 3)
    assert same_bits(evaluate("exp", torch.tensor(2.0**-24)), torch.tensor(1 + 2.0**-23))


def test_a_number_in_many_places_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def seen(*args: Any) -> float:
        asked.append(args)
        return correctly_rounded(*args)

    monkeypatch.setattr(functions, "correctly_rounded", seen)
    x = torch.full((300, 300), 2.0**-23)
    x[7] = 3 * 2.0**-23
    found = evaluate("sigmoid", x)
    assert (float(found[0, 0]), float(found[7, 0]), len(found.unique())) == (0.5, 0.5 + 2.0**-24, 2)
    assert len(asked) == 2


def test_doubt_is_rare() -> None:
    """About one value in two million: of a million, a few."""
    x = arguments("exp", 1 << 20, 6)
    wide = torch.exp(x.to(torch.float64))
    below, above = ((wide * (1 + side * ERROR)).to(torch.float32) for side in (-1, 1))
    ordinary = x.abs() > 2.0**-10  # near zero many of them lie beside 1
    assert int(((below != above) & ordinary).sum()) < 20


@given(st.lists(st.floats(), max_size=30), st.sampled_from([ERROR, 2.0**-24, 2.0**-10]))
def test_one_pass_brackets_as_torch_does(values: list[float], error: float) -> None:
    """Every float64, infinite ones and NaN too, and errors so large that many are doubtful."""
    beside = [v * (1 + 2.0**-24) for v in values]
    x = torch.tensor(values + beside, dtype=torch.float64)
    (ours, doubtful), (theirs, expected_doubtful) = bracketed(x, error), bracketed_by_torch(x, error)
    assert torch.equal(doubtful, expected_doubtful)
    number = ~torch.isnan(x)
    assert torch.equal(torch.isnan(ours), ~number)
    assert same_bits(ours[number], theirs[number])


def test_what_no_proof_covers_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a transcendental value a midpoint, nothing would be guessed."""
    monkeypatch.setitem(truth.FUNCTIONS, "exp", lambda x: 1 + MP.mpf(2) ** -24)
    with pytest.raises(AssertionError, match="midpoint"):
        correctly_rounded("exp", 0.5)


# Where a device would have to be waited for.


@pytest.mark.parametrize("kind", ["sqrt", "reciprocal", "rsqrt"])
def test_functions_that_need_no_exact_arithmetic(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.cat([arguments(kind, 3000, 8), torch.tensor([0.0, -0.0, 1.0, 4.0, 2.0**-149, 3.4e38, math.inf, -1.0])])
    wanted = evaluate(kind, x)
    monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    monkeypatch.setattr(functions, "_decide", None)
    assert torch.equal(evaluate(kind, x).nan_to_num(7.5), wanted.nan_to_num(7.5))
    assert not torch.signbit(evaluate("sqrt", torch.tensor(-0.0)))


def test_midpoints_decide_between_two_inverse_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an error that leaves a doubt to every sixteenth value."""
    x = arguments("rsqrt", 3000, 9)
    wanted = evaluate("rsqrt", x)
    monkeypatch.setattr(functions, "ERROR", 2.0**-28)
    monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    below, doubtful = bracketed_by_torch(torch.rsqrt(x.double()), 2.0**-28)
    assert len(doubtful) > 50
    assert same_bits(evaluate("rsqrt", x), wanted)
    assert not same_bits(below, wanted)  # control: what the lower end alone gives
