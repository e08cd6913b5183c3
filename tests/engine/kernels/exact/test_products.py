"""Products of matrices: every form gives the bits that integers give, whatever the order; and what breaks that."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor

from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.kernels.exact import forms, products
from counterfoil_core.kernels.exact.digits import INT8_BLOCK, INT8_DIGIT_BITS, digit_count, float32_block
from counterfoil_core.kernels.exact.forms import sound_forms
from counterfoil_core.kernels.exact.int8 import int8_product
from counterfoil_core.kernels.exact.limits import float64_block
from counterfoil_core.kernels.exact.products import (
    Form,
    by_float32,
    by_int8,
    by_karatsuba,
    exact_sums,
    matmul,
    operands,
)
from counterfoil_core.kernels.exact.quantise import Quantised
from support import definite_reference as reference
from support.definite_reference import same_bits, wild


def whole(integers: Tensor, bits: int) -> Quantised:
    """Integers as Q would hand them on, in units of one."""
    exponents = torch.full((1,) * integers.dim(), bits, dtype=torch.int64)
    return Quantised(integers.to(torch.float64), exponents, bits)


@settings(max_examples=40)
@given(
    st.tuples(st.integers(1, 5), st.integers(0, 40), st.integers(1, 5)),
    st.sampled_from([8, 13, 17, 20, 24]),
    st.integers(0, 2**32 - 1),
)
def test_every_form_gives_what_integers_give(shape: tuple[int, int, int], bits: int, seed: int) -> None:
    m, k, n = shape
    a, b = wild((m, k), seed), wild((k, n), seed + 1)
    expected = torch.from_numpy(reference.matmul(a.numpy(), b.numpy(), bits))
    for form in Form:
        assert same_bits(matmul(a, b, bits, form), expected), form


@settings(max_examples=15)
@given(
    st.tuples(st.integers(1, 70), st.integers(1, 3000), st.integers(1, 40)),
    st.sampled_from([13, 20, 22]),
    st.integers(0, 2**32 - 1),
)
def test_forms_agree_on_larger_and_odd_shapes(shape: tuple[int, int, int], bits: int, seed: int) -> None:
    m, k, n = shape
    a, b = wild((m, k), seed, -3, 3), wild((k, n), seed + 1, -3, 3)
    found = [matmul(a, b, bits, form) for form in Form]
    assert all(same_bits(found[0], other) for other in found[1:])


@pytest.mark.parametrize("form", Form)
def test_batches_are_their_matrices(form: Form) -> None:
    a, b = wild((3, 7, 19), 1), wild((3, 19, 5), 2)
    one_by_one = torch.stack([matmul(x, y, 20, form) for x, y in zip(a, b, strict=True)])
    assert same_bits(matmul(a, b, 20, form), one_by_one)


@pytest.mark.parametrize("form", Form)
def test_strides_are_no_part_of_a_value(form: Form) -> None:
    a, b = wild((19, 7), 1), wild((5, 19), 2)
    expected = matmul(a.t().contiguous(), b.t().contiguous(), 20, form)
    assert same_bits(matmul(a.t(), b.t(), 20, form), expected)


# Orders, blocks, threads.


@pytest.mark.parametrize("form", Form)
def test_the_order_of_terms_does_not_show(form: Form) -> None:
    a, b = wild((9, 5000), 3, -4, 4), wild((5000, 11), 4, -4, 4)
    expected = matmul(a, b, 20, form)
    generator = torch.Generator().manual_seed(0)
    for order in (torch.arange(4999, -1, -1), *(torch.randperm(5000, generator=generator) for _ in range(3))):
        assert same_bits(matmul(a[:, order], b[order], 20, form), expected)
    shuffled = a[:, order] @ b[order]
    assert not torch.equal(a @ b, shuffled)  # control: in float32 it does


@pytest.fixture
def _threads_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_threads_back")
@pytest.mark.parametrize("form", Form)
def test_the_number_of_threads_does_not_show(form: Form) -> None:
    a, b = wild((120, 1500), 5, -4, 4), wild((1500, 90), 6, -4, 4)
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(matmul(a, b, 20, form))
    assert same_bits(*found)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = wild((6, 3000), 7, -4, 4), wild((3000, 5), 8, -4, 4)
    left, right = operands(a, b, 20)
    expected = matmul(a, b, 20)
    monkeypatch.setattr(products, "INT8_BLOCK", 300)
    monkeypatch.setattr(products, "KARATSUBA_BLOCK", 70)
    assert torch.equal(by_int8(left, right), exact_sums(left, right, Form.FLOAT64))
    assert torch.equal(by_karatsuba(left, right), exact_sums(left, right, Form.FLOAT64))
    monkeypatch.setattr(products, "float64_block", lambda bits: 7)
    assert same_bits(matmul(a, b, 20), expected)
    for digit_bits in (3, 5, 6, 9, 10):
        assert torch.equal(by_float32(left, right, digit_bits), exact_sums(left, right, Form.INT8))


@pytest.mark.parametrize("multiple", [8, 16, 32])
def test_padding_does_not_show(multiple: int) -> None:
    for m, k, n in ((1, 1, 1), (16, 5, 8), (17, 40, 33), (15, 64, 16)):
        left, right = operands(wild((m, k), m), wild((k, n), n), 20)
        assert torch.equal(by_int8(left, right, multiple), by_int8(left, right))


@pytest.mark.parametrize("form", [by_karatsuba, by_int8])
def test_the_operator_gets_what_cuda_takes(
    form: Callable[[Quantised, Quantised], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than 16 rows, other lengths multiples of 8, the left operand in rows and the right one in columns."""
    seen = []

    def strict(a: Tensor, b: Tensor) -> Tensor:
        assert a.shape[0] > 16
        assert a.shape[1] % 8 == b.shape[1] % 8 == 0
        assert a.is_contiguous()
        assert b.t().is_contiguous()
        seen.append(b.shape)
        return int8_product(a, b)

    left, right = operands(wild((16, 33), 1), wild((33, 9), 2), 20)
    expected = form(left, right)
    monkeypatch.setattr(products, "int8_product", strict)
    monkeypatch.setattr(products, "_multiple", lambda values: 16)
    assert torch.equal(form(left, right), expected)
    assert len(seen) >= 5


