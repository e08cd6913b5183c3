"""The judge of convolutions."""

from __future__ import annotations

from typing import Any

import pytest

from support.exact_forms import agrees
from support.operator_calls import ATEN, Call, t


def convolution_of(rank: int, transposed: bool) -> list[Any]:
    channels = (4, 3) if transposed else (6, 2)
    rest = [[2] * rank, [1] * rank, [1] * rank, transposed, [0] * rank, 2]
    return [t(2, 4, *[5] * rank), t(*channels, *[3] * rank, number=1), t(6, number=2), *rest]


def convolution_gradients(rank: int, transposed: bool) -> Call:
    x, weight, _, *rest = convolution_of(rank, transposed)
    g = t(*ATEN.convolution.default(x, weight, None, *rest).shape, number=3)
    return "aten.convolution_backward.default", [g, x, weight, [6], *rest, [True] * 3], {}


MORE: list[Call] = [
    *[("aten.convolution.default", convolution_of(rank, flag), {}) for rank in (1, 3) for flag in (False, True)],
    *[convolution_gradients(rank, flag) for rank in (1, 3) for flag in (False, True)],
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)
