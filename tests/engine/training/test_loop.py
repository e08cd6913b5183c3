"""A loop of one's own over recorded steps does what the same loop of torch does, and its run is VERIFIED."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

import counterfoil
from counterfoil_core.base.errors import DataError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited

ROWS, CLOSE = 22, 2e-6
"""Rows; and how close float32 comes to what is recorded."""


def network() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 7, bias=False), nn.BatchNorm1d(7), nn.Tanh(), nn.Linear(7, 3))


def loader(batch: int = 4) -> DataLoader[Any]:
    made = torch.Generator().manual_seed(2)
    data = TensorDataset(torch.randn(ROWS, 5, generator=made), torch.arange(ROWS) % 3)
    return DataLoader(data, batch, shuffle=True, generator=torch.Generator().manual_seed(7))


def loss_fn(model: nn.Module, batch: Any) -> Tensor:
    return functional.cross_entropy(model(batch[0]), batch[1])


def tokens(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    """Only some rows count, in each part another number of them."""
    each = functional.cross_entropy(model(batch[0]), batch[1], reduction="none")
    counted = batch[0][:, 0] > -0.5
    return (each * counted).sum(), counted.sum()


def assert_close(model: nn.Module, expected: nn.Module) -> None:
    for name, tensor in expected.state_dict().items():
        assert torch.allclose(model.state_dict()[name].double(), tensor.double(), rtol=CLOSE, atol=CLOSE), name


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    return {"job": tmp_path / "job.cfoil", "out": tmp_path / "run.cfoil"}


def test_without_a_run_the_order_is_written(places: dict[str, Path]) -> None:
    model = network()
    run = counterfoil.loop(
        model, torch.optim.Adam(model.parameters()), loader(11), loss_fn, epochs=2, job=places["job"]
    )
    assert len(run) == 4
    assert list(run) == []
    assert places["job"].exists()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("last", ["drop", None])
def test_a_loop_of_torch(places: dict[str, Path], trainer_key: SigningKey, last: Any) -> None:
    expected = network()
    optimizer = torch.optim.AdamW(expected.parameters(), lr=0.01)
    scheduler = lr_scheduler.StepLR(optimizer, 1, 0.5)
    told = []
    batches = loader()
    for epoch in range(2):
        for batch in batches:
            if len(batch[0]) < 4 and last == "drop":
                continue
            loss = loss_fn(expected, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(expected.parameters(), 1.0)
            optimizer.step()
            told.append((len(told), epoch, pytest.approx(loss.item(), rel=1e-5), optimizer.param_groups[0]["lr"]))
        scheduler.step()

    model = network()
    own = torch.optim.AdamW(model.parameters(), lr=0.01)
    run = counterfoil.loop(
        model, own, loader(), loss_fn, epochs=2, scheduler=lr_scheduler.StepLR(own, 1, 0.5), scheduler_every="epoch",
        clip_norm=1.0, last=last, key=trainer_key, **places,
    )  # fmt: skip
    seen, ends = [], []
    for step in run:
        seen.append((step.index, step.epoch, step.loss, step.lr))
        if step.ends_epoch:
            ends.append(step.index)
            run.sync()
            model.eval()
            assert loss_fn(model, next(iter(loader()))).isfinite()
            model.train()
    assert seen == told
    assert ends == ([4, 9] if last == "drop" else [5, 11])
    assert_close(model, expected)
    weight, theirs = model[0].weight, expected[0].weight
    assert torch.allclose(own.state[weight]["exp_avg"], optimizer.state[theirs]["exp_avg"], atol=1e-6)
    assert own.state[weight]["step"] == optimizer.state[theirs]["step"] == len(told)
    assert audited(places["out"], places["job"]).report.outcome is Outcome.VERIFIED


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weigh", ["parts", "tokens"])
def test_gradients_are_accumulated(places: dict[str, Path], trainer_key: SigningKey, weigh: Any) -> None:
    objective = tokens if weigh == "tokens" else loss_fn
    expected = network()
    optimizer = torch.optim.SGD(expected.parameters(), lr=0.1)
    losses, drawn = [], list(loader(3))[:6]
    for first in (0, 3):
        parts = [objective(expected, batch) for batch in drawn[first : first + 3]]
        whole = sum(s for s, _ in parts) / sum(n for _, n in parts) if weigh == "tokens" else sum(parts) / 3
        optimizer.zero_grad()
        whole.backward()
        optimizer.step()
        losses.append(pytest.approx(whole.item(), rel=1e-5))

    model = network()
    run = counterfoil.loop(
        model, torch.optim.SGD(model.parameters(), lr=0.1), loader(3), objective, epochs=1, accumulate=3, weigh=weigh,
        last="drop", key=trainer_key, **places,
    )  # fmt: skip
    assert [step.loss for step in run] == losses
    run.sync()
    assert_close(model, expected)


def test_a_loop_that_was_left_goes_on(places: dict[str, Path], trainer_key: SigningKey, tmp_path: Path) -> None:
    def made(**where: Path) -> counterfoil.Loop:
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        return counterfoil.loop(model, optimizer, loader(11), loss_fn, epochs=2, key=trainer_key, **where)

    for step in made(**places):
        if step.index == 1:
            break
    assert [step.index for step in made(**places)] == [2, 3]
    straight = {"job": tmp_path / "other.cfoil", "out": tmp_path / "straight.cfoil"}
    assert len(list(made(**straight))) == 4
    roots = {audited(where["out"], where["job"]).report.run_root for where in (places, straight)}
    assert len(roots) == 1


def test_another_order_is_not_replaced(places: dict[str, Path]) -> None:
    model = network()
    for steps in (2, 2):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        assert list(counterfoil.loop(model, optimizer, loader(11), loss_fn, steps=steps, job=places["job"])) == []
    before = places["job"].read_bytes()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(DataError, match="Another order"):
        list(counterfoil.loop(model, optimizer, loader(11), loss_fn, steps=4, job=places["job"]))
    assert places["job"].read_bytes() == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "either epochs or steps"),
        ({"epochs": 1, "steps": 2}, "either epochs or steps"),
        ({"epochs": 1, "out": "run.cfoil"}, "both out and key"),
        ({"epochs": 1, "last": "error"}, "last is 'error'"),
        ({"epochs": 1, "accumulate": 4}, "ends with 2 of the 4 batches of a step"),
        ({"epochs": 1, "weigh": "rows"}, "weigh is 'rows'"),
    ],
)
def test_what_is_refused_before_anything_is_read(given: Any, words: str) -> None:
    model = copy.deepcopy(network())
    with pytest.raises(DataError, match=words):
        counterfoil.loop(model, torch.optim.SGD(model.parameters(), lr=0.1), loader(), loss_fn, **given)


def test_what_is_left_at_the_end_of_an_epoch_is_an_error(places: dict[str, Path]) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(DataError, match="ends with 1 of the 5 batches of a step"):
        list(counterfoil.loop(model, optimizer, loader(2), loss_fn, steps=4, accumulate=5, job=places["job"]))


def test_a_sum_without_a_count(places: dict[str, Path]) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(counterfoil.CounterfoilError, match="it must return a sum and a count"):
        list(counterfoil.loop(model, optimizer, loader(11), loss_fn, steps=2, weigh="tokens", job=places["job"]))


def test_there_is_nothing_to_sync_before_a_step(places: dict[str, Path]) -> None:
    model = network()
    run = counterfoil.loop(model, torch.optim.SGD(model.parameters(), lr=0.1), loader(11), loss_fn, steps=2)
    with pytest.raises(DataError, match="No step was recorded yet"):
        run.sync()


def test_it_ends_where_the_orders_rule_ends_the_run(places: dict[str, Path], trainer_key: SigningKey) -> None:
    model = network()
    run = counterfoil.loop(
        model, torch.optim.SGD(model.parameters(), lr=0.5), loader(11), loss_fn, epochs=8,
        may_stop_early=counterfoil.StopRule(2, 0.05), key=trainer_key, **places,
    )  # fmt: skip
    steps = list(run)
    losses = [step.loss for step in steps]
    assert len(run) == 16
    assert 3 <= len(steps) < 16
    assert counterfoil.StopRule(2, 0.05).fires(losses) == len(steps)
    assert steps[-1].ends_epoch
    run.sync()
    report = audited(places["out"], places["job"]).report
    assert report.outcome is Outcome.VERIFIED
    assert report.headline == f"VERIFIED for {len(steps)} of 16 ordered steps"
