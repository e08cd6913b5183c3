"""Steps that several shares make: added in float64 they are the steps of the order without shares, rounding apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.bundle.shares import COUNT, LOSS
from counterfoil.operators.facts import DRAWS
from counterfoil.program import sharing
from counterfoil.program.graph import BUFFER, GRADIENT
from counterfoil.program.update import AdamW, ClipByNorm, Sgd, WeightAverage
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from support.jobs import draw
from support.shapes import loader, sentences, shapes_job
from support.shares import Unrounded, furthest, loaded, trained, unrounded

ROWS, BATCH, STEPS = 48, 24, 3
CLOSE = 1e-12
X = draw((ROWS, 5), 7)
Y = np.arange(ROWS) % 3


class Net(nn.Module):
    """A small network, with batch normalisation or dropout where a test wants it."""

    def __init__(self, between: nn.Module | None = None) -> None:
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.between = between or nn.Identity()
        self.last = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.between(self.first(x)).tanh())


def objective(model: nn.Module, batch: Any) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["y"])


def by_tokens(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    """Rows of class 0 do not count, so that parts count differently."""
    labels = torch.where(batch["y"] == 0, -100, batch["y"])
    return functional.cross_entropy(model(batch["x"]), labels, reduction="sum"), (labels >= 0).sum()


Make = Callable[[nn.Module], Any]


def job(make: Make = lambda m: torch.optim.SGD(m.parameters(), 0.5), between: Any = None, **changes: Any) -> CustomJob:
    torch.manual_seed(4)
    model = Net(between() if between else None)
    rule = make(model)
    settings: dict[str, Any] = {"objective": objective, "data": {"x": X, "y": Y}, "batch_size": BATCH} | changes
    if not isinstance(rule, torch.optim.Optimizer):
        settings = {"learning_rate": 0.1} | settings
    return CustomJob("Shares", model, rule=rule, steps=STEPS, checkpoint_every=1, **settings)


def draft(*args: Any, **changes: Any) -> OrderDraft:
    return order_custom(job(*args, **changes))


OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda m: torch.optim.SGD(m.parameters(), 0.5, momentum=0.9, weight_decay=0.01),
    "AdamW": lambda m: torch.optim.AdamW(m.parameters(), 0.05),
    "AdamW of ours": lambda m: AdamW(weight_decay=0.1, clip_norm=0.05),
    "clipping by the norm": lambda m: ClipByNorm(Sgd(momentum=0.5), 0.05),
    "an average of weights": lambda m: WeightAverage(Sgd(), 0.9),
    "a captured optimizer": lambda m: torch.optim.Rprop(m.parameters(), 0.03),
}


@pytest.mark.parametrize("weigh", ["parts", "tokens"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_shares_are_the_steps_of_as_many_micro_batches(name: str, weigh: Any) -> None:
    settings = {"weigh": weigh, "objective": objective if weigh == "parts" else by_tokens}
    shares = trained(draft(OPTIMIZERS[name], shares=4, micro_batches=2, **settings))
    whole = trained(draft(OPTIMIZERS[name], micro_batches=8, **settings))
    for one, other in zip(shares, whole, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=CLOSE)
        assert furthest(one.state, other.state) < CLOSE
    assert shares[0].loss != pytest.approx(shares[-1].loss, rel=1e-3), "training goes somewhere"


def test_control_one_share_left_out_is_another_step() -> None:
    whole, order = draft(micro_batches=4), loaded(draft(shares=4))
    assert order.updates is not None
    given = [unrounded(order.program, order.share_inputs(1, share, order.initial)).combined for share in (0, 1, 2, 2)]
    combined = {name: sum(each[name] for each in given) for name in given[0]}
    made = unrounded(order.updates.only, order.update_inputs(1, order.initial, combined))
    assert furthest(made.state, trained(whole, 1)[0].state) > 1e-3


def test_what_each_program_takes_and_gives() -> None:
    made = draft(OPTIMIZERS["AdamW"], between=lambda: nn.BatchNorm1d(8), shares=4, micro_batches=2)
    program, update, shares = made.program, made.updates.only, made.manifest.shares
    parameters = [name for name, _ in job(between=lambda: nn.BatchNorm1d(8)).model.named_parameters()]
    assert (shares.count, shares.rule, made.manifest.program_rows) == (4, "sum", 6)
    assert shares.updates.only == update.digest
    assert set(program.combined) == {f"{GRADIENT}{name}" for name in parameters} | {LOSS}
    assert set(program.updates) == {"between.running_mean", "between.running_var", "between.num_batches_tracked"}
    assert not any(item.kind == "scalar" or ":" in item.name for item in program.inputs), "nothing of the optimizer"
    assert {item.type.shape[0] for item in program.inputs if item.kind == "batch"} == {6}
    assert {node.phase for node in program.nodes} == {"forward", "backward"}
    assert set(update.updates) == {*parameters, *(f"moment{n}:{name}" for n in (1, 2) for name in parameters)}
    assert {item.name for item in update.combined_inputs()} == set(program.combined)
    assert {node.phase for node in update.nodes} == {"update"}
    assert not update.batch_names


def test_the_loss_of_a_share_is_its_own_and_what_it_gives_is_its_part() -> None:
    order = loaded(draft(shares=4, micro_batches=2))
    given = [unrounded(order.program, order.share_inputs(1, share, order.initial)) for share in range(4)]
    rows = [order._schedule[0][6 * share : 6 * share + 6] for share in range(4)]
    model = job().model.double()
    for each, chosen in zip(given, rows, strict=True):
        batch = {"x": torch.from_numpy(X[chosen]).double(), "y": torch.from_numpy(Y[chosen])}
        own = float(objective(model, batch).detach())
        assert each.loss == pytest.approx(own, rel=1e-9)
        assert float(each.combined[LOSS]) == pytest.approx(own / 4, rel=1e-9)


def test_with_tokens_a_share_gives_its_sum_and_its_count() -> None:
    order = loaded(draft(shares=3, micro_batches=2, weigh="tokens", objective=by_tokens))
    for share in range(3):
        each = unrounded(order.program, order.share_inputs(1, share, order.initial))
        chosen = order._schedule[0][8 * share : 8 * share + 8]
        assert float(each.combined[COUNT]) == (Y[chosen] != 0).sum()
        assert float(each.combined[LOSS]) == each.loss


def test_names_of_what_shares_give_are_those_of_the_format() -> None:
    assert (sharing.LOSS, sharing.COUNT) == (LOSS, COUNT)


def of_each_share(between: Any, shares: int, **settings: Any) -> list[Unrounded]:
    """The first step of each share by itself, from orders of that share's rows alone."""
    schedule = loaded(draft(between=between, shares=shares, **settings))._schedule
    width = BATCH // shares
    return [
        trained(
            draft(
                between=between,
                schedule=schedule[:, width * share : width * (share + 1)],
                batch_size=None,
                **settings,
            ),
            1,
        )[0]
        for share in range(shares)
    ]


