"""The exact form of every rounded operator, held against what torch computes in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil.arithmetic.compute.operation import native
from counterfoil.arithmetic.grid import scale
from counterfoil.kernels.grid import ZERO_SCALE, scale_exponent
from counterfoil.operators.catalogue import OperatorClass, allowed_names, classify
from counterfoil.operators.judging import (
    WITHOUT,
    NotExactError,
    exact_elements,
    exact_kinds,
    exact_output,
    forms as operators,
)
from counterfoil.operators.judging.numbers import MP
from counterfoil.operators.judging.quantisation import _over_one
from support.operator_calls import ATEN, CALLS, OTHER_CALLS, Call, listed, operation_of, rows, t

EVERY = {**CALLS, **OTHER_CALLS}
CASES = [
    pytest.param(call, id=f"{call[0].removeprefix('aten.')}-{number}")
    for kind in sorted(EVERY)
    for number, call in enumerate(EVERY[kind])
    if kind not in WITHOUT
]
MARGIN_BITS = 44
TRIED = 7


def rounded_kinds() -> set[str]:
    entries = {classify(name, alpha=0.3) for name in allowed_names()}
    return {entry.kind for entry in entries if entry.operator_class is OperatorClass.ROUNDED}


def test_every_rounded_operator_has_an_exact_form_or_a_reason_why_not() -> None:
    assert exact_kinds() | set(WITHOUT) >= rounded_kinds()
    assert not exact_kinds() & set(WITHOUT)
    assert all(WITHOUT.values())


def some(count: int) -> list[int]:
    """First, last, and a few in between."""
    return sorted({round(i * (count - 1) / (TRIED - 1)) for i in range(TRIED)})


def distances(call: Call, change: Any = lambda y: y) -> list[float]:
    """How far some elements of torch's result, changed, lie from the exact ones, in units of tau."""
    name, args, kwargs = call
    operation = operation_of(call)
    arguments = operation.named(list(args), dict(kwargs))
    outputs = listed(native(operation, list(args), dict(kwargs)))
    sizes = scale.rule(classify(name, alpha=0.3).scale)(arguments, outputs)
    found = []
    for position, (size, output) in enumerate(zip(sizes, outputs, strict=True)):
        if not isinstance(output, Tensor) or not output.is_floating_point() or output.numel() == 0:
            continue
        exponent = scale_exponent(float(size))
        assert exponent is not None
        tau = 0.0 if exponent == ZERO_SCALE else math.ldexp(1.0, exponent - MARGIN_BITS)
        flat = output.reshape(-1).numpy()
        indices = some(flat.size)
        exact = exact_elements(operation.node, arguments, position, indices)
        for index, value in zip(indices, exact, strict=True):
            off = float(abs(MP.mpf(change(float(flat[index]))) - value))
            found.append(off / tau if tau else (math.inf if off else 0.0))
    assert found
    return found


@pytest.mark.parametrize("call", CASES)
def test_agrees_with_torch_within_the_margin(call: Call) -> None:
    assert max(distances(call)) <= 0.25


@pytest.mark.parametrize("call", CASES)
def test_control_a_result_that_is_off_is_told_apart(call: Call) -> None:
    """Every element is moved by 2^-30 of its size, which is many tau wherever the element is not tiny."""
    assert max(distances(call, lambda y: y * (1 + 2**-30) + 1e-30)) > 1


def test_an_operator_without_an_exact_form_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = OTHER_CALLS["erfc"]
    operation = operation_of(call)
    arguments = operation.named(list(call[1]), {})
    monkeypatch.delitem(operators._RULES, "erfc")
    with pytest.raises(NotExactError, match="nobody has written"):
        exact_output(operation.node, arguments, 0)
    monkeypatch.setitem(WITHOUT, "erfc", "its tails are a secret")
    with pytest.raises(NotExactError, match="secret"):
        exact_output(operation.node, arguments, 0)


@pytest.mark.parametrize("call", CASES)
def test_the_cost_of_an_element_is_stated(call: Call) -> None:
    operation = operation_of(call)
    arguments = operation.named(list(call[1]), dict(call[2]))
    assert np.all(
        [
            exact_output(operation.node, arguments, position).cost >= 1
            for position, described in enumerate(operation.node.outputs)
            if described is not None and described.floating
        ]
    )


# Uses that tests/support/operator_calls.py has no call for: other settings, masks, other ranks.


def masked(*shape: int) -> Tensor:
    return t(*shape).masked_fill(t(*shape, number=1) > 0.3, -math.inf)


def unreduced(kind: str, *more: Any) -> Call:
    return f"aten.{kind}.default", [t(9, 5).abs(), t(9, 5, number=1).abs(), *more], {}


def pooled_backward(ceil: bool, padded: bool, divisor: int | None) -> Call:
    settings = [[3, 2], [2, 2], [1, 1], ceil, padded, divisor]
    x = t(2, 3, 8, 7)
    g = t(*ATEN.avg_pool2d.default(x, *settings).shape, number=2)
    return "aten.avg_pool2d_backward.default", [g, x, *settings], {}


