"""The kernels of the exact profiles for CUDA devices: the bits of the CPU's forms and of fractions, for every input."""

from __future__ import annotations

import errno
import itertools
import math
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings, strategies as st
from torch import Tensor
from triton.runtime.errors import OutOfResources, PTXASError

from counterfoil_core.arithmetic import machine
from counterfoil_core.base.errors import MemoryShortageError, NonFiniteError, ObstacleError, ProgramError, RefusedError
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.carriers import Carrier, carrier_of
from counterfoil_core.kernels.cuda import exact, philox as cuda_philox, products as cuda_products
from counterfoil_core.kernels.exact import device_products, digits, elementwise, forms, philox, products, sums
from counterfoil_core.kernels.exact.bracket import ROOM, bracketed, bracketed_by_torch
from counterfoil_core.kernels.exact.convolutions import convolution, input_gradient, weight_gradient
from counterfoil_core.kernels.exact.forms import is_sound, sound_forms
from counterfoil_core.kernels.exact.functions import evaluate
from counterfoil_core.kernels.exact.geometry import Geometry, runs
from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.kernels.exact.quantise import exponents_of, quantise
from counterfoil_core.kernels.exact.refusals import Noted, note_refusals
from counterfoil_core.kernels.exact.rows import row_frexp
from support import definite_reference as reference, kernelrules as rules
from support.definite_reference import bits_of, same_bits, wild
from support.triton_device import DEVICES, ON_DEVICE