STATISTICS = ("between.running_mean", "between.running_var")
COUNTED = "between.num_batches_tracked"


@pytest.mark.parametrize("buffers", ["first", "mean"])
def test_running_statistics_are_those_of_the_first_share_or_the_mean_of_all(buffers: Any) -> None:
    settings = {"between": lambda: nn.BatchNorm1d(8), "micro_batches": 2}
    made = draft(shares=3, buffers=buffers, **settings)
    (step,), each = trained(made, 1), of_each_share(shares=3, **settings)
    expected = each[:1] if buffers == "first" else each
    for name in STATISTICS:
        mean = torch.stack([one.state[name] for one in expected]).mean(0)
        torch.testing.assert_close(step.state[name], mean, rtol=CLOSE, atol=0)
        assert not torch.allclose(each[0].state[name], each[1].state[name], rtol=1e-3)
    assert int(step.state[COUNTED]) == 2, "of the micro-batches of the first share"
    averaged = {f"{BUFFER}{name}" for name in STATISTICS}
    assert averaged <= set(made.program.combined) if buffers == "mean" else not averaged & set(made.program.combined)
    assert (set(made.program.updates) == {COUNTED}) == (buffers == "mean")
    # Weights follow from each micro-batch's own statistics.
    (whole,) = trained(draft(between=settings["between"], micro_batches=6), 1)
    assert (
        furthest(*({n: s.state[n] for n in s.state if n not in (*STATISTICS, COUNTED)} for s in (step, whole))) < CLOSE
    )


