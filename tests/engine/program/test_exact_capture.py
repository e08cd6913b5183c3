"""A step captured for an exact profile does what the step does, in single operations, none of them twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import (
    Adagrad,
    Adam,
    AdamW,
    ClipByNorm,
    ClipByValue,
    Lion,
    ParameterGroup,
    ParameterGroups,
    RmsProp,
    Sgd,
    UpdateRule,
    WeightAverage,
)
from counterfoil_core.arithmetic.beforehand import check_exact
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import TensorType
from support.jobs import draw

EXACT = ExactPrecision(20)
X, LABELS = torch.from_numpy(draw((12, 5), 1)), torch.arange(12) % 3
TYPES = {"x": TensorType("float32", (12, 5)), "labels": TensorType("int64", (12,))}
RULES: dict[str, UpdateRule] = {
    "sgd": Sgd(0.9, 0.05, nesterov=True),
    "adam": Adam((0.8, 0.95), 1e-6, 0.1),
    "adamw": AdamW(clip_norm=0.1),
    "adagrad": Adagrad(),
    "rmsprop": RmsProp(centered=True),
    "lion": Lion(weight_decay=0.3),
    "groups": ParameterGroups((ParameterGroup("first", "0.*", Lion()), ParameterGroup("rest", "*", Adam()))),
    "average": WeightAverage(ClipByNorm(ClipByValue(Sgd(), 0.05), 0.1), 0.9),
}


def network() -> nn.Module:
    model = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.from_numpy(draw(tuple(parameter.shape), number)) + 0.05)
    return model


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["labels"])


def captured(rule: UpdateRule, *, exact: ExactPrecision | None, parts: int = 1) -> CapturedStep:
    return capture(network(), objective, rule, TYPES, micro_batches=parts, exact=exact)


def trained(step: CapturedStep, rule: UpdateRule, runner: Interpreter) -> tuple[dict[str, Tensor], list[float]]:
    state, losses = dict(step.initial_state), []
    for number in range(1, 4):
        scalars = dict(zip(rule.scalar_names, rule.scalars(number, 0.01), strict=True))
        result = runner.run(StepInputs(state, {"x": X, "labels": LABELS}, scalars, Draws(0, number)))
        state, losses = result.state, [*losses, result.loss]
    return state, losses


CPU = torch.device("cpu")
QUICK = ("adamw", "average")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *(pytest.param(name, 1, marks=() if name in QUICK else pytest.mark.slow) for name in RULES),
        pytest.param("sgd", 3, marks=pytest.mark.slow),
    ],
)
def test_training_under_every_rule(name: str, parts: int) -> None:
    rule = RULES[name]
    exact, wide = (captured(rule, exact=choice, parts=parts) for choice in (EXACT, None))
    check_exact(exact.program, 24)
    with pytest.raises(ProgramError, match="composite"):
        check_exact(wide.program, 24)
    state, losses = trained(exact, rule, Interpreter(exact.program, CPU, torch.float32, exactly(Profile(24))))
    expected, expected_losses = trained(wide, rule, Interpreter(wide.program, CPU))
    assert losses == pytest.approx(expected_losses, rel=2e-4)
    assert expected.keys() == state.keys()
    if name in ("lion", "groups"):
        return  # its steps are signs, which hang on the last bit where a gradient is nearly zero
    for tensor, theirs in expected.items():
        torch.testing.assert_close(state[tensor], theirs, rtol=2e-3, atol=2e-4)


def test_no_operation_is_in_a_program_twice() -> None:
    nodes = captured(AdamW(), exact=EXACT).program.nodes
    texts = [repr((node.operator, node.args, node.kwargs)) for node in nodes]
    assert len(set(texts)) == len(texts)
    # Equal in Python, and not the same number.
    assert len({text for text in texts if ", 1)" in text or ", 1.0)" in text}) > 1
    plain = captured(AdamW(), exact=None).program.nodes
    assert len({repr((node.operator, node.args, node.kwargs)) for node in plain}) < len(plain)


def test_the_gradients_take_what_the_forward_pass_computed() -> None:
    """One error function, a reciprocal deviation for each norm, one exponential each for GELU's slope and the loss."""
    kinds = [node.operator.split(".")[1] for node in captured(Sgd(), exact=EXACT).program.nodes]
    assert (kinds.count("erf"), kinds.count("rsqrt"), kinds.count("exp")) == (1, 2, 2)


class Chances(nn.Module):
    """Uses a softmax by way of its logarithm, and an exponential of something that is nearly one."""

    def __init__(self, turn: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(draw((5, 5), 3)))
        self.turn = turn

    def forward(self, x: Tensor) -> Tensor:
        z = x @ self.weight
        z = z - z.detach().amax(1, keepdim=True)
        within = z if self.turn == 1.0 else z * self.turn
        y = z - within.exp().sum(1, keepdim=True).log()
        return (y.exp() * torch.arange(5)).sum()


