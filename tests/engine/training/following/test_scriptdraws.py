"""What a script drew, as the draws of an order: made again by the order's own forms, it is the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from counterfoil.program import torchdraws
from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil.training.following import scriptdraws
from counterfoil.training.following.scriptdraws import Draw, UnmatchedDrawsError, align_draws, draws_of_call
from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL, UNIFORM
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program

_aten = torch.ops.aten
SEEDS = range(40)
SHAPE = (3, 5)


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Takes down what torch's operators draw, and which they are."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.draws: list[Draw] = []
        self.lost: list[str] = []
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute an operator."""
        named = dict(kwargs or {})
        result = func(*args, **named)
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.names.append(func._opname)
            found = draws_of_call(func, args, named, result)
            if found is None:
                self.lost.append(func._opname)
            else:
                self.draws += found
        return result


def empty() -> Tensor:
    return torch.empty(SHAPE)


CHANCES = torch.linspace(0.1, 0.9, 15).reshape(SHAPE)
WEIGHTS = torch.tensor([[1.0, 0.0, 3.0, 6.0, 0.5], [2.0, 2.0, 0.0, 2.0, 1.0]])
MEANS, DEVIATIONS = torch.linspace(-3, 3, 15).reshape(SHAPE), torch.linspace(0.5, 4, 15).reshape(SHAPE)
SLOPED = torch.linspace(-2, 2, 15).reshape(SHAPE)


def masked(x: Tensor, chance: float) -> Tensor:
    """A dropout's mask as an order draws it, which is true with a chance of 1 - p."""
    return torchdraws.uniform(x.shape) < 1 - chance


CASES: Mapping[str, tuple[str, Callable[[], Tensor], Callable[[], Tensor]]] = {
    # The operator that draws; how a script calls it; what an order has in its place.
    "rand_like": ("rand_like", lambda: torch.rand_like(empty()), lambda: torchdraws._rand_like(empty())),
    "uniform_": ("uniform_", lambda: empty().uniform_(-1, 3), lambda: torchdraws._uniform(empty(), -1, 3)),
    "uniform": ("uniform", lambda: _aten.uniform(empty(), 2.0, 2.5), lambda: torchdraws._uniform(empty(), 2.0, 2.5)),
    "randn_like": ("randn_like", lambda: torch.randn_like(empty()), lambda: torchdraws._randn_like(empty())),
    "normal_": ("normal_", lambda: empty().normal_(2, 3), lambda: torchdraws._normal(empty(), 2, 3)),
    "normal of tensors": (
        "normal", lambda: torch.normal(MEANS, DEVIATIONS), lambda: torchdraws._normal_of_tensors(MEANS, DEVIATIONS)
    ),
    "normal of a mean": (
        "normal", lambda: torch.normal(MEANS, 3.0), lambda: torchdraws._normal_of_tensors(MEANS, 3.0)
    ),
    "log_normal_": (
        "log_normal_", lambda: empty().log_normal_(0, 0.5), lambda: torchdraws._log_normal(empty(), 0, 0.5)
    ),
    "log_normal_ as it is": ("log_normal_", lambda: empty().log_normal_(), lambda: torchdraws._log_normal(empty())),
    "exponential_": ("exponential_", lambda: empty().exponential_(4.0), lambda: torchdraws._exponential(empty(), 4.0)),
    "bernoulli": ("bernoulli", lambda: torch.bernoulli(CHANCES), lambda: torchdraws._bernoulli(CHANCES, CHANCES)),
    "bernoulli_": ("bernoulli_", lambda: empty().bernoulli_(0.3), lambda: torchdraws._bernoulli(empty(), 0.3)),
    "bernoulli_ of a tensor": (
        "bernoulli_", lambda: empty().bernoulli_(CHANCES), lambda: torchdraws._bernoulli(empty(), CHANCES)
    ),
    "native_dropout": (
        "native_dropout",
        lambda: torch.native_dropout(torch.ones(SHAPE), 0.4, True)[1],
        lambda: masked(torch.ones(SHAPE), 0.4),
    ),
    "randint_like": (
        "randint_like",
        lambda: torch.randint_like(torch.zeros(SHAPE), 11),
        lambda: torchdraws._randint_like(torch.zeros(SHAPE), 11),
    ),
    "randint_like from below zero": (
        "randint_like",
        lambda: torch.randint_like(torch.zeros(SHAPE, dtype=torch.int64), -7, 2**35),
        lambda: torchdraws._randint_like_from(torch.zeros(SHAPE, dtype=torch.int64), -7, 2**35),
    ),
    "random_": ("random_", lambda: empty().random_(9), lambda: torchdraws._random_below(empty(), 9)),
    "random_ from below zero": (
        "random_", lambda: empty().random_(-3, 8), lambda: torchdraws._ranged(SHAPE, -3, 8).to(torch.float32)
    ),
    "multinomial with replacement": (
        "multinomial",
        lambda: torch.multinomial(WEIGHTS, 7, replacement=True),
        lambda: torchdraws._multinomial(WEIGHTS, 7, replacement=True),
    ),
    "multinomial of one": (
        "multinomial", lambda: torch.multinomial(WEIGHTS, 1), lambda: torchdraws._multinomial(WEIGHTS, 1)
    ),
    "multinomial without replacement": (
        "multinomial", lambda: torch.multinomial(WEIGHTS, 3), lambda: torchdraws._multinomial(WEIGHTS, 3)
    ),
    "rrelu_with_noise": (
        "rrelu_with_noise",
        lambda: _aten.rrelu_with_noise(SLOPED, empty(), 0.2, 0.6, True),
        lambda: torchdraws._rrelu(SLOPED, empty(), 0.2, 0.6, training=True)[0],
    ),
    "rrelu_with_noise_": (
        "rrelu_with_noise_",
        lambda: _aten.rrelu_with_noise_(SLOPED.clone(), empty(), 0.2, 0.6, True),
        lambda: torchdraws._rrelu(SLOPED, empty(), 0.2, 0.6, training=True)[0],
    ),
}  # fmt: skip


