"""Jobs of PyTorch's own objects train as an ordinary loop over the same objects does."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Optimizer, lr_scheduler as schedulers
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset

from counterfoil import PROFILES, ClipByNorm, WeightAverage, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.stages import CAPTURING
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError, DataError, ProgramError
from support.loops import BATCH, CLOSE, STEPS, X, Y, job, losses_of, network, objective, scheduled, trained_by_torch

OPTIMIZERS: dict[str, Callable[[nn.Module], Optimizer]] = {
    "SGD": lambda m: torch.optim.SGD(m.parameters(), 0.1, momentum=0.9, dampening=0.3, weight_decay=0.1),
    "SGD, Nesterov": lambda m: torch.optim.SGD(m.parameters(), 0.1, momentum=0.9, nesterov=True, foreach=True),
    "Adam": lambda m: torch.optim.Adam(m.parameters(), 0.03, betas=(0.8, 0.9), eps=1e-4, weight_decay=0.1),
    "Adam, amsgrad": lambda m: torch.optim.Adam(m.parameters(), 0.3, betas=(0.1, 0.2), amsgrad=True),
    "Adam, maximizing": lambda m: torch.optim.Adam(m.parameters(), 0.03, maximize=True),
    "AdamW": lambda m: torch.optim.AdamW(m.parameters(), torch.tensor(0.03), weight_decay=0.3, fused=True),
    "AdamW, amsgrad": lambda m: torch.optim.AdamW(m.parameters(), 0.3, betas=(0.1, 0.2), amsgrad=True),
    "Adagrad": lambda m: torch.optim.Adagrad(m.parameters(), 0.1, lr_decay=0.1, initial_accumulator_value=0.2),
    "RMSprop": lambda m: torch.optim.RMSprop(m.parameters(), 0.01, alpha=0.9, momentum=0.5, centered=True),
    "Adadelta": lambda m: torch.optim.Adadelta(m.parameters(), 0.9, rho=0.8, weight_decay=0.1),
    "Adamax": lambda m: torch.optim.Adamax(m.parameters(), 0.03, weight_decay=0.1),
    "NAdam": lambda m: torch.optim.NAdam(m.parameters(), 0.03, weight_decay=0.2, decoupled_weight_decay=True),
    "RAdam": lambda m: torch.optim.RAdam(m.parameters(), 0.03, betas=(0.9, 0.5), weight_decay=0.2),
    "groups": lambda m: torch.optim.AdamW(
        [
            {"params": m[2].parameters(), "lr": 0.1, "betas": (0.5, 0.7)},
            {"params": m[0].weight, "weight_decay": 0.5},
            {"params": m[0].bias, "eps": 1e-2},
        ],
        lr=0.01,
    ),
    "a part of the model": lambda m: torch.optim.Adam(m[2].parameters(), 0.05, weight_decay=0.3),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_of_torch(name: str) -> None:
    given = job(OPTIMIZERS[name])
    draft = order_custom(given)
    model = network()
    expected = trained_by_torch(model, OPTIMIZERS[name](model), scheduled(draft))
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)
    # Neither the model nor the optimizer is changed, and the first loss is not the last.
    assert all(
        torch.equal(one, other) for one, other in zip(given.model.parameters(), network().parameters(), strict=True)
    )
    assert all(parameter.requires_grad for parameter in given.model.parameters())
    assert expected[0] != pytest.approx(expected[-1], rel=1e-2)


def test_control_a_setting_that_is_not_taken_over_would_show() -> None:
    draft = order_custom(job(OPTIMIZERS["AdamW"]))
    model = network()
    expected = trained_by_torch(model, torch.optim.AdamW(model.parameters(), 0.03), scheduled(draft))
    assert losses_of(draft) != pytest.approx(expected, rel=1e-4)


def test_an_optimizer_within_wrappers() -> None:
    draft = order_custom(job(lambda m: WeightAverage(ClipByNorm(OPTIMIZERS["groups"](m), 0.5), 0.9)))
    model = network()
    expected = trained_by_torch(model, OPTIMIZERS["groups"](model), scheduled(draft), clip=0.5)
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)
    assert "average:0.weight" in draft.initial
    assert "gradients clipped to norm 0.5" in draft.manifest.optimizer


def in_float64(model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
    for parameter, state in list(optimizer.state.items()):
        optimizer.state[parameter] = {k: v.double() if torch.is_tensor(v) else v for k, v in state.items()}
    return model, optimizer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["SGD", "AdamW", "Adagrad", "RMSprop", "NAdam", "Adamax", "groups"])
def test_an_optimizer_that_has_made_steps_goes_on(name: str) -> None:
    model = network()
    optimizer = OPTIMIZERS[name](model)
    for _ in range(3):
        objective(model, (X[:BATCH], Y[:BATCH])).backward()
        optimizer.step()
        optimizer.zero_grad()
    going_on = copy.deepcopy((model, optimizer))
    draft = order_custom(job(lambda _: optimizer, model=model))
    expected = trained_by_torch(*in_float64(*going_on), scheduled(draft))
    assert losses_of(draft) == pytest.approx(expected, rel=1e-5)
    # Control: a new optimizer would give other losses.
    fresh = order_custom(job(OPTIMIZERS[name], model=model))
    assert losses_of(fresh)[-1] != pytest.approx(expected[-1], rel=1e-4)


class TwoHeads(nn.Module):
    """The second head is used only when ``both`` is set."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.body, self.used, self.unused = nn.Linear(5, 7), nn.Linear(7, 3), nn.Linear(7, 3)
        self.both = False

    def forward(self, x: Tensor) -> Tensor:
        body = self.body(x).tanh()
        return self.used(body) + self.unused(body) if self.both else self.used(body)