def test_operands_of_different_bits() -> None:
    left = whole(torch.tensor([[2**13, -(2**13), 5]]), 13)
    right = whole(torch.tensor([[2**20], [7], [-(2**20)]]), 20)
    for form in Form:
        assert exact_sums(left, right, form).tolist() == [[2**33 - 7 * 2**13 - 5 * 2**20]]


# At the limits, and one bit beyond them.


@pytest.mark.parametrize(("bits", "inner"), [(20, 2**13), (22, 2**9), (24, 2**5)])
def test_float64_adds_as_many_as_it_is_said_to(bits: int, inner: int) -> None:
    """All products at their largest but for one: the sum is odd and ends just below 2^53."""
    assert float64_block(2 * bits) == inner
    a, b = torch.full((1, inner), 2**bits), torch.full((inner, 1), 2**bits)
    a[0, 0], b[0, 0] = 2**bits - 1, 2**bits - 1
    left, right = whole(a, bits), whole(b, bits)
    expected = inner * 4**bits - 2 * 2**bits + 1
    assert expected % 2 == 1
    assert int((left.values @ right.values).item()) == expected
    # Control: twice as many is one bit more, and float64 loses the last one. The defined product does not.
    twice = [whole(torch.cat((x, x), axis), bits) for axis, x in ((1, a), (0, b))]
    twice[0].values[0, 0] += 1
    expected = 2 * expected + 2**bits - 1
    assert expected % 2 == 1
    assert int((twice[0].values @ twice[1].values).item()) != expected
    assert [int(exact_sums(twice[0], twice[1], form)) for form in Form] == [expected] * len(Form)


@pytest.mark.parametrize("digit_bits", [3, 6, 9, 10])
def test_float32_adds_as_many_as_it_is_said_to(digit_bits: int) -> None:
    inner, largest = float32_block(digit_bits), 2.0**digit_bits
    a = torch.full((1, inner), largest)
    b = torch.full((inner, 1), largest)
    a[0, 0], b[0, 0] = largest - 1, largest - 1
    expected = inner * int(largest) ** 2 - 2 * int(largest) + 1
    assert int((a @ b).item()) == expected
    a, b = torch.cat((a, a), 1), torch.cat((b, b))
    a[0, 0] += 1
    wanted = 2 * expected + int(largest) - 1
    assert int((a @ b).item()) != wanted  # control: 25 bits, the last one set


def test_int32_adds_as_many_as_it_is_said_to() -> None:
    a = torch.full((2, INT8_BLOCK), 64, dtype=torch.int8)
    a[1] = -64
    b = torch.full((INT8_BLOCK, 2), 64, dtype=torch.int8)
    assert torch._int_mm(a, b).tolist() == [[2**29, 2**29], [-(2**29), -(2**29)]]
    # Control: with digits of a whole byte the same block does not fit.
    wide = torch.full((1, INT8_BLOCK), -128, dtype=torch.int8)
    assert int(torch._int_mm(wide, wide.t().contiguous())) != 2**31