FORM = Form.TENSOR_CORES
pytestmark = pytest.mark.parametrize("device", DEVICES)
EDGES = [0.0, -0.0, 2.0**-149, -(2.0**-149), 3 * 2.0**-149, 2.0**-127, 2.0**-126, -1.0, 1.5, math.ldexp(2**24 - 1, 104)]
SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from(EDGES)
CHEAP = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def _reached(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where there is no device, the CPU's tensors take its way."""
    if not ON_DEVICE:
        there(monkeypatch)
        mark = request.node.get_closest_marker("ptx")
        carrier = carrier_of(divmod(mark.args[0], 10)) if mark else Carrier.INT8
        monkeypatch.setattr(device_products, "_carrier", lambda _device: carrier)
    yield
    digits.forget()


def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    monkeypatch.setattr(devices, "triton_reaches", lambda device: True)


def on_cpu(function, *arguments):
    """What the CPU's compiled loops, or torch's operators beside them, give."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "loops_reach", lambda device: device.type == "cpu")
        patch.setattr(devices, "triton_reaches", lambda device: False)
        return function(*arguments)


def flag_on(device: str) -> Tensor:
    return torch.zeros(1, dtype=torch.int32, device=device)


def whole_largest(x: Tensor) -> Tensor:
    return exact.largest(x.contiguous(), (1, 1, 1, x.numel()))


# Quantising.


@pytest.mark.parametrize("shape", [(4, 1, 3, 2), (3000,), (70, 90)])
def test_axes_that_share_an_exponent(device: str, shape: tuple[int, ...]) -> None:
    x = wild(shape, 9)
    x.view(-1)[:3] = torch.tensor([2.0**-149, 2.0**-126, 0.0])
    for axes in itertools.chain.from_iterable(
        itertools.combinations(range(len(shape)), n) for n in range(len(shape) + 1)
    ):
        for y in (x, x.mT.contiguous().mT if x.dim() > 1 else x, torch.stack((x, x), -1)[..., 0]):
            found, expected = quantise(y.to(device), 13, axes), on_cpu(quantise, x, 13, axes)
            assert torch.equal(found.exponents.cpu(), expected.exponents)
            assert found.values.cpu().contiguous().numpy().tobytes() == expected.values.contiguous().numpy().tobytes()


def test_axes_that_alternate_too_often_take_torchs_operators(device: str) -> None:
    x, axes = wild((2, 2, 2, 2, 2), 3), (0, 2, 4)
    assert len(runs(x.shape, axes)) > 4
    found, expected = quantise(x.to(device), 20, axes), on_cpu(quantise, x, 20, axes)
    assert torch.equal(found.values.cpu(), expected.values)


@pytest.mark.often
def test_control_one_flipped_bit_shows(device: str) -> None:
    x = wild((6, 7), 5)
    expected = on_cpu(quantise, x, 24)
    patterns = x.clone().view(torch.int32)
    place = int(x.abs().argmax())
    patterns.view(-1)[place] ^= 1
    found = quantise(patterns.view(torch.float32).to(device), 24)
    assert not torch.equal(found.values.cpu(), expected.values)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_refused(device: str, bad: float) -> None:
    x = wild((40, 70), 1).to(device)
    x[33, 5] = bad
    for axes in (None, (0,)):
        with pytest.raises(NonFiniteError, match="infinite or not a number"):
            quantise(x, 20, axes)
    for operands in ((x, wild((70, 3), 2).to(device)), (wild((3, 40), 2).to(device), x)):
        with pytest.raises(NonFiniteError, match="infinite or not a number"):
            products.matmul(*operands, 20, FORM)


@pytest.mark.often
def test_what_is_not_finite_is_noted_for_later(device: str) -> None:
    x, y = wild((5, 6), 1).to(device), wild((6, 4), 2).to(device)
    noted = Noted()
    with note_refusals(noted):
        products.matmul(x, y, 20, FORM)
        quantise(x, 20, (1,))
        assert [bool(wrong) for wrong in noted.raised()] == [False]
        x[2, 3] = math.inf
        products.matmul(x, y, 20, FORM)
        assert [bool(wrong) for wrong in noted.raised()] == [True]
    by_torch = Noted()
    with note_refusals(by_torch):
        exponents_of(x)
    assert [bool(wrong) for wrong in by_torch.raised()] == [True]
    with pytest.raises(NonFiniteError):
        exponents_of(x)


# From sums of products of digits to float32.


@triton.jit
def _round(totals, exponents, result):
    place = tl.program_id(0) + tl.arange(0, 1)
    e = tl.load(exponents + tl.program_id(0))
    tl.store(result + place, cuda_products._rounded(tl.load(totals + place), e))


@CHEAP
@given(
    integers=st.lists(st.integers(-(2**62), 2**62) | st.integers(-(2**30), 2**30), min_size=1, max_size=16),
    exponents=st.lists(st.integers(-340, 240) | st.integers(-190, -140), min_size=16, max_size=16),
)
def test_totals_are_rounded_once(device: str, integers: list[int], exponents: list[int]) -> None:
    totals = torch.tensor((integers * 16)[:16])
    result = torch.empty(16, device=device)
    _round[(16,)](totals.to(device), torch.tensor(exponents, dtype=torch.int32).to(device), result)
    single = [rules.single(Fraction(n) * Fraction(2) ** e) for n, e in zip(totals.tolist(), exponents, strict=True)]
    assert bits_of(result.cpu()) == bits_of(np.array(single))


# Products.


@CHEAP
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 5)),
    bits=st.sampled_from([8, 13, 17, 20, 22, 24]),
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([1, 30, 120]),
)
def test_products(device: str, shape: tuple[int, int, int], bits: int, seed: int, spread: int) -> None:
    m, k, n = shape
    a, b = wild((m, k), seed, -spread, spread), wild((k, n), seed + 1, -spread, 30 - spread // 4)
    expected = torch.from_numpy(reference.matmul(a.numpy(), b.numpy(), bits))
    assert same_bits(products.matmul(a.to(device), b.to(device), bits, FORM).cpu(), expected)
    turned = b.t().contiguous().to(device).t()
    assert same_bits(products.matmul(a.to(device), turned, bits, FORM).cpu(), expected)
    assert same_bits(on_cpu(products.matmul, a, b, bits, Form.KARATSUBA), expected)


def test_larger_products_and_batches(device: str) -> None:
    a, b = wild((2, 40, 150), 1, -3, 3), wild((2, 150, 20), 2, -3, 3)
    expected = on_cpu(products.matmul, a, b, 20, Form.KARATSUBA)
    assert same_bits(products.matmul(a.to(device), b.to(device), 20, FORM).cpu(), expected)
    a[1, 39, 149] = -a[1, 39, 149] + 1  # control
    assert not same_bits(products.matmul(a.to(device), b.to(device), 20, FORM).cpu(), expected)


def test_a_sum_that_is_too_long_for_the_profile_is_refused(device: str) -> None:
    with pytest.raises(ProgramError, match="terms"):
        products.matmul(torch.ones(1, 2**18 + 1).to(device), torch.ones(2**18 + 1, 1).to(device), 22, FORM)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bits", [14, 22])
def test_the_largest_integers_and_digits_do_not_wrap(device: str, bits: int) -> None:
    """Integers of 2^S, of the most negative digits and of the most positive, in sums as long as int32 holds."""
    digits = -(2**14) if bits <= 14 else -(2**20 + 2**15 + 2**7)
    rows = torch.tensor([2.0**bits - 1, -(2.0**bits - 1), digits / 2, -digits / 2 - 1]).view(4, 1)
    summed = cuda_products.SUMMED[Carrier.INT8, cuda_products.digit_count(bits)]
    a = rows.expand(4, summed + 33).contiguous()
    expected = on_cpu(products.matmul, a, a.t(), bits, Form.FLOAT64)
    assert same_bits(products.matmul(a.to(device), a.to(device).t(), bits, FORM).cpu(), expected)


@pytest.mark.parametrize("k", [1, 64, 65])
def test_any_strides(device: str, k: int) -> None:
    a, b = wild((2, 37, k), 4, -9, 9), wild((2, k, 35), 5, -9, 9)
    lefts = a, a.mT.contiguous().mT, torch.stack((a, a), -1)[..., 1], torch.stack((a, a), 1)[:, 1]
    rights = b.mT.contiguous().mT, b, torch.stack((b, b), 1)[:, 1], torch.stack((b, b), -1)[..., 1]
    expected = on_cpu(products.matmul, a, b, 20, Form.FLOAT64)
    for laid in zip(lefts, rights, strict=True):
        there = [x.to(device) if ON_DEVICE else x for x in laid]
        assert same_bits(products.matmul(*there, 20, FORM).cpu(), expected)


@pytest.mark.parametrize("low", [-149, -140, -126, -110, -104])
def test_matrices_of_tiny_numbers(device: str, low: int) -> None:
    """Their integers are made by two factors, and results by a shift to odd: some are subnormal."""
    a, b = wild((9, 33), 1, low, low + 3), wild((33, 7), 2, -20, 3 if low > -140 else 40)
    for bits in (13, 20):
        expected = on_cpu(products.matmul, a, b, bits, Form.FLOAT64)
        assert expected.any()
        assert same_bits(products.matmul(a.to(device), b.to(device), bits, FORM).cpu(), expected)


@pytest.mark.often
def test_a_magnitude_is_found_once_for_two_products(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not device_products.reaches(torch.device(device)):
        pytest.skip("an exponent is found with the integers there")
    found = []
    largest = exact.largest
    monkeypatch.setattr(exact, "largest", lambda *arguments: found.append(1) or largest(*arguments))
    x, w, g = (wild(shape, 3).to(device) for shape in ((6, 5), (5, 4), (6, 4)))
    products.matmul(x, w, 20, FORM)
    products.matmul(x.t(), g, 20, FORM)
    products.matmul(g, w.t(), 20, FORM)
    assert len(found) == 3


@pytest.mark.gpu
def test_nothing_waits_for_the_device(device: str) -> None:
    """A copy, a question for a value, or a synchronisation, is an error here."""
    x, w, image, kernel = (wild(shape, 3).to(device) for shape in ((60, 50), (50, 40), (2, 3, 8, 8), (4, 3, 3, 3)))
    places = torch.tensor([0, 1, 1, 0] * 15, device=device)

    def step() -> None:
        products.matmul(x, w, 20, FORM)
        convolution(image, kernel, Geometry((1, 1), (1, 1), (1, 1)), 20, FORM)
        sums.total(x, (0,))
        sums.total_by_place(x, places, 2, 50)
        evaluate("rsqrt", x.abs())
        elementwise.multiply(x, 0.1)

    with note_refusals(Noted()):
        step()
        torch.cuda.set_sync_debug_mode("error")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")


# Draws.


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63 + 12345, 2**64 - 1])
def test_words_of_draws(device: str, seed: int) -> None:
    for step, draw in ((0, 0), (1, 2**32 - 1), (2**32 - 1, 7)):
        for blocks in (range(3), range(2**32 - 2, 2**32 + 600), range(0)):
            key = {"seed": seed, "step": step, "draw": draw, "device": device}
            expected = philox.words_by_torch(blocks, **key)
            for upper in (1, 24, 32):
                found = philox.words(blocks, **key, upper=upper)
                assert torch.equal(found, expected >> (32 - upper))


@pytest.mark.often
def test_draws_are_one_launch(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A known answer of Random123, and the control that it came from the kernel."""
    seed = 0xA4093822 + (0x299F31D0 << 32)
    key = {"seed": seed, "step": 0x13198A2E, "draw": 0x03707344, "device": device}
    block = 0x243F6A88 + (0x85A308D3 << 32)
    expected = [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    assert philox.words(range(block, block + 1), **key).tolist() == expected
    monkeypatch.setattr(cuda_philox, "words", lambda *_arguments: None)
    assert philox.words(range(block, block + 1), **key) is None


# Doubts of functions.


@pytest.mark.parametrize("error", [2.0**-46, 2.0**-30, 2.0**-24])
def test_doubtful_values(device: str, error: float) -> None:
    """Some, more, and more than there is room for."""
    x = wild((3000,), 6, -150, 120).double() * (1 + 2.0**-25)
    x[:6] = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, -(2.0**-150)], dtype=torch.float64)
    expected, doubtful = bracketed_by_torch(x, error)
    found, places = bracketed(x.to(device).view(60, 50), error)
    assert bits_of(found.cpu().nan_to_num(7.5)) == bits_of(expected.nan_to_num(7.5))
    assert places.tolist() == doubtful.tolist()
    assert (len(places) > ROOM) == (error == 2.0**-24)
    flipped = x.view(torch.int64) ^ (1 << 30)  # control
    assert bits_of(bracketed(flipped.view(torch.float64).to(device), error)[0].cpu()) != bits_of(expected)


