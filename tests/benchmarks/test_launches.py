"""What a step launches on a CUDA device, counted without one: against what is counted by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("triton")

from benchmarks.launches import MOVED, launches

import counterfoil_core.kernels.cuda
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program

LEFT, RIGHT, SCALAR = TensorType("float32", (6, 10)), TensorType("float32", (10, 4)), TensorType("float32", ())
PRODUCT = TensorType("float32", (6, 4))


def product_program() -> Program:
    """w' = w * w; the loss is the sum of x w."""
    nodes = (
        Node("aten.mm.default", (Value(1), Value(0)), (), (PRODUCT,), 2, "layer", "forward"),
        Node("aten.sum.default", (Value(2),), (), (SCALAR,), 3, "", "forward"),
        Node("aten.mul.Tensor", (Value(0), Value(0)), (), (RIGHT,), 4, "w", "update"),
    )
    return Program((Input("w", "state", RIGHT), Input("x", "batch", LEFT)), nodes, {"w": Value(4)}, Value(3))


def test_a_product_as_counted_by_hand() -> None:
    found = launches(product_program(), PROFILES["exact-20"])
    inside = [one for one in found.launches if one.within == "mm"]
    assert [(one.kernel, one.read, one.written, one.operations) for one in inside] == [
        # The flag of the step; room for the exponents was cleared in the step before.
        ("aten.zeros", 0, 4, 0),
        ("_largest", 240, 4, 0),
        ("_largest", 160, 4, 0),
        ("_multiply", 240 + 160, 96, 2 * 6 * 10 * 4 * 9),
        ("_fingerprint_block", 96, 0, 0),
    ]
    # The loss alone is waited for, at the end.
    assert found.waits == {"": 1}
    assert found.operators == 3


def test_a_product_of_float64_is_rounded() -> None:
    recorded, replayed = (
        launches(product_program(), PROFILES["float64-24"], form) for form in ("recorded", "replayed")
    )
    (product,) = [one for one in recorded.launches if one.kernel == "aten.mm"]
    assert (product.read, product.written, product.operations) == (8 * (60 + 40), 8 * 24, 2 * 6 * 10 * 4)
    rounds = [one for one in recorded.launches if one.kernel == "_round_block"]
    assert [one.read for one in rounds] == [8 * 24, 8], "a product of two numbers needs no grid"
    assert replayed.by(lambda one: one.kernel)["_direct"] == 2


def test_a_convolution_of_one_group_has_a_scale_beside_the_cpu() -> None:
    """Its norms are one number there too, though a tensor."""
    image, kernel = TensorType("float32", (2, 3, 5, 5)), TensorType("float32", (4, 3, 3, 3))
    made = TensorType("float32", (2, 4, 3, 3))
    arguments = (Value(1), Value(0), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    nodes = (
        Node("aten.convolution.default", arguments, (), (made,), 2, "stem", "forward"),
        Node("aten.sum.default", (Value(2),), (), (SCALAR,), 3, "", "forward"),
    )
    program = Program((Input("w", "state", kernel), Input("x", "batch", image)), nodes, {}, Value(3))
    found = launches(program, PROFILES["float64-24"])
    own, of_scale = [one.operations for one in found.launches if one.kernel == "aten.convolution"]
    assert own == 2 * (2 * 4 * 9) * 27
    # A sum of squares over the channels, then over windows.
    assert of_scale == 2 * (2 * 9) * 9


def test_every_kernel_says_what_it_moves() -> None:
    folder = Path(next(iter(counterfoil_core.kernels.cuda.__path__)))
    defined = {
        name
        for source in folder.glob("*.py")
        for name in re.findall(r"@triton\.jit\ndef (\w+)\([^)]*\) -> None:", source.read_text("utf-8"))
    }
    assert defined == set(MOVED)
