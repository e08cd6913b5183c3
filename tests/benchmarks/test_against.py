"""The port of the paper's method does what that method does, and the table says what was found."""

from __future__ import annotations

import pytest
import torch
from benchmarks.against import THREADS, WAYS, case_table, product_table
from benchmarks.paper_method import Hooks, corrected, packed, symbols_of, unpacked
from torch import Tensor, nn

QUARTER = 0.25 * 2.0**-23
"""The threshold for values between 1 and 10."""


def rounded(values: Tensor) -> Tensor:
    return values.float().double()


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 23])
def test_five_symbols_lie_in_a_byte(count: int) -> None:
    symbols = torch.randint(0, 3, (count,), generator=torch.Generator().manual_seed(count)).to(torch.uint8)
    data = packed(symbols)
    assert len(data) == -(-count // 5)
    assert torch.equal(unpacked(data, count), symbols)


def test_what_lies_far_from_its_rounding_is_logged_with_its_direction() -> None:
    step = 2.0**-23
    values = 1 + step * torch.tensor([0.0, 0.24, 0.26, 0.49, 0.51, 0.74, 0.76], dtype=torch.float64)
    assert symbols_of(values, rounded(values)).tolist() == [1, 1, 0, 0, 2, 2, 1]


def test_an_auditor_takes_the_direction_of_what_both_log_and_of_nothing_else() -> None:
    step = 2.0**-23
    trainer = 1 + step * torch.tensor([0.5001, 0.4999, 0.9, 0.1], dtype=torch.float64)
    auditor = 1 + step * torch.tensor([0.4999, 0.5001, 0.1, 0.9], dtype=torch.float64)
    log = packed(symbols_of(trainer, rounded(trainer)))
    followed, own = corrected(auditor, log)
    assert torch.equal(followed[:2], rounded(trainer)[:2])
    assert not torch.equal(rounded(auditor)[:2], rounded(trainer)[:2]), "without the log they part"
    assert torch.equal(followed[2:], rounded(auditor)[2:])
    assert own.tolist() == [0, 2, 1, 1]


def test_hooks_round_what_modules_give_and_the_gradients_that_they_pass_on() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)).double()
    hooks = Hooks(model)
    hooks.begin()
    x = torch.randn(3, 8, dtype=torch.float64, requires_grad=True)
    y = model(x)
    y.square().sum().backward()
    assert torch.equal(y, rounded(y))
    assert x.grad is not None
    assert torch.equal(x.grad, rounded(x.grad))
    assert hooks.values == 3 * (8 + 4 + 8 + 8)
    assert model[1].weight.grad is not None
    assert not torch.equal(model[1].weight.grad, rounded(model[1].weight.grad)), (
        "the gradients of weights are not hooked"
    )


def test_the_table_says_what_was_found() -> None:
    times = {name: {"seconds": 0.01, "ratio": 2.5, "bits": 1.6 if "paper" in name else 0.0} for name in WAYS}
    first, second, third, *_ = THREADS
    bits = {setting: dict.fromkeys(WAYS, "the weights") for setting in (first, second, third)}
    bits[third] = {**bits[third], "float32": "other weights"}
    lines = case_table("cnn", {"times": {"cnn": times}, "bits": {"cnn": bits}, "memory": {}}).splitlines()
    (float32,) = (line for line in lines if line.startswith("| float32 |"))
    (float64,) = (line for line in lines if line.startswith("| float64 |"))
    (paper,) = (line for line in lines if line.startswith("| the paper's method, trainer |"))
    assert float32 == "| float32 | 2.50 | none | - | no, 1 of 2 |"
    assert float64 == "| float64 | 2.50 | none | - | **yes**, 2 of 2 |"
    assert "1.6000" in paper


def test_what_is_not_installed_is_named() -> None:
    assert "| RepDL | not installed here |" in product_table({"1 x 1 x 1": {"float32": 1.0}})
    assert "not installed" not in product_table({"1 x 1 x 1": {"float32": 1.0, "RepDL": 7.0}})
