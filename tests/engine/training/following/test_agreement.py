"""Whether an ordered step does what a script did: equal but for rounding, and to the bit where nothing is rounded."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil.training.following.agreement import Difference, StepComparison
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.operators.node import TensorType

ROWS = torch.linspace(-1, 1, 12).reshape(4, 3)
RATE = 0.125


class Model(nn.Module):
    """A layer, a mask that is left alone, a count, and the step of a staircase."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 2)
        self.height = nn.Parameter(torch.tensor(0.5))
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0]))
        self.register_buffer("count", torch.tensor(3))
        self.register_buffer("stair", torch.tensor(0.0))
        self.register_buffer("rows", torch.tensor(3e5))

    def forward(self, x: Tensor) -> Tensor:
        """The loss."""
        self.count.add_(1)
        self.rows.add_(len(x))
        self.stair.copy_((self.height.detach() * 10).floor())
        return self.layer(x * self.mask).square().mean()


@pytest.fixture(scope="module")
def step() -> CapturedStep:
    return capture(Model(), lambda model, rows: model(rows["x"]), Sgd(), {"x": TensorType("float32", (4, 3))})


def script(state: Mapping[str, Tensor], sign: float = -1.0) -> dict[str, Tensor]:
    """What a script holds after the step, from a state before it."""
    model = Model()
    model.load_state_dict(dict(state))
    model(ROWS).backward()
    with torch.no_grad():
        for parameter in model.layer.parameters():
            assert parameter.grad is not None
            parameter.add_(parameter.grad, alpha=sign * RATE)
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def compared(
    step: CapturedStep, after: Mapping[str, Tensor], state: Mapping[str, Tensor] | None = None
) -> list[Difference]:
    before = dict(step.initial_state if state is None else state)
    inputs = StepInputs(before, {"x": ROWS}, {"lr": RATE}, Draws(seed=0, step=1))
    return StepComparison(step.program).differences(inputs, {}, after)[0]


def test_a_step_that_is_the_scripts_agrees(step: CapturedStep) -> None:
    state = dict(step.initial_state)
    assert compared(step, script(state)) == []
    assert {"mask"} == set(state) - set(step.program.updates) - {"height"}


def test_a_flipped_sign_is_seen_and_sized(step: CapturedStep) -> None:
    state = dict(step.initial_state)
    after, right = script(state, sign=1.0), script(state)
    found = {difference.name: difference for difference in compared(step, after)}
    assert set(found) == {"layer.weight", "layer.bias"}
    weight = found["layer.weight"]
    assert weight.size == pytest.approx(float((after["layer.weight"] - right["layer.weight"]).abs().max()), rel=1e-4)
    assert weight.size > 1000 * weight.allowed
    assert not weight.is_left_alone
    # It goes as far, the other way.
    assert "200% of what the step changed it by; rounding explains" in weight.sentence
    assert weight.sentence.startswith("'layer.weight' differs by ")


def test_a_last_bit_is_rounding_and_a_thousandth_is_not(step: CapturedStep) -> None:
    after = script(step.initial_state)
    largest = after["layer.weight"].abs().argmax()
    close, far = (dict(after) for _ in range(2))
    close["layer.weight"] = after["layer.weight"].clone()
    close["layer.weight"].view(-1)[largest] *= 1 + 2.0**-23
    far["layer.weight"] = after["layer.weight"].clone()
    far["layer.weight"].view(-1)[largest] *= 1.001
    assert compared(step, close) == []
    assert [difference.name for difference in compared(step, far)] == ["layer.weight"]


def test_a_jump_is_explained_by_shaking_and_only_by_that(step: CapturedStep, monkeypatch: pytest.MonkeyPatch) -> None:
    state = dict(step.initial_state)
    after = script(state)
    assert after["stair"] == 5.0
    # It stands on an edge: in another order of operations it is one stair below.
    below = {**after, "stair": torch.tensor(4.0)}
    assert compared(step, below) == []
    with monkeypatch.context() as patches:
        patches.setattr(StepComparison, "_shaken_states", lambda *_: [])
        assert [difference.name for difference in compared(step, below)] == ["stair"], "the control"
    # Off the edge nothing explains it.
    inside = {**state, "height": torch.tensor(0.55)}
    assert compared(step, {**script(inside), "stair": torch.tensor(5.0)}, inside) == []
    assert [d.name for d in compared(step, {**script(inside), "stair": torch.tensor(4.0)}, inside)] == ["stair"]


@pytest.mark.parametrize("count", [3, 5, -4])
def test_whole_numbers_are_equal(step: CapturedStep, count: int) -> None:
    after = {**script(step.initial_state), "count": torch.tensor(count)}
    assert [difference.name for difference in compared(step, after)] == ["count"]


@pytest.mark.parametrize("rows", [300_003.0, 300_005.0])
def test_counts_are_equal_in_floating_point_too(step: CapturedStep, rows: float) -> None:
    after = script(step.initial_state)
    assert after["rows"] == 300_004.0
    # Of so large a number that the bound of rounding reaches the next one.
    assert 64 * 2.0**-24 * rows > 1
    assert [difference.name for difference in compared(step, {**after, "rows": torch.tensor(rows)})] == ["rows"]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("mask", torch.tensor([1.0, 0.0, 1 + 2.0**-23])),
        ("mask", torch.tensor([1.0, -0.0, 1.0])),
        ("height", torch.nextafter(torch.tensor(0.5), torch.tensor(1.0))),
    ],
)
def test_what_the_step_leaves_alone_is_equal_to_the_bit(step: CapturedStep, name: str, other: Tensor) -> None:
    assert name not in step.program.updates
    (found,) = compared(step, {**script(step.initial_state), name: other})
    assert found.name == name
    assert found.is_left_alone
    assert found.sentence.startswith(f"the script changes {name!r} by up to ")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_agrees_with_nothing_that_is(step: CapturedStep, value: float) -> None:
    after = script(step.initial_state)
    after["layer.bias"][1] = value
    assert [difference.name for difference in compared(step, after)] == ["layer.bias"]


def test_a_step_that_gives_what_is_not_finite_is_no_step_of_an_order(step: CapturedStep) -> None:
    state = {**step.initial_state, "height": torch.tensor(float("inf"))}
    after = script(state)
    assert after["stair"] == float("inf")
    with pytest.raises(NonFiniteError, match="'stair' holds a value that is infinite"):
        compared(step, after, state)


def test_a_tensor_of_another_size_differs(step: CapturedStep) -> None:
    after = {**script(step.initial_state), "layer.bias": torch.zeros(3)}
    (found,) = compared(step, after)
    assert found.name == "layer.bias"
    assert found.size == float("inf")