def after_three_steps(name: str) -> tuple[TwoHeads, Optimizer]:
    model = TwoHeads()
    optimizer = OPTIMIZERS[name](model)
    for _ in range(3):
        objective(model, (X[:BATCH], Y[:BATCH])).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert len([state for state in optimizer.state.values() if state]) in (4, 6)
    return model, optimizer


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["SGD", "AdamW", "Adagrad", "RMSprop"])
def test_a_parameter_that_never_had_a_gradient_stays_as_it_is(name: str) -> None:
    model, optimizer = after_three_steps(name)
    going_on = in_float64(*copy.deepcopy((model, optimizer)))
    draft = order_custom(job(lambda _: optimizer, model=model))
    expected = trained_by_torch(*going_on, scheduled(draft))
    assert losses_of(draft) == pytest.approx(expected, rel=1e-5)
    assert not {name for name in draft.program.updates if "unused" in name}


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_a_parameter_that_has_its_first_gradient_in_the_order_is_refused(name: str) -> None:
    """Torch begins to count its steps there, and not with those of the others."""
    model, optimizer = after_three_steps(name)
    model.both = True
    with pytest.raises(CounterfoilError) as caught:
        order_custom(job(lambda _: optimizer, model=model))
    assert "'unused.bias' has a gradient, and had none in the" in caught.value.sentence
    assert "groups" in caught.value.remedy


SCHEDULERS: dict[str, Callable[[Optimizer], Any]] = {
    "OneCycleLR": lambda o: schedulers.OneCycleLR(o, [0.1, 0.2, 0.3], total_steps=STEPS + 2, cycle_momentum=False),
    "LambdaLR": lambda o: schedulers.LambdaLR(o, [lambda s: 1 / (1 + s), lambda s: 0.5**s, lambda s: 1.0]),
    "SequentialLR": lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o, 0.1, total_iters=3), schedulers.CosineAnnealingLR(o, 4)], [3]
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("as_object", [True, False], ids=["object", "function"])
def test_a_scheduler_of_torch(name: str, as_object: bool) -> None:
    make = SCHEDULERS[name]
    model = network()
    optimizer = OPTIMIZERS["groups"](model)
    scheduler = make(optimizer) if as_object else make
    before = [group["lr"] for group in optimizer.param_groups]
    draft = order_custom(job(lambda _: optimizer, model=model, scheduler=scheduler))
    assert [group["lr"] for group in optimizer.param_groups] == before
    model = network()
    optimizer = OPTIMIZERS["groups"](model)
    expected = trained_by_torch(model, optimizer, scheduled(draft), make(optimizer))
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)