@pytest.mark.parametrize(("digit_bits", "count"), [(3, 3), (6, 3), (9, 2), (10, 2)])
def test_every_digit_of_a_window_counts_for_the_block(digit_bits: int, count: int) -> None:
    """The middle window adds as many products as there are digits for each term: too many for float32, and odd."""
    digit, base = (1 << digit_bits) - 1, 2 << digit_bits
    number = sum(digit * base**place for place in range(count))
    bits, inner = number.bit_length(), float32_block(digit_bits) - 1
    assert digit_count(bits, digit_bits) == count
    left, right = whole(torch.full((1, inner), number), bits), whole(torch.full((inner, 1), number), bits)
    expected = inner * number * number
    assert expected < 2**63
    assert int(by_float32(left, right, digit_bits)) == expected
    # Control: the window as one piece, which each digit's products alone would have had room for.
    window = torch.full((1, count * inner), float(digit), dtype=torch.float32)
    assert int(window @ window.t()) != count * inner * digit**2


def test_every_digit_of_a_window_counts_for_int32() -> None:
    """So does it where a processor shifts one operand to unsigned: int32 is asked for no more than it adds there."""
    asked = []

    def multiplied(a: Tensor, b: Tensor) -> Tensor:
        asked.append(a.shape[-1])
        return (a.double() @ b.double()).to(torch.int64)

    bits, inner = 20, INT8_BLOCK
    left, right = whole(torch.full((1, inner), 2**bits), bits), whole(torch.full((inner, 1), 2**bits), bits)
    total = products._by_digits(left, right, INT8_DIGIT_BITS, INT8_BLOCK, multiplied)
    assert int(total) == inner * 4**bits
    assert max(asked) <= INT8_BLOCK
    assert len(asked) > 2 * digit_count(bits) - 1, "in one piece"


def test_more_than_fits_is_refused() -> None:
    bits, inner = 24, 2**14
    a, b = torch.ones(1, inner), torch.ones(inner, 1)
    assert [float(matmul(a, b, bits, form)) for form in Form] == [inner] * len(Form)
    more = torch.ones(1, inner + 1), torch.ones(inner + 1, 1)
    for form in Form:
        with pytest.raises(ProgramError, match="fewer bits"):
            matmul(*more, bits, form)


def test_the_largest_sum_of_all() -> None:
    """2^62: every product at its largest, as many as are allowed."""
    bits, inner = 24, 2**14
    left, right = whole(torch.full((1, inner), 2**bits), bits), whole(torch.full((inner, 1), -(2**bits)), bits)
    assert [int(exact_sums(left, right, form)) for form in Form] == [-(2**62)] * len(Form)


def test_what_was_not_quantised_differs_between_orders() -> None:
    a, b = wild((40, 4000), 9, -4, 4), wild((4000, 40), 10, -4, 4)
    order = torch.arange(3999, -1, -1)
    wide_a, wide_b = a.to(torch.float64), b.to(torch.float64)
    assert not torch.equal(wide_a @ wide_b, wide_a[:, order] @ wide_b[order])
    left, right = operands(a, b, 20)
    assert torch.equal(left.values @ right.values, left.values[:, order] @ right.values[order])


# What is no ordinary number.


@pytest.mark.parametrize("form", Form)
def test_subnormal_results(form: Form) -> None:
    a = torch.tensor([[2.0**-75, 2.0**-100], [2.0**-149, 0.0]])
    b = torch.tensor([[2.0**-75, -(2.0**-74)], [2.0**-120, 0.0]])
    expected = torch.from_numpy(reference.matmul(a.numpy(), b.numpy(), 20))
    assert same_bits(matmul(a, b, 20, form), expected)
    assert expected[0].tolist() == [0.0, -(2.0**-149)]  # a tie with zero, which is even


@pytest.mark.parametrize("form", Form)
def test_a_result_that_vanishes_has_no_sign(form: Form) -> None:
    tiny = matmul(torch.tensor([[-(2.0**-80)]]), torch.tensor([[2.0**-80]]), 20, form)
    assert same_bits(tiny, torch.zeros(1, 1))
    assert same_bits(matmul(torch.tensor([[-0.0]]), torch.tensor([[1.0]]), 20, form), torch.zeros(1, 1))


