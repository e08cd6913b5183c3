"""The judge of losses."""

from __future__ import annotations

from typing import Any

import pytest

from support.exact_forms import agrees
from support.operator_calls import Call, rows, t


def unreduced(kind: str, *more: Any) -> Call:
    return f"aten.{kind}.default", [t(9, 5).abs(), t(9, 5, number=1).abs(), *more], {}


MORE: list[Call] = [
    *[unreduced(kind, 0) for kind in ("mse_loss", "smooth_l1_loss", "huber_loss")],
    *[unreduced(kind, 1, 0.4) for kind in ("smooth_l1_loss", "huber_loss")],
    *[unreduced(kind, 2) for kind in ("mse_loss", "smooth_l1_loss", "huber_loss")],
    unreduced("binary_cross_entropy", None, 0),
    unreduced("binary_cross_entropy", None, 2),
    ("aten.binary_cross_entropy_backward.default", [t(9, 5), *[t(9, 5, number=n).abs() for n in (1, 2, 3)], 0], {}),
    ("aten.mse_loss_backward.default", [t(9, 5), t(9, 5, number=1), t(9, 5, number=2), 0], {}),
    ("aten.smooth_l1_loss_backward.default", [t(9, 5), t(9, 5, number=1), t(9, 5, number=2), 0, 0.4], {}),
    ("aten.nll_loss_forward.default", [t(5), rows(1, limit=5).reshape(()), None, 1, -100], {}),
    ("aten.nll_loss2d_forward.default", [t(2, 5, 3, 4), rows(2, 3, 4, limit=5), t(5, number=1).abs(), 1, 2], {}),
    ("aten.nll_loss2d_forward.default", [t(2, 5, 3, 4), rows(2, 3, 4, limit=5), None, 0, 2], {}),
    (
        "aten.nll_loss_backward.default",
        [t(9), t(9, 5), rows(9, limit=5), t(5, number=1).abs(), 0, 2, t(number=2).abs()],
        {},
    ),
    (
        "aten.nll_loss2d_backward.default",
        [t(), t(2, 5, 3, 4), rows(2, 3, 4, limit=5), t(5, number=1).abs(), 1, 2, t(number=2).abs() * 40],
        {},
    ),
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)
