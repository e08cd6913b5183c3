"""Any optimizer can be ordered: what is captured of its step trains as the optimizer itself does."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import Optimizer, lr_scheduler as schedulers
from torch.utils.data import DataLoader, TensorDataset

import counterfoil
from counterfoil import ClipBy, ClipByNorm, ExactPrecision, WeightAverage, order_custom
from counterfoil.program.update import capture, replay
from counterfoil.program.update.capture import _InFloat64
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support import published_optimizers as published
from support.jobs import audited, record_run
from support.loops import BATCH, CLOSE, STEPS, X, Y, job, losses_of, network, objective, scheduled, trained_by_torch

Make = Callable[[nn.Module], Any]


def matrices(model: nn.Module) -> list[nn.Parameter]:
    return [p for p in model.parameters() if p.dim() == 2]


def vectors(model: nn.Module) -> list[nn.Parameter]:
    return [p for p in model.parameters() if p.dim() < 2]


def adafactor(model: nn.Module, **settings: Any) -> Optimizer:
    from transformers.optimization import Adafactor

    return Adafactor(model.parameters(), **settings)


def falling(optimizer: Optimizer) -> Any:
    return schedulers.LambdaLR(optimizer, lambda step: 1 / (1 + step))


OPTIMIZERS: dict[str, Make] = {
    "torch.optim.Muon": lambda m: torch.optim.Muon(matrices(m), 0.05),
    "torch.optim.Adafactor": lambda m: torch.optim.Adafactor(m.parameters(), 0.05, weight_decay=0.1),
    "torch.optim.ASGD": lambda m: torch.optim.ASGD(m.parameters(), 0.1, lambd=0.1),
    "torch.optim.Rprop": lambda m: torch.optim.Rprop(m.parameters(), 0.03),
    "a class made of one of ours": lambda m: type("Own", (torch.optim.AdamW,), {})(m.parameters(), 0.05),
    "transformers' Adafactor": lambda m: adafactor(m, lr=0.05, scale_parameter=True, relative_step=False, beta1=0.9),
    "transformers' Adafactor, its own rates": lambda m: adafactor(m, warmup_init=True),
    "Muon": lambda m: published.Muon(matrices(m), 0.05),
    "Lion": lambda m: published.Lion(m.parameters(), 0.03),
    "Lamb": lambda m: published.Lamb(m.parameters(), 0.05),
    "LARS, which begins with its first update": lambda m: published.Lars(m.parameters(), 0.5),
    "AdaBelief": lambda m: published.AdaBelief(m.parameters(), 0.05),
    "schedule-free AdamW": lambda m: published.ScheduleFree(m.parameters(), 0.05, r=1.0),
    "operators on lists": lambda m: published.InLists(m.parameters(), 0.1),
    "a number of all gradients": lambda m: published.JointNorm(m.parameters(), 0.3),
    "values asked for": lambda m: published.AskedFor(m.parameters(), 0.1),
    "groups": lambda m: published.Lion(
        [{"params": m[0].parameters()}, {"params": m[2].parameters(), "lr": 0.1, "weight_decay": 0.5}], 0.03
    ),
}
OWN_RATES = {"transformers' Adafactor, its own rates"}


@contextmanager
def wide() -> Iterator[None]:
    """Let optimizers compute in float64, also where they ask for something else."""
    torch.set_default_dtype(torch.float64)
    try:
        with _InFloat64():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def by_torch(make: Make, draft: Any, scheduler: Any = None, model: nn.Module | None = None) -> list[float]:
    model = model or network()
    optimizer = make(model)
    with wide():
        return trained_by_torch(model, optimizer, scheduled(draft), scheduler(optimizer) if scheduler else None)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_trains_as_it_does_itself(name: str) -> None:
    make = OPTIMIZERS[name]
    scheduler = None if name in OWN_RATES else falling
    given = job(make, scheduler=scheduler)
    draft = order_custom(given)
    expected = by_torch(make, draft, scheduler)
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)
    # Neither model nor optimizer is changed; training goes somewhere; and other learning rates would be seen.
    fresh = network()
    assert all(torch.equal(a, b) for a, b in zip(given.model.parameters(), fresh.parameters(), strict=True))
    assert not given.rule.state or name == "a number of all gradients"
    assert expected[0] != pytest.approx(expected[-1], rel=1e-2)
    if scheduler is not None and name != "torch.optim.Rprop":
        assert losses_of(draft) != pytest.approx(by_torch(make, draft), rel=1e-4)


@pytest.mark.parametrize(
    ("made", "other"),
    [
        (OPTIMIZERS["torch.optim.Muon"], lambda m: torch.optim.Muon(matrices(m), 0.05, momentum=0.9)),
        (OPTIMIZERS["Lamb"], lambda m: published.Lamb(m.parameters(), 0.05, weight_decay=0.02)),
        (OPTIMIZERS["schedule-free AdamW"], lambda m: published.ScheduleFree(m.parameters(), 0.05, warmup=4, r=1.0)),
    ],
    ids=["Muon", "Lamb", "schedule-free"],
)
def test_control_another_setting_is_another_training(made: Make, other: Make) -> None:
    draft = order_custom(job(made))
    assert losses_of(draft) != pytest.approx(by_torch(other, draft), rel=1e-4)


def test_its_numbers_are_listed_once_and_constants_stay_in_the_program() -> None:
    draft = order_custom(job(OPTIMIZERS["Lion"], scheduler=falling))
    # One minus rate times decay, and minus the rate; both of four parameters.
    assert draft.scalars.shape == (STEPS, 2)
    rates = [0.03 / (1 + step) for step in range(STEPS)]
    assert sorted(draft.scalars[1]) == pytest.approx([-rates[1], 1 - 0.1 * rates[1]])
    assert order_custom(job(OPTIMIZERS["Lion"])).scalars.shape == (STEPS, 0)
    assert "Lion as its step is written: betas 0.9 0.99, weight_decay 0.1" in draft.manifest.optimizer


def test_a_step_whose_narrow_numbers_are_those_of_the_profile_says_so() -> None:
    draft = order_custom(job(OPTIMIZERS["Muon"]))
    assert draft.manifest.optimizer.endswith("what it computes in other precisions as the profile says")
    assert "precisions" not in order_custom(job(OPTIMIZERS["Lion"])).manifest.optimizer
    # The first steps of the optimizer as it is, in bfloat16, are near.
    model = network()
    optimizer = OPTIMIZERS["Muon"](model)
    expected = trained_by_torch(model, optimizer, scheduled(draft), steps=3)
    assert losses_of(draft)[:3] == pytest.approx(expected, rel=2e-2)


def two(model: nn.Module) -> list[Optimizer]:
    return [published.Muon(matrices(model), 0.05), torch.optim.AdamW(vectors(model), 0.02)]


def test_two_optimizers_train_different_parameters() -> None:
    def both(rule: list[Optimizer]) -> Any:
        return [falling(one) for one in rule]

    given = job(two)
    draft = order_custom(counterfoil.CustomJob(**{**vars(given), "scheduler": both(given.rule)}))
    model = network()
    optimizers = two(model)
    moved = both(optimizers)
    expected = []
    model.double()
    with wide():
        for x, y in scheduled(draft):
            loss = objective(model, (x.double(), y.double()))
            model.zero_grad()
            loss.backward()
            expected.append(loss.item())
            for one in (*optimizers, *moved):
                one.step()
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)
    assert losses_of(order_custom(given)) != pytest.approx(expected, rel=1e-4)
    assert {"momentum_buffer:0.weight", "moment1:0.bias"} <= draft.initial.keys()
    with pytest.raises(CounterfoilError, match=r"Two optimizers of the job hold the parameter '0\.bias'"):
        order_custom(job(lambda m: [published.Lion(m.parameters(), 0.1), torch.optim.AdamW(vectors(m))]))


def test_an_optimizer_that_has_made_steps_goes_on() -> None:
    for name in ("schedule-free AdamW", "transformers' Adafactor"):
        model = network()
        optimizer = OPTIMIZERS[name](model)
        for _ in range(3):
            objective(model, (X[:BATCH], Y[:BATCH])).backward()
            optimizer.step()
            optimizer.zero_grad()
        going_on = copy.deepcopy((model, optimizer))
        draft = order_custom(job(lambda _, o=optimizer: o, model=model))
        for state in going_on[1].state.values():
            state.update({k: v.double() for k, v in state.items() if torch.is_tensor(v)})
        expected = by_torch(lambda _, o=going_on[1]: o, draft, model=going_on[0])
        assert losses_of(draft) == pytest.approx(expected, rel=1e-5), name
        fresh = order_custom(job(OPTIMIZERS[name], model=model))
        assert losses_of(fresh)[-1] != pytest.approx(expected[-1], rel=1e-4), name


def test_what_begins_with_a_gradient_can_be_ordered_after_a_step() -> None:
    model = network()
    optimizer = published.Remembering(model.parameters(), 0.1)
    objective(model, (X[:BATCH], Y[:BATCH])).backward()
    optimizer.step()
    going_on = copy.deepcopy((model, optimizer))
    draft = order_custom(job(lambda _: optimizer, model=model))
    expected = by_torch(lambda _: going_on[1], draft, model=going_on[0].double())
    assert losses_of(draft) == pytest.approx(expected, rel=1e-5)


def test_noise_of_torch_is_a_draw_of_the_order() -> None:
    draft = order_custom(job(lambda m: published.Noisy(m.parameters(), 0.1)))
    assert "counterfoil.normal" in {node.operator for node in draft.program.nodes}


def unitwise(parameters: list[Tensor], clip: float = 0.05, eps: float = 1e-3) -> None:
    """Adaptive gradient clipping (Brock et al. 2021)."""
    for p in parameters:
        if p.grad is None:
            continue
        axes = None if p.dim() < 2 else tuple(range(1, p.dim()))
        largest = p.detach().norm(dim=axes, keepdim=True).clamp_(min=eps).mul_(clip)
        length = p.grad.norm(dim=axes, keepdim=True)
        p.grad.copy_(torch.where(length < largest, p.grad, p.grad * (largest / length.clamp(min=1e-6))))


class Clipping(published.Lion):
    """Clips before its own step."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        unitwise(self.param_groups[0]["params"])
        super().step()


