"""What a step leaves behind: for a log it may, for the next step it may not; and everything is as it was afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.node import TensorType

pytestmark = pytest.mark.every_moment

BATCH = {"x": TensorType("float32", (4, 3)), "y": TensorType("int64", (4,))}


def captured(keep: Callable[[Tensor, Tensor], Any], model: nn.Module | None = None) -> CapturedStep:
    """A step that keeps something of its loss and its right answers, and multiplies by what that gives."""

    def objective(model: nn.Module, batch: Any) -> Tensor:
        logits = model(batch["x"])
        loss = functional.cross_entropy(logits, batch["y"])
        factor = keep(loss.detach(), (logits.argmax(1) == batch["y"]).float())
        return loss if factor is None else loss * factor

    torch.manual_seed(0)
    return capture(nn.Linear(3, 2) if model is None else model, objective, Sgd(), BATCH)


@cache
def plain() -> Digest:
    """The program of a step in which nobody asks."""
    return captured(lambda *_: None).program.digest


class Metric:
    """A metric as libraries have them."""

    def __init__(self) -> None:
        self.total = torch.tensor(2.0)
        self.matrix = torch.zeros(2, 2)
        self.values: list[Any] = []

    def replacing(self, _loss: Tensor, right: Tensor) -> None:
        self.total = self.total + right.sum()

    def adding(self, _loss: Tensor, right: Tensor) -> None:
        self.total += right.sum()
        self.matrix[0] += right[:2]

    def listing(self, loss: Tensor, right: Tensor) -> None:
        self.values.append(loss)
        self.values.append((loss.item(), right))

    def mean(self, loss: Tensor, right: Tensor) -> None:
        self.replacing(loss, right)
        self.values.append((self.total / 4).item())


@pytest.mark.parametrize("name", ["replacing", "adding", "listing", "mean"])
def test_a_metric_is_no_part_of_the_step_and_is_as_it_was_afterwards(name: str) -> None:
    metric = Metric()
    assert captured(getattr(metric, name)).program.digest == plain()
    assert type(metric.total) is Tensor
    assert metric.total.item() == 2
    assert not metric.matrix.any()
    assert metric.values == []


COUNT = torch.tensor(1.0)
SEEN: dict[str, Tensor] = {}


def counting(loss: Tensor, *_: Tensor) -> Tensor:
    global COUNT
    COUNT = COUNT * 0.9 + loss
    return COUNT


def remembering(loss: Tensor, *_: Tensor) -> Tensor:
    SEEN["loss"] = SEEN.get("loss", torch.tensor(1.0)) + loss
    return SEEN["loss"]


def listing() -> Callable[..., Tensor]:
    losses: list[Tensor] = []

    def listed(loss: Tensor, *_: Tensor) -> Tensor:
        losses.append(loss)
        return torch.stack(losses).mean()

    return listed


class Scale:
    value = 1.0

    def __call__(self, loss: Tensor, *_: Tensor) -> Any:
        before, self.value = self.value, loss
        return before


@pytest.mark.parametrize(
    "keep", [counting, remembering, listing(), Scale()], ids=["global", "dict", "list", "attribute"]
)
def test_what_one_step_leaves_to_the_next_is_refused(keep: Callable[..., Any]) -> None:
    with pytest.raises(ProgramError, match="on what an earlier run left behind"):
        captured(keep)
    assert type(COUNT) is Tensor
    assert SEEN == {}


class Carrying(nn.Linear):
    """Carries its last outputs over, or a table that it makes once."""

    def __init__(self, *, table: bool) -> None:
        super().__init__(3, 2)
        self.table = table
        self.kept: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.table:
            if self.kept is None:
                self.kept = torch.arange(2.0).cos()
            return super().forward(x) + self.kept
        result = super().forward(x) + (0 if self.kept is None else self.kept)
        self.kept = result.detach()
        return result


def test_a_module_may_keep_what_hangs_on_no_values_alone() -> None:
    assert captured(lambda *_: None, Carrying(table=True)).program
    carrying = Carrying(table=False)
    with pytest.raises(ProgramError, match="on what an earlier run left behind"):
        captured(lambda *_: None, carrying)
    assert carrying.kept is None


class Showing(nn.Linear):
    """Keeps its outputs for somebody to look at."""

    def forward(self, x: Tensor) -> Tensor:
        self.shown = super().forward(x)
        return self.shown


def test_a_module_may_keep_results_that_no_step_reads() -> None:
    model = Showing(3, 2)
    assert captured(lambda *_: None, model).program.digest
    assert not hasattr(model, "shown")


class Adding:
    """Adds up in place, and gives back what reads the sum by another name."""

    def __init__(self, reads: str) -> None:
        self.total = torch.ones(3)
        self.view = self.total[1:]
        self.reads = reads

    def __call__(self, loss: Tensor, _right: Tensor) -> Tensor:
        self.total.add_(loss)
        return {
            "itself": lambda: self.total.sum(),
            "a view": lambda: self.view.sum(),
            "a view that is made": lambda: self.total[0],
        }[self.reads]()


@pytest.mark.parametrize("reads", ["itself", "a view", "a view that is made"])
def test_what_is_added_up_in_place_and_read_is_refused(reads: str) -> None:
    with pytest.raises(ProgramError, match=r"is changed in the step itself|left behind|captured"):
        captured(Adding(reads))
