"""The number of threads shows in no result."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from counterfoil_core.kernels import threads
from counterfoil_core.kernels.exact import digits, functions
from counterfoil_core.kernels.exact.products import Form, matmul
from support.definite_reference import same_bits, wild


@pytest.fixture(autouse=True)
def _threads_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 301, 1000])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_parts_are_the_whole_range(count: int, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALLEST", 50)
    torch.set_num_threads(number)
    parts = threads.in_parts(count, lambda start, end: list(range(start, end)))
    assert [i for part in parts for i in part] == list(range(count))
    assert len(parts) == max(1, min(number, count // 50))


def test_an_error_in_a_part_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALLEST", 1)
    torch.set_num_threads(2)

    def work(start: int, end: int) -> None:
        if start:
            raise ValueError(end)

    with pytest.raises(ValueError, match="10"):
        threads.in_parts(10, work)


@pytest.mark.parametrize("bits", [13, 20])
def test_products_and_functions(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums beyond 2^53 too; and values that exact arithmetic decides, in several parts."""
    a, b = wild((37, 1 << 14), 1, -2, 2), wild((1 << 14, 29), 2, -2, 2)
    x = torch.linspace(0.5, 3.0, 5000)
    x[::1000] = 2.0**-40
    expected = matmul(a, b, bits), functions.evaluate("exp", x)
    monkeypatch.setattr(threads, "SMALLEST", 7)
    for number in (1, 2, 3):
        torch.set_num_threads(number)
        digits.forget()
        for form in (Form.KARATSUBA, Form.INT16):
            assert same_bits(matmul(a, b, bits, form), expected[0])
        assert same_bits(functions.evaluate("exp", x), expected[1])