@pytest.mark.parametrize("within", [published.Lion, torch.optim.SGD], ids=["captured", "of ours"])
def test_gradients_may_be_clipped_by_any_function(within: Any) -> None:
    draft = order_custom(job(lambda m: ClipBy(within(m.parameters(), 0.1), unitwise)))

    class Both(within):  # type: ignore[misc]
        def step(self, closure: Any = None) -> None:
            with torch.no_grad():
                unitwise(self.param_groups[0]["params"])
            super().step()

    expected = by_torch(lambda m: Both(m.parameters(), 0.1), draft)
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)
    assert losses_of(draft) != pytest.approx(by_torch(lambda m: within(m.parameters(), 0.1), draft), rel=1e-4)
    assert draft.manifest.optimizer.endswith("gradients changed by the function unitwise")


def test_clipping_within_the_step_and_other_wrappers() -> None:
    draft = order_custom(job(lambda m: WeightAverage(ClipByNorm([Clipping(m.parameters(), 0.05)], 0.5), 0.9)))
    model = network()
    optimizer = Clipping(model.parameters(), 0.05)
    with wide():
        expected = trained_by_torch(model, optimizer, scheduled(draft), clip=0.5)
    assert losses_of(draft) == pytest.approx(expected, rel=CLOSE)
    assert "average:0.weight" in draft.initial


