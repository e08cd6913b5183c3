"""What exact operators need inside, counted: no less than a process really takes, and not much more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.program.estimate import estimate
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.program.workspaces import workspace

BITS = 20
SLACK = 4 * 2**20
"""Bytes that a process takes for what has nothing to do with the size of tensors."""
NUMBER = TensorType("float32", ())
N = 640


def of(*lengths: int) -> TensorType:
    return TensorType("float32", lengths)


def program(*nodes: tuple[str, tuple[Argument, ...], TensorType | None], **inputs: TensorType) -> Program:
    """A program of some operators, each of one result, whose loss is an input."""
    made, first = [], len(inputs) + 1
    for operator, args, output in nodes:
        made.append(Node(operator, args, (), (output,), first, "", "forward"))
        first += 1
    given = [Input(name, "state", described) for name, described in inputs.items()]
    loss = Input("loss", "state", NUMBER)
    return Program((*given, loss), tuple(made), {}, Value(len(given)))


ONE, NONE, TWICE = (1, 1), (0, 0), (2, 2)


def product() -> Program:
    return program(("aten.mm.default", (Value(0), Value(1)), of(1536, 1536)), a=of(1536, 64), b=of(64, 1536))


def both_gradients() -> Program:
    """A product and the two that its backward pass has: each operand is cut once for two of them."""
    return program(
        ("aten.mm.default", (Value(0), Value(1)), of(N, N)),
        ("aten.mm.default", (Value(2), Value(1)), of(N, N)),
        ("aten.mm.default", (Value(0), Value(2)), of(N, N)),
        a=of(N, N), b=of(N, N), g=of(N, N),
    )  # fmt: skip


def batches() -> Program:
    return program(("aten.bmm.default", (Value(0), Value(1)), of(48, 256, 256)), a=of(48, 256, 64), b=of(48, 64, 256))


def convolution() -> Program:
    args = (Value(0), Value(1), None, ONE, ONE, ONE, False, NONE, 1)
    return program(("aten.convolution.default", args, of(8, 32, 64, 64)), x=of(8, 32, 64, 64), w=of(32, 32, 3, 3))


def function() -> Program:
    return program(("aten.exp.default", (Value(0),), of(1024, 512)), x=of(1024, 512))


def total() -> Program:
    return program(("aten.sum.dim_IntList", (Value(0), (1,), False), of(1024)), x=of(1024, 1024))


CASES: dict[str, Callable[[], Program]] = {
    made.__name__: made for made in (product, both_gradients, batches, convolution, function, total)
}


def measure() -> None:
    """Be the process: execute each program, small once before, and print the bytes that it took at the most."""
    import gc

    import torch

    from counterfoil_core.arithmetic.compute.allocation import give_back_freed_memory
    from counterfoil_core.arithmetic.compute.exactly import exactly
    from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
    from counterfoil_core.kernels import buffers
    from counterfoil_core.kernels.exact import digits
    from counterfoil_core.kernels.exact.forms import Profile

    torch.set_num_threads(1)
    compute = exactly(Profile.on(torch.device("cpu"), BITS))
    found = {}

    def memory(field: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

    def run(made: Program) -> int:
        digits.forget()
        gc.collect()
        buffers.give_back()
        give_back_freed_memory()
        before = memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew
        state = {item.name: torch.randn(item.type.shape) for item in made.inputs}
        interpreter = Interpreter(made, torch.device("cpu"), torch.float32, compute)
        interpreter.run(StepInputs(state, {}, {}, Draws(0, 1)))
        return memory("VmHWM") - before

    for name, make in CASES.items():
        run(make())
        found[name] = run(make())
    print(json.dumps(found))


@pytest.fixture(scope="module")
def measured() -> dict[str, int]:
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system does not say how much memory a process took")
    tests = Path(__file__).parents[2]
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_workspaces as t; t.measure()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tests, capture_output=True, text=True, check=True, timeout=600
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_a_step_takes_no_more_than_is_counted_and_not_much_less(name: str, measured: dict[str, int]) -> None:
    counted = estimate(CASES[name](), 4, exact_bits=BITS).bytes
    assert measured[name] <= 1.1 * counted + SLACK
    # A processor without 8-bit dot products computes products in a form that needs less.
    assert counted <= 3 * measured[name] + SLACK


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("function", "total")])
def test_control_without_what_is_needed_inside_it_takes_more_than_is_counted(
    name: str, measured: dict[str, int]
) -> None:
    assert measured[name] > 1.1 * estimate(CASES[name](), 4).bytes + SLACK


def test_digits_are_kept_from_the_first_product_of_a_value_to_its_second() -> None:
    made = both_gradients()
    planes, sums = 6 * N * N, 6 * 4 * N * N
    assert workspace(made.types, made.nodes[0], BITS).kept == {0: planes, 1: planes}
    assert workspace(made.types, made.nodes[0], BITS).bytes == sums
    # Inputs and the first result; digits of two operands, and the sums. Then of three operands, and then of none.
    tensors = 4 * 4 * N * N
    assert estimate(made, 4, exact_bits=BITS).bytes >= tensors + 2 * planes + sums
    # Of 24 bits products are computed in float64, and longer sums than it holds in two more numbers for each.
    assert estimate(made, 4, exact_bits=24).bytes == tensors + 4 + 8 * (2 + 3) * N * N


def test_a_view_needs_nothing_inside() -> None:
    made = program(("aten.t.default", (Value(0),), of(512, 1024)), a=of(1024, 512))
    assert estimate(made, 4, exact_bits=BITS).bytes == estimate(made, 4).bytes
