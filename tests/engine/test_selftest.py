"""The known answers that a machine must give before it records or audits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil import knownproducts, machine, selftest
from counterfoil.bundle.precision import PROFILES, AnyPrecision, ExactPrecision, Precision
from counterfoil.commit.state import state_root
from counterfoil.definite.operators import Profile
from counterfoil.definite.products import Form
from counterfoil.errors import DeviceError
from counterfoil.execution.exactly import exactly
from counterfoil.execution.interpreter import Interpreter
from counterfoil.machine import Machine
from counterfoil.program.graph import Program
from counterfoil.program.operators import OperatorClass
from counterfoil.rounding.rounder import Kernels
from counterfoil.rounding.unrounded import Unrounded

CPU = torch.device("cpu")
HERE = Machine(CPU, 1)
ROUNDED, SHORT, EXACT = Precision(), PROFILES["float32-bfloat16"], ExactPrecision(20)


@pytest.mark.parametrize("precision", [ROUNDED, SHORT, EXACT, ExactPrecision(13)], ids=str)
def test_this_machine_passes(precision: AnyPrecision) -> None:
    assert "cpu" in selftest.run_selftest(HERE, precision)


@pytest.mark.parametrize("program", [selftest.tiny_program(), selftest.exact_program()], ids=["rounded", "exact"])
def test_the_steps_are_real_programs_with_every_class(program: Program) -> None:
    assert Program.from_bytes(program.to_bytes()) == program
    Interpreter(program, CPU).check_types()
    assert {node.entry.operator_class for node in program.nodes} == set(OperatorClass)


@pytest.mark.parametrize("forms", list(product(Form, repeat=2)), ids=str)
def test_the_exact_step_has_one_answer_in_every_form(forms: tuple[Form, Form]) -> None:
    matrices, others = forms
    profile = Profile(20, matrices=matrices, batches=others, kernels=others)
    program = selftest.exact_program()
    kernels = Kernels(CPU, 1)
    rounder = Unrounded(program, kernels)
    rounder.begin_step(1)
    result = Interpreter(program, CPU, torch.float32, exactly(profile)).run(selftest.exact_inputs(), rounder=rounder)
    kernels.close()
    root = state_root({name: tensor.numpy() for name, tensor in result.state.items()})
    assert root.hex == selftest.EXACT_STATE_ROOT
    assert int(np.bitwise_xor.reduce(rounder.fingerprints)) == selftest.EXACT_FINGERPRINT


@pytest.mark.parametrize(
    ("name", "wrong", "precision", "sentence"),
    [
        ("_SHA256_ABC", "00" * 32, ROUNDED, "SHA-256"),
        ("_PHILOX_ANSWER", (0, 0, 0, 0), EXACT, "Philox"),
        ("STATE_ROOT", "00" * 32, ROUNDED, "a rounded training step"),
        ("FINGERPRINT", 1, ROUNDED, "a rounded training step"),
        ("EXACT_STATE_ROOT", "00" * 32, EXACT, "an exact training step"),
        ("EXACT_FINGERPRINT", 1, EXACT, "an exact training step"),
    ],
)
def test_a_wrong_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any, precision: AnyPrecision, sentence: str
) -> None:
    monkeypatch.setattr(selftest, name, wrong)
    with pytest.raises(DeviceError) as caught:
        selftest.run_selftest(HERE, precision)
    assert sentence in caught.value.sentence
    assert caught.value.remedy


def _half(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A product that is wrong by half for tensors of some size, as under one emulated processor."""

    def wrong(*given: Tensor, **settings: Any) -> Tensor:
        result = function(*given, **settings)
        return result / 2 if given[0].is_floating_point() and result.numel() > 300 else result

    return wrong


@pytest.mark.parametrize("precision", [ROUNDED, SHORT, EXACT], ids=str)
@pytest.mark.parametrize("place", ["matrix", "convolution"])
def test_products_that_are_wrong_by_half_are_found(
    monkeypatch: pytest.MonkeyPatch, precision: AnyPrecision, place: str
) -> None:
    if place == "matrix":
        monkeypatch.setattr(Tensor, "__matmul__", _half(torch.matmul))
    else:
        monkeypatch.setattr(knownproducts, "conv2d", _half(torch.nn.functional.conv2d))
    with pytest.raises(DeviceError, match="products in float"):
        selftest.run_selftest(HERE, precision)


