"""Loops over int16 give the bits of the same product in float64, up to where int32 and int16 end, and not beyond."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor

from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.kernels.exact import forms, int8, int16_matrices
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.int16_matrices import MOST_BITS, int16_product
from counterfoil_core.kernels.exact.int16_tiles import STEP, steps_at_once
from counterfoil_core.kernels.exact.products import Form, matmul
from support.definite_reference import same_bits, wild

BITS = (8, 11, 13, 14)
CPU = torch.device("cpu")


def turned(x: Tensor) -> Tensor:
    return x.mT.contiguous().mT


@settings(max_examples=30)
@given(
    st.tuples(st.integers(1, 70), st.integers(1, 450), st.integers(1, 70)),
    st.sampled_from(BITS),
    st.integers(0, 2**32 - 1),
    st.integers(0, 40),
)
def test_products(shape: tuple[int, int, int], bits: int, seed: int, spread: int) -> None:
    m, k, n = shape
    a, b = wild((m, k), seed, -spread - 1, spread), wild((k, n), seed + 1, -spread - 1, spread)
    expected = matmul(a, b, bits, Form.FLOAT64)
    for left in (a, turned(a)):
        for right in (b, turned(b)):
            assert same_bits(int16_matrices.matmul(left, right, bits), expected)


def test_batches_and_strides() -> None:
    a, b = wild((3, 9, 17), 4), wild((3, 17, 5), 5)
    expected = matmul(a, b, 13)
    for left in (a, turned(a), torch.cat((a, a), 2)[:, :, :17]):
        for right in (b, turned(b)):
            assert same_bits(matmul(left, right, 13, Form.INT16), expected)
    assert matmul(a[:0], b[:0], 13, Form.INT16).shape == (0, 9, 5)


def test_what_is_no_ordinary_number() -> None:
    for x in (torch.zeros(2, 3), torch.tensor([[2.0**-149, -(2.0**-140), 0.0], [-0.0, 2.0**-130, 1e-40]])):
        for other in (torch.full((3, 2), 2.0**127), torch.full((3, 2), 2.0**-149), torch.full((3, 2), -0.0)):
            assert same_bits(int16_matrices.matmul(x, other, 13), matmul(x, other, 13))
    for bad in (math.inf, -math.inf, math.nan):
        with pytest.raises(NonFiniteError):
            int16_matrices.matmul(torch.tensor([[1.0, bad]]), torch.ones(2, 1), 13)


@pytest.mark.parametrize("magnitude", [1 << 20, 1 << 26, 1 << 28, (1 << 28) + 1, 255 * 255])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_most_that_int32_adds(magnitude: int, sign: int) -> None:
    """As many steps as int32 has room for, one more, and many; every product as large as it can be."""
    root = math.isqrt(magnitude)
    for steps in (steps_at_once(magnitude), steps_at_once(magnitude) + 1, 3 * steps_at_once(magnitude) + 2):
        inner = min(steps * STEP, 1 << 18)
        a, b = torch.full((1, inner), root), torch.full((inner, 3), sign * root)
        assert int16_product(a, b, magnitude).tolist() == [[sign * inner * root**2] * 3]


@pytest.mark.parametrize("bits", [13, 14])
def test_a_step_more_than_int32_holds_gives_something_else(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: at the bound the sum is right, one step beyond it int32 wraps."""
    steps = steps_at_once(1 << (2 * bits))
    inner = (steps + 1) * STEP
    a, b = torch.full((2, inner), 2.0**bits - 0.25), torch.full((inner, 2), 2.0**bits - 0.25)
    # They round up to 2^b itself, and E is b.
    expected = matmul(a, b, bits)
    assert float(expected[0, 0]) == inner * 4**bits
    assert same_bits(int16_matrices.matmul(a, b, bits), expected)
    monkeypatch.setattr(int16_matrices, "steps_at_once", lambda magnitude: steps + 1)
    assert not same_bits(int16_matrices.matmul(a, b, bits), expected)
    assert not forms.is_sound.__wrapped__("cpu", Form.INT16), "the self-test notices"


