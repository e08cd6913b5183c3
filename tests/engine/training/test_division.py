"""Steps that several shares make: added in float64 they are the steps of the order without shares, rounding apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.program import sharecapture
from counterfoil.program.update import AdamW, ClipByNorm, Sgd, WeightAverage
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil.training.turns import Turn, TurnsJob
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.shares import COUNT, LOSS
from counterfoil_core.operators.facts import DRAWS
from counterfoil_core.program.graph import BUFFER, GRADIENT
from support.jobs import draw
from support.shapes import MIXED, loader, sentences, shapes_job
from support.shares import Unrounded, furthest, loaded, trained, unrounded

ROWS, BATCH, STEPS = 48, 24, 2
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "weigh"), [*((name, "parts") for name in OPTIMIZERS), ("AdamW of ours", "tokens"), ("SGD", "tokens")]
)
def test_steps_of_shares_are_the_steps_of_as_many_micro_batches(name: str, weigh: Any) -> None:
    settings = {"weigh": weigh, "objective": objective if weigh == "parts" else by_tokens}
    shares = trained(draft(OPTIMIZERS[name], shares=2, micro_batches=2, **settings))
    whole = trained(draft(OPTIMIZERS[name], micro_batches=4, **settings))
    for one, other in zip(shares, whole, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=CLOSE)
        assert furthest(one.state, other.state) < CLOSE
    assert shares[0].loss != pytest.approx(shares[-1].loss, rel=1e-3), "training goes somewhere"


def test_control_one_share_left_out_is_another_step() -> None:
    whole, order = draft(micro_batches=3), loaded(draft(shares=3))
    assert order.updates is not None
    given = [unrounded(order.program, order.share_inputs(1, share, order.initial)).combined for share in (0, 1, 1)]
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
    assert (sharecapture.LOSS, sharecapture.COUNT) == (LOSS, COUNT)


def of_each_share(made: OrderDraft, **settings: Any) -> list[Unrounded]:
    """The first step of each share of an order by itself, as a step of an order without shares."""
    assert made.manifest.shares is not None
    width = made.manifest.program_rows
    alone = draft(schedule=made.schedule[:, :width], batch_size=None, **settings)
    firsts = range(0, made.manifest.batch_size, width)
    return [trained(replace(alone, schedule=made.schedule[:, first : first + width]), 1)[0] for first in firsts]


STATISTICS = ("between.running_mean", "between.running_var")
COUNTED = "between.num_batches_tracked"


@pytest.mark.parametrize("buffers", [pytest.param("first", marks=pytest.mark.slow), "mean"])
def test_running_statistics_are_those_of_the_first_share_or_the_mean_of_all(buffers: Any) -> None:
    settings = {"between": lambda: nn.BatchNorm1d(8), "micro_batches": 2}
    made = draft(shares=3, buffers=buffers, **settings)
    (step,), each = trained(made, 1), of_each_share(made, **settings)
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
    made = draft(shares=3, micro_batches=2, **settings)
    assert furthest(trained(made)[-1].state, trained(draft(micro_batches=6, **settings))[-1].state) < CLOSE
    assert [node.args[1] for node in made.program.nodes if node.operator in DRAWS] == [0, 1]
    order = loaded(made)
    assert [order.share_inputs(1, share, order.initial).draws.first for share in range(3)] == [0, 2, 4]


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


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("accumulate", "shares", "last"), [(1, 2, "keep"), (2, 2, "keep"), (2, 4, "drop"), (4, 2, "drop")]
)
def test_batches_of_a_loader_are_divided(accumulate: int, shares: int, last: Any) -> None:
    """A batch is cut into shares, or a share has several batches; rows of a shorter batch are divided, too."""
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


def texts(model: nn.Module, batch: Any) -> Tensor:
    return model(batch["tokens"]).square().mean()


def test_batches_that_are_kept_whole_are_divided_among_shares_but_not_cut() -> None:
    """What a collation makes of rows that is no row for each: a share has two of the four batches, or none fits."""

    def joined(rows: list[tuple[Tensor, int]]) -> dict[str, Tensor]:
        return {"tokens": torch.cat([tokens for tokens, _ in rows]).float(), "labels": torch.arange(2.0)}

    def made(**settings: Any) -> OrderDraft:
        torch.manual_seed(1)
        model = nn.Linear(6, 2)
        data = loader(sentences((3,) * 16), joined, batch_size=2)
        return order_custom(
            CustomJob(
                "Whole", model, texts, torch.optim.SGD(model.parameters(), 0.1), data, 2, accumulate=4, **settings
            )
        )

    one, other = made(shares=2), made()
    assert one.manifest.program_rows == 2
    for step, expected in zip(trained(one), trained(other), strict=True):
        assert furthest(step.state, expected.state) < CLOSE
    with pytest.raises(DataError, match=r"whose arrays have no rows in common cannot be cut into 2 shares"):
        made(shares=8)


REFUSED: dict[str, tuple[Callable[[], Any], str, str]] = {
    "rows": (lambda: draft(shares=5), "A batch of 24 rows cannot be divided into 5 equal shares", "divides the batch"),
    "micro-batches": (lambda: draft(shares=4, micro_batches=4), "A batch of 6 rows of 'x' cannot be split into 4", ""),
    "none": (lambda: draft(shares=0), "A step cannot have 0 shares", "1 to 1,024"),
    "many": (lambda: draft(shares=1025), "A step cannot have 1025 shares", ""),
    "a fraction": (lambda: draft(shares=2.0), "The job's shares is of the type float", ""),
    "buffers": (lambda: draft(shares=2, buffers="last"), "The job's buffers is 'last'", "'first' or 'mean'"),
    "a rule without shares": (lambda: draft(aggregate="krum"), "There are no shares", "how many shares"),
    "a rule of another name": (lambda: draft(shares=4, aggregate="best"), "There is no rule of aggregation 'best'", ""),
    "a setting": (lambda: draft(shares=4, aggregate="krum,f"), "'f' is no setting of a rule", "name=number"),
    "too many faulty ones": (lambda: draft(shares=4, aggregate="krum", faulty=1), "Krum with 1 faulty", ""),
    "faulty ones without a rule": (lambda: draft(shares=4, faulty=1), "no rule of aggregation", "krum"),
    "a mean beside a rule": (
        lambda: draft(shares=4, aggregate="median", buffers="mean"), "one share that lies", "buffers='first'"
    ),
    "batches": (
        lambda: order_custom(shapes_job(loader(batch_size=2), accumulate=3, shares=2, last="drop")),
        "The 3 batches of a step cannot be divided among 2 shares",
        "divides the batches",
    ),
    "shapes": (
        lambda: order_custom(shapes_job(loader(sentences(MIXED)), accumulate=2, shares=2, last="drop")),
        "The batches of a step have different shapes",
        "padding",
    ),
    "several optimizers": (
        lambda: TurnsJob("T", Net(), [Turn("a", objective, Sgd(), "*")], "a", {}, 1).divided(2),
        "The steps of a TurnsJob cannot be divided into 2 shares",
        "CustomJob",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_divided_is_a_sentence(name: str) -> None:
    make, sentence, remedy = REFUSED[name]
    with pytest.raises(DataError) as refused:
        make()
    assert sentence in refused.value.sentence
    assert remedy in refused.value.remedy


def test_modules_that_see_all_rows_are_refused_by_name() -> None:
    with pytest.raises(ProgramError, match=r"The module 'between' is a SyncBatchNorm") as refused:
        draft(between=lambda: nn.SyncBatchNorm(8), shares=2)
    assert "BatchNorm1d" in refused.value.remedy
    # One that only reads its statistics sees no rows.
    draft(between=lambda: nn.SyncBatchNorm(8).eval(), shares=2)


def test_one_share_is_an_order_without_shares() -> None:
    """With the digest that it has, to the byte."""
    one, none = draft(shares=1, micro_batches=2), draft(micro_batches=2)
    assert one.manifest.shares is None
    assert one.manifest.digest == none.manifest.digest
    assert draft(shares=2).manifest.digest != none.manifest.digest


def test_an_order_with_shares_is_written_and_read(tmp_path: Any) -> None:
    made = draft(OPTIMIZERS["clipping by the norm"], between=lambda: nn.BatchNorm1d(8), shares=4, buffers="mean")
    manifest = made.write(tmp_path / "job.cfoil")
    with BundleReader.open(tmp_path / "job.cfoil") as reader:
        order = load_order(reader)
    assert order.manifest == manifest
    assert order.all_programs == made.all_programs


def test_constants_of_both_programs_have_names_of_their_own() -> None:
    table, numbers = torch.arange(8.0), torch.tensor([0.5, 0.25])

    class Weighed(Sgd):
        def update_one(self, parameter: Tensor, gradient: Tensor, slots: Any, scalars: Any) -> Any:
            return super().update_one(parameter, gradient * numbers.sum(), slots, scalars)

    def of(model: nn.Module, batch: Any) -> Tensor:
        return objective(model, batch) + (model.first.bias * table).sum() * 1e-3

    settings: dict[str, Any] = {"make": lambda m: Weighed(), "objective": of}
    made = draft(shares=2, **settings)
    own = [{i.name for i in p.state_inputs() if i.name.startswith("constant")} for p in made.all_programs]
    assert own == [{"constant.1"}, {"constant.2"}]
    assert furthest(trained(made)[-1].state, trained(draft(micro_batches=2, **settings))[-1].state) < CLOSE


def test_activations_of_a_gradient_program_are_computed_again() -> None:
    made = draft(between=lambda: nn.Dropout(0.5), shares=2)
    again = made.recomputing(2)
    assert again.program.digest != made.program.digest
    assert again.manifest.shares == made.manifest.shares
    assert again.manifest.programs.only == again.program.digest
    one, other = trained(made)[-1], trained(again)[-1]
    assert furthest(one.state, other.state) == 0


def test_both_programs_of_an_exact_profile_are_admitted(tmp_path: Any) -> None:
    made = draft(
        OPTIMIZERS["AdamW of ours"],
        between=lambda: nn.BatchNorm1d(8),
        objective=by_tokens,
        weigh="tokens",
        shares=2,
        buffers="mean",
        precision=PROFILES["exact-20"],
    )
    made.write(tmp_path / "job.cfoil")
    with BundleReader.open(tmp_path / "job.cfoil") as reader:
        assert load_order(reader).all_programs == made.all_programs


# Rules of aggregation.


def test_the_mean_as_a_rule_is_the_step_of_added_shares() -> None:
    for weigh in ({}, {"micro_batches": 2}):
        stacked, added = (
            draft(OPTIMIZERS["AdamW"], shares=3, aggregate="mean", **weigh),
            draft(OPTIMIZERS["AdamW"], shares=3, **weigh),
        )
        assert stacked.manifest.shares is not None
        assert stacked.manifest.shares.rule == "stack"
        one, other = trained(stacked)[-1], trained(added)[-1]
        assert one.loss == pytest.approx(other.loss, rel=CLOSE)
        assert furthest(one.state, other.state) < 1e-9


def test_a_rule_sees_the_gradient_of_each_share_of_its_own_mean_loss() -> None:
    """Krum takes one share's gradient, and with tokens that share's gradient is divided by its own count."""
    for settings in ({}, {"weigh": "tokens", "objective": by_tokens}):
        made = draft(shares=4, aggregate="krum", **settings)
        (step,) = trained(made, 1)
        each = of_each_share(made, **settings)
        apart = [furthest(step.state, own.state) for own in each]
        assert min(apart) < CLOSE
        assert sorted(apart)[1] > 1e-3
        counts = step.combined.get(COUNT)
        expected = sum(one.loss for one in each) / 4 if counts is None else step.combined[LOSS].sum() / counts.sum()
        assert step.loss == pytest.approx(float(expected), rel=1e-9)


def test_a_rule_with_state_and_settings_is_in_the_order(tmp_path: Any) -> None:
    made = draft(shares=4, aggregate="centred-clipping,radius=0.5,iterations=2", faulty=1, worker_momentum=0.9)
    assert made.initial["share_momentum:first.bias"].shape == (4, 8)
    assert made.initial["aggregation_centre:first.bias"].shape == (8,)
    assert "Centred clipping of 4 shares, 1 of which may be faulty, to 0.5, 2 times, over worker momentum 0.9" in (
        made.manifest.optimizer
    )
    made.write(tmp_path / "job.cfoil")
    steps = trained(made)
    assert all(bool(tensor.isfinite().all()) for tensor in steps[-1].state.values())
