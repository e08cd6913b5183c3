"""A step of several shares is captured as two programs, and each is held to what a whole step is held to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.sharecapture import capture_shares
from counterfoil.program.update import Sgd
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import BUFFER, GRADIENT, Program

BATCH = {"x": TensorType("float32", (4, 3))}


def mean_square(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return model(batch["x"]).square().mean()


def linear() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2)


def shares(
    model: nn.Module | None = None, objective: Callable[..., Any] = mean_square, rule: Any = None, **settings: Any
) -> CapturedStep:
    chosen: dict[str, Any] = {"shares": 2} | settings
    return capture_shares(model or linear(), objective, rule or Sgd(momentum=0.9), BATCH, **chosen)


def test_both_programs_are_read_as_a_stranger_would() -> None:
    step = shares(micro_batches=2)
    assert step.update is not None
    for program in (step.program, step.update):
        assert Program.from_bytes(program.to_bytes()).digest == program.digest
    assert (step.shares, step.micro_batches, step.stacked) == (2, 2, False)
    assert set(step.initial_state) == {"weight", "bias", "momentum:weight", "momentum:bias"}
    # A whole step has no second program.
    assert capture(linear(), mean_square, Sgd(), BATCH).update is None


def test_two_captures_are_the_same() -> None:
    assert shares().program.digest == shares().program.digest
    assert shares().update == shares().update


def test_stacked_shares_have_an_axis_of_their_own() -> None:
    class Summing(Sgd):
        def update(self, parameters: Any, gradients: Any, *others: Any) -> Any:
            return super().update(parameters, {name: g.sum(0) for name, g in gradients.items()}, *others)

    step = shares(rule=Summing(), shares=5, stacked=True)
    assert step.update is not None
    found = {item.name: item.type.shape for item in step.update.combined_inputs()}
    assert found == {f"{GRADIENT}weight": (5, 2, 3), f"{GRADIENT}bias": (5, 2), "loss": (5,)}


class Clock(Sgd):
    """A rate that hangs on the moment at which it is asked for."""

    def update_one(self, parameter: Tensor, gradient: Tensor, slots: Any, scalars: Any) -> Any:
        return super().update_one(parameter, gradient * (time.time() % 1e9), slots, scalars)


def by_the_clock(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return mean_square(model, batch) * (time.time() % 1e9)


@pytest.mark.every_moment
@pytest.mark.parametrize("given", [{"rule": Clock()}, {"objective": by_the_clock}], ids=["update", "gradient"])
def test_neither_program_may_hang_on_a_moment(given: dict[str, Any]) -> None:
    with pytest.raises(ProgramError, match="another one when it is captured a second time"):
        shares(**given)


class Deciding(nn.Module):
    """Decides by a buffer that it changes, or leaves alone."""

    def __init__(self, *, changes: bool) -> None:
        super().__init__()
        self.inner = linear()
        self.register_buffer("seen", torch.ones(()))
        self.changes = changes

    def forward(self, x: Tensor) -> Tensor:
        y = self.inner(x) if self.seen > 0 else self.inner(-x)
        if self.changes:
            self.seen = self.seen + 1
        return y


@pytest.mark.parametrize("buffers", ["first", "mean"])
def test_a_buffer_that_is_decided_by_must_stay_as_it_is(buffers: Any) -> None:
    step = shares(Deciding(changes=False), buffers=buffers)
    assert f"{BUFFER}seen" not in step.program.combined
    with pytest.raises(ProgramError, match=r"the buffer 'seen', and changes them"):
        shares(Deciding(changes=True), buffers=buffers)


def test_the_model_is_left_as_it_was() -> None:
    model = nn.Sequential(linear(), nn.BatchNorm1d(2))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    shares(model, buffers="mean")
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert not any(type(tensor).__name__ == "FakeTensor" for tensor in model.state_dict().values())


def test_a_slot_that_is_the_gradient_itself_is_kept() -> None:
    """A slot may be called as what shares give is: that is another input, and its new value is the combined one."""

    class Remembering(Sgd):
        @property
        def slot_names(self) -> tuple[str, ...]:
            return ("gradient",)

        def update_one(self, parameter: Tensor, gradient: Tensor, slots: Any, scalars: Any) -> Any:
            return parameter - scalars["lr"] * slots["gradient"], {"gradient": gradient}

    step = shares(rule=Remembering())
    assert step.update is not None
    names = [(item.kind, item.name) for item in step.update.inputs]
    assert {("state", "gradient:weight"), ("combined", "gradient:weight")} <= set(names)
    assert names[step.update.updates["gradient:weight"].number] == ("combined", "gradient:weight")


def test_rows_of_a_share_must_be_micro_batches() -> None:
    with pytest.raises(DataError, match="A batch of 4 rows of 'x' cannot be split into 3 equal parts"):
        shares(micro_batches=3)
