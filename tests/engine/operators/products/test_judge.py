"""The judge of products."""

from __future__ import annotations

import pytest
import torch

from counterfoil_core.operators.judge import defined_output
from support import definite_reference as reference
from support.definite_reference import bits_of, wild
from support.exact_forms import element_of, node_of


def test_a_matrix_product_keeps_what_cancellation_would_lose() -> None:
    row = torch.tensor([[2.0**60, 1.0, -(2.0**60)]]).double()
    assert element_of("aten.mm.default", [row, torch.ones(3, 1).double()], 0) == 1


@pytest.mark.parametrize("bits", [8, 13, 20, 24])
def test_products_are_those_of_fractions(bits: int) -> None:
    """The reference quantises and multiplies by itself, and so by other code than this module."""
    a, b = wild((4, 9), 1), wild((9, 3), 2)
    node = node_of("aten.mm.default", [torch.empty(4, 3)])
    element = defined_output(node, {"self": a, "mat2": b}, 0, bits).element
    expected = reference.matmul(a.numpy(), b.numpy(), bits)
    assert bits_of(torch.tensor([element(i) for i in range(12)])) == bits_of(expected)
    # Control: one bit of an operand more or less is another product.
    assert bits_of(
        torch.tensor([defined_output(node, {"self": a, "mat2": b}, 0, 7).element(i) for i in range(12)])
    ) != (bits_of(expected))