def evaluated_batch_norm_backward() -> Call:
    args = [t(8, 3, 5), t(8, 3, 5, number=1), t(3), t(3, number=2), t(3, number=3).abs(), None, None]
    return "aten.native_batch_norm_backward.default", [*args, False, 1e-5, [True, True, True]], {}


def convolution_of(rank: int, transposed: bool) -> list[Any]:
    channels = (4, 3) if transposed else (6, 2)
    rest = [[2] * rank, [1] * rank, [1] * rank, transposed, [0] * rank, 2]
    return [t(2, 4, *[5] * rank), t(*channels, *[3] * rank, number=1), t(6, number=2), *rest]


def convolution_gradients(rank: int, transposed: bool) -> Call:
    x, weight, _, *rest = convolution_of(rank, transposed)
    g = t(*ATEN.convolution.default(x, weight, None, *rest).shape, number=3)
    return "aten.convolution_backward.default", [g, x, weight, [6], *rest, [True] * 3], {}


X, G = t(4, 30) * 3, t(4, 30, number=1)
MORE: list[Call] = [
    ("aten._safe_softmax.default", [masked(4, 9), -1], {}),
    ("aten._softmax.default", [masked(4, 9), 0, False], {}),
    ("aten.logsumexp.default", [t(4, 9), [0, 1], True], {}),
    ("aten._softmax.default", [t(), 0, False], {}),
    ("aten.gelu.default", [X * 4], {"approximate": "tanh"}),
    ("aten.gelu_backward.default", [G, X * 4], {"approximate": "tanh"}),
    ("aten.softplus.default", [X * 9, 0.7, 10], {}),
    ("aten.softplus_backward.default", [G, X * 9, 0.7, 10], {}),
    ("aten.elu.default", [X, 0.7, 1.3, 0.9], {}),
    ("aten.celu.default", [X, 0.7], {}),
    ("aten.elu_backward.default", [G, 0.7, 1.3, 0.9, False, X], {}),
    ("aten.elu_backward.default", [G, 0.7, 1.3, 0.9, True, ATEN.elu.default(X, 0.7, 1.3, 0.9)], {}),
    ("aten.logit.default", [t(40).abs(), 0.1], {}),
    ("aten.logit_backward.default", [t(40), t(40, number=1).abs() * 3, 0.1], {}),
    ("aten.glu.default", [t(6, 4, 3), 1], {}),
    ("aten.glu_backward.default", [t(6, 2, 3), t(6, 4, 3, number=1), 1], {}),
    ("aten.add.Tensor", [t(5, 1), t(7, number=1)], {"alpha": 0.3}),
    ("aten.pow.Tensor_Scalar", [t(40), 3], {}),
    ("aten.pow.Tensor_Scalar", [t(40), 2], {}),
    ("aten.xlogy.Tensor", [t(40).relu(), t(40, number=1).abs()], {}),
    *[("aten.linalg_vector_norm.default", [t(5, 40), order, [0]], {}) for order in (0, 1, 3, 0.5, math.inf, -math.inf)],
    ("aten.sum.dim_IntList", [t(3, 4, 5), [1], True], {}),
    ("aten.cumsum.default", [t(3, 4, 5), -2], {}),
    ("aten.var.correction", [t(3, 4, 5), [0, 2]], {"correction": 0.5}),
    *[unreduced(kind, 0) for kind in ("mse_loss", "smooth_l1_loss", "huber_loss")],
    *[unreduced(kind, 1, 0.4) for kind in ("smooth_l1_loss", "huber_loss")],
    *[unreduced(kind, 2) for kind in ("mse_loss", "smooth_l1_loss", "huber_loss")],
    unreduced("binary_cross_entropy", None, 0),
    unreduced("binary_cross_entropy", None, 2),
    ("aten.binary_cross_entropy_backward.default", [t(9, 5), *[t(9, 5, number=n).abs() for n in (1, 2, 3)], 0], {}),
    ("aten.mse_loss_backward.default", [t(9, 5), t(9, 5, number=1), t(9, 5, number=2), 0], {}),
    ("aten.smooth_l1_loss_backward.default", [t(9, 5), t(9, 5, number=1), t(9, 5, number=2), 0, 0.4], {}),
    ("aten.nll_loss_forward.default", [t(5), rows(1, limit=5).reshape(()), None, 1, -100], {}),
    ("aten.nll_loss2d_forward.default", [t(2, 5, 3, 4), rows(2, 3, 4, limit=5), t(5, number=1).abs(), 1, 2], {}),
    ("aten.nll_loss2d_forward.default", [t(2, 5, 3, 4), rows(2, 3, 4, limit=5), None, 0, 2], {}),
    (
        "aten.nll_loss_backward.default",
        [t(9), t(9, 5), rows(9, limit=5), t(5, number=1).abs(), 0, 2, t(number=2).abs()],
        {},
    ),
    (
        "aten.nll_loss2d_backward.default",
        [t(), t(2, 5, 3, 4), rows(2, 3, 4, limit=5), t(5, number=1).abs(), 1, 2, t(number=2).abs() * 40],
        {},
    ),
    *[("aten.convolution.default", convolution_of(rank, flag), {}) for rank in (1, 3) for flag in (False, True)],
    *[convolution_gradients(rank, flag) for rank in (1, 3) for flag in (False, True)],
    *[pooled_backward(*case) for case in ((True, True, None), (True, False, None), (False, True, 5))],
    ("aten.reflection_pad2d_backward.default", [t(2, 3, 9, 12), t(2, 3, 6, 7), [3, 2, 1, 2]], {}),
    ("aten.replication_pad2d_backward.default", [t(2, 3, 9, 12), t(2, 3, 6, 7), [3, 2, 1, 2]], {}),
    ("aten.col2im.default", [t(2, 18, 16), [8, 9], [3, 2], [1, 2], [1, 0], [2, 2]], {}),
    ("aten.unfold_backward.default", [t(3, 4, 5, 3), [3, 9, 5], 1, 3, 2], {}),
    ("aten.embedding_dense_backward.default", [t(9, 21, 4), rows(9, 21, limit=5), 5, -1, True], {}),
    ("aten.index_put.default", [t(5, 4), [torch.tensor([3, 1])], t(2, 4, number=1), False], {}),
    ("aten.index_put.default", [t(5, 4), [t(5) > 0], t(4, number=1), True], {}),
    evaluated_batch_norm_backward(),
]


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert max(distances(call)) <= 0.25
    assert max(distances(call, lambda y: y * (1 + 2**-30) + 1e-30)) > 1


