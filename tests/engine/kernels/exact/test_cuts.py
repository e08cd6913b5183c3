"""A value is cut once for two products, and never serves for another value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.kernels.exact import convolutions, digitconvolutions, digitproducts, digits
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.products import Form, matmul
from support.definite_reference import same_bits, wild


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    digits.forget()
    yield
    digits.forget()


def counting(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Tensor]:
    original, asked = getattr(module, name), []

    def counted(x: Tensor, *rest: Any) -> Any:
        asked.append(x)
        return original(x, *rest)

    monkeypatch.setattr(module, name, counted)
    return asked


def exact(a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b, 20, Form.KARATSUBA)


def test_the_three_products_of_a_layer_cut_three_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, g = wild((3, 10, 41), 1, -4, 4), wild((23, 41), 2, -4, 4), wild((30, 23), 3, -4, 4)
    asked = counting(monkeypatch, digitproducts, "_cut_three")
    rows = x.view(30, 41)
    results = exact(rows, weight.t()), exact(g, weight), exact(g.t(), x.view(30, 41))
    assert len(asked) == 3
    digits.forget()
    for found, (a, b) in zip(results, ((rows, weight.t()), (g, weight), (g.t(), rows)), strict=True):
        assert same_bits(found, matmul(a, b, 20))


def test_a_convolution_and_its_gradients_cut_images_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, g = wild((2, 3, 9, 8), 1, -4, 4), wild((4, 3, 3, 2), 2, -4, 4), wild((2, 4, 5, 9), 3, -4, 4)
    geometry = Geometry((2, 1), (1, 1), (1, 1))
    asked = counting(monkeypatch, digitconvolutions, "cut_images")
    found = []
    for form in (Form.KARATSUBA, Form.FLOAT64):
        found.append(
            (
                convolutions.convolution(x, weight, geometry, 13, form),
                convolutions.input_gradient(g, weight, x.shape[2:], geometry, 13, form),
                convolutions.weight_gradient(g, x, weight.shape[2:], geometry, 13, form),
            )
        )
    assert len(asked) == 2
    assert all(same_bits(a, b) for a, b in zip(*found, strict=True))


def test_other_values_are_cut_again() -> None:
    """Other memory, another part of it, other shapes, bits, a change in place; and what is new at an old address."""
    x, b = wild((8, 6), 1, -4, 4), wild((6, 3), 2, -4, 4)

    def check(a: Tensor, bits: int = 20) -> None:
        assert same_bits(matmul(a, b, bits, Form.KARATSUBA), matmul(a, b, bits))

    check(x)
    check(x[2:8])
    check(x[:4])
    check(x, 13)
    check(x.view(-1)[:48].view(8, 6))
    check(x)
    x[0, 0] += 1000.0
    check(x)
    x.view(-1)[7] = -77.0
    check(x)
    x.t().mul_(3.0)
    check(x)
    for number in range(20):
        check(torch.full((8, 6), float(number)))


def test_nothing_outlives_the_value_or_the_step() -> None:
    x, b = wild((8, 6), 1), wild((6, 3), 2)
    exact(x, b)
    assert digits.kept() == 2
    exact(x, b)
    assert digits.kept() == 0, "both were used twice"
    view = x.view(6, 8).t()
    exact(view, b)
    del x, view
    assert digits.kept() == 1
    digits.forget()
    assert digits.kept() == 0