@pytest.mark.parametrize("form", Form)
def test_beyond_float32_is_infinite(form: Form) -> None:
    largest = torch.finfo(torch.float32).max
    assert matmul(torch.tensor([[largest]]), torch.tensor([[-2.0]]), 20, form).tolist() == [[-np.inf]]
    # Q_20 takes the largest number to 2^128: its product with one is beyond, its product with a half is not.
    assert matmul(torch.tensor([[largest]]), torch.tensor([[1.0]]), 20, form).tolist() == [[np.inf]]
    assert matmul(torch.tensor([[largest]]), torch.tensor([[0.5]]), 20, form).tolist() == [[2.0**127]]


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_infinities_are_refused(form: Form, bad: float) -> None:
    with pytest.raises(NonFiniteError):
        matmul(torch.tensor([[bad, 1.0]]), torch.ones(2, 1), 20, form)


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_nothing(form: Form, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    assert same_bits(matmul(torch.ones(m, k), torch.ones(k, n), 20, form), torch.zeros(m, n))


# Which forms a machine has.


def test_this_machine_computes_every_form() -> None:
    assert sound_forms("cpu") == set(Form) - {Form.TENSOR_CORES}


def saturating(bits: int) -> Callable[[Tensor, Tensor], Tensor]:
    """An int8 product as processors without an 8-bit dot product form it: pairs of products are added with saturation.

    The left operand is shifted to unsigned numbers, and what the shift adds is taken off again.
    """
    limit = 2 ** (bits - 1)

    def product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        shifted, right = a.to(torch.int32) + 128, b.to(torch.int32)
        if shifted.shape[1] % 2:
            shifted, right = torch.nn.functional.pad(shifted, (0, 1)), torch.nn.functional.pad(right, (0, 0, 0, 1))
        pairs = [shifted[:, i::2, None] * right[None, i::2] for i in range(2)]
        added = (pairs[0] + pairs[1]).clamp(-limit, limit - 1)
        found = (added.sum(1) - 128 * right.sum(0)).to(torch.int32)
        return found if out is None else out.copy_(found)

    return product


def missing(a: Tensor, b: Tensor, **_: Tensor) -> Tensor:
    raise NotImplementedError("no kernel for this device")


@pytest.mark.parametrize(
    ("operator", "sound"), [(saturating(16), True), (saturating(15), False), (missing, False), (None, False)]
)
def test_an_int8_operator_that_is_wrong_or_missing_is_left_out(
    operator: Callable[[Tensor, Tensor], Tensor] | None, sound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Digits of six bits fit saturating sums of 16 bits; where even those do not hold, int8 is left out."""
    if operator is None:
        monkeypatch.delattr(torch, "_int_mm")
    else:
        monkeypatch.setattr(torch, "_int_mm", operator)
    asked = forms.is_sound.__wrapped__
    assert asked("cpu", Form.INT8) == sound
    # Sums of two digits do not fit: 2 * 128 * (128 + 128) = 2^16.
    assert not asked("cpu", Form.KARATSUBA)
    assert all(asked("cpu", form) for form in (Form.FLOAT64, Form.FLOAT32, Form.INT16))


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 256, 72), (1, 300, 1), (5, 1, 7)])
def test_a_transposed_column_is_a_row(rows: int, inner: int, columns: int) -> None:
    """The strides of an axis of length 1 are as the library writes them, and are not what it reads."""
    generator = torch.Generator().manual_seed(3)
    left = torch.randn(inner, rows, generator=generator).t()
    right = torch.randn(columns, inner, generator=generator).t()
    expected = matmul(left, right, 20, Form.FLOAT64)
    for form in (Form.INT8, Form.KARATSUBA):
        assert torch.equal(matmul(left, right, 20, form), expected)
    a, b = (x.mul(10).to(torch.int8) for x in (left, right))
    assert torch.equal(int8_product(a, b).long(), a.long() @ b.long())


def test_a_library_that_reads_beside_a_transposed_column_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    if Form.KARATSUBA not in sound_forms("cpu"):
        pytest.skip("this machine has no sound 8-bit products")
    monkeypatch.setattr("counterfoil_core.kernels.exact.int8._one_row", lambda x: x)
    # As the library of this machine may do, made certain: what it reads there is not defined.
    real = torch._int_mm

    def beside(a: torch.Tensor, b: torch.Tensor, **out: torch.Tensor) -> torch.Tensor:
        found = real(a.contiguous(), b, **out)
        return found.add_(1) if a.shape[0] == 1 and a.stride() == (1, 1) else found

    monkeypatch.setattr(torch, "_int_mm", beside)
    assert not forms.is_sound.__wrapped__("cpu", Form.KARATSUBA)
