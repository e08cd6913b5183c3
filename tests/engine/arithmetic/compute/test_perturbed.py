"""Every operator kind that a perturbation changes gives nearly what it gives natively, and not always exactly that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from benchmarks.imitations import IMITATIONS
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, kinds, perturb
from counterfoil_core.arithmetic.otherwise.reordering import BACKWARDS, Order
from counterfoil_core.operators.catalogue import classify
from support.operator_calls import CALLS, Call, listed, operation_of, t

REORDERINGS = ("reversed", "split", "shuffled-1", "split-3", "shuffled-5+split-4")
CASES = [
    pytest.param(name, call, id=f"{name}-{kind}-{number}")
    for name in REORDERINGS
    for kind in sorted(kinds(name))
    for number, call in enumerate(CALLS.get(kind, [("missing", [], {})]))
]
MUST_DIFFER = [
    "mm",
    "addmm",
    "bmm",
    "baddbmm",
    "convolution",
    "convolution_backward",
    "sum",
    "mean",
    "native_batch_norm_backward",
    "_native_batch_norm_legit_functional",
    "native_layer_norm",
    "native_layer_norm_backward",
    "embedding_dense_backward",
    "index_put",
]


def results(call: Call, name: str) -> tuple[list[Any], list[Any]]:
    """What an operator gives natively, and under a perturbation."""
    operation = operation_of(call)
    _, args, kwargs = call
    return (
        listed(native(operation, list(args), dict(kwargs))),
        listed(perturb(name)(operation, list(args), dict(kwargs))),
    )


def same(one: list[Any], other: list[Any]) -> bool:
    return all(a is None or torch.equal(a, b) for a, b in zip(one, other, strict=True))


def scale_of(tensor: Tensor) -> float:
    return max(float(tensor.abs().max()), 1e-3)


@pytest.mark.parametrize(("name", "call"), CASES)
def test_nearly_the_same_result(name, call):
    one, other = results(call, name)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        if a is None or a.numel() == 0:
            continue
        assert b.shape == a.shape
        assert b.dtype == a.dtype
        assert float((a - b).abs().max()) <= 1e-12 * scale_of(a)


@pytest.mark.parametrize("name", REORDERINGS)
@pytest.mark.parametrize("kind", MUST_DIFFER)
def test_the_perturbation_does_something(kind, name):
    assert not all(same(*results(call, name)) for call in CALLS[kind])


def test_all_kinds_have_a_case_here():
    assert kinds("reversed") | kinds("split") == set(CALLS)


@pytest.mark.parametrize("kind", sorted(CALLS))
def test_all_kinds_are_rounded_operators_of_the_allow_list(kind):
    for name, _, _ in CALLS[kind]:
        assert classify(name).scale, f"{name} is not rounded"
        assert classify(name).kind == kind


# Jitter.

ELEMENTWISE: list[tuple[str, Callable[[Tensor], Tensor]]] = [
    ("aten.exp.default", torch.exp),
    ("aten.tanh.default", torch.tanh),
    ("aten.sqrt.default", torch.sqrt),
]


@pytest.mark.parametrize(("name", "function"), ELEMENTWISE)
def test_jitter_moves_values_by_at_most_one_float64_ulp(name, function):
    x = t(4000).abs()
    one, other = results((name, [x], {}), "jitter")
    steps = other[0].view(torch.int64) - one[0].view(torch.int64)
    assert sorted(steps.unique().tolist()) == [-1, 0, 1]


def test_jitter_leaves_special_values():
    x = torch.tensor([0.0, float("inf"), -float("inf"), float("nan"), -800.0], dtype=torch.float64)
    one, other = results(("aten.exp.default", [x], {}), "jitter")
    finite = one[0][[1, 2]]
    assert torch.equal(other[0][[1, 2]], finite)
    assert bool(other[0][3].isnan())


@pytest.mark.parametrize("call", [CALLS["mm"][0], ("aten.mul.Tensor", [t(9), t(9)], {})], ids=["mm", "mul"])
def test_jitter_leaves_products_and_exact_operators(call):
    assert same(*results(call, "jitter"))


@pytest.mark.parametrize("name", IMITATIONS)
def test_exact_operators_are_left_alone(name):
    assert same(*results(("aten.mul.Tensor", [t(99), t(99, number=1)], {}), name))


# Names.


@pytest.mark.parametrize(
    "name",
    [
        "", "sideways", "shuffled", "reversed-1", "split-1", "split-0", "split-2000", "jitter--1", "reversed+",
        "+jitter", "reversed+shuffled-1", "split+split-3", "jitter-1+jitter-2", "Reversed", "shuffled-12345678901",
    ],
)  # fmt: skip
def test_an_unknown_perturbation(name):
    with pytest.raises(ValueError, match=r"There is no perturbation .* joined by"):
        perturb(name)


def test_at_least_ten_machines_are_imitated():
    assert len(set(IMITATIONS)) == len(IMITATIONS) >= 10
    assert set(PERTURBATIONS) <= set(IMITATIONS)


@pytest.mark.parametrize(("short", "long"), [("split", "split-2"), ("jitter", "jitter-0")])
def test_short_names(short, long):
    for call in (CALLS["mm"][0], ("aten.exp.default", [t(400)], {})):
        assert same(results(call, short)[1], results(call, long)[1])


@pytest.mark.parametrize("call", [CALLS["mm"][0], CALLS["sum"][0]], ids=["mm", "sum"])
def test_machines_differ_from_each_other(call):
    """Sums of many terms; whichever way they are added, some last bits differ."""
    wide = ("aten.mm.default", [t(30, 3000), t(3000, 30)], {}) if call is CALLS["mm"][0] else call
    if call is CALLS["sum"][0]:
        wide = ("aten.sum.dim_IntList", [t(30, 3000), [1]], {})
    names = ["reversed", "shuffled-1", "shuffled-2", "split", "split-3", "split-8"]
    found = [results(wide, name)[1][0] for name in names]
    assert all(not torch.equal(a, b) for i, a in enumerate(found) for b in found[:i])


def test_jitter_patterns_differ():
    call = ("aten.exp.default", [t(4000)], {})
    assert not same(results(call, "jitter")[1], results(call, "jitter-1")[1])


def test_combined_reordering_and_jitter():
    product, function = ("aten.mm.default", [t(30, 3000), t(3000, 30)], {}), ("aten.exp.default", [t(4000)], {})
    assert same(results(product, "reversed+jitter")[1], results(product, "reversed")[1])
    assert same(results(function, "reversed+jitter")[1], results(function, "jitter")[1])


@pytest.mark.parametrize("order", [BACKWARDS, Order(1), Order(2)])
def test_an_order_is_undone(order):
    x = t(5, 7, 11)
    turned = order.apply(x, 0, -1)
    assert not torch.equal(turned, x)
    assert torch.equal(order.undo(turned, 0, -1), x)
    assert sorted(turned.flatten().tolist()) == sorted(x.flatten().tolist())
