"""Convolutions and their gradients: every form, direct and unfolded, the bits that integers give."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.kernels.exact import convolutions, digitconvolutions
from counterfoil_core.kernels.exact.convolutions import convolution, input_gradient, weight_gradient
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.products import Form
from support import kernelrules as rules
from support.definite_reference import quantised, same_bits, wild

CASES = {
    "one axis": ((2, 3, 9), (4, 3, 3), Geometry((1,), (1,), (1,))),
    "one axis, odd": ((1, 4, 11), (6, 2, 3), Geometry((3,), (2,), (2,), 2)),
    "plain": ((2, 3, 6, 5), (4, 3, 3, 3), Geometry((1, 1), (1, 1), (1, 1))),
    "a stride that leaves elements over": ((2, 2, 8, 7), (3, 2, 3, 2), Geometry((3, 2), (0, 1), (1, 1))),
    "dilated groups": ((1, 4, 8, 9), (4, 2, 2, 3), Geometry((1, 2), (2, 0), (2, 1), 2)),
    "depthwise": ((2, 3, 5, 5), (6, 1, 3, 3), Geometry((1, 1), (1, 1), (1, 1), 3)),
    "one element": ((2, 5, 4, 4), (3, 5, 1, 1), Geometry((2, 2), (0, 0), (1, 1))),
    "one output": ((2, 3, 6, 5), (1, 3, 3, 3), Geometry((1, 1), (1, 1), (1, 1))),
    "one input, one element": ((2, 1, 4, 4), (3, 1, 1, 1), Geometry((1, 1), (0, 0), (1, 1))),
    "padding beyond the kernel": ((1, 2, 3, 3), (2, 2, 2, 2), Geometry((1, 1), (3, 3), (1, 1))),
    "three axes": ((1, 2, 4, 3, 5), (3, 2, 2, 2, 3), Geometry((1, 1, 2), (1, 0, 1), (1, 2, 1))),
}
BITS = (13, 20)


def fractions(x: Tensor, bits: int) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    values = x.flatten().tolist()
    e = rules.shared_exponent(values)
    found = np.empty(len(values), dtype=object)
    found[:] = [quantised(v, e, bits) for v in values]
    return found.reshape(x.shape)


def reference(x: Tensor, weight: Tensor, g: Tensor, geometry: Geometry, bits: int) -> tuple[Tensor, Tensor, Tensor]:
    """Result, gradient by the input, gradient by the weight: every product of the definition, one by one."""
    a, w, d = fractions(x, bits), fractions(weight, bits), fractions(g, bits)
    shapes = (g.shape, x.shape, weight.shape)
    sums = [np.full(shape, Fraction(0), dtype=object) for shape in shapes]
    inputs, outputs = weight.shape[1], weight.shape[0] // geometry.groups
    for position in itertools.product(*map(range, g.shape[2:])):
        for tap in itertools.product(*map(range, weight.shape[2:])):
            place = tuple(
                i * s + t * dil - p
                for i, t, s, dil, p in zip(
                    position, tap, geometry.stride, geometry.dilation, geometry.padding, strict=True
                )
            )
            if not all(0 <= i < n for i, n in zip(place, x.shape[2:], strict=True)):
                continue
            for n, group, c, o in itertools.product(
                range(x.shape[0]), range(geometry.groups), range(inputs), range(outputs)
            ):
                out, into = group * outputs + o, group * inputs + c
                sums[0][(n, out, *position)] += a[(n, into, *place)] * w[(out, c, *tap)]
                sums[1][(n, into, *place)] += d[(n, out, *position)] * w[(out, c, *tap)]
                sums[2][(out, c, *tap)] += d[(n, out, *position)] * a[(n, into, *place)]
    result, by_input, by_weight = (
        torch.tensor([rules.single(v) for v in found.reshape(-1)]).reshape(found.shape) for found in sums
    )
    return result, by_input, by_weight


def positions(size: tuple[int, ...], kernel: tuple[int, ...], geometry: Geometry) -> tuple[int, ...]:
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, geometry.stride, geometry.padding, geometry.dilation, strict=True)
    )


def every_form(
    x: Tensor, weight: Tensor, g: Tensor, geometry: Geometry, bits: int, form: Form
) -> tuple[Tensor, Tensor, Tensor]:
    return (
        convolution(x, weight, geometry, bits, form),
        input_gradient(g, weight, x.shape[2:], geometry, bits, form),
        weight_gradient(g, x, weight.shape[2:], geometry, bits, form),
    )


def drawn(name: str, low: int = -6, high: int = 6) -> tuple[Tensor, Tensor, Tensor, Geometry]:
    shape, weight_shape, geometry = CASES[name]
    where = positions(shape[2:], weight_shape[2:], geometry)
    x, weight = wild(shape, 1, low, high), wild(weight_shape, 2, low, high)
    return x, weight, wild((shape[0], weight_shape[0], *where), 3, low, high), geometry


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", CASES)
def test_every_form_gives_what_integers_give(name: str, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, g, geometry = drawn(name)
    expected = reference(x, weight, g, geometry, bits)
    for form in Form:
        found = every_form(x, weight, g, geometry, bits, form)
        assert [same_bits(a, b) for a, b in zip(found, expected, strict=True)] == [True] * 3, form
    monkeypatch.setattr(convolutions, "_direct", lambda *_: False)
    found = every_form(x, weight, g, geometry, bits, Form.FLOAT64)
    assert [same_bits(a, b) for a, b in zip(found, expected, strict=True)] == [True] * 3


def test_direct_is_the_librarys_and_longer_sums_are_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of the weight adds 9,216 products, beyond 2^13: it must not go to the library."""
    x, weight = wild((4, 2, 48, 48), 1, -4, 4), wild((2, 2, 3, 3), 2, -4, 4)
    g, geometry = wild((4, 2, 48, 48), 3, -4, 4), Geometry((1, 1), (1, 1), (1, 1))
    asked = []
    direct = convolutions._direct

    def seen(*args: object) -> bool:
        asked.append(direct(*args))  # type: ignore[arg-type]
        return asked[-1]

    monkeypatch.setattr(convolutions, "_direct", seen)
    by_float64 = every_form(x, weight, g, geometry, 20, Form.FLOAT64)
    assert asked == [True, True, False]
    for form in (Form.INT8, Form.KARATSUBA):
        found = every_form(x, weight, g, geometry, 20, form)
        assert all(same_bits(a, b) for a, b in zip(by_float64, found, strict=True))
    plain = torch.ops.aten.convolution(x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    assert not torch.equal(by_float64[0], plain)  # control: float32 is something else
    assert torch.allclose(by_float64[0], plain, rtol=0, atol=1e-4 * float(plain.abs().max()))


def test_a_transposed_convolution_is_a_gradient() -> None:
    x, weight = wild((2, 3, 4, 5), 1, -2, 2), wild((3, 2, 3, 3), 2, -2, 2)
    geometry = Geometry((2, 2), (1, 1), (1, 1))
    found = input_gradient(x, weight, (7, 9), geometry, 20)
    wide = torch.nn.functional.conv_transpose2d(x.to(torch.float64), weight.to(torch.float64), stride=2, padding=1)
    assert torch.allclose(found.to(torch.float64), wide, rtol=0, atol=1e-4)


@pytest.mark.parametrize("form", Form)
def test_what_is_not_finite_or_too_long_is_refused(form: Form) -> None:
    geometry = Geometry((1,), (0,), (1,))
    bad = torch.tensor([[[1.0, math.inf, 0.0]]])
    with pytest.raises(NonFiniteError):
        convolution(bad, torch.ones(1, 1, 1), geometry, 20, form)
    with pytest.raises(ProgramError):
        weight_gradient(torch.ones(1, 1, 2**14 + 1), torch.ones(1, 1, 2**14 + 1), (1,), geometry, 24, form)


@pytest.mark.parametrize("form", Form)
def test_no_samples(form: Form) -> None:
    geometry = Geometry((1, 1), (1, 1), (1, 1))
    x, weight, g = torch.ones(0, 2, 4, 4), torch.ones(3, 2, 3, 3), torch.ones(0, 3, 4, 4)
    found = every_form(x, weight, g, geometry, 20, form)
    assert [tuple(y.shape) for y in found] == [(0, 3, 4, 4), (0, 2, 4, 4), (3, 2, 3, 3)]
    assert not found[2].any()


@pytest.mark.parametrize("name", CASES)
def test_when_the_kernels_are_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For one group and two or three digits; what they give is what the others give."""
    x, weight, g, geometry = drawn(name)
    asked = []
    takes = digitconvolutions.takes

    def seen(first: Tensor, second: Tensor, geometry: Geometry, bits: int, count: int) -> bool:
        asked.append(takes(first, second, geometry, bits, count))
        return asked[-1]

    monkeypatch.setattr(digitconvolutions, "takes", seen)
    for bits, digits in ((13, True), (20, True), (22, False)):
        found = every_form(x, weight, g, geometry, bits, Form.KARATSUBA)
        expected = every_form(x, weight, g, geometry, bits, Form.FLOAT64)
        assert all(same_bits(a, b) for a, b in zip(found, expected, strict=True))
        assert asked == [digits and geometry.groups == 1] * 3
        asked.clear()


MORE = {
    "dilation and stride share a factor": ((2, 3, 13), (2, 3, 3), Geometry((4,), (3,), (2,))),
    "phases that no tap is over": ((3, 2, 7, 9), (3, 2, 2, 1), Geometry((3, 4), (1, 0), (1, 1))),
    "a kernel as long as the input": ((2, 2, 4, 4), (3, 2, 4, 4), Geometry((1, 1), (0, 0), (1, 1))),
    "padding that no window reaches": ((2, 1, 5, 5), (2, 1, 2, 2), Geometry((4, 4), (1, 1), (1, 1))),
    "many channels": ((2, 70, 5, 4), (9, 70, 3, 3), Geometry((2, 1), (1, 1), (1, 1))),
}


@pytest.mark.parametrize("tile_bytes", [1, 400, 10**6])
@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_tiles_and_phases(name: str, tile_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the rows are cut into tiles: parts of an image, one, several, all."""
    monkeypatch.setattr(digitconvolutions, "_TILE_BYTES", tile_bytes)
    monkeypatch.setattr(digitconvolutions, "_FEWEST_ROWS", 3)
    monkeypatch.setattr(digitconvolutions, "_FEWEST_ADDED", 3)
    monkeypatch.setitem(CASES, name, (CASES | MORE)[name])
    x, weight, g, geometry = drawn(name)
    for bits in BITS:
        found = every_form(x, weight, g, geometry, bits, Form.KARATSUBA)
        expected = every_form(x, weight, g, geometry, bits, Form.FLOAT64)
        assert [same_bits(a, b) for a, b in zip(found, expected, strict=True)] == [True] * 3


@pytest.mark.parametrize("bits", BITS)
def test_gradients_of_many_positions_at_their_largest(bits: int) -> None:
    """More products than int32 adds, of the largest digits; the kernels' int8 products hold a tile each."""
    lowest = -(64 + 64 * 128) if bits == 13 else -(64 + 64 * 128 + 63 * 128**2)
    x, g = torch.full((5, 1, 90, 90), float(lowest)), torch.full((5, 2, 90, 90), float(lowest))
    x[0, 0, 0, 0] += 1
    geometry = Geometry((1, 1), (0, 0), (1, 1))
    assert g.numel() // 2 > digitconvolutions.KARATSUBA_BLOCK
    found, expected = (weight_gradient(g, x, (1, 1), geometry, bits, form) for form in (Form.KARATSUBA, Form.FLOAT64))
    assert same_bits(found, expected)


@pytest.mark.parametrize("form", Form)
def test_more_positions_than_int32_adds(form: Form) -> None:
    # Every digit as large as it can be: sums of two are -128, and 2^17 of their products are more than int32 holds. A
    # tile of few columns must not have so many rows.
    rows = 400 * 500
    value = torch.tensor(40 * 128**2 - 64 * 128 - 64) * 2.0**-20
    x, g = value.expand(1, 1, 400, 500), value.expand(1, 2, 400, 500)
    found = weight_gradient(g, x, (1, 1), Geometry((1, 1), (0, 0), (1, 1)), 20, form)
    assert found.flatten().tolist() == [rules.single(rows * Fraction(value.item()) ** 2)] * 2


def test_grouped_convolutions_unfold_nothing() -> None:
    """The fast form has no kernels for them: unfolded digits of a depthwise convolution took 70 times its memory."""
    x, weight = torch.ones(1, 16, 64, 64), torch.ones(16, 1, 31, 31)
    geometry = Geometry((1, 1), (15, 15), (1, 1), 16)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        result = convolution(x, weight, geometry, 20, Form.KARATSUBA)
        input_gradient(result, weight, (64, 64), geometry, 20, Form.KARATSUBA)
    largest = max(event.cpu_memory_usage for event in seen.events())
    # The library unfolds a group at a time; all of them have so many elements.
    assert largest < 31 * 31 * x.numel()
