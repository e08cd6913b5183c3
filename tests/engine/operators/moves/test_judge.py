"""The judge of moves, and of their gradients."""

from __future__ import annotations

import pytest

from counterfoil_core.operators.moves.judge import _over_one
from support.exact_forms import agrees
from support.operator_calls import Call, t

MORE: list[Call] = [
    ("aten.reflection_pad2d_backward.default", [t(2, 3, 9, 12), t(2, 3, 6, 7), [3, 2, 1, 2]], {}),
    ("aten.replication_pad2d_backward.default", [t(2, 3, 9, 12), t(2, 3, 6, 7), [3, 2, 1, 2]], {}),
    ("aten.col2im.default", [t(2, 18, 16), [8, 9], [3, 2], [1, 2], [1, 0], [2, 2]], {}),
    ("aten.unfold_backward.default", [t(3, 4, 5, 3), [3, 9, 5], 1, 3, 2], {}),
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
def test_so_many_windows_lie_over_one_place(kernel: int, dilation: int, stride: int) -> None:
    """Counted in a row that is long enough for every way to meet."""
    met = [
        sum((place - tap * dilation) % stride == 0 for tap in range(kernel))
        for place in range(100, 100 + stride * dilation)
    ]
    assert _over_one([kernel], [stride], [dilation]) == max(met)
    assert _over_one([kernel, 3], [stride, 1], [dilation, 1]) == 3 * max(met)