def test_numbers_of_numpy_are_numbers() -> None:
    ours = {"steps": 4, "seed": 3, "batch_size": 4, "micro_batches": 2, "commit_every": 1, "checkpoint_every": 2}
    numpys = {name: np.int64(number) for name, number in ours.items()}
    expected = order_custom(job(OPTIMIZERS["Adam"], **ours)).manifest.digest
    assert order_custom(job(OPTIMIZERS["Adam"], **numpys)).manifest.digest == expected


# Data.


class Pair(NamedTuple):
    x: Any
    y: Any


class Items(Dataset[Any]):
    """Rows of a form that a function makes of tensors."""

    def __init__(self, form: Callable[[Tensor, Tensor], Any]) -> None:
        self.form = form

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, row: int) -> Any:
        return self.form(X[row], Y[row])


def by_name(model: nn.Module, batch: Any) -> Tensor:
    return objective(model, (batch["x"], batch["rest"]["y"]))


FORMS: dict[str, tuple[Any, Any, set[str]]] = {
    "tuples": (Items(lambda x, y: (x, y)), objective, {"item.0", "item.1"}),
    "named tuples": (Items(Pair), lambda m, b: objective(m, (b.x, b.y)), {"item.x", "item.y"}),
    "dicts": (Items(lambda x, y: {"x": x, "rest": {"y": y.numpy()}}), by_name, {"x", "rest.y"}),
    "lists of numbers": (
        [{"x": x.tolist(), "rest": {"y": y.tolist()}} for x, y in zip(X, Y, strict=True)],
        by_name,
        {"x", "rest.y"},
    ),
    "one tensor": (torch.cat([X, Y], 1), lambda m, b: objective(m, (b[:, :5], b[:, 5:])), {"item"}),
    "tensors by name": ({"x": X, "y": Y}, lambda m, b: objective(m, (b["x"], b["y"])), {"x", "y"}),
}


@cache
def of_arrays() -> OrderDraft:
    """An order whose data are two tensors."""
    return order_custom(job(OPTIMIZERS["Adam"]))


@pytest.mark.parametrize("form", FORMS)
def test_data_of_any_form(form: str) -> None:
    data, loss_of, names = FORMS[form]
    draft = order_custom(job(OPTIMIZERS["Adam"], data=data, objective=loss_of))
    assert set(draft.data) == names
    assert draft.schedule.tolist() == of_arrays().schedule.tolist()
    assert losses_of(draft) == pytest.approx(losses_of(of_arrays()), rel=1e-12)


def test_numbers_and_truth_values() -> None:
    rows = [{"x": X[n], "kept": n % 2 == 0, "class": n % 3, "weight": 0.5 * n} for n in range(len(X))]

    def weighed(model: nn.Module, batch: Any) -> Tensor:
        assert (batch["kept"].dtype, batch["class"].dtype, batch["weight"].dtype) == (
            torch.bool,
            torch.int64,
            torch.float32,
        )
        each = functional.cross_entropy(model(batch["x"]), batch["class"], reduction="none")
        return torch.where(batch["kept"], each * batch["weight"], 0.0).sum()

    draft = order_custom(job(OPTIMIZERS["Adam"], data=rows, objective=weighed))
    assert {name: array.dtype.name for name, array in draft.data.items()} == {
        "x": "float32",
        "kept": "uint8",
        "class": "int64",
        "weight": "float32",
    }
    batch = torch.utils.data.default_collate([rows[n] for n in draft.schedule[0]])
    batch["weight"] = batch["weight"].float()
    assert losses_of(draft)[0] == pytest.approx(weighed(network(), batch).item(), rel=CLOSE)


