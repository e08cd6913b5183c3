"""Every scale rule bounds what its operators compute, and how far hardware can differ on it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families import convolutions
from counterfoil_core.arithmetic.families.table import MAGNITUDES, SCALES, scale_rule
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.kernels.grid import ZERO_SCALE, scale_exponent
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import OperatorClass
from support.operator_calls import ATEN, CALLS, OTHER_CALLS, Call, listed, operation_of, t

EVERY = {**CALLS, **OTHER_CALLS}
CASES = [
    pytest.param(call, id=f"{call[0].removeprefix('aten.')}-{number}")
    for kind in sorted(EVERY)
    for number, call in enumerate(EVERY[kind])
]
MARGIN_BITS = 44
LOOSEST = 14
"""Bits by which a scale may exceed the largest output on these inputs; more would cost the grid its precision."""


def rule_of(call: Call) -> str:
    """The scale rule that applies: the one of an operator that may also be exact is its rounded form's."""
    return classify(call[0], alpha=0.3).scale


def scales(call: Call) -> tuple[list[Any], list[Any]]:
    operation = operation_of(call)
    _, args, kwargs = call
    outputs = listed(native(operation, list(args), dict(kwargs)))
    return list(scale_rule(classify(call[0], alpha=0.3))(operation.named(list(args), dict(kwargs)), outputs)), outputs


def test_every_rounded_operator_has_a_call() -> None:
    rounded = {name for name in allowed_names() if classify(name, alpha=0.3).operator_class is OperatorClass.ROUNDED}
    called = {call[0] for calls in EVERY.values() for call in calls}
    assert rounded - called == set()


def test_every_rule_is_used_and_exists() -> None:
    used = {rule_of(call) for calls in EVERY.values() for call in calls}
    assert used == {*SCALES, MAGNITUDES}


@pytest.mark.parametrize("call", CASES)
def test_bounds_the_output_without_waste(call: Call) -> None:
    found, outputs = scales(call)
    for size, output in zip(found, outputs, strict=True):
        if output is None or not output.is_floating_point() or output.numel() == 0:
            continue
        largest = float(output.abs().max())
        assert math.isfinite(float(size))
        assert float(size) * (1 + 1e-12) >= largest
        assert float(size) <= max(largest, 1e-3) * 2**LOOSEST


@pytest.mark.parametrize("call", CASES)
@pytest.mark.parametrize("name", PERTURBATIONS)
def test_perturbed_results_stay_within_a_quarter_of_the_margin(call: Call, name: str) -> None:
    found, outputs = scales(call)
    operation = operation_of(call)
    others = listed(perturb(name)(operation, list(call[1]), dict(call[2])))
    for size, output, other in zip(found, outputs, others, strict=True):
        if output is None or not output.is_floating_point() or output.numel() == 0:
            continue
        exponent = scale_exponent(float(size))
        assert exponent is not None
        margin = 0.0 if exponent == ZERO_SCALE else math.ldexp(1.0, exponent - MARGIN_BITS)
        assert float((output - other).abs().max()) <= margin / 4


@pytest.mark.parametrize("kind", ["mm", "bmm", "convolution", "convolution_backward", "sum", "mean", "index_put"])
def test_zero_inputs_have_scale_zero(kind: str) -> None:
    name, args, kwargs = CALLS[kind][0]

    def emptied(value: Any) -> Any:
        return torch.zeros_like(value) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    found, _ = scales((name, [emptied(value) for value in args], kwargs))
    assert [scale_exponent(float(size)) for size in found if size is not None] == [ZERO_SCALE] * len(found)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("kind", ["mm", "bmm", "convolution", "sum", "exp", "native_layer_norm"])
def test_a_value_that_is_not_finite_has_no_exponent(kind: str, bad: float) -> None:
    name, args, kwargs = EVERY[kind][0]
    spoiled = args[0].clone()
    spoiled.view(-1)[0] = bad
    found, _ = scales((name, [spoiled, *args[1:]], kwargs))
    assert any(scale_exponent(float(size)) is None for size in found if size is not None)


@pytest.mark.parametrize(
    ("value", "exponent"),
    [(0.0, ZERO_SCALE), (1.0, 0), (1.999, 0), (2.0, 1), (2.0**-1074, -1074), (2.0**128, None), (math.nan, None)],
)
def test_exponent_of_a_scale(value: float, exponent: int | None) -> None:
    assert scale_exponent(value) == exponent


def test_cancelled_outputs_keep_the_scale_of_their_terms() -> None:
    x = torch.tensor([[1.0, -1.0, 2.0**-50]], dtype=torch.float64)
    ones = torch.ones(3, 1, dtype=torch.float64)
    (size,), (output,) = scales(("aten.mm.default", [x, ones], {}))
    assert float(output.abs().max()) == 2.0**-50
    assert float(size) >= 1.0


@pytest.mark.parametrize("transposed", [False, True])
def test_positions_that_a_stride_skips_do_not_count(transposed: bool) -> None:
    x = torch.ones(1, 1, 4, 4, dtype=torch.float64)
    x[0, 0, 1, 1] = 1000.0  # stands under no kernel of one element and stride 2
    weight = torch.ones(1, 1, 1, 1, dtype=torch.float64)
    spatial = ([2, 2], [0, 0], [1, 1], transposed, [1, 1] if transposed else [0, 0], 1)
    if transposed:  # the gradient of a transposed convolution for its input is a convolution
        call: Call = (
            "aten.convolution_backward.default",
            (x, torch.ones(1, 1, 2, 2, dtype=torch.float64), weight, [0], *spatial, [True, False, False]),
            {},
        )
    else:
        call = ("aten.convolution.default", (x, weight, None, *spatial), {})
    assert float(scales(call)[0][0]) == 1.0


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_energy_under_a_kernel_is_what_a_convolution_of_squares_gives(axes: int, groups: int) -> None:
    x, weight = t(2, 4, *(6, 7, 5)[:axes]), torch.ones(2, 4 // groups, *(3, 2, 3)[:axes], dtype=torch.float64)
    settings: dict[str, Any] = {"stride": [2] * axes, "padding": [1] * axes, "dilation": [1] * axes}
    found = torch.as_tensor(convolutions._window_energy(x, weight, settings, groups), dtype=torch.float64)
    sums = ATEN.convolution(
        x.square(),
        torch.ones(groups, *weight.shape[1:], dtype=x.dtype),
        None,
        *settings.values(),
        False,
        [0] * axes,
        groups,
    )
    assert torch.allclose(found.reshape(-1), sums.transpose(0, 1).reshape(groups, -1).amax(1), rtol=1e-12)
