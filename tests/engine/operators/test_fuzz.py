"""Every exact form, held against the native operator on awkward numbers: within the operator's proven bound."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families import pointwise
from counterfoil_core.operators.catalogue import classify
from counterfoil_core.operators.judge import exact_output
from support.boundary_calls import MOODS, boundary_calls, fuzzed_names
from support.error_bounds import HARMLESS, rounded_names, worst
from support.operator_calls import listed, operation_of


def test_every_rounded_operator_is_fuzzed() -> None:
    assert fuzzed_names() == rounded_names()


@pytest.mark.parametrize("name", sorted(fuzzed_names()))
def test_exact_forms_are_what_the_library_computes(name: str) -> None:
    looked_at = 0
    for mood, call in boundary_calls(name):
        share, seen = worst(call)
        looked_at += seen
        assert share <= 1.0, (mood, call)
    assert looked_at >= len(MOODS)


@pytest.mark.sampled(20)
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
RELATIVE = pointwise.SCALES.keys() - {"terms"}
SPECIAL = [math.inf, -math.inf, 0.0, -0.0, 1.0, -1.5, 2.0**-149]


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if classify(n, alpha=0.3).scale in RELATIVE])
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