def test_what_two_products_are_too_large_for_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit into int32"):
        steps_at_once(1 << 30)
    assert steps_at_once((1 << 30) - 1) == 1
    assert steps_at_once(1 << (2 * MOST_BITS)) == 3
    with pytest.raises(ValueError, match="do not fit into int32"):
        int16_matrices.matmul(torch.ones(1, 1), torch.ones(1, 1), MOST_BITS + 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_rows_and_matrices(threads: int) -> None:
    a, b = wild((701, 40), 1, -3, 3), wild((40, 303), 2, -3, 3)
    expected = matmul(a, b, 13)
    stacks = wild((23, 80, 9), 3, -3, 3), wild((23, 9, 90), 4, -3, 3)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert same_bits(int16_matrices.matmul(a, b, 13), expected)
        assert same_bits(int16_matrices.matmul(*stacks, 13), matmul(*stacks, 13))
    finally:
        torch.set_num_threads(before)


def test_when_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    original = int16_matrices.matmul

    def seen(left: Tensor, right: Tensor, bits: int) -> Tensor:
        asked.append(bits)
        return original(left, right, bits)

    monkeypatch.setattr(int16_matrices, "matmul", seen)
    a, b = wild((4, 6), 6), wild((6, 4), 7)
    for bits, used in ((13, True), (MOST_BITS, True), (MOST_BITS + 1, False)):  # the last has digits of ten bits
        asked.clear()
        found = matmul(a, b, bits, Form.INT16)
        assert bool(asked) == used
        assert same_bits(found, matmul(a, b, bits, Form.FLOAT64))


def test_longer_sums_than_float64_holds_are_left_to_others() -> None:
    long = torch.ones(1, 1).expand(1, 2**25 + 1)
    assert int16_matrices.takes(long[:, :-1], long.t(), MOST_BITS)
    assert not int16_matrices.takes(long, long.t(), MOST_BITS)
    with pytest.raises(ProgramError):
        matmul(torch.ones(1, 1).expand(1, 2**22 + 1), torch.ones(1, 1).expand(2**22 + 1, 1), 20, Form.INT16)


# Which form a machine takes.


@pytest.mark.parametrize(
    ("features", "bits", "form"),
    [
        ({"avx2": True}, 13, Form.INT16),
        ({"avx2": True}, MOST_BITS, Form.INT16),
        ({"avx2": True}, 20, Form.FLOAT64),
        ({"avx512f": True, "avx512vnni": False}, 13, Form.INT16),
        ({"avx512vnni": True}, 13, Form.KARATSUBA),
        ({"avx512vnni": True}, 20, Form.KARATSUBA),
        ({"avxvnni": True}, 20, Form.KARATSUBA),
    ],
)
def test_the_form_follows_from_what_the_processor_has(
    features: dict[str, bool], bits: int, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    if int8.platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("elsewhere the library is asked")
    monkeypatch.setattr(int8.binding, "get_host_cpu_features", lambda: features)
    int8._has_dot_products.cache_clear()
    try:
        assert Profile.on(CPU, bits).matrices is form
    finally:
        int8._has_dot_products.cache_clear()


def test_a_form_that_computes_wrongly_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on a processor without dot products either: float64 is left."""
    monkeypatch.setattr(forms, "is_quick", lambda device: False)
    original = int16_matrices._multiply

    def wrong(*arguments: Any) -> None:
        original(*arguments)
        arguments[4].view(np.int32)[0, 0, 0] ^= 1

    monkeypatch.setattr(int16_matrices, "_multiply", wrong)
    forms.is_sound.cache_clear()
    try:
        assert Profile.on(CPU, 13).matrices is Form.FLOAT64
    finally:
        forms.is_sound.cache_clear()
