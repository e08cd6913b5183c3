"""What a step launches on a CUDA device, counted without one: against what is counted by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

pytest.importorskip("triton")

from benchmarks.launches import MOVED, launches
from benchmarks.workloads import WORKLOADS

import counterfoil_core.kernels.cuda
from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil_core.base.precision import PROFILES, AnyPrecision, ExactPrecision, exact_profile
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
    assert replayed.by(lambda one: one.kernel)["_round_block"] == len(rounds), "directions are taken in the same pass"
    # The directions alone go there before it.
    assert len(replayed.launches) == len(recorded.launches) + 1


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


class Block(nn.Module):
    """A residual block of grouped and strided convolutions, and attention over its positions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.past = nn.Conv2d(4, 8, 1, stride=2)
        self.turned = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.layer_norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Compute ``[N, 3]`` of ``[N, 4, H, W]``."""
        x = self.turned(torch.relu(self.norm(self.first(x)) + self.past(x))).flatten(2).mT
        x = self.layer_norm(x + self.attention(x, x, x, need_weights=False)[0])
        return self.last(x.mean(1))


def block(precision: AnyPrecision) -> Program:
    def loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return functional.cross_entropy(model(batch["x"].float()), batch["y"])

    types = {"x": TensorType("uint8", (3, 4, 8, 8)), "y": TensorType("int64", (3,))}
    torch.manual_seed(0)
    return capture(Block().train(), loss, AdamW(clip_norm=1.0), types, exact=exact_profile(precision)).program


PROGRAMS: Mapping[str, Callable[[AnyPrecision], Program]] = {
    "gpt2": lambda precision: WORKLOADS["gpt2"]().order(precision).program,
    "digits": lambda precision: WORKLOADS["digits"]().order(precision).program,
    "block": block,
}
OF_FLOAT64 = {
    # Functions that float64 is near to and a bracket decides, and their arguments.
    "aten.exp", "aten.log", "aten.tanh", "aten._to_copy", "_bracket",
    # Sums of rows that meet at a token, whole numbers of units.
    "_quantise", "aten.new_zeros", "aten.index_add",
    # The loss and the largest magnitudes of state, at the step's end.
    "aten.cat",
}  # fmt: skip
"""What uses float64 under an exact profile on a device: docs/kernels.md lists and counts it."""


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("block", 20),
        *(pytest.param(name, bits, marks=pytest.mark.slow) for name in PROGRAMS for bits in (13, 22)),
        *(pytest.param(name, 20, marks=pytest.mark.slow) for name in ("gpt2", "digits")),
    ],
)
def test_no_product_of_float64_under_exact_profiles(name: str, bits: int) -> None:
    precision = ExactPrecision(bits)
    found = launches(PROGRAMS[name](precision), precision)
    products = {one.kernel for one in found.launches if one.operations}
    assert products <= {"_multiply", "_convolve"}
    assert "_multiply" in products
    assert {one.kernel for one in found.launches if one.wide} <= OF_FLOAT64


def test_control_products_beyond_are_of_float64() -> None:
    precision = ExactPrecision(23)
    found = launches(PROGRAMS["block"](precision), precision)
    assert any(one.operations and one.wide for one in found.launches)
