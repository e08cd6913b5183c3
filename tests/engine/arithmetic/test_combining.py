"""Exact sums, bucket by bucket: whatever travels together, and in which order, they are as in one accumulator each."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from counterfoil.training import combination
from counterfoil.training.combination import exact_sum
from counterfoil_core.arithmetic.combination import ExactSum, common_exponents
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.kernels.exact.combine import NOT_FINITE

SHAPES = {"b": (3, 5), "a": (), "d": (7,), "c": (0,)}


def shares(count: int, seed: int = 0) -> list[dict[str, Tensor]]:
    torch.manual_seed(seed)
    return [{name: torch.randn(shape) * 10.0**share for name, shape in SHAPES.items()} for share in range(count)]


def in_one_accumulator(given: list[dict[str, Tensor]], exponents: dict[str, int]) -> dict[str, Tensor]:
    adding = ExactSum(exponents, len(given))
    for each in given:
        adding.add(each)
    return adding.result()


def exponents_of(given: list[dict[str, Tensor]]) -> dict[str, int]:
    return dict(zip(sorted(SHAPES), common_exponents(given).tolist(), strict=True))


def at_once(_total: Tensor) -> Callable[[], None]:
    return lambda: None


@pytest.mark.parametrize("bucket", [1, 64, 10_000])
@pytest.mark.parametrize("order", ["abcd", "dbca"])
def test_buckets_and_their_order_show_in_no_sum(monkeypatch, bucket, order) -> None:
    cut = combination.buckets
    monkeypatch.setattr(combination, "buckets", lambda sizes: cut(sizes, bucket))
    expected = in_one_accumulator(shares(5), exponents_of(shares(5)))
    found = exact_sum(shares(5), list(order), exponents_of(shares(5)), 5, at_once)
    assert list(found) == sorted(SHAPES)
    assert all(torch.equal(found[name], expected[name]) for name in SHAPES)


def test_what_another_process_adds_is_in_the_sum(monkeypatch) -> None:
    cut = combination.buckets
    monkeypatch.setattr(combination, "buckets", lambda sizes: cut(sizes, 64))
    every = shares(4)
    exponents = exponents_of(every)
    theirs = list[Tensor]()

    def note(total: Tensor) -> Callable[[], None]:
        theirs.append(total.clone())
        return at_once(total)

    def begin(total: Tensor) -> Callable[[], None]:
        def wait() -> None:
            total.add_(there)

        there = theirs.pop(0)
        return wait

    exact_sum(shares(4)[2:], list(SHAPES), exponents, 4, note)
    found = exact_sum(shares(4)[:2], list(SHAPES), exponents, 4, begin)
    expected = in_one_accumulator(every, exponents)
    assert all(torch.equal(found[name], expected[name]) for name in SHAPES)


def test_no_more_than_a_few_buckets_are_on_their_way(monkeypatch) -> None:
    cut = combination.buckets
    monkeypatch.setattr(combination, "buckets", lambda sizes: cut(sizes, 1))
    names = [str(number) for number in range(10)]
    waiting, most = [0], [0]

    def begin(_total: Tensor) -> Callable[[], None]:
        waiting[0] += 1
        most[0] = max(most[0], waiting[0])
        return lambda: waiting.__setitem__(0, waiting[0] - 1)

    exact_sum([{name: torch.ones(2) for name in names}], names, dict.fromkeys(names, 1), 1, begin)
    assert most[0] == combination.IN_FLIGHT
    assert not waiting[0]


def test_a_share_that_is_not_finite_is_refused() -> None:
    given = shares(2)
    exponents = exponents_of(given) | {"d": NOT_FINITE}
    with pytest.raises(NonFiniteError):
        exact_sum(given, list(SHAPES), exponents, 2, at_once)


def test_shares_are_let_go_of() -> None:
    given = shares(2)
    exact_sum(given, list(SHAPES), exponents_of(given), 2, at_once)
    assert not any(given)