# Convolutions, sums, the self-test.


CONVOLUTIONS = {
    "one axis": ((2, 3, 9), (4, 3, 3), Geometry((1,), (1,), (1,))),
    "a stride that leaves elements over": ((2, 2, 8, 7), (3, 2, 3, 2), Geometry((3, 2), (0, 1), (1, 1))),
    "dilated groups": ((1, 4, 8, 9), (4, 2, 2, 3), Geometry((1, 2), (2, 0), (2, 1), 2)),
    "one element": ((2, 5, 4, 4), (3, 5, 1, 1), Geometry((2, 2), (0, 0), (1, 1))),
    "three axes": ((1, 2, 4, 3, 5), (3, 2, 2, 2, 3), Geometry((1, 1, 2), (1, 0, 1), (1, 2, 1))),
}


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions(device: str, case: str) -> None:
    size, kernel, geometry = CONVOLUTIONS[case]
    x, weight = wild(size, 1), wild(kernel, 2)
    expected = on_cpu(convolution, x, weight, geometry, 20)
    g = wild(tuple(expected.shape), 3)
    there = [tensor.to(device) for tensor in (x, weight, g)]
    form = FORM
    assert same_bits(convolution(there[0], there[1], geometry, 20, form).cpu(), expected)
    found = input_gradient(there[2], there[1], x.shape[2:], geometry, 20, form)
    assert same_bits(found.cpu(), on_cpu(input_gradient, g, weight, x.shape[2:], geometry, 20))
    found = weight_gradient(there[2], there[0], weight.shape[2:], geometry, 20, form)
    assert same_bits(found.cpu(), on_cpu(weight_gradient, g, x, weight.shape[2:], geometry, 20))