def _transposed(matrix: Tensor) -> bool:
    return matrix.dim() > 1 and matrix.stride(-1) > matrix.stride(-2) > 0


@pytest.mark.parametrize("precision", [SHORT, EXACT], ids=str)
@pytest.mark.parametrize("left", [False, True], ids=["left as it is", "left transposed"])
@pytest.mark.parametrize("right", [False, True], ids=["right as it is", "right transposed"])
def test_products_that_are_wrong_in_one_layout_are_found(
    monkeypatch: pytest.MonkeyPatch, precision: AnyPrecision, left: bool, right: bool
) -> None:
    """So it was under one emulated processor, for a transposed right operand."""
    real = torch.matmul

    def wrong(a: Tensor, b: Tensor) -> Tensor:
        broken = a.dtype is torch.float32 and (_transposed(a), _transposed(b)) == (left, right)
        return real(a, b) / 2 if broken else real(a, b)

    monkeypatch.setattr(Tensor, "__matmul__", wrong)
    with pytest.raises(DeviceError, match="products in float32"):
        selftest.run_selftest(HERE, precision)


@pytest.mark.parametrize("output", [0, 1], ids=["input", "weight"])
def test_wrong_gradients_of_convolutions_are_found(monkeypatch: pytest.MonkeyPatch, output: int) -> None:
    real = torch.ops.aten.convolution_backward.default

    class Wrong:
        @staticmethod
        def default(*given: Any) -> list[Tensor]:
            result = list(real(*given))
            result[output].view(-1)[-1] += 1
            return result

    monkeypatch.setattr(torch.ops.aten, "convolution_backward", Wrong)
    assert not knownproducts.products_are_right(CPU, torch.float64)


def test_known_products_are_those_of_the_library_in_integers() -> None:
    """The answers are computed by our own loops; here by torch's, for the same shapes in float64."""
    for case in knownproducts._CONVOLUTIONS:
        shape = (case.samples, case.taken, case.size, case.size)
        x, weight = (
            knownproducts._integers(shape, 0),
            knownproducts._integers((case.given, case.taken // case.groups, case.kernel, case.kernel), 1),
        )
        x64, w64 = x.double().requires_grad_(), weight.double().requires_grad_()
        result = torch.nn.functional.conv2d(x64, w64, None, case.stride, case.padding, 1, case.groups)
        gradient = knownproducts._integers(tuple(result.shape), 2)
        result.backward(gradient.double())
        answers = knownproducts._convolution_answers(case, x, weight, gradient)
        found = (result.detach(), x64.grad, w64.grad)
        assert all(torch.equal(a.double(), b) for a, b in zip(answers, found, strict=True) if b is not None)


def test_a_machine_that_multiplies_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = torch.ops.aten.mm.default

    def wrong(a: Tensor, b: Tensor) -> Tensor:
        result = real(a, b)
        result[3, 4] *= 1 + 2.0**-20
        return result

    operation = Interpreter

    class Wrong(operation):  # type: ignore[valid-type, misc]
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            for item in (prepared.operation for prepared in self._prepared):
                if item.node.operator == "aten.mm.default":
                    object.__setattr__(item, "function", _Function(wrong, real))

    monkeypatch.setattr(machine, "Interpreter", Wrong)
    with pytest.raises(DeviceError, match="training step"):
        selftest.run_selftest(HERE, ROUNDED)


class _Function:
    def __init__(self, call: Any, real: Any) -> None:
        self._call, self._schema = call, real._schema

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)


@pytest.fixture
def flushed() -> Iterator[None]:
    """A processor that takes subnormal numbers for zero, in the thread of the test."""
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor has no such switch")
    yield
    torch.set_flush_denormal(False)


@pytest.mark.usefixtures("flushed")
@pytest.mark.parametrize("precision", [ROUNDED, SHORT, EXACT], ids=str)
def test_a_processor_that_flushes_subnormal_numbers_is_found(precision: AnyPrecision) -> None:
    with pytest.raises(DeviceError, match="subnormal numbers"):
        selftest.run_selftest(HERE, precision)
