"""The known answers that a machine must give before it records or audits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic import knownproducts, machine, selftest
from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.grid import tiles
from counterfoil_core.arithmetic.grid.exactresults import Unrounded
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DeviceError
from counterfoil_core.base.precision import PROFILES, AnyPrecision, ExactPrecision, Precision
from counterfoil_core.commit.state import state_root
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.draws.judge import drawn_element
from counterfoil_core.operators.facts import DRAWS, OperatorClass
from counterfoil_core.program.graph import Program

CPU = torch.device("cpu")
HERE = Machine(CPU, 1)
ROUNDED, SHORT, EXACT = Precision(), PROFILES["float32-bfloat16"], ExactPrecision(20)
BY_ROWS = ExactPrecision(20, rows=True)


@pytest.mark.parametrize("precision", [ROUNDED, SHORT, EXACT, ExactPrecision(13), BY_ROWS], ids=str)
def test_this_machine_passes(precision: AnyPrecision) -> None:
    assert "cpu" in selftest.run_selftest(HERE, precision)


def test_known_answers_are_those_of_plain_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain's by numpy's own rounding, a fingerprint's by Python's integers; and the chain is computed as one."""
    near = selftest.chain_inputs().state["w"].numpy()
    above = -np.nextafter(near, np.float32(2.0))
    # The first is a tie, and even; of the others logged as rounded down two lie within 2 tau.
    recorded, followed = above.copy(), above.copy()
    recorded[0], followed[:3] = -near[0], -near[:3]
    assert state_root({"w": recorded}).hex == selftest.CHAIN_ROOT
    assert state_root({"w": followed}).hex == selftest.FOLLOWED_ROOT
    z = ((0x3FF8 << 48) ^ 5) + 4 * 0x9E3779B97F4A7C15 & (2**64 - 1)
    z = (z ^ z >> 32) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    assert z ^ z >> 29 == selftest.MIXED
    seen = []
    monkeypatch.setattr(tiles, "_SWEEPING", SimpleNamespace(run=lambda *job: seen.append(_SWEEPING.run(*job))))
    selftest.run_selftest(HERE, ROUNDED)
    assert len(seen) == 4, "the step's chain and the rules' one: each once recorded, once followed"


_SWEEPING = tiles._SWEEPING
STALE = [
    ("kernels/cpu/rounding.py", "0xBF58476D1CE4E5B9", "0xBF58476D1CE4E5BB"),
    ("kernels/cpu/rounding.py", "return z ^ (z >> np.uint64(29))", "return z ^ (z >> np.uint64(28))"),
    ("kernels/cpu/rounding.py", "other if distance <= acceptable", "other if distance <= 2 * acceptable"),
    ("kernels/cpu/rounding.py", "up != is_up", "up == is_up"),
    ("kernels/cpu/rounding.py", "distance = half - abs(remainder)", "distance = half / 2 - abs(remainder)"),
    ("arithmetic/grid/log.py", "gap = indices[entry] - previous - 1", "gap = indices[entry] - previous"),
    ("arithmetic/grid/log.py", "gap |= 1 << bit", "gap |= 2 << bit"),
    ("kernels/cpu/sha256.py", "_add(room, room + _PREFIX_AT, 1)", "_add(room, room, 1)"),
]
"""Rules inside kernels, and wrong ones."""


@pytest.mark.slow
@pytest.mark.parametrize(("file", "rule", "other"), [("arithmetic/grid/tiles.py", "", ""), *STALE])
def test_a_kernel_of_other_rules_is_noticed(tmp_path: Path, file: str, rule: str, other: str) -> None:
    """As a stale one would be: a copy of the package, of which one inner function is another one."""
    shutil.copytree(
        Path(selftest.__file__).parents[1], tmp_path / "counterfoil_core", ignore=shutil.ignore_patterns("__pycache__")
    )
    changed = tmp_path / "counterfoil_core" / file
    text = changed.read_text(encoding="utf-8")
    assert rule in text
    changed.write_text(text.replace(rule, other) if rule else text, encoding="utf-8")
    script = (
        "import torch\nfrom counterfoil_core.arithmetic import selftest\n"
        "from counterfoil_core.base.precision import Precision\n"
        "from counterfoil_core.commit.sha256 import compiled_loops\n"
        "from counterfoil_core.arithmetic.machine import Machine\n"
        "assert compiled_loops(), 'SHA-256 wrongly'\n"
        "print(selftest.run_selftest(Machine(torch.device('cpu'), 1), Precision()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    # The control: unchanged it passes.
    assert (run.returncode == 0) is not bool(rule), run.stdout + run.stderr
    assert ("wrongly" in run.stderr) is bool(rule), run.stderr


@pytest.mark.parametrize("program", [selftest.tiny_program(), selftest.exact_program()], ids=["rounded", "exact"])
def test_the_steps_are_real_programs_with_every_class(program: Program) -> None:
    assert Program.from_bytes(program.to_bytes()) == program
    check_types(program, "float64")
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
        ("LOG", "0107", ROUNDED, "the rounding log"),
        ("MIXED", 1, ROUNDED, "fingerprints"),
        ("CHAIN_ROOT", "00" * 32, ROUNDED, "a chain of operators"),
        ("CHAIN_FINGERPRINT", 1, ROUNDED, "a chain of operators"),
        ("FOLLOWED_ROOT", "00" * 32, ROUNDED, "a chain of operators"),
        ("EXACT_ROOTS", {13: ("00" * 32, 0)}, ExactPrecision(13), "an exact training step"),
        ("EXACT_STATE_ROOT", "00" * 32, EXACT, "an exact training step"),
        ("EXACT_FINGERPRINT", 1, EXACT, "an exact training step"),
        ("_POWERS", ((8.0,), *selftest._POWERS[1:]), BY_ROWS, "rows as fractions of powers of two"),
        ("_FRACTIONS", (*selftest._FRACTIONS[:2], (0.0, 0.0), selftest._FRACTIONS[3]), BY_ROWS, "rows as fractions"),
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


def test_the_known_draws_are_those_of_the_definition() -> None:
    assert set(selftest.DRAW_DIGESTS) == DRAWS
    for operator, digest in selftest.DRAW_DIGESTS.items():
        elements = [drawn_element(operator, index, **selftest._DRAWN_WITH) for index in range(selftest._DRAWN)]
        assert Digest.of(np.array(elements, dtype="<f4").tobytes()).hex == digest
