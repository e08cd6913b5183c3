"""Every exact form, held against the native operator on awkward numbers: within the operator's proven bound."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.bundle.schema import Precision
from counterfoil.exact import NotExactError, exact_output
from counterfoil.exact.numbers import MP
from counterfoil.execution.interpreter import native
from counterfoil.program.graph import TensorType
from counterfoil.program.operators import OperatorClass, allowed_names, classify
from counterfoil.rounding.guaranteed import Bound, Use, bounds_of
from counterfoil.rounding.scale_profiles import rule_for
from support.boundary_calls import MOODS, boundary_calls, fuzzed_names
from support.operator_calls import Call, listed, operation_of

GUARANTEED = Precision(guaranteed=True)
STATED = Bound(64)
"""For uses without a proven bound: 64 roundings of numbers of the operator's scale."""
HARMLESS = 2.0**-156
"""An error of 2^-7 of the finest quantum decides nothing, whatever the scale."""
MOST = 48
"""Elements of an output that are looked at."""


def rounded_names() -> set[str]:
    return {name for name in allowed_names() if classify(name, alpha=0.3).operator_class is OperatorClass.ROUNDED}


def described(value: Any) -> Any:
    if isinstance(value, Tensor):
        return TensorType("float32" if value.is_floating_point() else "int64", tuple(value.shape))
    return [described(item) for item in value] if isinstance(value, (list, tuple)) else value


def allowances(call: Call, arguments: dict[str, Any], outputs: list[Any]) -> list[float | None]:
    """For each output the error that its bound allows; None for one that is not looked at."""
    entry = classify(call[0], alpha=0.3)
    scales = rule_for(entry, GUARANTEED)(arguments, outputs)
    types = {key: described(value) for key, value in arguments.items()}
    bounds = bounds_of(Use(entry.kind, types, [described(output) for output in outputs]))
    found: list[float | None] = []
    for output, size, bound in zip(outputs, scales, bounds, strict=True):
        if not isinstance(output, Tensor) or not output.is_floating_point() or not output.numel():
            found.append(None)
            continue
        chosen = bound or STATED
        unit = chosen.terms * 2.0**-53
        found.append(max(chosen.factor * unit / (1 - unit) * float(size), HARMLESS))
    return found


def worst(call: Call, results: list[Any] | None = None) -> tuple[float, int]:
    """The largest error of the native results, or of others, as a share of what is allowed; elements looked at."""
    name, args, kwargs = call
    operation = operation_of(call)
    arguments = operation.named(list(args), dict(kwargs))
    outputs = listed(native(operation, list(args), dict(kwargs)))
    most, seen = 0.0, 0
    for position, allowed in enumerate(allowances(call, arguments, outputs)):
        if allowed is None:
            continue
        assert math.isfinite(allowed), f"the scale of {name} is {allowed}"
        flat = (results or outputs)[position].reshape(-1).tolist()
        element = exact_output(operation.node, arguments, position).element
        for index in range(0, len(flat), -(-len(flat) // MOST)):
            try:
                exact = element(index)
            except NotExactError:
                continue
            most, seen = max(most, float(abs(MP.mpf(flat[index]) - exact) / MP.mpf(allowed))), seen + 1
    return most, seen


LEAVING = {
    name
    for name in rounded_names()
    if name.split(".")[1] in ("fmod", "remainder") or "upsample" in name or name.endswith("_mode")
}
"""Operators that are about to leave the rounded ones: they decide something discrete."""


def test_every_rounded_operator_is_fuzzed() -> None:
    assert fuzzed_names() == rounded_names() - LEAVING


@pytest.mark.parametrize("name", sorted(fuzzed_names()))
def test_exact_forms_are_what_the_library_computes(name: str) -> None:
    looked_at = 0
    for mood, call in boundary_calls(name):
        share, seen = worst(call)
        looked_at += seen
        assert share <= 1.0, (mood, call)
    assert looked_at >= len(MOODS)


@pytest.mark.parametrize("name", sorted(fuzzed_names()))
def test_control_a_result_that_is_off_is_told_apart(name: str) -> None:
    """Each element is moved by 2^-20 of its size, and what is 0 by a little."""
    most = 0.0
    for mood, call in boundary_calls(name):
        if mood in ("boundary", "wide"):
            _, args, kwargs = call
            outputs = listed(native(operation_of(call), list(args), dict(kwargs)))
            moved = [o * (1 + 2.0**-20) + 1e-9 if isinstance(o, Tensor) else o for o in outputs]
            most = max(most, worst(call, moved)[0])
    assert most > 1.0


ELEMENTWISE = sorted(
    name for name in fuzzed_names() if all(isinstance(a, Tensor) for a in next(boundary_calls(name))[1][1])
)
SPECIAL = [math.inf, -math.inf, 0.0, -0.0, 1.0, -1.5, 2.0**-149]


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if classify(n, alpha=0.3).scale in ("output", "inputs")])
def test_infinite_arguments_have_a_value_or_a_reason(name: str) -> None:
    """A mask of -inf is an argument like any other where the result is finite."""
    _, (_, args, _) = next(boundary_calls(name))
    if any(a.shape != args[0].shape or a.dim() != 1 for a in args):
        pytest.skip("not elementwise")
    grids = torch.meshgrid(*[torch.tensor(SPECIAL).double()] * len(args), indexing="ij")
    call = (name, [grid.reshape(-1).clone() for grid in grids], {})
    operation = operation_of(call)
    arguments = operation.named(list(call[1]), {})
    for position, output in enumerate(listed(native(operation, list(call[1]), {}))):
        element = exact_output(operation.node, arguments, position).element
        for index in torch.isfinite(output).nonzero().flatten().tolist():
            value = float(output[index])
            assert float(abs(element(index) - value)) <= 2.0**-48 * abs(value) + HARMLESS, (index, value)
