"""On raw features the grid's gradients err no more than float32's, although they are sums that cancel."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from counterfoil.training import trial
from counterfoil.training.order import OrderDraft
from counterfoil.training.trial import gradients
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families.table import scale_rule
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.grid import scale_exponent
from support.offset import Normed, gradients_of, offset_data, offset_order
from support.operator_calls import operation_of

RATIOS = (1.0, 1e3, 3e3, 1e4, 3e4, 1e5)


def on_the_grid(draft: OrderDraft) -> dict[str, Tensor]:
    """The gradients of the first step, as the trial sees them."""
    kept: list[Mapping[str, Tensor]] = []
    original = trial._gradients

    def remembered(*given: Any) -> Generator[trial.TrialProgress, None, Mapping[str, Tensor]]:
        kept.append((yield from original(*given)))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "_gradients", remembered)
        list(draft.try_first_step())
    # The first are those of the recorded step.
    return {g.parameter: kept[0][str(g.value)].double() for g in gradients(draft.program)}


def error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("proven", [False, True])
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_grid_errs_no_more_than_float32(ratio: float, proven: bool) -> None:
    precision = replace(Precision(), proven=proven)
    found = on_the_grid(offset_order(ratio, precision))["fc.weight"]
    data = offset_data(ratio)
    torch.manual_seed(0)
    state = Normed().state_dict()

    def fresh() -> nn.Module:
        model = Normed()
        model.load_state_dict(state)
        return model

    exact = gradients_of(fresh(), data, torch.float64)["fc.weight"]
    single = gradients_of(fresh(), data, torch.float32)["fc.weight"]
    assert error(found, exact) <= error(single, exact)
    assert bool((found != 0).all())


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_scale_bounds_what_another_machine_computes_from_centred_sums(ratio: float) -> None:
    """Deviations are what the gradients sum, on every machine: they differ by far less than the margin."""
    generator = torch.Generator().manual_seed(1)
    x = (torch.randn(256, 3, generator=generator) + ratio).double()
    g = torch.randn(256, 3, generator=generator).double()
    weight = torch.tensor([1.0, -2.0, 0.5]).double()
    mean, rstd = x.mean(0), (x.var(0, correction=0) + 1e-5).rsqrt()
    args = [g, x, weight, None, None, mean, rstd, True, 1e-5, [True, True, True]]
    operation = operation_of(("aten.native_batch_norm_backward.default", args, {}))
    outputs = list(native(operation, args, {}))
    scales = scale_rule(operation.node.entry)(operation.named(args, {}), outputs)
    exponent = scale_exponent(float(scales[0]))  # type: ignore[arg-type]
    assert exponent is not None
    centred = x - mean
    projected = (centred.flip(0) * g.flip(0)).sum(0)
    other = weight * rstd * (g - g.mean(0) - centred * rstd * rstd * projected / len(x))
    for one, ours in ((other, outputs[0]), (projected * rstd, outputs[1])):
        assert float((one - ours).abs().max()) <= 2.0 ** (exponent - 44)
    for output, size in zip(outputs, scales, strict=True):
        assert float(output.abs().max()) <= float(size)  # type: ignore[arg-type]
    # The control: without centring the sums cancel, and a machine that took them so would be off.
    uncentred = ((g * x).sum(0) - mean * g.sum(0)) * rstd
    exponent = scale_exponent(float(scales[1]))  # type: ignore[arg-type]
    assert exponent is not None
    if ratio >= 3e4:
        assert float((uncentred - outputs[1]).abs().max()) > 2.0 ** (exponent - 44)
