"""The judge of pooling."""

from __future__ import annotations

import pytest

from support.exact_forms import agrees
from support.operator_calls import ATEN, Call, t


def pooled_backward(ceil: bool, padded: bool, divisor: int | None) -> Call:
    settings = [[3, 2], [2, 2], [1, 1], ceil, padded, divisor]
    x = t(2, 3, 8, 7)
    g = t(*ATEN.avg_pool2d.default(x, *settings).shape, number=2)
    return "aten.avg_pool2d_backward.default", [g, x, *settings], {}


MORE: list[Call] = [
    *[pooled_backward(*case) for case in ((True, True, None), (True, False, None), (False, True, 5))],
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)
