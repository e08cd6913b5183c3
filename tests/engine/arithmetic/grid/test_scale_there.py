"""Scales on a CUDA device, of what its kernels measure, are those that the CPU's loops give, but for the last bits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families.table import scale_rule
from counterfoil_core.kernels import devices
from counterfoil_core.operators.catalogue import classify
from support.operator_calls import CALLS, OTHER_CALLS, Call, listed, operation_of
from support.triton_device import ON_DEVICE

EVERY = {**CALLS, **OTHER_CALLS}
CASES = [
    pytest.param(call, id=f"{call[0].removeprefix('aten.')}-{number}")
    for kind in sorted(EVERY)
    for number, call in enumerate(EVERY[kind])
]


@pytest.mark.skipif(ON_DEVICE, reason="the interpreter's kernels take the CPU's tensors")
@pytest.mark.parametrize("call", CASES)
def test_scales_are_those_of_the_cpu(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = operation_of(call)
    _, args, kwargs = call
    named, rule = operation.named(list(args), dict(kwargs)), scale_rule(classify(call[0], alpha=0.3))
    outputs: list[Tensor | None] = listed(native(operation, list(args), dict(kwargs)))
    expected = rule(named, outputs)
    monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    monkeypatch.setattr(devices, "triton_reaches", lambda device: True)
    for one, other in zip(rule(named, outputs), expected, strict=True):
        if other is None:
            assert one is None
        else:
            assert float(one) == pytest.approx(float(other), rel=1e-10, nan_ok=True) or math.isinf(float(other))
    if operation.definition is None:
        for one, output in zip(listed(native(operation, list(args), dict(kwargs))), outputs, strict=True):
            if isinstance(output, Tensor) and output.is_floating_point():
                torch.testing.assert_close(one, output, rtol=1e-9, atol=1e-9, equal_nan=True)
