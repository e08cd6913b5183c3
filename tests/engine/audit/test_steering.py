"""The account of what the log left to the trainer: which shares look chosen, and where."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

from counterfoil_core.base.turns import Turns
from counterfoil_core.kernels.result import Counts
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.replay.steering import DOUBT, HONEST_SHARE, Account, SteeringSites, logged_sites, looks_chosen
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import NAMED_SITES
from support.jobs import audited, own_order, record_job


def program(*operators: tuple[str, str]) -> Program:
    """A chain of operators on eight values, each named with its module."""
    kind = TensorType("float32", (8,))
    nodes = tuple(
        Node(name, (Value(number),), (), (kind,), number + 1, module, "forward")
        for number, (name, module) in enumerate(operators)
    )
    return Program((Input("x", "state", kind),), nodes, {}, Value(len(nodes)))


def account(*counts: Counts, entries: int, kinds: tuple[str, ...] = ("exp", "exp", "tanh")):
    chain = program(*((f"aten.{kind}.default", f"m{i}") for i, kind in enumerate(kinds)))
    sites = SteeringSites(Turns.alone(logged_sites(chain)), 24)
    return sites, sites.account(1, [replace(each, entries=entries) for each in counts])


def steering(*counts: Counts, entries: int, kinds: tuple[str, ...] = ("exp", "exp", "tanh")):
    sites, made = account(*counts, entries=entries, kinds=kinds)
    return sites.result(made)


SUMS = ("mm", "mm", "sum")
QUIET = Counts(corrections=2, steerable=90, steered=0)


def test_rows_are_summed_by_kind_over_steps():
    sites, made = account(QUIET, Counts(corrections=5, steerable=80, steered=1), QUIET, entries=100)
    second = sites.account(1, [Counts(entries=1, corrections=1), Counts(entries=2), Counts(entries=3, steerable=3)])
    assert sites.nothing + made == Account() + made == made
    steering = sites.result(made + second)
    exp, tanh = steering.rows
    assert (exp.kind, exp.values, exp.entries) == ("exp", 2 * 2 * 8, 203)
    assert (exp.corrections, exp.steerable, exp.steered) == (8, 170, 1)
    assert (tanh.kind, tanh.values, tanh.entries) == ("tanh", 2 * 8, 103)
    assert (tanh.corrections, tanh.steerable, tanh.steered) == (2, 93, 0)
    assert (steering.entries, steering.steerable, steering.steered) == (306, 263, 1)
    assert steering.significand_bits == 24
    assert steering.suspects == ()


def test_one_site_is_named_though_the_kind_is_quiet():
    chosen = Counts(corrections=8, steerable=8, steered=8)
    many = Counts(steerable=100_000)
    assert steering(many, chosen, QUIET, entries=100_000).suspects == ("aten.exp.default (forward of m1)",)


def test_a_kind_is_named_where_no_site_is_enough():
    few = Counts(corrections=5, steerable=5, steered=5)
    assert steering(few, few, QUIET, entries=100).suspects == ("all exp",)


def test_the_run_is_named_where_no_kind_is_enough():
    few = Counts(corrections=4, steerable=4, steered=4)
    assert steering(few, Counts(), few, entries=4).suspects == ("all operators",)


def test_not_every_site_is_named():
    kinds = ("exp",) * (NAMED_SITES + 5)
    chosen = Counts(corrections=50, steerable=50, steered=50)
    assert len(steering(*[chosen] * len(kinds), entries=50, kinds=kinds).suspects) == NAMED_SITES


@pytest.mark.parametrize(("near", "suspected"), [(0, True), (12, True), (13, False), (100, False)])
def test_broken_ties_count_where_nearly_every_close_decision_is_one(near, suspected):
    """Values scattered around the midpoint show that sums are not exact; then a tie is chance."""
    ties = Counts(corrections=100, ties=100, broken_ties=100)
    found = steering(ties, Counts(), Counts(), entries=100 + near, kinds=SUMS)
    assert bool(found.suspects) == suspected
    assert found.rows[0].steered == (100 if suspected else 0)


@pytest.mark.parametrize(("ties", "counted"), [(1, 0), (7, 0), (8, 8), (9, 9)])
def test_a_few_ties_do_not_show_that_sums_are_exact(ties, counted):
    """An honest run of gpt2 had a lone tie at a sum that is not exact, and another machine broke it the other way."""
    few = Counts(corrections=ties, ties=ties, broken_ties=ties)
    row = steering(few, Counts(), Counts(), entries=ties, kinds=SUMS).rows[0]
    assert (row.steerable, row.steered) == (counted, counted)


@pytest.mark.parametrize(("kind", "factor", "counted"), [("mm", {}, 50), ("sub", {"alpha": 0.7}, 0), ("div", {}, 0)])
def test_ties_count_at_sums_only(kind, factor, counted):
    """The results of x - 0.7 y lie next to midpoints all the time, and a fused operation goes the other way."""
    described = TensorType("float32", (8,))
    node = Node(f"aten.{kind}.{'default' if kind == 'mm' else 'Tensor'}", (Value(0), Value(0)), tuple(factor.items()),
                (described,), 1, "", "forward")  # fmt: skip
    sites = SteeringSites(
        Turns.alone(logged_sites(Program((Input("x", "state", described),), (node,), {}, Value(1)))), 24
    )
    made = sites.account(1, [Counts(entries=50, corrections=50, ties=50, broken_ties=50)])
    assert sites.result(made).steered == counted


def test_an_honest_machine_that_does_not_fuse_is_not_doubted(tmp_path, trainer_key):
    data = {"x": np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32)}
    draft = own_order(Model(), lambda model, batch: model(batch["x"]), data, batch_size=32, steps=8)
    job = record_job(tmp_path, draft, trainer_key)
    report = audited(job.run, job.order, perturbation="rewritten").report
    assert report.corrections > 5, "the machine has to round otherwise for this to say anything"
    assert report.outcome is Outcome.VERIFIED, report.reason


class Model(nn.Module):
    """Its results are x - 0.7 y."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.linear(x))
        return torch.sub(y, y.flip(0), alpha=0.7).square().mean()


@pytest.mark.parametrize(("steerable", "fewest"), [(6, 6), (10, 7), (50, 10), (2000, 37), (1_000_000, 4380)])
def test_the_fewest_that_look_chosen(steerable, fewest):
    """The figures of the module's docstring."""
    assert looks_chosen(steerable, fewest)
    assert not looks_chosen(steerable, fewest - 1)


@pytest.mark.parametrize("steerable", [0, 1, 5])
def test_too_few_to_tell(steerable):
    assert not any(looks_chosen(steerable, steered) for steered in range(steerable + 1))


@given(st.integers(1, 400), st.data())
def test_chance_explains_them_less_often_than_the_doubt(steerable, data):
    """The bound is one: the exact binomial tail is below it wherever directions look chosen."""
    steered = data.draw(st.integers(0, steerable))
    share = Fraction(HONEST_SHARE)
    tail = sum(
        math.comb(steerable, k) * share**k * (1 - share) ** (steerable - k) for k in range(steered, steerable + 1)
    )
    if looks_chosen(steerable, steered):
        assert tail <= Fraction(DOUBT)
    if tail > Fraction(DOUBT):
        assert not looks_chosen(steerable, steered)
