"""Scale rules in float32, on every rounded operator, and those of single kinds in the place of their group's."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families.table import SCALES, scale_rule
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.grid import ZERO_SCALE, scale_exponent
from counterfoil_core.operators.catalogue import classify
from support.operator_calls import ATEN, CALLS, OTHER_CALLS, Call, listed, operation_of, t

BFLOAT16 = PROFILES["float32-bfloat16"]
EVERY = {**CALLS, **OTHER_CALLS}
CASES = [
    pytest.param(call, id=f"{call[0].removeprefix('aten.')}-{number}")
    for kind in sorted(EVERY)
    for number, call in enumerate(EVERY[kind])
]


def in_float32(value: Any) -> Any:
    if isinstance(value, list):
        return [in_float32(item) for item in value]
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.float()
    return torch.float32 if value is torch.float64 else value


@pytest.mark.sampled(86)
@pytest.mark.parametrize("call", CASES)
def test_float32_results_are_bounded_and_stay_within_a_quarter_of_the_margin(call: Call) -> None:
    name, args, kwargs = call[0], in_float32(call[1]), {key: in_float32(value) for key, value in call[2].items()}
    operation = operation_of((name, args, kwargs))
    outputs = listed(native(operation, list(args), dict(kwargs)))
    scales = scale_rule(classify(name, alpha=0.3))(operation.named(args, kwargs), outputs)
    for position, output in enumerate(outputs):
        if output is None or not output.is_floating_point() or output.numel() == 0:
            continue
        size = float(scales[position])
        assert size * (1 + 1e-6) >= float(output.abs().max())
        exponent = scale_exponent(size)
        assert exponent is not None
        margin = 0.0 if exponent == ZERO_SCALE else math.ldexp(1.0, exponent - BFLOAT16.margin_bits)
        for perturbation in PERTURBATIONS:
            other = listed(perturb(perturbation)(operation, list(args), dict(kwargs)))[position]
            if other is None:  # float32 convolutions return more than was asked for; the interpreter drops it
                continue
            assert float((output.double() - other.double()).abs().max()) <= margin / 4


def test_scales_of_tiny_float32_numbers_do_not_vanish() -> None:
    """Their squares are below float32's range."""
    x = t(4, 5).float() * 2.0**-100
    (size,) = SCALES["mm"]({"self": x, "mat2": x.t()}, [x @ x.t()])
    assert 0.0 < float(size) < 2.0**-190


GRADIENTS = [
    "tanh_backward", "sigmoid_backward", "gelu_backward", "silu_backward", "mish_backward", "softplus_backward",
    "logit_backward", "elu_backward", "glu_backward", "_prelu_kernel_backward", "nll_loss_backward",
    "nll_loss2d_backward", "mse_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward",
]  # fmt: skip


@pytest.mark.parametrize("kind", GRADIENTS)
def test_a_gradient_is_measured_by_the_gradient_that_arrives(kind: str) -> None:
    """Halving it halves the scale, whatever the function's argument."""
    name, args, kwargs = EVERY[kind][0]
    operation = operation_of((name, args, kwargs))
    sizes = []
    for factor in (1.0, 2.0**-20):
        given = [args[0] * factor, *args[1:]]
        outputs = listed(native(operation, given, dict(kwargs)))
        sizes.append(scale_rule(classify(name))(operation.named(given, kwargs), outputs)[0])
    assert float(sizes[1]) == pytest.approx(2.0**-20 * float(sizes[0]), rel=1e-9)


def test_gelu_and_logit_are_measured_by_the_terms_that_they_add() -> None:
    for kind in ("gelu", "logit"):
        assert scale_rule(classify(f"aten.{kind}.default")) is SCALES["inputs"]
    assert scale_rule(classify("aten.exp.default")) is SCALES["output"]


@pytest.mark.parametrize(("reduction", "terms"), [(0, 1), (1, 1), (2, 4)])
def test_binary_cross_entropy_is_measured_by_its_largest_term(reduction: int, terms: int) -> None:
    given = {"self": torch.full((4,), 2.0**-20), "target": torch.tensor([0.0, 1.0, 0.25, 0.0]), "weight": t(4).fill_(3)}
    (size,) = scale_rule(classify("aten.binary_cross_entropy.default"))(given | {"reduction": reduction}, [])
    # |log x| is the larger one of both logarithms; the target weighs one of them, and its complement both.
    assert float(size) == pytest.approx(20 * math.log(2) * (1 + 2 * 1.0) * 3 * terms)


def test_small_gradients_survive_gelu_on_bfloat16s_grid() -> None:
    g, x = t(64).float() * 2.0**-12, t(64, number=1).float() * 4
    out = ATEN.gelu_backward(g, x)
    (close,) = scale_rule(classify("aten.gelu_backward.default"))(
        {"grad_output": g, "self": x, "approximate": "none"}, [out]
    )
    (usual,) = SCALES["inputs"]({"grad_output": g, "self": x}, [out])
    quantum = [2.0 ** (math.floor(math.log2(float(size))) - 4 - 7) for size in (close, usual)]
    typical = float(out.abs().median())
    assert quantum[0] < typical / 16
    assert quantum[1] > typical, "the control: by the usual rule most of it would be rounded to zero"
