"""The judge of norms."""

from __future__ import annotations

import pytest

from support.exact_forms import agrees, distances
from support.operator_calls import Call, t


def evaluated_batch_norm_backward() -> Call:
    args = [t(8, 3, 5), t(8, 3, 5, number=1), t(3), t(3, number=2), t(3, number=3).abs(), None, None]
    return "aten.native_batch_norm_backward.default", [*args, False, 1e-5, [True, True, True]], {}


MORE: list[Call] = [
    evaluated_batch_norm_backward(),
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)


def test_running_statistics_stay_in_evaluation() -> None:
    args = [t(4, 3, 5), t(3), t(3), t(3, number=4), t(3, number=5).abs(), False, 0.1, 1e-5]
    assert max(distances(("aten._native_batch_norm_legit_functional.default", args, {}))) <= 0.25