@pytest.mark.parametrize("axes", [None, (0,), (1,), (0, 2), (-1,), (0, 1), ()])
def test_sums(device: str, axes: tuple[int, ...] | None) -> None:
    x = wild((4, 9, 5), 7)
    x[0, 0] = torch.tensor([2.0**-149, -(2.0**-149), 0.0, -0.0, 2.0**-126])
    expected = on_cpu(sums.total, x, axes)
    assert same_bits(sums.total(x.to(device), axes).cpu(), expected)
    kept = on_cpu(partial(sums.total, keepdim=True), x, axes)
    assert same_bits(sums.total(x.to(device), axes, keepdim=True).cpu(), kept)
    place = int(x.abs().argmax())
    x.view(torch.int32).view(-1)[place] ^= 1 << 21  # control
    assert not same_bits(sums.total(x.to(device), axes).cpu(), expected)
    x.view(-1)[place] = math.nan
    with pytest.raises(NonFiniteError):
        sums.total(x.to(device), axes)


def test_sums_of_several_programs(device: str) -> None:
    """Terms that more than one program adds, under the interpreter too; the last program's alone are another sum."""
    x = wild((2, 40_000), 11, -3, 3)
    expected = on_cpu(sums.total, x, (1,))
    assert same_bits(sums.total(x.to(device), (1,)).cpu(), expected)
    assert not same_bits(on_cpu(sums.total, x[:, 32_768:], (1,)), expected)  # control