def given(monkeypatch: pytest.MonkeyPatch, draws: list[Draw]) -> deque[Draw]:
    """Let an order's forms draw these numbers, one after the other."""
    left = deque(draws)

    def taking(kind: str) -> Callable[[Any], Tensor]:
        def take(size: Any) -> Tensor:
            drawn, values = left.popleft()
            assert (drawn, tuple(values.shape)) == (kind, tuple(size))
            assert values.dtype is torch.float32
            return values

        return take

    for name, kind in (("uniform", UNIFORM), ("normal", NORMAL), ("exponential", EXPONENTIAL)):
        monkeypatch.setattr(torchdraws, name, taking(kind))
    return left


@pytest.mark.parametrize("name", CASES)
def test_what_a_script_drew_is_made_again_by_the_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operator, script, order = CASES[name]
    different = set()
    for seed in SEEDS:
        torch.manual_seed(seed)
        with Watch() as watch:
            mine = script()
        assert watch.names == [operator]
        assert watch.lost == []
        with monkeypatch.context() as patches:
            left = given(patches, watch.draws)
            theirs = order()
        assert not left, "the order draws as often as the script"
        if mine.is_floating_point():
            torch.testing.assert_close(theirs.to(mine.dtype), mine, rtol=3e-6, atol=3e-6)
        else:
            assert torch.equal(theirs.to(mine.dtype), mine)
        different.add(str(mine.tolist()))
    assert len(different) > 10, "it draws something else each time"


def test_every_operator_that_is_mapped_back_is_tried() -> None:
    assert {operator for operator, _, _ in CASES.values()} == set(scriptdraws._BACK)


def test_the_ranks_of_a_permutation_give_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in SEEDS:
        torch.manual_seed(seed)
        mine = torch.randperm(257)
        with monkeypatch.context() as patches:
            left = given(patches, scriptdraws._of_order(mine))
            assert torch.equal(torchdraws._randperm(257), mine)
        assert not left


@pytest.mark.parametrize("training", [True, False])
def test_what_is_not_drawn_at_evaluation_is_no_draw(training: bool) -> None:
    with Watch() as watch:
        torch.native_dropout(torch.ones(SHAPE), 0.4, training)
        _aten.rrelu_with_noise(SLOPED, empty(), 0.2, 0.6, training)
    assert len(watch.draws) == 2 * training


def test_what_no_order_draws_is_told() -> None:
    own = torch.Generator().manual_seed(1)
    with Watch() as watch:
        torch.poisson(CHANCES)
        torch.empty(3).normal_(generator=own)
    assert watch.lost == ["poisson", "normal_"]
    assert watch.draws == []


class Noisy(nn.Module):
    """Drops out twice, and adds noise of its own in between."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 15).reshape(SHAPE))

    def forward(self, x: Tensor) -> Tensor:
        """The loss."""
        made = functional.dropout(self.weight * x, 0.5)
        made = made + torch.randn_like(made)
        return functional.dropout(made, 0.5).sum()


@pytest.fixture(scope="module")
def noisy() -> Program:
    batch = {"x": TensorType("float32", SHAPE)}
    return capture(Noisy(), lambda model, rows: model(rows["x"]), Sgd(), batch).program


def drawn_in_order(program: Program) -> list[str]:
    return [node.operator for node in program.nodes if node.operator in (UNIFORM, NORMAL, EXPONENTIAL)]


def test_draws_of_one_shape_go_to_the_draws_of_the_program_in_their_order(noisy: Program) -> None:
    assert drawn_in_order(noisy) == [UNIFORM, NORMAL, UNIFORM]
    numbers = [node.args[1] for node in noisy.nodes if node.operator in (UNIFORM, NORMAL)]
    draws = [(UNIFORM, torch.zeros(SHAPE)), (NORMAL, torch.ones(SHAPE)), (UNIFORM, torch.full(SHAPE, 0.5))]
    found = align_draws(noisy, draws)
    assert [found[number].flatten()[0].item() for number in numbers] == [0.0, 1.0, 0.5]  # type: ignore[index]


def test_what_was_drawn_besides_is_passed_over(noisy: Program) -> None:
    besides = (UNIFORM, torch.full((2,), 9.0))
    draws = [besides, (UNIFORM, torch.zeros(SHAPE)), besides, (NORMAL, torch.ones(SHAPE)), (UNIFORM, torch.ones(SHAPE))]
    assert 9.0 not in {float(values.max()) for values in align_draws(noisy, draws).values()}
    assert len(align_draws(noisy, draws)) == 3


@pytest.mark.parametrize(
    "draws",
    [
        [],
        [(UNIFORM, torch.zeros(SHAPE)), (NORMAL, torch.ones(SHAPE))],
        [(UNIFORM, torch.zeros(SHAPE)), (UNIFORM, torch.zeros(SHAPE)), (NORMAL, torch.ones(SHAPE))],
        [(UNIFORM, torch.zeros(SHAPE)), (NORMAL, torch.ones(5, 3)), (UNIFORM, torch.zeros(SHAPE))],
    ],
    ids=["none", "too few", "another order", "another shape"],
)
def test_a_draw_without_one_of_the_scripts_is_said(noisy: Program, draws: list[Draw]) -> None:
    with pytest.raises(
        UnmatchedDrawsError, match=r"the order draws numbers of shape \[3, 5\] .*, and the script did not"
    ):
        align_draws(noisy, draws)