def pairs(rows: list[Any]) -> tuple[Tensor, Tensor]:
    """A collation that pads what is not as long, as those of text libraries do."""
    return torch.stack([x for x, _ in rows]), torch.stack([y for _, y in rows])


@pytest.mark.sampled
@pytest.mark.parametrize("collate", [None, pairs], ids=["torch's collation", "another collation"])
@pytest.mark.parametrize("seeded", [True, False], ids=["generator", "seed of torch"])
def test_a_loader_gives_the_batches_of_an_ordinary_loop(collate: Any, seeded: bool) -> None:
    def loader() -> DataLoader[Any]:
        torch.manual_seed(11)
        generator = torch.Generator().manual_seed(5) if seeded else None
        return DataLoader(TensorDataset(X, Y), 9, shuffle=True, drop_last=True, generator=generator, collate_fn=collate)

    draft = order_custom(job(OPTIMIZERS["Adam"], model=network(), data=loader(), batch_size=None))
    assert draft.schedule.shape == (STEPS, 9)
    assert len(draft.data["item.0"]) == (24 if collate is None else 9 * STEPS)

    def epochs(of: DataLoader[Any]) -> Iterator[Any]:
        while True:
            yield from of

    model = network()
    expected = trained_by_torch(model, OPTIMIZERS["Adam"](model), epochs(loader()))
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)


def test_a_batch_sampler_of_ones_own() -> None:
    sampler = BatchSampler(RandomSampler(range(10), generator=torch.Generator().manual_seed(1)), 5, drop_last=True)
    draft = order_custom(
        job(OPTIMIZERS["Adam"], data=DataLoader(TensorDataset(X, Y), batch_sampler=sampler), batch_size=None)
    )
    assert draft.schedule.shape == (STEPS, 5)
    assert sorted(draft.schedule[:2].ravel()) == list(range(10))
    assert len(draft.data["item.0"]) == 10, "rows that no step reads are not kept"


def test_reading_says_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    from counterfoil.training import rows

    monkeypatch.setattr(rows, "_PROGRESS_SECONDS", 0.0)
    given = job(OPTIMIZERS["Adam"], data=Items(lambda x, y: (x, y)))
    reports = list(given.drafting())
    assert [(report.done, report.total) for report in reports if report.stage == "Data"] == [
        (n, 24) for n in range(1, 25)
    ]
    assert reports[-1] == CAPTURING
    cancel = CancelToken()
    drafting = given.drafting(cancel=cancel)
    next(drafting)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(drafting)


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(X)


def broken(x: Tensor, y: Tensor) -> Any:
    raise OSError("no such picture")