def test_running_statistics_stay_in_evaluation() -> None:
    args = [t(4, 3, 5), t(3), t(3), t(3, number=4), t(3, number=5).abs(), False, 0.1, 1e-5]
    assert max(distances(("aten._native_batch_norm_legit_functional.default", args, {}))) <= 0.25


# Where there is no one value.


def element(name: str, args: list[Any], index: int, **kwargs: Any) -> Any:
    operation = operation_of((name, args, kwargs))
    return exact_elements(operation.node, operation.named(args, kwargs), 0, [index])[0]


def test_which_of_several_writes_is_last_is_not_defined() -> None:
    base, where = t(5), torch.tensor([2, 2, 3])
    with pytest.raises(NotExactError, match="last"):
        element("aten.index_put.default", [base, [where], t(3, number=1)], 2)
    assert element("aten.index_put.default", [base, [where], t(3, number=1)], 3) == float(t(3, number=1)[2])


def test_a_sum_over_something_infinite_has_no_exact_value() -> None:
    with pytest.raises(NotExactError, match="infinite"):
        element("aten.sum.default", [torch.tensor([1.0, math.inf]).double()], 0)


def test_a_matrix_product_keeps_what_cancellation_would_lose() -> None:
    row = torch.tensor([[2.0**60, 1.0, -(2.0**60)]]).double()
    assert element("aten.mm.default", [row, torch.ones(3, 1).double()], 0) == 1


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("aten.reciprocal.default", [0.0]),
        ("aten.log.default", [0.0]),
        ("aten.log.default", [-1.0]),
        ("aten.logit.default", [1.0]),
        ("aten.pow.Tensor_Scalar", [-2.0, 0.5]),
        ("aten.atanh.default", [1.0]),
        ("aten.sin.default", [math.inf]),
    ],
)
def test_a_result_that_is_no_finite_number_is_no_exact_value(name: str, args: list[Any]) -> None:
    x = torch.tensor([args[0]]).double()
    with pytest.raises(NotExactError, match="infinite"):
        element(name, [x, *args[1:]], 0)


def test_an_infinity_that_an_argument_holds_is_a_value() -> None:
    assert element("aten.exp.default", [torch.tensor([math.inf]).double()], 0) == math.inf
    masked = torch.tensor([[1.0, -math.inf], [0.0, 2.0]]).double()
    assert element("aten.div.Tensor", [masked, torch.full((2, 2), 4.0).double()], 1) == -math.inf
    assert element("aten.div.Tensor", [masked, torch.full((2, 2), 4.0).double()], 3) == 0.5


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
def test_so_many_windows_lie_over_one_place(kernel: int, dilation: int, stride: int) -> None:
    """Counted in a row that is long enough for every way to meet."""
    met = [
        sum((place - tap * dilation) % stride == 0 for tap in range(kernel))
        for place in range(100, 100 + stride * dilation)
    ]
    assert _over_one([kernel], [stride], [dilation]) == max(met)
    assert _over_one([kernel, 3], [stride, 1], [dilation, 1]) == 3 * max(met)
