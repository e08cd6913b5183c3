"""What capture puts in place of operators that libraries compute differently gives what torch gives, defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.catalogue import is_allowed
from counterfoil_core.operators.node import TensorType
from support.jobs import capture_on, draw


class Weighted(nn.Module):
    """A function of a weight, whose loss weighs every element differently, so that gradients tell places apart."""

    def __init__(self, function: Callable[[Tensor], Tensor], *shape: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(draw(shape, 3)))
        self.register_buffer("result", torch.zeros_like(function(self.weight)).detach())
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        y = self.function(self.weight)
        self.result = y.detach()
        return (y * torch.arange(y.numel()).reshape(y.shape).remainder(7).float()).sum() + x.sum() * 0.0


def captured(function: Callable[[Tensor], Tensor], *shape: int) -> CapturedStep:
    return capture(
        Weighted(function, *shape), lambda model, batch: model(batch["x"]), Sgd(), {"x": TensorType("float32", (1,))}
    )


def executed(step: CapturedStep) -> tuple[Tensor, Tensor]:
    """The result of the function, and the gradient of the weight."""
    inputs = StepInputs(step.initial_state, {"x": torch.zeros(1)}, {"lr": 1.0}, Draws(0, 1))
    state = Interpreter(step.program, torch.device("cpu")).run(inputs).state
    return state["result"], step.initial_state["weight"].double() - state["weight"].double()


def expected(function: Callable[[Tensor], Tensor], *shape: int) -> tuple[Tensor, Tensor]:
    model = Weighted(function, *shape)
    model(torch.zeros(1)).backward()
    return model.result, model.weight.grad.double()


def kinds(step: CapturedStep) -> set[str]:
    return {node.operator.split(".")[1] for node in step.program.nodes}


LINEAR = [
    (shape, settings)
    for shape, settings in [
        ((2, 3, 9), {"size": 7}),
        ((2, 3, 5), {"size": 17}),
        ((2, 3, 1), {"size": 4}),
        ((2, 3, 6), {"size": 6}),
        ((2, 3, 4), {"size": 1}),
        ((2, 3, 7), {"scale_factor": 1.7}),
        ((2, 3, 20), {"scale_factor": 0.3, "recompute_scale_factor": True}),
        ((2, 3, 5, 6), {"size": (7, 9)}),
        ((2, 3, 8, 8), {"scale_factor": 2}),
        ((2, 3, 9, 4), {"scale_factor": (0.5, 2.3)}),
        ((1, 2, 3, 4, 5), {"size": (4, 3, 7)}),
    ]
]
MODES = {3: "linear", 4: "bilinear", 5: "trilinear"}


@pytest.mark.sampled
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize(("shape", "settings"), LINEAR)
def test_linear_interpolation(shape: tuple[int, ...], settings: dict[str, Any], align: bool) -> None:
    def function(x: Tensor) -> Tensor:
        return functional.interpolate(x, mode=MODES[len(shape)], align_corners=align, **settings)

    step = captured(function, *shape)
    assert not any("upsample" in kind for kind in kinds(step))
    for got, want in zip(executed(step), expected(function, *shape), strict=True):
        torch.testing.assert_close(got.float(), want.float(), rtol=1e-5, atol=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize(
    ("shape", "several"),
    [
        *[((1, 1, length), [{"size": size} for size in (1, 2, 5, 7, 20, 49, 82, 97)]) for length in (1, 3, 7, 10, 41)],
        ((2, 3, 5, 6), [{"size": (7, 9)}]),
        ((2, 3, 8, 8), [{"scale_factor": 2}]),
        ((2, 3, 9, 4), [{"scale_factor": (0.5, 2.3)}]),
        ((1, 2, 3, 4, 5), [{"size": (4, 3, 7)}]),
    ],
)
def test_nearest_neighbours(shape: tuple[int, ...], several: list[dict[str, Any]], mode: str) -> None:
    """A shape to every size in one step: each element has its own place in the result."""

    def function(x: Tensor) -> Tensor:
        return torch.cat([functional.interpolate(x, mode=mode, **settings) for settings in several], -1)

    step = captured(function, *shape)
    for got, want in zip(executed(step), expected(function, *shape), strict=True):
        torch.testing.assert_close(got.float(), want.float(), rtol=1e-6, atol=1e-6)


def test_linear_interpolation_where_torch_itself_is_off() -> None:
    """4,000 to 5,513: the CPU computes the place in float32. Ours is within float32 of the rational place."""

    def function(x: Tensor) -> Tensor:
        return functional.interpolate(x, size=5513, mode="linear")

    result, gradient = executed(captured(function, 1, 1, 4000))
    model = Weighted(function, 1, 1, 4000)
    x = model.weight.detach().double().numpy().reshape(-1)
    places = np.maximum((np.arange(5513) + 0.5) * 4000 / 5513 - 0.5, 0)
    low = np.floor(places).astype(int)
    part, high = places - low, np.minimum(low + 1, 3999)
    want = x[low] * (1 - part) + x[high] * part
    np.testing.assert_allclose(result.numpy().reshape(-1), want, rtol=0, atol=2e-7)
    torch_result, torch_gradient = expected(function, 1, 1, 4000)
    assert 1e-4 < np.abs(torch_result.numpy().reshape(-1) - want).max() < 2e-3
    torch.testing.assert_close(gradient, torch_gradient, rtol=0, atol=2e-2)


def test_a_first_layer_of_interpolation_needs_no_gradient() -> None:
    class First(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(7, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(functional.interpolate(x, size=7, mode="linear"))

    step = capture(First(), lambda m, b: m(b["x"]).mean(), Sgd(), {"x": TensorType("float32", (2, 3, 4))})
    assert "index_add" not in kinds(step)


def test_no_interpolation_is_on_the_list() -> None:
    for name in ("nearest1d", "nearest2d", "linear1d", "bilinear2d", "bicubic2d"):
        assert not is_allowed(f"aten.upsample_{name}.default")
        assert not is_allowed(f"aten.upsample_{name}_backward.default")


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 3.7])
@pytest.mark.parametrize("threshold", [20.0, 1.5])
def test_softplus(beta: float, threshold: float) -> None:
    def function(x: Tensor) -> Tensor:
        return functional.softplus(x * 40, beta, threshold)

    step = captured(function, 400)
    softplus = [node for node in step.program.nodes if node.operator.startswith("aten.softplus")]
    assert {node.args[2 if "backward" in node.operator else 1] for node in softplus if len(node.args) > 1} <= {1}
    for got, want in zip(executed(step), expected(function, 400), strict=True):
        torch.testing.assert_close(got.float(), want.float(), rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * torch.arange(0, 1, 0.125),
        lambda x: x * torch.arange(0.5, 8, 1.0),
        lambda x: x * torch.arange(8.0),
        lambda x: x * torch.arange(8, dtype=torch.float32),
        lambda x: x * torch.arange(2, -2, -0.5),
        lambda x: x * torch.arange(0, 16, 2),
        lambda x: x * torch.arange(1.0, 9.0, dtype=torch.int64),
        lambda x: x * torch.linspace(-1, 3, 8),
        lambda x: x + torch.arange(1, 1, 0.5).sum(),
        lambda x: x * (torch.arange(8) // 3),
        lambda x: x * torch.div(torch.arange(8), 3, rounding_mode=None),
        lambda x: x * (torch.arange(8) * 0.5),
        lambda x: x * torch.arange(8).exp(),
        lambda x: x * (torch.arange(8) > 2.5),
        lambda x: x[torch.argsort(torch.arange(8) % 3)],
        lambda x: torch.div(x * 9, 0.7, rounding_mode="floor") + x,
        lambda x: torch.fmod(x * 9, 0.7) + torch.remainder(x * 9, -0.7),
    ],
)
def test_ranges_integers_and_quotients(function: Callable[[Tensor], Tensor]) -> None:
    step = captured(function, 8)
    for got, want in zip(executed(step), expected(function, 8), strict=True):
        torch.testing.assert_close(got.float(), want.float(), rtol=1e-5, atol=1e-6)
    for node in step.program.nodes:
        if node.operator.startswith("aten.arange"):
            assert all(type(number) is int for number in node.args)


@pytest.mark.parametrize(
    ("arguments", "sentence"), [((0, 4.5, 1), "cut off"), ((0, 4, 0.5), "cut off"), ((1.5, 0, 1), "failed")]
)
def test_a_range_that_is_none_is_refused(arguments: tuple[float, ...], sentence: str) -> None:
    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            counted = torch.arange(*arguments, dtype=torch.int64 if sentence == "cut off" else None)
            return super().forward(x) * counted.sum()

    with pytest.raises(ProgramError, match=sentence):
        capture_on(Model(3, 2), (4, 3))