def test_values_that_meet(device: str) -> None:
    values, places = wild((7, 3), 4), torch.tensor([2, 0, 2, 1, 1, 2, 0])
    expected = on_cpu(sums.total_by_place, values, places, 4, 3)
    assert same_bits(sums.total_by_place(values.to(device), places.to(device), 4, 3).cpu(), expected)
    with pytest.raises(AssertionError, match="more values meet than the 2 "):
        sums.total_by_place(values.to(device), places.to(device), 4, 2)
    with note_refusals(noted := Noted()):
        sums.total_by_place(values.to(device), places.to(device), 4, 2)
    assert [bool(wrong) for wrong in noted.raised()] == [True]


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 3000), (1,)), ((3000, 5), (0,)), ((1, 5), (0,)), ((7, 5, 9, 3), (1, 3)), ((4, 33, 70), (1,)),
        ((2, 70000), (1,)), ((1500, 3), (0,)), ((3, 700, 2, 120), (1, 3)),
    ],
)  # fmt: skip
def test_sums_of_few_and_of_many_terms(device: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Whether one program adds all terms of a sum, or several: the bits are the CPU's."""
    x = wild(shape, 5)
    x.reshape(-1)[-1] = 2.0**60
    terms = math.prod(shape[axis] for axis in axes)
    expected = on_cpu(sums.total, x, axes)
    with note_refusals(noted := Noted()):
        assert same_bits(sums.total(x.to(device), axes).cpu(), expected)
        assert not any(map(bool, noted.raised()))
        x.reshape(-1)[terms // 2] = math.nan
        sums.total(x.to(device), axes)
    assert all(map(bool, noted.raised()))


@pytest.mark.parametrize(
    "shape", [(12, 7), (5, 1), (1, 3000), (2, 3, 40, 9), (9,), (4, 66_000), (3, 4, 1100), (2300, 1)]
)
def test_rows_over_their_powers_of_two(device: str, shape: tuple[int, ...]) -> None:
    """In rows and in columns, of one program and of several; the control is one bit of a row's largest element."""
    x = wild(shape, 12, -149, 120)
    # Each edge is the largest magnitude of a row, where there are so many rows; the last one is of zeros.
    for row, edge in zip(x.view(-1, shape[-1])[:-1], EDGES, strict=False):
        row.clamp_(-abs(edge), abs(edge))[-1] = edge
    x.view(-1, shape[-1])[1:][-1:] = -0.0
    expected = on_cpu(row_frexp, x)
    for laid in (x, x.mT.contiguous().mT if x.dim() > 1 else x, torch.stack((x, x), -1)[..., 0]):
        for found, right in zip(row_frexp(laid.to(device)), expected, strict=True):
            assert found.shape == right.shape
            assert same_bits(found.cpu().contiguous(), right)
    place = int(x.abs().argmax())
    x.view(torch.int32).view(-1)[place] ^= 1 << 23
    assert not same_bits(row_frexp(x.to(device))[1].cpu(), expected[1])


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, -math.nan])
def test_rows_that_are_not_finite_have_an_infinite_power(device: str, bad: float) -> None:
    for length in (5, 66_000):
        x = wild((3, length), 4)
        x[1, 3] = bad
        fractions, scales = (found.cpu() for found in row_frexp(x.to(device)))
        assert scales[1] == math.inf
        assert fractions[1, 3].isnan()
        expected = on_cpu(row_frexp, x)
        assert same_bits(scales, expected[1])
        assert same_bits(fractions.nan_to_num(7.5), expected[0].nan_to_num(7.5))