class TwoHeads(nn.Module):
    """The second head is not used."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.body, self.used, self.unused = nn.Linear(5, 7), nn.Linear(7, 3), nn.Linear(7, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.used(self.body(x).tanh())


def test_a_parameter_without_a_gradient_stays_as_it_is() -> None:
    make: Make = lambda m: published.AdaBelief(m.parameters(), 0.05)  # noqa: E731
    draft = order_custom(job(make, model=TwoHeads()))
    assert losses_of(draft) == pytest.approx(by_torch(make, draft, model=TwoHeads()), rel=CLOSE)
    assert not {name for name in draft.program.updates if "unused" in name}
    with pytest.raises(CounterfoilError, match=r"The parameter 'unused\.\w+' has no gradient in the step"):
        order_custom(job(lambda m: published.InListsTogether(m.parameters(), 0.05), model=TwoHeads()))


REFUSED: dict[str, tuple[Make, str, str]] = {
    "decides by a value": (
        lambda m: published.Deciding(m.parameters(), 0.1),
        r"published_optimizers\.Deciding decides by the values .*published_optimizers\.py, line \d+\)",
        "torch.where",
    ),
    "draws from Python's generator": (
        lambda m: published.Gambling(m.parameters(), 0.1),
        "is another one when it is captured a second time",
        "torch.rand_like",
    ),
    "an operator that no order has": (
        lambda m: published.Inverting(m.parameters(), 0.1),
        r"linalg_inv.* is not on the allow-list \(.*published_optimizers\.py, line \d+\)",
        "allow-list",
    ),
    "begins with a gradient": (
        lambda m: published.Remembering(m.parameters(), 0.1),
        "The first step of the optimizer .*Remembering computes something else",
        "Make one step with it before ordering",
    ),
    "two programs": (
        lambda m: published.LookedAhead(m.parameters(), 0.1),
        r"Step 3 of the optimizer .*LookedAhead computes something else .*published_optimizers\.py, line \d+\)",
        "one program for all steps",
    ),
    "a library of 8-bit states": (
        lambda m: type("AdamW8bit", (published.Lion,), {"__module__": "bitsandbytes.optim"})(m.parameters(), 0.1),
        r"bitsandbytes\.optim\.AdamW8bit cannot be ordered: its state of 8 bits",
        "torch.optim.AdamW",
    ),
}


@pytest.mark.every_moment
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name: str) -> None:
    make, words, remedy = REFUSED[name]
    with pytest.raises(CounterfoilError, match=words) as caught:
        order_custom(job(make))
    assert remedy in caught.value.remedy


def test_a_rule_that_does_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the optimizer is tried with its smaller parameters alone."""
    monkeypatch.setattr(capture, "_MOST_ELEMENTS", 12)
    lion = OPTIMIZERS["Lion"]
    digest = order_custom(job(lion)).manifest.digest
    monkeypatch.setitem(replay._FORMS, "add", lambda x, y, alpha=1: x + y)
    with pytest.raises(CounterfoilError, match=r"captured of the optimizer .*Lion does something else to '[02]\.bias'"):
        order_custom(job(lion, scheduler=falling))
    monkeypatch.undo()
    assert order_custom(job(lion)).manifest.digest == digest


