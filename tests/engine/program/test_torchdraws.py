"""PyTorch's random operators inside a step: captured as draws from Philox, with the distributions they should have."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from torch import distributions, nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.facts import DRAWS
from counterfoil_core.operators.node import TensorType

ROWS, COUNT = 3, 4
STEPS = 400


class Drawing(nn.Module):
    """Draws, and keeps what it drew in a buffer of its state."""

    def __init__(self, function, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, ROWS * COUNT).reshape(ROWS, COUNT))
        self.register_buffer("drawn", torch.zeros(shape))
        self.function = function

    def forward(self, x):
        made = self.function(self.weight)
        self.drawn = made.detach().to(torch.float32).reshape(self.drawn.shape)
        return ((self.weight * x).sum() + made.to(torch.float32)).sum()


def captured(function, shape, *, exact=None):
    """A step that draws, as a program and its state."""
    batch = {"x": TensorType("float32", (ROWS, COUNT))}
    return capture(Drawing(function, shape), lambda model, rows: model(rows["x"]), Sgd(), batch, exact=exact)


def drawn(function, shape, steps=1, *, exact=None):
    """What a step drew, ``[steps, *shape]``."""
    step = captured(function, shape, exact=exact)
    interpreter = Interpreter(step.program, torch.device("cpu"), torch.float32 if exact else torch.float64)
    found = []
    for number in range(1, steps + 1):
        inputs = StepInputs(step.initial_state, {"x": torch.ones(ROWS, COUNT)}, {"lr": 0.0}, Draws(seed=9, step=number))
        found.append(interpreter.run(inputs).state["drawn"])
    return torch.stack(found)


def is_fair(observed, expected):
    """Whether chi squared is within five of its deviations."""
    observed, expected = torch.as_tensor(observed).double(), torch.as_tensor(expected).double()
    freedom = len(observed) - 1
    return float(((observed - expected) ** 2 / expected).sum()) < freedom + 5 * math.sqrt(2 * freedom)


MOMENTS = {
    # The draw, its mean, its deviation.
    "rand": (lambda w: torch.rand(10_000), 0.5, 12**-0.5),
    "rand_like": (lambda w: torch.rand_like(w.expand(1000, ROWS, COUNT)[:, 0, 0]), 0.5, 12**-0.5),
    "uniform_": (lambda w: torch.empty(10_000).uniform_(-1, 3), 1, 4 * 12**-0.5),
    "randn": (lambda w: torch.randn(100, 100), 0, 1),
    "randn_like": (lambda w: torch.randn_like(torch.zeros(10_000)), 0, 1),
    "normal_": (lambda w: torch.empty(10_000).normal_(2, 3), 2, 3),
    "normal of tensors": (lambda w: torch.normal(torch.full((10_000,), 2.0), torch.full((10_000,), 3.0)), 2, 3),
    "normal of a mean": (lambda w: torch.normal(torch.full((10_000,), 2.0), 3.0), 2, 3),
    "normal of a size": (lambda w: torch.normal(2.0, 3.0, (10_000,)), 2, 3),
    "log_normal_": (lambda w: torch.empty(10_000).log_normal_(0, 0.5).log(), 0, 0.5),
    "exponential_": (lambda w: torch.empty(10_000).exponential_(4.0), 0.25, 0.25),
    "randint": (lambda w: torch.randint(-3, 8, (10_000,)), 2, 10**0.5),
    "randint_like": (lambda w: torch.randint_like(torch.zeros(10_000), 11), 5, 10**0.5),
    "random_": (lambda w: torch.zeros(10_000).random_(-3, 8), 2, 10**0.5),
    "bernoulli of a tensor": (lambda w: torch.empty(10_000).bernoulli_(torch.full((10_000,), 0.2)), 0.2, 0.4),
    "rsample": (lambda w: distributions.Normal(w.sum().expand(10_000), 2.0, validate_args=False).rsample(), 0, 2),
    "gumbel": (
        lambda w: functional.gumbel_softmax(torch.tensor([0.25, 0.75]).log().expand(10_000, 2), hard=True)[:, 1],
        0.75, 0.1875**0.5,
    ),
    "rrelu": (lambda w: functional.rrelu(torch.full((10_000,), -1.0), 0.2, 0.6, training=True), -0.4, 0.4 * 12**-0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
def test_draws_of_the_framework_are_taken_from_philox(name):
    function, mean, deviation = MOMENTS[name]
    shape = function(torch.zeros(ROWS, COUNT)).shape
    one, other = drawn(function, shape, 2).reshape(2, -1)
    assert not torch.equal(one, other)
    for values in (one, other):
        near = 5 * deviation / math.sqrt(values.numel())
        assert abs(float(values.mean()) - mean) < near
        assert abs(float(values.std()) - deviation) < 3 * near
    assert any(node.operator in DRAWS for node in captured(function, shape, exact=ExactPrecision(20)).program.nodes)


def test_random_integers_are_as_likely_as_each_other():
    values = drawn(lambda w: torch.randint(3, 10, (7000,)), (7000,)).flatten().long()
    assert is_fair(torch.bincount(values - 3, minlength=7), torch.full((7,), 1000.0))
    assert not is_fair(torch.bincount(values.clamp(max=8) - 3, minlength=7), torch.full((7,), 1000.0)), "the control"


def test_every_permutation_is_as_likely_as_another():
    orders = Counter(tuple(row.long().tolist()) for row in drawn(lambda w: torch.randperm(3), (3,), STEPS))
    assert len(orders) == 6
    assert is_fair(list(orders.values()), torch.full((6,), STEPS / 6))
    assert sorted(drawn(lambda w: torch.randperm(1000), (1000,)).flatten().tolist()) == list(range(1000))


WEIGHTS = torch.tensor([1.0, 0.0, 3.0, 6.0])


@pytest.mark.parametrize("exact", [None, ExactPrecision(20)])
def test_choices_by_weight(exact):
    often = drawn(lambda w: torch.multinomial(WEIGHTS, 5000, replacement=True), (5000,), exact=exact).flatten().long()
    counts = torch.bincount(often, minlength=4)
    assert counts[1] == 0
    assert is_fair(counts[[0, 2, 3]], torch.tensor([500.0, 1500, 3000]))
    rows = WEIGHTS.expand(5000, 4)
    pairs = drawn(lambda w: torch.multinomial(rows, 2), (5000, 2), exact=exact)[0].long()
    assert not (pairs == 1).any()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    # First one, then one of what is left.
    chances = {
        (a, b): float(WEIGHTS[a] / 10 * WEIGHTS[b] / (10 - WEIGHTS[a])) for a in (0, 2, 3) for b in (0, 2, 3) if a != b
    }
    seen = Counter(map(tuple, pairs.tolist()))
    assert is_fair([seen[pair] for pair in chances], [5000 * chance for chance in chances.values()])


def test_both_profiles_draw_the_same():
    def function(w):
        return torch.cat((torch.randn(50), torch.rand(50), torch.randint(0, 9, (50,)), torch.empty(50).exponential_()))

    rounding, exact = (drawn(function, (200,), exact=chosen) for chosen in (None, ExactPrecision(20)))
    assert torch.equal(rounding, exact)


def test_draws_are_numbered_one_by_one():
    step = captured(lambda w: torch.randn(4) + torch.rand(4) + functional.dropout(w.sum().expand(4)), (4,))
    numbers = [node.args[1] for node in step.program.nodes if node.operator in DRAWS]
    assert sorted(numbers) == [0, 1, 2]


def test_the_gradient_of_a_random_leak():
    # A weight of -1 falls by its slope, one of +1 by 1: what the forward pass drew.
    step = captured(lambda w: functional.rrelu(w, training=True), (ROWS, COUNT))
    interpreter = Interpreter(step.program, torch.device("cpu"))
    inputs = StepInputs(step.initial_state, {"x": torch.zeros(ROWS, COUNT)}, {"lr": 1.0}, Draws(seed=1, step=1))
    before, state = step.initial_state["weight"], interpreter.run(inputs).state
    # 13 numbers are summed: the sum of the weights' is added to each of 12 elements and takes no part here.
    slopes = torch.where(before > 0, 1.0, (state["drawn"] / before))
    assert ((slopes[before < 0] >= 0.125) & (slopes[before < 0] <= 1 / 3)).all()
    assert torch.allclose(before - state["weight"], slopes, atol=1e-6)


REFUSED = {
    "a generator": (lambda w: torch.rand(2, generator=torch.Generator()), "a generator of its own"),
    "a generator in place": (lambda w: torch.empty(2).normal_(generator=torch.Generator()), "a generator of its own"),
    "a generator and from": (lambda w: w.new_empty(2).random_(0, 5, generator=torch.Generator()), "of its own"),
    "no range": (lambda w: torch.empty(2).random_(), "without a range"),
    "a large range": (lambda w: torch.randint(0, 2**41, (2,)), "one of 2\\^40 at most"),
    "poisson": (lambda w: torch.poisson(torch.ones(2)), "torch's poisson"),
    "gamma": (
        lambda w: distributions.Gamma(torch.ones(2), 1.0, validate_args=False).rsample(),
        "torch's standard_gamma",
    ),
    "cauchy": (lambda w: torch.empty(2).cauchy_(), "torch's cauchy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_definition_is_refused(name):
    function, sentence = REFUSED[name]
    with pytest.raises(ProgramError, match=f"^The step .*{sentence}.*test_torchdraws.py, line") as caught:
        captured(function, (2,))
    assert caught.value.remedy