@pytest.mark.parametrize("turn", [1.0, 0.5])
def test_the_exponential_of_a_log_softmax_is_the_softmax(turn: float) -> None:
    model, types = Chances(turn), {"x": TensorType("float32", (12, 5))}
    exact, wide = (capture(model, lambda m, b: m(b["x"]), Sgd(), types, exact=choice) for choice in (EXACT, None))
    kinds = [node.operator.split(".")[1] for node in exact.program.nodes]
    # Where something else was summed nothing may be put in its place.
    assert kinds.count("exp") == (1 if turn == 1.0 else 2)
    inputs = StepInputs(exact.initial_state, {"x": X}, {"lr": 1.0}, Draws(0, 1))
    found = Interpreter(exact.program, CPU, torch.float32, exactly(Profile(24))).run(inputs)
    theirs = Interpreter(wide.program, CPU).run(inputs)
    assert found.loss == pytest.approx(theirs.loss, rel=1e-5)
    torch.testing.assert_close(found.state["weight"], theirs.state["weight"], rtol=1e-4, atol=1e-5)


class Draw(nn.Module):
    """Two dropouts of one tensor, whose draws are two."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6, 6))

    def forward(self, x: Tensor) -> Tensor:
        y = x @ self.weight
        return functional.dropout(y) - functional.dropout(y)


def test_two_draws_stay_two() -> None:
    step = capture(
        Draw(),
        lambda m, b: m(b["x"]).square().mean(),
        Sgd(),
        {"x": TensorType("float32", (4, 6))},
        exact=EXACT,
    )
    drawn = [node for node in step.program.nodes if node.operator == "counterfoil.uniform"]
    assert len(drawn) == 2


def test_operations_keep_the_module_that_they_come_from() -> None:
    nodes = captured(Sgd(), exact=EXACT).program.nodes
    places = {(node.module, node.phase) for node in nodes if node.entry.operator_class is OperatorClass.ROUNDED}
    assert {("0", "forward"), ("1", "forward"), ("2", "forward"), ("3", "forward"), ("4", "backward")} <= places


class Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(draw((4, 4, 6, 5), 3)))
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return (self.function(self.weight) * x.sum()).square().mean()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.interpolate(x, scale_factor=1.7, mode="bilinear"),
        lambda x: functional.interpolate(x, size=(3, 9), mode="nearest-exact"),
        lambda x: functional.softplus(x, 0.7, 1.0),
        lambda x: functional.hardswish(x) + functional.logsigmoid(x) + functional.hardsigmoid(x),
        lambda x: functional.silu(x * 1.0, inplace=True).addcmul_(x, x, value=0.3).lerp_(x, 0.2),
        lambda x: functional.max_pool2d(x, 3, 2, 1) + functional.adaptive_max_pool2d(x, (3, 3)),
        lambda x: functional.embedding(torch.tensor([[1, 1], [0, 1]]), x[0, 0], scale_grad_by_freq=True),
        lambda x: nn.functional.pixel_shuffle(x, 2).std((2, 3)).prod(1),
        lambda x: x[[0, 0, 3]].cumsum(1) + x.unfold(0, 3, 1)[:1].mean(-1),
    ],
    ids=["linear", "nearest", "softplus", "hard", "in place", "maximum", "frequencies", "products", "indices"],
)
def test_what_capture_lowers_anyway_is_lowered_once_more(function: Callable[[Tensor], Tensor]) -> None:
    model, types = Function(function), {"x": TensorType("float32", (1,))}
    exact, wide = (capture(model, lambda m, b: m(b["x"]), Sgd(), types, exact=choice) for choice in (EXACT, None))
    check_exact(exact.program, 20)

    def gradient(step: CapturedStep, runner: Interpreter) -> Tensor:
        given = StepInputs(step.initial_state, {"x": torch.ones(1)}, {"lr": 1.0}, Draws(0, 1))
        return step.initial_state["weight"].double() - runner.run(given).state["weight"].double()

    found = gradient(exact, Interpreter(exact.program, CPU, torch.float32, exactly(Profile(24))))
    torch.testing.assert_close(found, gradient(wide, Interpreter(wide.program, CPU)), rtol=1e-3, atol=1e-6)


def test_programs_of_exact_captures_survive_being_written() -> None:
    program = captured(AdamW(), exact=EXACT).program
    read = type(program).from_bytes(program.to_bytes())
    assert read.nodes == program.nodes
