"""Every operator kind that a perturbation changes gives nearly what it gives natively, and not always exactly that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.execution.interpreter import Operation, _operation, native
from counterfoil.execution.perturbed import PERTURBATIONS, kinds, perturbed
from counterfoil.program.graph import Node, TensorType
from counterfoil.program.operators import classify
from support.jobs import draw

ATEN = torch.ops.aten
Call = tuple[str, list[Any], dict[str, Any]]


def t(*shape: int, number: int = 0) -> Tensor:
    """Float64 numbers in [-1, 1) that use the whole significand."""
    return torch.from_numpy(draw(shape, number)).double() / 3


def rows(*shape: int, limit: int) -> Tensor:
    return ((t(*shape, number=9) * 3 + 1) / 2 * limit).floor().long()


def batch_norm() -> tuple[Tensor, ...]:
    x, weight, bias = t(8, 3, 9, 7), t(3, number=1), t(3, number=2)
    return x, weight, bias, *ATEN._native_batch_norm_legit.no_stats(x, weight, bias, True, 0.1, 1e-5)[1:]


def batch_norm_backward() -> Call:
    x, weight, _, mean, rstd = batch_norm()
    args = [t(8, 3, 9, 7, number=5), x, weight, torch.zeros(3).double(), torch.ones(3).double(), mean, rstd]
    return "aten.native_batch_norm_backward.default", [*args, True, 1e-5, [True, True, True]], {}


def layer_norm_backward() -> Call:
    x, weight, bias = t(5, 6, 77), t(77, number=1), t(77, number=2)
    _, mean, rstd = ATEN.native_layer_norm(x, [77], weight, bias, 1e-5)
    g = t(5, 6, 77, number=3)
    return "aten.native_layer_norm_backward.default", [g, x, [77], mean, rstd, weight, bias, [True, True, True]], {}


def group_norm_backward() -> Call:
    x, weight = t(4, 6, 5, 7), t(6, number=1)
    _, mean, rstd = ATEN.native_group_norm(x, weight, t(6, number=2), 4, 6, 35, 3, 1e-5)
    g = t(4, 6, 5, 7, number=3)
    args = [g, x, mean, rstd, weight, 4, 6, 35, 3, [True, True, True]]
    return "aten.native_group_norm_backward.default", args, {}


def convolution(*, transposed: bool = False, groups: int = 1, stride: int = 1, dilation: int = 1) -> list[Any]:
    x = t(6, 8, 9, 9)
    channels = (8, 12 // groups) if transposed else (12, 8 // groups)
    weight = t(*channels, 3, 3, number=1)
    return [x, weight, t(12, number=2), [stride] * 2, [1, 1], [dilation] * 2, transposed, [0, 0], groups]


def convolution_backward(mask: tuple[bool, bool, bool] = (True, True, True), **settings: Any) -> Call:
    args = convolution(**settings)
    out = ATEN.convolution.default(*args)
    g = t(*out.shape, number=3)
    rest = [args[0], args[1], [12], *args[3:], list(mask)]
    return "aten.convolution_backward.default", [g, *rest], {}


def softmax_backward(name: str) -> Call:
    y = torch.softmax(t(5, 31), 1)
    y = y.log() if "log" in name else y
    return name, [t(5, 31, number=1), y, 1, torch.float64], {}


CALLS: dict[str, list[Call]] = {
    "mm": [("aten.mm.default", [t(7, 333), t(333, 5, number=1)], {}), ("aten.mm.default", [t(7, 1), t(1, 5)], {})],
    "addmm": [
        ("aten.addmm.default", [t(5), t(7, 333), t(333, 5, number=1)], {}),
        ("aten.addmm.default", [t(5), t(7, 33), t(33, 5, number=1)], {"beta": 0.5, "alpha": -2}),
    ],
    "mv": [("aten.mv.default", [t(7, 333), t(333, number=1)], {})],
    "addmv": [("aten.addmv.default", [t(7), t(7, 333), t(333, number=1)], {"beta": 2})],
    "dot": [("aten.dot.default", [t(999), t(999, number=1)], {})],
    "bmm": [("aten.bmm.default", [t(3, 7, 333), t(3, 333, 5, number=1)], {})],
    "baddbmm": [
        ("aten.baddbmm.default", [t(3, 7, 5), t(3, 7, 333), t(3, 333, 5, number=1)], {}),
        ("aten.baddbmm.default", [t(3, 7, 5), t(3, 7, 33), t(3, 33, 5, number=1)], {"beta": 3, "alpha": 0.1}),
    ],
    "convolution": [
        ("aten.convolution.default", convolution(), {}),
        ("aten.convolution.default", convolution(groups=2, stride=2), {}),
        ("aten.convolution.default", convolution(dilation=2), {}),
        ("aten.convolution.default", convolution(transposed=True, stride=2), {}),
        ("aten.convolution.default", convolution(transposed=True, groups=4), {}),
        ("aten.convolution.default", [*convolution()[:2], None, *convolution()[3:]], {}),
    ],
    "convolution_backward": [
        convolution_backward(),
        convolution_backward(groups=2, stride=2),
        convolution_backward(dilation=2),
        convolution_backward(transposed=True, stride=2),
        convolution_backward(transposed=True, groups=4),
        convolution_backward((False, True, False)),
        convolution_backward((True, False, False)),
        convolution_backward((False, False, True)),
    ],
    "sum": [
        ("aten.sum.default", [t(1001)], {}),
        ("aten.sum.dim_IntList", [t(37, 5, 41), [0, 2]], {}),
        ("aten.sum.dim_IntList", [t(37, 5, 41), [-1], True], {}),
        ("aten.sum.dim_IntList", [t(37, 5), []], {}),
        ("aten.sum.dim_IntList", [t(37, 5), None], {}),
        ("aten.sum.default", [t()], {}),
    ],
    "mean": [("aten.mean.default", [t(1001)], {}), ("aten.mean.dim", [t(37, 5, 41), [0, 2], True], {})],
    "prod": [("aten.prod.default", [t(99) + 1], {}), ("aten.prod.dim_int", [t(7, 99) + 1, 1, True], {})],
    "var": [
        ("aten.var.correction", [t(5, 333), [1]], {"correction": 1}),
        ("aten.var.correction", [t(333)], {}),
    ],
    "std": [("aten.std.correction", [t(5, 333), [1]], {"correction": 0, "keepdim": True})],
    "var_mean": [("aten.var_mean.correction", [t(5, 333), [0, 1]], {"correction": 0})],
    "logsumexp": [("aten.logsumexp.default", [t(5, 333), [1]], {})],
    "_softmax": [
        ("aten._softmax.default", [t(5, 333), 1, False], {}),
        ("aten._softmax.default", [t(5, 33), 0, False], {}),
    ],
    "_log_softmax": [("aten._log_softmax.default", [t(5, 333), -1, False], {})],
    "_safe_softmax": [("aten._safe_softmax.default", [t(5, 333), -1], {})],
    "_softmax_backward_data": [softmax_backward("aten._softmax_backward_data.default")],
    "_log_softmax_backward_data": [softmax_backward("aten._log_softmax_backward_data.default")],
    "_native_batch_norm_legit_functional": [
        (
            "aten._native_batch_norm_legit_functional.default",
            [*batch_norm()[:3], t(3, number=6), t(3, number=7).abs(), True, 0.1, 1e-5],
            {},
        )
    ],
    "_native_batch_norm_legit": [("aten._native_batch_norm_legit.no_stats", [*batch_norm()[:3], True, 0.1, 1e-5], {})],
    "native_batch_norm_backward": [batch_norm_backward()],
    "native_layer_norm": [
        ("aten.native_layer_norm.default", [t(5, 6, 77), [77], t(77, number=1), t(77, number=2), 1e-5], {}),
        ("aten.native_layer_norm.default", [t(5, 6, 77), [6, 77], None, None, 1e-5], {}),
    ],
    "native_layer_norm_backward": [layer_norm_backward()],
    "native_group_norm": [
        ("aten.native_group_norm.default", [t(4, 6, 5, 7), t(6), t(6, number=1), 4, 6, 35, 3, 1e-5], {})
    ],
    "native_group_norm_backward": [group_norm_backward()],
    "embedding_dense_backward": [
        ("aten.embedding_dense_backward.default", [t(9, 21, 4), rows(9, 21, limit=5), 5, -1, False], {}),
        ("aten.embedding_dense_backward.default", [t(9, 21, 4), rows(9, 21, limit=5), 5, 2, False], {}),
    ],
    "index_put": [
        ("aten.index_put.default", [t(5, 4), [rows(99, limit=5)], t(99, 4, number=1), True], {}),
        ("aten.index_put.default", [t(5, 4), [rows(99, limit=4), rows(99, limit=4)], t(99, number=1), True], {}),
        ("aten.index_put.default", [t(4, 5), [None, rows(99, limit=5)], t(4, 99, number=1), True], {}),
        ("aten.index_put.default", [t(5, 4), [rows(9, limit=5)], t(number=1), True], {}),
        ("aten.index_put.default", [t(5), [rows(9, 3, limit=5)], t(9, 3, number=1), True], {}),
        ("aten.index_put.default", [t(5, 4), [rows(9, limit=5)], t(4, number=1), True], {}),
    ],
    "scatter_add": [
        ("aten.scatter_add.default", [t(5, 4), 0, rows(99, 4, limit=5), t(99, 4, number=1)], {}),
        ("aten.scatter_add.default", [t(5, 4), 1, rows(5, 99, limit=4), t(5, 99, number=1)], {}),
        ("aten.scatter_add.default", [t(5, 4), 0, rows(9, 4, limit=5), t(12, 4, number=1)], {}),
    ],
    "index_add": [
        ("aten.index_add.default", [t(5, 4), 0, rows(99, limit=5), t(99, 4, number=1)], {}),
        ("aten.index_add.default", [t(5, 4), 1, rows(99, limit=4), t(5, 99, number=1)], {"alpha": 0.3}),
    ],
    "_adaptive_avg_pool2d": [
        ("aten._adaptive_avg_pool2d.default", [t(2, 3, 8, 12), [2, 3]], {}),
        ("aten._adaptive_avg_pool2d.default", [t(2, 3, 7, 12), [2, 5]], {}),
    ],
    "nll_loss_forward": [
        ("aten.nll_loss_forward.default", [t(99, 5), rows(99, limit=5), None, 1, -100], {}),
        ("aten.nll_loss_forward.default", [t(99, 5), rows(99, limit=5), t(5, number=3).abs(), 2, 1], {}),
        ("aten.nll_loss_forward.default", [t(99, 5), rows(99, limit=5), None, 0, -100], {}),
    ],
    "mse_loss": [
        ("aten.mse_loss.default", [t(99, 5), t(99, 5, number=1)], {}),
        ("aten.mse_loss.default", [t(99, 5), t(99, 5, number=1), 0], {}),
    ],
    "smooth_l1_loss": [("aten.smooth_l1_loss.default", [t(99, 5), t(99, 5, number=1), 2, 0.1], {})],
    "huber_loss": [("aten.huber_loss.default", [t(99, 5), t(99, 5, number=1), 1, 0.1], {})],
    "binary_cross_entropy": [
        ("aten.binary_cross_entropy.default", [t(99, 5).abs(), t(99, 5, number=1).abs(), t(99, 5, number=2).abs()], {}),
        ("aten.binary_cross_entropy.default", [t(99, 5).abs(), t(99, 5, number=1).abs(), t(5, number=2).abs()], {}),
    ],
}
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


def operation_of(call: Call) -> Operation:
    """The operation of a call, with the outputs that a program would declare."""
    name, args, kwargs = call
    _, packet, overload = name.split(".")
    outputs = listed(getattr(getattr(ATEN, packet), overload)(*args, **kwargs))
    declared = tuple(None if o is None else TensorType("float32", tuple(o.shape)) for o in outputs)
    return _operation(Node(name, (), (), declared, 0, "", "forward"))


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


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