@pytest.mark.often
def test_rows_over_their_powers_of_two_are_a_launch(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In columns too, and what is computed is what the kernel was asked for."""
    x, asked = wild((6, 50), 2).to(device), []
    launch = exact.launch_grouped
    monkeypatch.setattr(
        exact, "launch_grouped", lambda kernel, *rest, **named: asked.append(kernel) or launch(kernel, *rest, **named)
    )
    for laid in (x, x.mT):
        row_frexp(laid)
    assert asked == [exact._row_frexp] * 2


@pytest.mark.parametrize("kind", ["sqrt", "reciprocal", "rsqrt"])
def test_functions_that_float64_decides(device: str, kind: str) -> None:
    x = wild((41, 60), 8)
    x = torch.cat([x.reshape(-1), torch.tensor([*EDGES, math.inf, -math.inf, math.nan, 1 - 2.0**-23, 3.0, 2.0**-148])])
    expected = on_cpu(evaluate, kind, x)
    found = evaluate(kind, x.to(device)).cpu()
    both_nan = found.isnan() & expected.isnan()
    assert same_bits(found.masked_fill(both_nan, 0.0), expected.masked_fill(both_nan, 0.0))
    assert evaluate(kind, x[:0].to(device)).shape == (0,)


@CHEAP
@given(values=st.lists(SINGLES, min_size=1, max_size=12))
def test_a_sum_is_that_of_fractions(device: str, values: list[float]) -> None:
    found = sums.total(torch.tensor(values).to(device)).cpu()
    assert bits_of(found) == bits_of(np.array([reference.total(values, sum_bits(len(values)))]))


def test_the_self_test_asks_the_kernels(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, length in (("_ROWS", 5), ("_INNER", 70), ("_COLUMNS", 3)):
        monkeypatch.setattr(forms, name, length)
    is_sound.cache_clear()
    if not device_products.reaches(torch.device(device)):
        assert FORM not in sound_forms(device)
        return
    assert FORM in sound_forms(device)
    right = cuda_products.multiply

    def wrong(*arguments) -> Tensor:
        found = right(*arguments)
        found.view(torch.int32)[0, 0, 0] ^= 1
        return found

    monkeypatch.setattr(cuda_products, "multiply", wrong)
    is_sound.cache_clear()
    assert sound_forms(device) >= {Form.FLOAT64, Form.INT8}
    assert FORM not in sound_forms(device)
    is_sound.cache_clear()


# What goes wrong with a compiler or a driver.

FAULTS = {
    "no compiler": RuntimeError("Failed to find C compiler. Please specify via CC environment variable"),
    "no headers": subprocess.CalledProcessError(1, ["gcc"]),
    "the disk is full": OSError(errno.ENOSPC, "No space left on device", "/var/cache/triton/kernel"),
    "out of resources": OutOfResources(300_000, 101_376, "shared memory"),
    "the assembler": PTXASError("Internal Triton PTX codegen error"),
    "the driver": RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered"),
}


@pytest.mark.parametrize("short", [MemoryError(), RuntimeError("CUDA error: out of memory")], ids=["host", "device"])
def test_a_shortage_of_memory_says_nothing_of_kernels_or_forms(
    device: str, short: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that took torch's operators for it would compute slowly ever after."""

    def failing(*_arguments: object) -> Tensor:
        raise short

    here = torch.device(device)
    assert exact.gives_known_answer(here)
    monkeypatch.setattr(exact, "largest", failing)
    with pytest.raises(MemoryShortageError):
        exact.gives_known_answer(here)
    monkeypatch.setattr(forms, "exact_sums", failing)
    is_sound.cache_clear()
    with pytest.raises(MemoryShortageError):
        is_sound(device, Form.INT8)
    monkeypatch.undo()
    assert is_sound(device, Form.INT8), "it is asked again"


@pytest.mark.parametrize("fault", FAULTS)
def test_where_nothing_can_be_compiled_torchs_operators_compute(
    device: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_arguments) -> Tensor:
        raise FAULTS[fault]

    here = torch.device(device)
    monkeypatch.setattr(machine, "open_device", lambda _name: torch.device("cuda", 0))
    monkeypatch.setattr(machine, "set_determinism", lambda _threads: 1)
    monkeypatch.setattr(devices, "triton_reaches", lambda device: not devices._without_triton)
    monkeypatch.setattr(devices, "_without_triton", set())
    answers = exact.gives_known_answer
    monkeypatch.setattr(exact, "gives_known_answer", lambda _device: answers(here))
    machine.open_machine("cuda:0")
    assert devices._without_triton == set()  # control
    monkeypatch.setattr(exact, "largest", failing)
    machine.open_machine("cuda:0")
    assert devices._without_triton == {0}
    is_sound.cache_clear()
    assert not is_sound(device, FORM)
    is_sound.cache_clear()


@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - {"no headers"}))
def test_what_fails_in_a_step_is_an_obstacle_and_no_refusal(device: str, fault: str) -> None:
    def step() -> None:
        try:
            raise FAULTS[fault]
        except Exception as error:
            raise RefusedError("This step cannot be computed.") from error

    with pytest.raises(ObstacleError) as caught, obstacles_noticed():
        step()
    assert caught.value.remedy