@pytest.mark.parametrize(
    ("settings", "words", "remedy"),
    [
        ({"data": Stream()}, "Stream) can only be read from its beginning", "islice"),
        ({"data": DataLoader(Stream(), 2), "batch_size": None}, "Stream) can only be read", "islice"),
        ({"data": (x for x in X)}, "generator) can only be read", "islice"),
        ({"data": 7}, "is of the type builtins.int", "DataLoader"),
        ({"data": "folder"}, "'folder'", "DataLoader"),
        ({"data": []}, "has no rows", ""),
        (
            {"data": Items(broken)},
            f"Row 0 of the job's data cannot be read: OSError: no such picture ({__file__}, line",
            "Dataset",
        ),
        ({"data": Items(lambda x, y: (x, "a text"))}, "'item.1' in the job's data is of the type str", "numbers"),
        ({"data": Items(lambda x, y: x.double())}, "'item' is float64", "float()"),
        (
            {"data": Items(lambda x, y: x[: 1 + int(x[0] > 0)])},
            "are in one batch, and 'item' has the shapes",
            "padding",
        ),
        (
            {"data": DataLoader(TensorDataset(X, Y), 6)},
            "gives batches of 6 rows, and the job says which rows as well",
            "Leave",
        ),
        ({"batch_size": None}, "no batch_size", "rows"),
        ({"batch_size": "4"}, "batch_size is of the type str", "whole number"),
        ({"steps": 2.5}, "steps is of the type float", "whole number"),
        ({"model": network}, "model is of the type function", "torch.nn.Module"),
        ({"objective": 3}, "objective is of the type int", "function"),
        ({"precision": "exact-20"}, "precision is of the type str", "Precision"),
        ({"learning_rate": 0.1}, "has a learning rate, and its optimizer Adam has one, too", "learning_rate"),
        ({"scheduler": 3}, "scheduler is of the type int", "lr_scheduler"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused_says_why(settings: dict[str, Any], words: str, remedy: str) -> None:
    settings = {"model": network(), **settings}
    rule = OPTIMIZERS["Adam"](
        network() if callable(settings["model"]) and settings["model"] is network else settings["model"]
    )
    with pytest.raises(CounterfoilError) as caught:
        order_custom(job(lambda _: rule, **settings))
    assert words in caught.value.sentence
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda m: torch.optim.LBFGS(m.parameters()), "torch.optim.LBFGS cannot be ordered: how often it computes"),
        (lambda m: torch.optim.SparseAdam(m.parameters()), "torch.optim.SparseAdam cannot be ordered: it leaves rows"),
        (lambda m: torch.optim.Adam, "is the class Adam"),
        (lambda m: torch.amp.GradScaler("cpu"), "is of the type GradScaler"),
        (lambda m: None, "is of the type NoneType"),
        (lambda m: torch.optim.SGD([*m.parameters(), nn.Parameter(torch.ones(7))]), "shape (7,) that is no parameter"),
    ],
)
def test_optimizers_that_are_refused(rule: Any, words: str) -> None:
    with pytest.raises(DataError) as caught:
        order_custom(job(rule))
    assert words in caught.value.sentence
    assert caught.value.remedy


def test_schedulers_that_are_refused() -> None:
    other = torch.optim.SGD(network().parameters(), 0.1, momentum=0.9)
    for make, words in (
        (lambda o: schedulers.StepLR(other, 1), "made for another optimizer"),
        (schedulers.ReduceLROnPlateau, "ReduceLROnPlateau sets the learning rate from the losses"),
        (lambda o: schedulers.OneCycleLR(o, 0.1, total_steps=STEPS), "moves the momentum"),
    ):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        with pytest.raises(DataError, match=words):
            order_custom(job(lambda _, o=optimizer: o, model=model, scheduler=make(optimizer)))


# Mixed precision.


def test_autocast_is_refused_with_the_profiles_name_or_left_out_under_one() -> None:
    def mixed(model: nn.Module, batch: Any) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return objective(model, batch)

    with pytest.raises(ProgramError, match=r"under torch\.autocast to bfloat16 \(.*line \d+\)") as caught:
        order_custom(job(OPTIMIZERS["Adam"], objective=mixed))
    assert "float32-bfloat16" in caught.value.remedy
    named = order_custom(job(OPTIMIZERS["Adam"], objective=mixed, precision=PROFILES["float32-bfloat16"]))
    assert named.program.digest == of_arrays().program.digest
    # Control: torch's autocast is as it was.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert network()(X).dtype is torch.bfloat16


def test_scaled_losses_and_models_in_half_precision() -> None:
    scaler = torch.amp.GradScaler("cpu")
    with pytest.raises(ProgramError, match="scales its loss by a GradScaler") as caught:
        order_custom(job(OPTIMIZERS["Adam"], objective=lambda m, b: scaler.scale(objective(m, b))))
    assert "Leave the scaler out" in caught.value.remedy
    with pytest.raises(DataError, match=r"torch\.bfloat16") as refused:
        order_custom(job(OPTIMIZERS["Adam"], model=network().bfloat16()))
    assert "float32-bfloat16" in refused.value.remedy
