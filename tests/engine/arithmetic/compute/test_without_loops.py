"""A step on a device that compiled loops do not reach calls none of them, and gives the same: forced on the CPU."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from numba.core.dispatcher import Dispatcher

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepResult
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.arithmetic.selftest import exact_inputs, exact_program, tiny_inputs, tiny_program
from counterfoil_core.base.precision import ExactPrecision, Precision
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from support.triton_device import ON_DEVICE

CPU = torch.device("cpu")
# The loops of a step; the log is packed on the host, from what came of the device.
MODULES = tuple(f"counterfoil_core.{name}" for name in ("kernels.", "arithmetic.compute.", "arithmetic.families."))


def out_of_reach(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let no compiled loop be called; returns how many there are."""

    def refused(*arguments: Any, **settings: Any) -> None:
        raise AssertionError("a compiled loop was called")

    count = 0
    for name, module in list(sys.modules.items()):
        if name.startswith(MODULES):
            for attribute, value in list(vars(module).items()):
                if isinstance(value, Dispatcher):
                    monkeypatch.setattr(module, attribute, refused)
                    count += 1
    monkeypatch.setattr("counterfoil_core.kernels.cpu.regions.Region.run", refused)
    monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    return count


def step(precision: Any, *, ahead: bool) -> tuple[StepResult, list[int]]:
    exact = isinstance(precision, ExactPrecision)
    program, inputs = (exact_program(), exact_inputs()) if exact else (tiny_program(), tiny_inputs())
    kernels = Kernels(CPU, 1, run_ahead=ahead)
    rounder: Any = arithmetic_of(precision).recorder(program, kernels)
    rounder.begin_step(5)
    if exact:
        compute = exactly(Profile(precision.bits, matrices=Form.INT8, kernels=Form.KARATSUBA))
        interpreter = Interpreter(program, CPU, torch.float32, compute)
    else:
        interpreter = Interpreter(program, CPU)
    result = interpreter.run(inputs, rounder=rounder)
    kernels.close()
    assert not getattr(rounder, "waits", False)
    return result, rounder.fingerprints.tolist()


@pytest.mark.skipif(ON_DEVICE, reason="Triton's kernels are compiled for the device here")
@pytest.mark.parametrize("precision", [Precision(), ExactPrecision(20)], ids=str)
def test_no_compiled_loop_is_needed(monkeypatch: pytest.MonkeyPatch, precision: Any) -> None:
    expected, fingerprints = step(precision, ahead=False)
    assert out_of_reach(monkeypatch) > 10
    found, same = step(precision, ahead=True)
    assert same == fingerprints
    assert found.loss == expected.loss
    assert all(torch.equal(found.state[name], expected.state[name]) for name in expected.state)


def test_control_a_step_beside_the_cpu_calls_them(monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_reach(monkeypatch)
    monkeypatch.setattr(devices, "loops_reach", lambda device: True)
    with pytest.raises(Exception, match=r"compiled loop|cannot be computed"):
        step(ExactPrecision(20), ahead=False)
