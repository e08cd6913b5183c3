"""Weights with adapters: a part is delivered as if it were all, or merged where no merge is what the step computed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil.base.joberrors import WeightsError
from counterfoil.delivery.adapterforms import AdapterUse, ForwardPass
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.precision import ExactPrecision
from support.delivered import compared, delivered, exported
from support.jobs import classify, draw, own_order, record_job


class Adapted(nn.Module):
    """A frozen linear layer of six features and an adapter, applied in the way that is given."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.first = nn.Linear(6, 6)
        self.first.weight.requires_grad_(False)
        self.first.lora_A = nn.Parameter(torch.from_numpy(draw((2, 6), 1)))
        self.first.lora_B = nn.Parameter(torch.from_numpy(draw((6, 2), 2)))
        self.last = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.silu(x)
        y, a, b = self.first(x), self.first.lora_A, self.first.lora_B

        def adapter(x: torch.Tensor) -> torch.Tensor:
            return functional.linear(functional.linear(x, a), b)

        down = functional.linear(x, a)
        ways = {
            "plain": lambda: y + adapter(x),
            "factor behind": lambda: y + adapter(x) * 2,
            "factor in the middle": lambda: y + functional.linear(2 * down, b),
            "factor in front": lambda: y + adapter(2 * x),
            "alpha": lambda: torch.add(y, adapter(x), alpha=2),
            "dropout": lambda: y + 2 * adapter(functional.dropout(x, 0.25)),
            "residual": lambda: (x + y) + 2 * adapter(x),
            "permuted": lambda: y + functional.linear(torch.mm(x, a.permute(1, 0)), b),
            "three axes": lambda: self.first(x[:, None]).add(2 * adapter(x[:, None])).flatten(1),
            "two factors": lambda: y + 2 * adapter(3 * x),
            "function in the middle": lambda: y + functional.linear(functional.relu(down), b),
            "function behind": lambda: y + functional.relu(adapter(x)),
            "another input": lambda: y + adapter(functional.tanh(x)),
            "scaled weight": lambda: 3 * y + adapter(x),
            "scaled by alpha": lambda: torch.add(adapter(x), y, alpha=2),
            "difference": lambda: y - adapter(x),
            "used before the sum": lambda: functional.relu(y) * (y + adapter(x)),
            "used in the middle": lambda: y + adapter(x) + down.sum(),
            "weight used elsewhere": lambda: y + adapter(x) + self.first.weight.sum(),
            "weight without it": lambda: self.first(y + adapter(x)),
            "adapter twice": lambda: y + adapter(x) + adapter(x),
            "bias in the middle": lambda: y + functional.linear(functional.linear(x, a, b[0, :2]), b),
            "rows mixed": lambda: y + adapter(x.T.reshape(x.shape)),
            "spread": lambda: y + adapter(x[:1]),
        }
        return self.last(functional.silu(ways[self.way]()))


SCALES = dict.fromkeys(("plain", "permuted"), 1.0) | dict.fromkeys(
    ("factor behind", "factor in the middle", "factor in front", "alpha", "dropout", "residual", "three axes"), 2.0
)
"""The ways of :class:`Adapted` that a merged weight can stand for, each with its factor."""
WRONG = (
    "two factors",
    "function in the middle",
    "function behind",
    "another input",
    "scaled weight",
    "scaled by alpha",
    "difference",
    "used before the sum",
    "used in the middle",
    "weight used elsewhere",
    "weight without it",
    "adapter twice",
    "bias in the middle",
    "rows mixed",
    "spread",
)
NAMES = ("first.weight", "first.lora_A", "first.lora_B")


def _adapted_order(way: str, **settings: Any) -> OrderDraft:
    data = {"x": draw((32, 6), 1), "labels": (abs(draw((32,), 2)) * 3).astype("int64")}
    return own_order(Adapted(way), classify, data, steps=2, **settings)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", SCALES)
def test_a_merge_is_followed_from_input_to_sum(way):
    for settings in ({}, {"precision": ExactPrecision(20)}) if way == "dropout" else ({},):
        use = ForwardPass(_adapted_order(way, **settings).program).find_use(NAMES)
        assert use == AdapterUse(SCALES[way], (False, False, False))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("way", WRONG)
def test_what_no_merge_stands_for_is_refused(way):
    program = _adapted_order(way).program
    assert ForwardPass(program).find_use(NAMES) is None


def test_a_merge_that_the_program_does_not_show_is_refused(tmp_path, trainer_key):
    job = record_job(tmp_path, _adapted_order("function in the middle"), trainer_key)
    tensors = exported(job.run, tmp_path / "exported")
    merged = {name: tensor for name, tensor in tensors.items() if ".lora_" not in name}
    merged["first.weight"] = tensors["first.weight"] + tensors["first.lora_B"] @ tensors["first.lora_A"]
    with pytest.raises(WeightsError, match="does not apply the adapter of"):
        compared(delivered(tmp_path / "merged", merged), job.run)
    assert compared(tmp_path / "exported", job.run).outcome is DeliveryOutcome.DELIVERED


class Odd(nn.Module):
    """A name with ``.lora_`` that is no part of an adapter, as a scale that is trained beside one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.first.lora_magnitude = nn.Parameter(torch.ones(8))
        self.last = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(functional.silu(self.first(x) * self.first.lora_magnitude))


def test_what_training_changed_must_be_delivered_whatever_it_is_called(tmp_path, trainer_key):
    data = {"x": draw((32, 6), 1), "labels": (abs(draw((32,), 2)) * 3).astype("int64")}
    odd = record_job(tmp_path, own_order(Odd(), classify, data, steps=2), trainer_key)
    tensors = exported(odd.run, tmp_path / "odd")
    assert compared(tmp_path / "odd", odd.run).outcome is DeliveryOutcome.DELIVERED
    one = compared(delivered(tmp_path / "one", {"first.lora_magnitude": tensors["first.lora_magnitude"]}), odd.run)
    assert (one.outcome, len(one.missing)) == (DeliveryOutcome.DIFFERENT, 4)