class Masked(nn.Module):
    """A floating-point buffer that no step changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.arange(8) % 2 * 1.0)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.mask


def test_a_buffer_that_stays_as_it_is_has_no_mean() -> None:
    made = draft(between=Masked, shares=3, buffers="mean")
    assert not any(name.startswith(BUFFER) for name in made.program.combined)
    assert "between.mask" not in {item.name for item in made.updates.only.inputs}


def test_shares_draw_one_behind_the_other() -> None:
    settings: dict[str, Any] = {"between": lambda: nn.Dropout(0.5), "seed": 11}
    one, other = trained(draft(shares=4, micro_batches=2, **settings)), trained(draft(micro_batches=8, **settings))
    assert furthest(one[-1].state, other[-1].state) < CLOSE
    program = draft(shares=4, micro_batches=2, **settings).program
    assert [node.args[1] for node in program.nodes if node.operator in DRAWS] == [0, 1]
    order = loaded(draft(shares=4, micro_batches=2, **settings))
    assert [order.share_inputs(1, share, order.initial).draws.first for share in range(4)] == [0, 2, 4, 6]


def test_a_parameter_without_a_gradient_stays_as_it_is() -> None:
    class Apart(Net):
        def __init__(self) -> None:
            super().__init__()
            self.unused = nn.Parameter(torch.ones(3))

    torch.manual_seed(4)
    model = Apart()
    given = CustomJob(
        "Unused",
        model,
        objective,
        AdamW(weight_decay=0.5),
        {"x": X, "y": Y},
        2,
        BATCH,
        0.1,
        checkpoint_every=1,
        shares=2,
    )
    made = order_custom(given)
    assert f"{GRADIENT}unused" not in made.program.combined
    assert torch.equal(trained(made)[-1].state["unused"], torch.ones(3))


@pytest.mark.parametrize("last", ["keep", "drop"])
@pytest.mark.parametrize(("accumulate", "shares"), [(1, 2), (2, 2), (2, 4), (2, 1), (4, 2)])
def test_batches_of_a_loader_are_divided(accumulate: int, shares: int, last: Any) -> None:
    """A batch is cut into shares, or a share has several batches; rows of a shorter batch are divided, too."""
    if (accumulate, last) == (4, "keep"):
        pytest.skip("the last step has three batches, which is refused")
    rows = TensorDataset(torch.from_numpy(X[:40]), torch.from_numpy(Y[:40]))

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return objective(model, {"x": batch[0], "y": batch[1]})

    def made(**changes: Any) -> OrderDraft:
        data = DataLoader(rows, 8 if last == "drop" else 16)
        return draft(data=data, batch_size=None, objective=loss_of, accumulate=accumulate, last=last, **changes)

    each = max(1, shares // accumulate)
    one, other = trained(made(shares=shares)), trained(made(micro_batches=each))
    for step, expected in zip(one, other, strict=True):
        assert step.loss == pytest.approx(expected.loss, rel=CLOSE)
        assert furthest(step.state, expected.state) < CLOSE


STATISTICS_OF_READER = {"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}


def test_batches_of_several_shapes_are_divided() -> None:
    """Batches of 4 x 3, 6 x 5 and so on: each share of a step has as many rows, which stand where it looks for them."""
    words = sentences((3, 3, 2, 3, 2, 3, 5, 4, 5, 5))
    one = order_custom(shapes_job(loader(words, batch_size=6), shares=2))
    other = order_custom(shapes_job(loader(words, batch_size=6), micro_batches=2))
    assert one.programs.pattern == ("3x3", "2x5")
    assert other.programs.pattern == ("6x3", "4x5")
    assert one.schedule[1].tolist()[2::3] == [0, 0], "each share filled up with row 0"
    assert one.updates is not None
    assert one.updates.pattern == one.programs.pattern
    for step, expected in zip(trained(one, 3), trained(other, 3), strict=True):
        assert step.loss == pytest.approx(expected.loss, rel=CLOSE)
        kept = [{n: t for n, t in each.state.items() if n not in STATISTICS_OF_READER} for each in (step, expected)]
        assert furthest(*kept) < CLOSE
