"""Every operator kind that a perturbation changes gives nearly what it gives natively, and not always exactly that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.execution.interpreter import native
from counterfoil.execution.perturbed import PERTURBATIONS, kinds, perturbed
from counterfoil.program.operators import classify
from support.operator_calls import CALLS, Call, listed, operation_of, t

CASES = [
    pytest.param(name, call, id=f"{name}-{kind}-{number}")
    for name in ("reversed", "split")
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
        listed(perturbed(name)(operation, list(args), dict(kwargs))),
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


@pytest.mark.parametrize("name", ["reversed", "split"])
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


@pytest.mark.parametrize("name", ["reversed", "split"])
def test_exact_operators_are_left_alone(name):
    assert same(*results(("aten.mul.Tensor", [t(99), t(99, number=1)], {}), name))


def test_an_unknown_perturbation():
    with pytest.raises(ValueError, match="no perturbation"):
        perturbed("sideways")
    assert {"reversed", "split", "jitter"} == set(PERTURBATIONS)
