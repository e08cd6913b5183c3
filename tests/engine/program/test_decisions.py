"""What a step decides by values: known ones decide, checks become part of the step, the rest is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Distribution
from torch.nn import functional

from counterfoil.program import lowering
from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.node import TensorType
from support.asserting import asserts

EDGES = torch.tensor([[0, 1, 2, 3, 3, 1], [1, 2, 3, 0, 3, 1]])
X = torch.arange(12.0).reshape(4, 3) / 7 - 0.5


class Layer(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor], **buffers: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0, -1.0]))
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x * self.weight)


def captured_with(model: nn.Module, *, exact: ExactPrecision | None = None) -> CapturedStep:
    types = {"x": TensorType("float32", (4, 3))}
    return capture(model, lambda m, b: m(b["x"]).square().mean(), Sgd(), types, exact=exact)


def loss_of(captured: CapturedStep, x: Tensor = X) -> float:
    inputs = StepInputs(captured.initial_state, {"x": x}, {"lr": 0.1}, Draws(1, 1))
    return Interpreter(captured.program, torch.device("cpu")).run(inputs).loss


def refused(function: Callable[[Tensor], Tensor], **buffers: Tensor) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        captured_with(Layer(function, **buffers))
    return caught.value


def without_loops(x: Tensor, edges: Tensor) -> Tensor:
    """What graph libraries do: loops out, as many of all nodes in, sums by target."""
    edges = edges[:, edges[0] != edges[1]]
    nodes = torch.arange(int(edges.max()) + 1)
    source, target = torch.cat([edges, torch.stack([nodes, nodes])], 1)
    degree = torch.zeros(len(nodes)).scatter_add_(0, target, torch.ones(target.numel()))
    return torch.zeros_like(x).index_add_(0, target, x[source] / degree[target, None])


@pytest.mark.parametrize("exact", [None, ExactPrecision(20)])
@pytest.mark.parametrize("held", ["constant", "buffer"])
def test_a_graph_that_is_known_when_the_order_is_written(held: str, exact: ExactPrecision | None) -> None:
    edges = EDGES.clone()
    if held == "constant":
        model = Layer(lambda x: without_loops(x, edges))
    else:
        model = Layer(lambda x: without_loops(x, model.edges), edges=edges)
    captured = captured_with(model, exact=exact)
    assert loss_of(captured) == pytest.approx(model.double()(X.double()).square().mean().item(), rel=1e-6)
    assert torch.equal(edges, EDGES)


def test_what_is_made_of_known_values_may_be_changed() -> None:
    def halved(x: Tensor) -> Tensor:
        weights = torch.ones(4)[EDGES[0, :4] != 2]
        weights[weights > 0] -= 0.5
        return x[:3] * weights[:, None]

    assert loss_of(captured_with(Layer(halved))) == pytest.approx(Layer(halved)(X).square().mean().item(), rel=1e-6)


def test_constants_of_unknown_values_and_changed_buffers_are_refused() -> None:
    def changed(x: Tensor) -> Tensor:
        steps = model.steps
        steps.add_(1)
        return x if steps < 2 else -x

    model = Layer(changed, steps=torch.tensor(0))
    with pytest.raises(ProgramError, match=r"by the values of the buffer 'steps', and changes them"):
        captured_with(model)

    def written(x: Tensor) -> Tensor:
        known = torch.zeros(3)
        known[0] = x[0, 0].detach()
        return x[:, known > 0]

    assert "by the values of a tensor" in refused(written).sentence
    # Control: what is written may be known, too.
    assert loss_of(captured_with(Layer(lambda x: x[:, torch.zeros(3).fill_(1.0) > 0]))) > 0


def raises(x: Tensor) -> Tensor:
    if x.shape[0] == 1:
        return x
    elif (x.abs() > 9).any():
        raise ValueError("out of range")
    return x


def requires(x: Tensor) -> Tensor:
    if torch.equal(x, x.clamp(-9, 9)):
        x = x + 0
    else:
        raise ValueError("out of range")
    return x


@pytest.mark.parametrize("function", [asserts, raises, requires, lambda x: (torch._assert(x.max() < 9, "no"), x)[1]])
def test_a_check_that_raises_is_part_of_the_step(function: Callable[[Tensor], Tensor]) -> None:
    captured = captured_with(Layer(function))
    assert loss_of(captured) == pytest.approx(Layer(function)(X).square().mean().item(), rel=1e-6)
    with pytest.raises(NonFiniteError, match="The loss is infinite"):
        loss_of(captured, X + 10)
    with pytest.raises((AssertionError, ValueError)):
        Layer(function)(X + 10)
    # Control: without the check the same values give a loss.
    assert loss_of(captured_with(Layer(lambda x: x)), X + 10) > 0


def test_a_check_that_warns_says_nothing() -> None:
    def warning(x: Tensor) -> Tensor:
        if x.max() > 9:
            warnings.warn("large", stacklevel=1)
        return x

    assert loss_of(captured_with(Layer(warning)), X + 10) == pytest.approx(
        (X + 10).mul(torch.tensor([1, 2, -1])).square().mean().item(), rel=1e-6
    )


def test_a_check_that_somebody_catches_is_control_flow() -> None:
    def caught(x: Tensor) -> Tensor:
        try:
            if x.max() > 0:
                raise ValueError
        except ValueError:
            return -x
        return x

    assert "by the values of a tensor" in refused(caught).sentence


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (lambda x: x * x.detach().max().item(), "Keep it a tensor instead of taking it out with item()"),
        (lambda x: x if x.sum() > 0 else -x, "torch.where"),
        (lambda x: x[x > 0], "weigh by the mask"),
        (lambda x: x.unique(), "Compute it before"),
    ],
    ids=["item", "branch", "mask", "unique"],
)
def test_a_refusal_names_the_line_and_a_remedy_that_applies(function: Callable[[Tensor], Tensor], remedy: str) -> None:
    error = refused(function)
    line = function.__code__.co_firstlineno
    assert f"({Path(__file__)}, line {line})" in error.sentence
    assert remedy in error.remedy


def test_an_operator_outside_the_allow_list_names_the_line() -> None:
    function = lambda x: torch.special.i0(x)  # noqa: E731
    assert f"({Path(__file__)}, line {function.__code__.co_firstlineno})." in refused(function).sentence


def test_an_operator_of_the_backward_pass_names_the_line_of_the_forward_one(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = lowering.is_allowed
    monkeypatch.setattr(lowering, "is_allowed", lambda name: allowed(name) and "threshold_backward" not in name)
    function = lambda x: functional.relu(x)  # noqa: E731
    sentence = refused(function).sentence
    assert "threshold_backward.default in the step itself (backward pass)" in sentence
    assert f"({Path(__file__)}, line {function.__code__.co_firstlineno})." in sentence


def test_losses_of_torch_that_check_their_arguments() -> None:
    def gaussian(x: Tensor) -> Tensor:
        return functional.gaussian_nll_loss(x[:, 0], torch.zeros(4), functional.softplus(x[:, 1]))

    captured = captured_with(Layer(gaussian))
    assert loss_of(captured) == pytest.approx(Layer(gaussian)(X).square().item(), rel=1e-6)


@pytest.mark.parametrize("validated", [True, False])
def test_distributions_are_not_validated_while_a_step_is_captured(validated: bool) -> None:
    def policy(x: Tensor) -> Tensor:
        return Categorical(logits=x).log_prob(torch.tensor([0, 1, 2, 0]))

    before = Distribution._validate_args
    try:
        Distribution.set_default_validate_args(validated)
        captured = captured_with(Layer(policy))
        assert Distribution._validate_args is validated
    finally:
        Distribution.set_default_validate_args(before)
    assert loss_of(captured) == pytest.approx(Layer(policy)(X).square().mean().item(), rel=1e-6)
