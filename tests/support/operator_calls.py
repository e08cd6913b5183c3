"""One call or more of every rounded operator kind, for tests of perturbations and of scale rules."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Operation, make_operation
from counterfoil_core.operators.node import Node, TensorType
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


def operation_of(call: Call) -> Operation:
    """The operation of a call, with the outputs that a program would declare."""
    name, args, kwargs = call
    _, packet, overload = name.split(".")
    outputs = listed(getattr(getattr(ATEN, packet), overload)(*args, **kwargs))
    declared = tuple(None if o is None else TensorType("float32", tuple(o.shape)) for o in outputs)
    # alpha decides the class of an addition.
    given = tuple(arg if isinstance(arg, (int, float)) else None for arg in args)
    named = tuple(sorted((key, value) for key, value in kwargs.items() if isinstance(value, (int, float))))
    return make_operation(Node(name, given, named, declared, 0, "", "forward"))


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _unary(names: str, x: Tensor) -> dict[str, list[Call]]:
    return {name: [(f"aten.{name}.default", [x], {})] for name in names.split()}


def _pool(name: str, *arguments: Any) -> list[Call]:
    return [(f"aten.{name}.default", list(arguments), {})]


def _max_pool_backward() -> Call:
    x = t(2, 3, 9, 9)
    out, indices = ATEN.max_pool2d_with_indices(x, [3, 3], [1, 1])
    g = t(*out.shape, number=4)
    settings = [[3, 3], [1, 1], [0, 0], [1, 1], False, indices]
    return "aten.max_pool2d_with_indices_backward.default", [g, x, *settings], {}


def _max_pool3d_backward() -> Call:
    x = t(2, 3, 5, 5, 5)
    out, indices = ATEN.max_pool3d_with_indices(x, [2, 2, 2], [1, 1, 1])
    g = t(*out.shape, number=4)
    settings = [[2, 2, 2], [1, 1, 1], [0, 0, 0], [1, 1, 1], False, indices]
    return "aten.max_pool3d_with_indices_backward.default", [g, x, *settings], {}


def _adaptive_max_pool_backward() -> Call:
    x = t(2, 3, 7, 7)
    _, indices = ATEN.adaptive_max_pool2d(x, [3, 3])
    return "aten.adaptive_max_pool2d_backward.default", [t(2, 3, 3, 3, number=4), x, indices], {}


def _nll_backward(name: str, x: Tensor, target: Tensor) -> Call:
    total = torch.tensor(float(target.numel()), dtype=torch.float64)
    return name, [t(number=4), x, target, None, 1, -100, total], {}


_POSITIVE = t(40).abs() + 0.01
_PLAIN = t(4, 30) * 3
OTHER_CALLS: dict[str, list[Call]] = {
    **_unary("exp exp2 expm1 sin cos tan asin acos atan sinh cosh tanh asinh erf erfc sigmoid", t(50) * 0.9),
    **_unary("silu gelu mish elu celu selu softplus", _PLAIN),
    **_unary("log log2 log10 log1p rsqrt sqrt reciprocal", _POSITIVE),
    "acosh": [("aten.acosh.default", [_POSITIVE + 1], {})],
    "atanh": [("aten.atanh.default", [t(50) * 0.9], {})],
    "logit": [("aten.logit.default", [_POSITIVE * 0.5], {})],
    "pow": [
        ("aten.pow.Tensor_Scalar", [_POSITIVE, 2.5], {}),
        ("aten.pow.Tensor_Tensor", [_POSITIVE, t(40)], {}),
        ("aten.pow.Scalar", [2.5, t(40)], {}),
    ],
    "div": [
        ("aten.div.Tensor", [t(40), _POSITIVE], {}),
        ("aten.div.Scalar", [t(40), 3.0], {}),
    ],
    "atan2": [("aten.atan2.default", [t(40), _POSITIVE], {})],
    "xlogy": [("aten.xlogy.Tensor", [t(40), _POSITIVE], {})],
    "add": [
        ("aten.add.Tensor", [t(40), t(40, number=1)], {"alpha": 0.3}),
        ("aten.add.Scalar", [t(40), 0.7, 0.3], {}),
    ],
    "sub": [
        ("aten.sub.Tensor", [t(40), t(40, number=1)], {"alpha": 0.3}),
        ("aten.sub.Scalar", [t(40), 0.7, 0.3], {}),
    ],
    "rsub": [
        ("aten.rsub.Tensor", [t(40), t(40, number=1)], {"alpha": 0.3}),
        ("aten.rsub.Scalar", [t(40), 0.7, 0.3], {}),
    ],
    "addcmul": [("aten.addcmul.default", [t(40), t(40, number=1), t(40, number=2)], {"value": 0.7})],
    "addcdiv": [("aten.addcdiv.default", [t(40), t(40, number=1), _POSITIVE], {"value": 0.7})],
    "lerp": [
        ("aten.lerp.Tensor", [t(40), t(40, number=1), _POSITIVE], {}),
        ("aten.lerp.Scalar", [t(40), t(40, number=1), 0.3], {}),
    ],
    "logaddexp": [("aten.logaddexp.default", [t(40), t(40, number=1)], {})],
    **{
        name: [(f"aten.{name}.default", [t(4, 30, number=1), _PLAIN], {})]
        for name in ("silu_backward", "gelu_backward", "mish_backward")
    },
    "tanh_backward": [("aten.tanh_backward.default", [t(50), t(50, number=1)], {})],
    "sigmoid_backward": [("aten.sigmoid_backward.default", [t(50), t(50, number=1).abs()], {})],
    "elu_backward": [("aten.elu_backward.default", [t(4, 30, number=1), 1.0, 1.0, 1.0, False, _PLAIN], {})],
    "softplus_backward": [("aten.softplus_backward.default", [t(4, 30, number=1), _PLAIN, 1.0, 20.0], {})],
    "logit_backward": [("aten.logit_backward.default", [t(40), _POSITIVE * 0.5], {})],
    "glu": [("aten.glu.default", [_PLAIN, 1], {})],
    "glu_backward": [("aten.glu_backward.default", [t(4, 15), _PLAIN, 1], {})],
    "_prelu_kernel": [("aten._prelu_kernel.default", [_PLAIN, t(1, 30)], {})],
    "_prelu_kernel_backward": [
        ("aten._prelu_kernel_backward.default", [t(4, 30, number=1), _PLAIN, t(1, 30).expand(4, 30)], {})
    ],
    "mse_loss_backward": [("aten.mse_loss_backward.default", [t(), t(9, 5), t(9, 5, number=1), 1], {})],
    "smooth_l1_loss_backward": [
        ("aten.smooth_l1_loss_backward.default", [t(), t(9, 5), t(9, 5, number=1), 1, 0.1], {})
    ],
    "huber_loss_backward": [("aten.huber_loss_backward.default", [t(), t(9, 5), t(9, 5, number=1), 2, 0.1], {})],
    "binary_cross_entropy_backward": [
        ("aten.binary_cross_entropy_backward.default", [t(), t(9, 5).abs(), t(9, 5, number=1).abs(), None, 1], {})
    ],
    "nll_loss_backward": [_nll_backward("aten.nll_loss_backward.default", t(9, 5), rows(9, limit=5))],
    "nll_loss2d_backward": [_nll_backward("aten.nll_loss2d_backward.default", t(2, 5, 3, 4), rows(2, 3, 4, limit=5))],
    "nll_loss2d_forward": [
        ("aten.nll_loss2d_forward.default", [t(2, 5, 3, 4), rows(2, 3, 4, limit=5), None, 1, -100], {}),
        ("aten.nll_loss2d_forward.default", [t(2, 5, 3, 4), rows(2, 3, 4, limit=5), None, 2, -100], {}),
    ],
    "adaptive_avg_pool1d": _pool("adaptive_avg_pool1d", t(2, 3, 9), [4]),
    "avg_pool1d": _pool("avg_pool1d", t(2, 3, 9), [3], [1]),
    "avg_pool2d": _pool("avg_pool2d", t(2, 3, 9, 9), [3, 3], [2, 2], [1, 1]),
    "avg_pool3d": _pool("avg_pool3d", t(2, 3, 5, 5, 5), [2, 2, 2]),
    "_adaptive_avg_pool3d": _pool("_adaptive_avg_pool3d", t(2, 3, 5, 5, 5), [2, 2, 3]),
    "avg_pool2d_backward": _pool(
        "avg_pool2d_backward", t(2, 3, 7, 7), t(2, 3, 9, 9), [3, 3], [1, 1], [0, 0], False, True, None
    ),
    "avg_pool3d_backward": _pool(
        "avg_pool3d_backward", t(2, 3, 4, 4, 4), t(2, 3, 5, 5, 5), [2] * 3, [1] * 3, [0] * 3, False, True, None
    ),
    "_adaptive_avg_pool2d_backward": _pool("_adaptive_avg_pool2d_backward", t(2, 3, 4, 4), t(2, 3, 7, 7)),
    "_adaptive_avg_pool3d_backward": _pool("_adaptive_avg_pool3d_backward", t(2, 3, 3, 3, 3), t(2, 3, 5, 5, 5)),
    "max_pool2d_with_indices_backward": [_max_pool_backward()],
    "max_pool3d_with_indices_backward": [_max_pool3d_backward()],
    "adaptive_max_pool2d_backward": [_adaptive_max_pool_backward()],
    "unfold_backward": _pool("unfold_backward", t(2, 5, 4), [2, 8], 1, 4, 1),
    "reflection_pad1d_backward": _pool("reflection_pad1d_backward", t(2, 3, 10), t(2, 3, 4), [3, 3]),
    "reflection_pad2d_backward": _pool("reflection_pad2d_backward", t(2, 3, 10, 10), t(2, 3, 4, 4), [3, 3, 3, 3]),
    "replication_pad1d_backward": _pool("replication_pad1d_backward", t(2, 3, 10), t(2, 3, 4), [3, 3]),
    "replication_pad2d_backward": _pool("replication_pad2d_backward", t(2, 3, 10, 10), t(2, 3, 4, 4), [3, 3, 3, 3]),
    "col2im": _pool("col2im", t(2, 27, 49), [9, 9], [3, 3], [1, 1], [0, 0], [1, 1]),
    "cumsum": [("aten.cumsum.default", [t(5, 40), 1], {})],
    "linalg_vector_norm": [("aten.linalg_vector_norm.default", [t(5, 40)], {"dim": [1]})],
    "norm": [("aten.norm.ScalarOpt_dim", [t(5, 40), 2, [1]], {}), ("aten.norm.Scalar", [t(5, 40), 2], {})],
    "_native_batch_norm_legit_no_training": [
        (
            "aten._native_batch_norm_legit_no_training.default",
            [t(8, 3, 9), t(3), t(3, number=1), t(3, number=2), t(3, number=3).abs(), 0.1, 1e-5],
            {},
        )
    ],
}
"""Kinds that no perturbation by reordering changes, so that together with CALLS every rounded kind has a call."""
