"""Operands of a power chosen so that float64 decides no value, and exact arithmetic must: it can be stopped."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels.exact import functions
from support.hostile_programs import single

COUNT = 400_000
"""Of these twenty seconds' worth are decided one by one."""
PRECISION = ExactPrecision(20)


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs whose power lies halfway between 1 and the next float32 number, but for the 2^-48 that floats have left."""
    x = torch.linspace(2, 50, COUNT)
    return x, (2.0**-24 / x.double().log()).float()


def test_they_are_doubtful() -> None:
    x, y = operands()
    wide, error = x[:1000].double().pow(y[:1000].double()), functions.ERROR
    assert ((wide * (1 - error)).float() != (wide * (1 + error)).float()).all()


def test_cancel_stops_exact_arithmetic() -> None:
    x, y = operands()
    described = ("float32", [COUNT])
    data = single("aten.pow.Tensor_Tensor", [{"value": 0}, {"value": 1}], [described], described, described)
    machine, cancel = Machine(torch.device("cpu"), 1), CancelToken()
    interpreter = machine.interpreter(read_program(data, PRECISION), PRECISION)
    inputs = StepInputs({"x0": x, "x1": y, "x2": torch.zeros(())}, {}, {}, Draws(1, 1))
    timer = threading.Timer(0.5, cancel.cancel)
    timer.start()
    begun = time.monotonic()
    with pytest.raises(CancelledError):
        interpreter.run(inputs, cancel=cancel)
    timer.join()
    assert time.monotonic() - begun < 8
