"""Composite operators become single operations, which together give what the operator gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.definite.operators import kinds
from counterfoil.program.composites import COMPOSITES, MUTATING
from counterfoil.program.operators import OperatorClass, allowed_names, classify
from support.operator_calls import CALLS, OTHER_CALLS
from support.single import listed, name_of, singly

ATEN = torch.ops.aten
EVERY_CALL = [call for group in (*CALLS.values(), *OTHER_CALLS.values()) for call in group]
TOLERANCE = 2e-5
"""Of the largest element of a result, which float32 with sums in one rounding keeps."""


def narrowed(item: Any) -> Any:
    if isinstance(item, Tensor):
        return item.float() if item.is_floating_point() else item
    if isinstance(item, list):
        return [narrowed(part) for part in item]
    return torch.float32 if item is torch.float64 else item


def widened(item: Any) -> Any:
    return item.double() if isinstance(item, Tensor) and item.is_floating_point() else item


def check(function: Any, args: list[Any], kwargs: dict[str, Any], tolerance: float = TOLERANCE) -> set[str]:
    """Compare with the library in float64 on the same numbers; return the operators that came out."""
    narrow = [narrowed(arg) for arg in args]
    tensors = [arg for arg in narrow if isinstance(arg, Tensor)]

    def called(*given: Tensor) -> Any:
        waiting = iter(given)
        return function(*(next(waiting) if isinstance(arg, Tensor) else arg for arg in narrow), **kwargs)

    found, singles = singly(called, *tensors)
    assert singles.composite == set()
    wide = [torch.float64 if arg is torch.float32 else widened(arg) for arg in narrow]
    expected = listed(function(*wide, **kwargs))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is None:
            continue
        assert ours.shape == theirs.shape
        assert ours.dtype == (torch.float32 if theirs.is_floating_point() else theirs.dtype)
        scale = float(theirs.abs().max()) if theirs.numel() else 1.0
        torch.testing.assert_close(ours.to(theirs.dtype), theirs, rtol=0, atol=tolerance * max(scale, 1e-3))
    return set(singles.names)


@pytest.mark.parametrize("call", EVERY_CALL, ids=lambda call: call[0])
def test_every_rounded_operator_becomes_single_operations(call: tuple[str, list[Any], dict[str, Any]]) -> None:
    name, args, kwargs = call
    _, packet, overload = name.split(".")
    check(getattr(getattr(ATEN, packet), overload), args, kwargs)


def test_no_rounded_operator_of_the_allow_list_is_left_over() -> None:
    decomposed = {name_of(target) for target in COMPOSITES} | {name_of(target) for target in MUTATING}
    singles = {name for name in allowed_names() if name.split(".")[1] in kinds()}
    left = {
        name
        for name in allowed_names()
        if classify(name, alpha=0.5).operator_class is OperatorClass.ROUNDED and name not in decomposed | singles
    }
    assert left == set()


def test_whatever_is_decomposed_has_a_call() -> None:
    called = {call[0] for call in EVERY_CALL}
    kinds_called = {name.split(".")[1] for name in called}
    assert {name_of(target).split(".")[1] for target in COMPOSITES} <= kinds_called