@pytest.mark.slow
def test_thousands_of_steps_are_quick_and_can_be_stopped() -> None:
    given = job(OPTIMIZERS["schedule-free AdamW"], steps=400, checkpoint_every=400)
    reports = [(report.done, report.total) for report in given.drafting() if "optimizer" in report.stage]
    assert reports[-1] == (400, 400)
    cancel = CancelToken()
    drafting = given.drafting(cancel=cancel)
    while "optimizer" not in next(drafting).stage:
        continue
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(drafting)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("make", "precision"),
    [
        (two, None),
        (two, ExactPrecision(20)),
        (OPTIMIZERS["torch.optim.Adafactor"], None),
        (OPTIMIZERS["torch.optim.Adafactor"], ExactPrecision(20)),
        (OPTIMIZERS["transformers' Adafactor"], ExactPrecision(20)),
    ],
    ids=["Muon and AdamW", "Muon and AdamW, exact", "Adafactor", "Adafactor, exact", "transformers', exact"],
)
def test_a_run_of_it_is_verified(make: Make, precision: Any, tmp_path: Path, trainer_key: SigningKey) -> None:
    scheduler = None if make is two else falling
    draft = order_custom(job(make, steps=4, checkpoint_every=2, precision=precision, scheduler=scheduler))
    draft.write(tmp_path / "job.cfoil")
    run = record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", trainer_key)
    report = audited(run, tmp_path / "job.cfoil", perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert report.steps_replayed == 4


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["schedule-free AdamW", "AdaBelief", "two"])
def test_a_loop_hands_the_state_back(name: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    make = two if name == "two" else OPTIMIZERS[name]

    def listed(made: Any) -> list[Optimizer]:
        return made if isinstance(made, list) else [made]

    def loader() -> DataLoader[Any]:
        return DataLoader(TensorDataset(X, Y), 8)

    model = network()
    ours = make(model)
    run = counterfoil.loop(
        model, ours, loader(), objective, epochs=1, job=tmp_path / "job.cfoil", out=tmp_path / "run", key=trainer_key
    )
    expected = network()
    theirs = make(expected)
    expected.double()
    for step, (x, y) in zip(run, loader(), strict=True):
        with wide():
            expected.zero_grad()
            objective(expected, (x.double(), y.double())).backward()
            for one in listed(theirs):
                one.step()
        if step.index == 0 or step.ends_epoch:
            run.sync()
            assert_alike(model, expected, listed(ours), listed(theirs))
    # The caller's optimizer goes on from there as it would have.
    for trained, optimizers in ((model, listed(ours)), (expected, listed(theirs))):
        trained.float()
        for p in trained.parameters():
            p.grad = torch.ones_like(p)
        for one in optimizers:
            for state in one.state.values():
                state.update({k: v.float() for k, v in state.items() if torch.is_tensor(v)})
            one.step()
    assert_alike(model, expected, listed(ours), listed(theirs), close=1e-2 if name == "two" else 1e-5)


def assert_alike(
    model: nn.Module, expected: nn.Module, ours: list[Optimizer], theirs: list[Optimizer], close: float = 1e-5
) -> None:
    for one, other in zip(model.parameters(), expected.parameters(), strict=True):
        assert torch.allclose(one.double(), other.double(), atol=close)
    for mine, its in zip(ours, theirs, strict=True):
        for kept, wanted in zip(mine.state.values(), its.state.values(), strict=True):
            for name, value in wanted.items():
                assert torch.allclose(torch.as_tensor(kept[name]).double(), torch.as_tensor(value).double(), atol=1e-4)
        for group, like in zip(mine.param_groups, its.param_groups, strict=True):
            assert group.keys() == like.keys()
            for name, value in like.items():
                if name != "params":
                    assert group[name] == (pytest.approx(value) if isinstance(value, float) else value), name
