"""Calls of every operator, by types alone, and what chance makes of them: for the rules that say what each gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.operators.facts import ROW_SCALE
from counterfoil_core.operators.node import Argument, Keyword, Node, TensorType, Value


@dataclass(frozen=True)
class ShapeCall:
    """A call of an operator: arguments as a program has them, with types in the places of values."""

    operator: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    def node(self) -> tuple[Node, list[TensorType]]:
        """The node of the call, whose one output is yet to be declared, and the types of its values."""
        types: list[TensorType] = []

        def placed(item: Any) -> Argument:
            if isinstance(item, TensorType):
                types.append(item)
                return Value(len(types) - 1)
            return tuple(map(placed, item)) if isinstance(item, tuple) else item

        args, kwargs = placed(self.args), tuple((name, placed(item)) for name, item in self.kwargs)
        assert isinstance(args, tuple)
        output = (TensorType("float32", ()),)
        return Node(self.operator, args, kwargs, output, len(types), "m", "forward"), types


def f(*shape: int) -> TensorType:
    """Floating-point numbers."""
    return TensorType("float32", shape)


def i(*shape: int) -> TensorType:
    """Integers."""
    return TensorType("int64", shape)


def b(*shape: int) -> TensorType:
    """Truth values."""
    return TensorType("bool", shape)


_X, _LONG = f(3, 4), f(70, 300)
_T, _F = True, False
_SINGLES = """
    abs acos acosh asin asinh atan atanh ceil celu cos cosh elu erf erfc exp exp2 expm1 floor frac gelu hardtanh isinf
    isnan leaky_relu log log10 log1p log2 logical_not logit mish neg reciprocal relu round rsqrt selu sgn sigmoid sign
    silu sin sinh softplus sqrt tan tanh trunc alias detach clone lift_fresh lift_fresh_copy zeros_like ones_like tril
    triu sum mean prod max min amax amin argmax argmin norm.Scalar linalg_vector_norm any all squeeze t glu
    _to_copy bitwise_not
"""
_PAIRS = """
    add.Tensor sub.Tensor mul.Tensor div.Tensor rsub.Tensor maximum minimum atan2 xlogy.Tensor logaddexp
    pow.Tensor_Tensor
    fmod.Tensor remainder.Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor logical_and logical_or
    logical_xor copy mse_loss smooth_l1_loss huber_loss binary_cross_entropy sigmoid_backward tanh_backward
    silu_backward
    mish_backward gelu_backward logit_backward clamp_min.Tensor clamp_max.Tensor clamp.Tensor bitwise_and.Tensor
    bitwise_or.Tensor bitwise_xor.Tensor
"""
_WITH_NUMBER = """
    add.Scalar sub.Scalar mul.Scalar div.Scalar rsub.Scalar fmod.Scalar remainder.Scalar eq.Scalar ne.Scalar lt.Scalar
    le.Scalar gt.Scalar ge.Scalar pow.Tensor_Scalar fill.Scalar full_like clamp clamp_min clamp_max bitwise_and.Scalar
    bitwise_or.Scalar bitwise_xor.Scalar mul.Tensor add.Tensor
"""
_CONV = (f(2, 4, 9, 8), f(6, 4, 3, 3), f(6), (1, 1), (1, 1), (1, 1), _F, (0, 0), 1)
_DECONV = (f(2, 4, 5, 6), f(4, 6, 3, 3), f(6), (2, 2), (1, 1), (1, 1), _T, (1, 1), 1)
_BN, _C = f(4, 3, 5, 6), f(3)
_GN, _G = f(4, 6, 5, 7), f(6)

_GIVEN: dict[str, list[tuple[Any, ...]]] = {
    "threshold": [(_X, 0.5, 1.0)],
    "div.Tensor_mode div.Scalar_mode": [],
    "where.self": [(b(3, 4), _X, f(4)), (b(4), i(3, 4), f())],
    "where.ScalarSelf": [(b(3, 4), 1.0, _X), (b(3), 2, i(3))],
    "where.ScalarOther": [(b(3, 4), _X, 0.0)],
    "where.Scalar": [(b(3, 4), 1.0, 0.0), (b(3), 1, 0)],
    "masked_fill.Scalar": [(_X, b(4), 0.0), (i(3), b(3), 2)],
    "masked_fill.Tensor": [(_X, b(3, 4), f()), (i(3), b(3), i())],
    "hardtanh_backward": [(_X, _X, -1.0, 1.0)],
    "threshold_backward": [(_X, _X, 0)],
    "leaky_relu_backward": [(_X, _X, 0.1, _F)],
    "elu_backward": [(_X, 1.0, 1.0, 1.0, _F, _X), (_X, -1.0, 1.0, 1.0, _T, _X)],
    "softplus_backward": [(_X, _X, 1, 20)],
    "glu_backward": [(f(3, 2), f(3, 4), -1), (f(3, 2), f(3, 4), 1)],
    "_prelu_kernel": [(f(2, 3, 4), f(1, 3, 1))],
    "_prelu_kernel_backward": [(f(2, 3, 4), f(2, 3, 4), f(1, 3, 1))],
    "pow.Scalar": [(2.0, _X), (2, f())],
    "addcmul addcdiv": [(_X, _X, f(4)), (f(3, 1), f(4), _X)],
    "lerp.Tensor": [(_X, _X, _X), (_X, f(4), f())],
    "lerp.Scalar": [(_X, _X, 0.5)],
    "mm": [(f(3, 4), f(4, 5)), (f(3, 5000), f(5000, 5)), (i(3, 4), i(4, 5))],
    "addmm": [(f(5), f(3, 4), f(4, 5)), (f(3, 5), f(3, 4), f(4, 5)), (f(), f(3, 5000), f(5000, 5))],
    "mv": [(f(3, 4), f(4)), (f(3, 5000), f(5000))],
    "addmv": [(f(3), f(3, 4), f(4))],
    "dot": [(f(4), f(4)), (f(5000), f(5000))],
    "bmm": [(f(2, 3, 4), f(2, 4, 5)), (f(2, 3, 5000), f(2, 5000, 5))],
    "baddbmm": [(f(2, 3, 5), f(2, 3, 4), f(2, 4, 5)), (f(5), f(2, 3, 4), f(2, 4, 5))],
    "convolution": [
        _CONV, _DECONV, (f(2, 4, 9), f(6, 2, 3), None, (2,), (1,), (2,), _F, (0,), 2),
        (f(2, 4, 9, 9, 9), f(6, 4, 3, 3, 3), f(6), (1, 1, 1), (1, 1, 1), (1, 1, 1), _F, (0, 0, 0), 1),
        (f(2, 4, 9, 8), f(6, 4, 3, 3), f(6), (1,), (1,), (1,), _F, (0,), 1),
    ],
    "convolution_backward": [
        (f(2, 6, 9, 8), *_CONV[:2], (6,), *_CONV[3:], (_T, _T, _T)),
        (f(2, 6, 10, 12), *_DECONV[:2], (6,), *_DECONV[3:], (_T, _T, _F)),
        (f(2, 6, 9, 8), *_CONV[:2], None, *_CONV[3:], (_T, _T, _F)),
        (f(2, 6, 9, 8), *_CONV[:2], (0,), *_CONV[3:], (_T, _T, _F)),
        (f(64, 6, 90, 80), f(64, 4, 90, 80), _CONV[1], (6,), *_CONV[3:], (_T, _T, _T)),
    ],
    "sum.dim_IntList mean.dim": [(_X, (0,)), (_X, (0, -1), _T), (_X, None), (_X, ()), (_LONG, (1,)), (f(), (0,))],
    "amax amin any.dims": [(_X, (0,)), (_X, (0, -1), _T), (_X, ()), (f(), (0,)), (b(3, 4), (1,))],
    "prod.dim_int": [(_X, 0), (_X, -1, _T), (_LONG, 1), (i(3, 4), 1)],
    "cumsum": [(_X, 0), (_LONG, 1), (i(3, 4), 1), (f(), 0)],
    "var.correction std.correction var_mean.correction": [(_X, (0,)), (_X,), (_LONG, (0, 1)), (_X, ())],
    "linalg_vector_norm": [(_X, 2, (0,)), (_LONG, 3.0, (0, 1), _T), (_X, float("inf"), (1,)), (_X, 0, (1,))],
    "norm.ScalarOpt_dim": [(_X, 2, (1,)), (_X, None, (0,), _T), (_LONG, 2, (0,))],
    "logsumexp": [(_X, (0,)), (_LONG, (1,), _T), (_X, (0, 1))],
    "max.dim min.dim any.dim all.dim argmax argmin": [(_X, 0), (_X, -1, _T), (f(), 0), (b(3, 4), 1), (i(3, 4), 1)],
    "sort.stable": [],
    "_softmax _log_softmax": [(_X, 1, _F), (_LONG, -1, _F), (f(), 0, _F)],
    "_safe_softmax": [(_X, 1), (_LONG, 0)],
    "_softmax_backward_data _log_softmax_backward_data": [
        (_X, _X, 1, Keyword("dtype", "float32")), (_LONG, _LONG, 0, Keyword("dtype", "float32")),
    ],
    "_native_batch_norm_legit.no_stats": [(_BN, _C, _C, _T, 0.1, 1e-5), (f(8, 3), None, None, _T, 0.1, 1e-5)],
    "_native_batch_norm_legit_functional": [(_BN, _C, _C, _C, _C, _T, 0.1, 1e-5)],
    "_native_batch_norm_legit_no_training": [(_BN, _C, _C, _C, _C, 0.1, 1e-5)],
    "native_batch_norm_backward": [
        (_BN, _BN, _C, _C, _C, _C, _C, _T, 1e-5, (_T, _T, _T)),
        (_BN, _BN, _C, _C, _C, None, None, _F, 1e-5, (_T, _T, _F)),
        (_BN, _BN, _C, None, None, _C, _C, _T, 1e-5, (_T, _F, _T)),
        (_BN, _BN, _C, _C, _C, f(0), f(0), _F, 1e-5, (_T, _T, _T)),
    ],
    "native_layer_norm": [(f(5, 6, 7), (7,), f(7), f(7), 1e-5), (f(5, 6, 7), (6, 7), None, None, 1e-5)],
    "native_layer_norm_backward": [
        (f(5, 6, 7), f(5, 6, 7), (7,), f(5, 6, 1), f(5, 6, 1), f(7), f(7), (_T, _T, _T)),
        (f(5, 6, 7), f(5, 6, 7), (6, 7), f(5, 1, 1), f(5, 1, 1), None, None, (_T, _F, _F)),
    ],
    "native_group_norm": [(_GN, _G, _G, 4, 6, 35, 3, 1e-5), (_GN, None, None, 4, 6, 35, 2, 1e-5)],
    "native_group_norm_backward": [(_GN, _GN, f(4, 3), f(4, 3), _G, 4, 6, 35, 3, (_T, _T, _T))],
    "mse_loss_backward": [(f(), _X, _X, 1), (_X, _X, _X, 0), (f(), _X, _X, 2)],
    "smooth_l1_loss_backward huber_loss_backward": [(f(), _X, _X, 1, 1.0), (_X, _X, _X, 0, 1.0)],
    "binary_cross_entropy_backward": [(f(), _X, _X), (f(), _X, _X, _X, 2), (_X, _X, _X, None, 0)],
    "mse_loss": [(_X, _X, 0), (_LONG, _LONG, 2)],
    "smooth_l1_loss huber_loss": [(_X, _X, 0, 0.5), (_LONG, _LONG, 1, 0.5)],
    "binary_cross_entropy": [(_X, _X, _X, 0), (_LONG, _LONG, None, 2)],
    "nll_loss_forward": [(f(9, 5), i(9), None, 1, -100), (f(9, 5), i(9), f(5), 2, 1), (f(9, 5), i(9), None, 0, 1)],
    "nll_loss2d_forward": [(f(9, 5, 2, 3), i(9, 2, 3), None, 1, -100), (f(9, 5, 2, 3), i(9, 2, 3), f(5), 0, 1)],
    "nll_loss_backward": [(f(), f(9, 5), i(9), None, 1, -100, f()), (f(9), f(9, 5), i(9), f(5), 0, 1, f())],
    "nll_loss2d_backward": [
        (f(), f(9, 5, 2, 3), i(9, 2, 3), f(5), 1, -100, f()), (f(9, 2, 3), f(9, 5, 2, 3), i(9, 2, 3), None, 0, 1, f()),
    ],
    "max_pool2d_with_indices": [(f(2, 3, 9, 8), (3, 3)), (f(2, 3, 9, 8), (3, 2), (2,), (1, 1), (1, 2), _T)],
    "max_pool3d_with_indices": [(f(2, 3, 9, 8, 7), (3, 3, 3)), (f(2, 3, 9, 8, 7), (3,), (2,), (1,), (1,), _T)],
    "max_pool2d_with_indices_backward": [
        (f(2, 3, 3, 2), f(2, 3, 9, 8), (3, 3), (3, 3), (0, 0), (1, 1), _F, i(2, 3, 3, 2)),
    ],
    "max_pool3d_with_indices_backward": [
        (f(2, 3, 3, 2, 2), f(2, 3, 9, 8, 7), (3, 3, 3), (3, 3, 3), (0, 0, 0), (1, 1, 1), _F, i(2, 3, 3, 2, 2)),
    ],
    "avg_pool1d": [(f(2, 3, 9), (3,)), (f(3, 9), (3,), (2,), (1,), _T, _F)],
    "avg_pool2d": [
        (f(2, 3, 9, 8), (3, 3)), (f(3, 9, 8), (3, 2), (2, 2), (1, 1), _T, _F, 5), (f(2, 3, 90, 80), (70, 70)),
    ],
    "avg_pool3d": [(f(2, 3, 9, 8, 7), (3, 3, 3)), (f(3, 9, 8, 7), (2,), (2,), (1,), _T, _T, 5)],
    "avg_pool2d_backward": [(f(2, 3, 3, 2), f(2, 3, 9, 8), (3, 3), (3, 3), (0, 0), _F, _T, None)],
    "avg_pool3d_backward": [(f(2, 3, 3, 2, 2), f(2, 3, 9, 8, 7), (3, 3, 3), (3, 3, 3), (0, 0, 0), _F, _T, None)],
    "adaptive_avg_pool1d": [(f(2, 3, 9), (4,))],
    "_adaptive_avg_pool2d adaptive_max_pool2d": [
        (f(2, 3, 9, 8), (4, 3)), (f(3, 9, 8), (1, 1)), (f(2, 3, 90, 80), (1, 1)),
    ],
    "_adaptive_avg_pool3d": [(f(2, 3, 9, 8, 7), (4, 3, 2))],
    "_adaptive_avg_pool2d_backward": [(f(2, 3, 4, 3), f(2, 3, 9, 8))],
    "_adaptive_avg_pool3d_backward": [(f(2, 3, 4, 3, 2), f(2, 3, 9, 8, 7))],
    "adaptive_max_pool2d_backward": [(f(2, 3, 4, 3), f(2, 3, 9, 8), i(2, 3, 4, 3))],
    "gather": [(_X, 1, i(3, 2)), (_X, 0, i(9, 4)), (i(3), 0, i(5))],
    "scatter.value": [(_X, 1, i(3, 2), 1.0), (i(3), 0, i(5), 2)],
    "scatter.src scatter_add": [(_X, 1, i(3, 2), f(3, 2)), (_X, 0, i(2, 4), f(3, 5)), (_X, 0, i(500, 4), f(500, 4))],
    "scatter_reduce.two": [(_X, 1, i(3, 2), f(3, 2), "amax"), (_X, 0, i(2, 4), f(3, 5), "amin")],
    "index_select": [(_X, 1, i(5)), (i(3), 0, i(2))],
    "index_add": [(_X, 1, i(5), f(3, 5)), (_X, 0, i(500), f(500, 4))],
    "index.Tensor": [
        (_X, (i(5),)), (_X, (i(5, 1), i(2))), (f(2, 3, 4), (None, i(5))), (f(2, 3, 4), (i(5), None, i(5))),
        (f(2, 3, 4), (i(),)), (f(2, 3, 4), (b(2),)),
    ],
    "index_put": [
        (_X, (i(5),), f(5, 4), _T), (_X, (i(5), i(5)), f(), _T), (f(2, 3, 4), (None, i(500)), f(2, 500, 4), _T),
        (f(2, 3, 4), (i(5), None, i(5)), f(5, 3), _T), (f(5, 4), (i(500),), f(4), _T),
    ],
    "embedding": [(_X, i(5)), (_X, i(5, 6)), (_X, i()), (_X, TensorType("int32", (5,)))],
    "embedding_dense_backward": [(f(5, 6, 4), i(5, 6), 9, -1, _F), (f(500, 4), i(500), 9, 2, _T)],
    "view _unsafe_view view_copy reshape": [(_X, (12,)), (_X, (2, -1)), (_X, (3, 4, 1)), (f(), (1,)), (f(1), ())],
    "_reshape_alias": [(_X, (2, 6), (6, 1))],
    "squeeze.dim": [(f(3, 1), 1), (f(3, 1), -2), (f(), 0)],
    "squeeze.dims": [(f(3, 1, 1), (1, 2)), (f(3, 1), (0,))],
    "squeeze t": [(f(3, 1),), (f(),), (f(3),)],
    "unsqueeze": [(_X, 0), (_X, -1), (_X, 2), (f(), 0)],
    "permute permute_copy": [(f(2, 3, 4), (2, 0, 1)), (f(2, 3), (-1, 0))],
    "transpose.int": [(f(2, 3, 4), 0, 2), (f(2, 3), -1, 0)],
    "expand expand_copy": [(f(3, 1), (3, 4)), (f(3, 1), (2, -1, 4)), (f(), (2, 2))],
    "slice.Tensor": [(_X,), (_X, 1, 1, 3), (_X, 0, -2, 2**63 - 1, 2), (_X, 1, None, -1), (_X, 0, 2, 1)],
    "select.int": [(_X, 0, 1), (_X, -1, -2)],
    "narrow": [(_X, 1, 1, 2), (_X, 0, 0, 3), (_X, 0, -1, 1)],
    "diagonal": [(_X,), (_X, 1), (f(2, 3, 4), -1, 1, 2)],
    "split.Tensor unsafe_split.Tensor": [(_X, 2, 1), (_X, 2), (_X, 9)],
    "split_with_sizes unsafe_split_with_sizes": [(_X, (1, 3), 1), (_X, (3,), 0)],
    "unbind.int": [(_X,), (_X, -1)],
    "unfold unfold_copy": [(_X, 1, 2, 1), (f(9), 0, 3, 2)],
    "unfold_backward": [(f(3, 3, 2), (3, 4), 1, 2, 1), (f(4, 3), (9,), 0, 3, 2)],
    "cat": [((_X, _X), 0), ((_X, f(3, 1)), -1), ((f(2), f(3)),), ((i(2), f(3)),)],
    "stack": [((_X, _X), 0), ((_X, _X), -1), ((f(), f()),)],
    "roll": [(_X, (1,), (0,)), (_X, (1, -2), (0, 1)), (_X, (1,))],
    "repeat": [(_X, (2, 1)), (_X, (2, 1, 3)), (f(), (2,))],
    "flip": [(_X, (0,)), (_X, (0, -1))],
    "select_backward": [(f(4), (3, 4), 0, 1), (f(3), (3, 4), -1, -1)],
    "slice_backward": [(f(3, 2), (3, 4), 1, 1, 3, 1), (f(2, 4), (3, 4), 0, 0, 2**63 - 1, 2)],
    "select_scatter": [(_X, f(4), 0, 1), (_X, f(3), -1, 0)],
    "slice_scatter": [(_X, f(3, 2), 1, 1, 3), (_X, f(2, 4), 0, 0, None, 2)],
    "diagonal_scatter": [(_X, f(3)), (_X, f(3), 1)],
    "constant_pad_nd": [(_X, (1, 2)), (_X, (1, -1, 0, 3), 2.0), (i(3), (1, 1), 1), (i(3), (1, 1), 0.0)],
    "pixel_shuffle": [(f(2, 8, 3, 3), 2)],
    "pixel_unshuffle": [(f(2, 2, 6, 6), 3)],
    "im2col": [(f(2, 3, 9, 8), (3, 2), (1, 1), (1, 1), (2, 2))],
    "col2im": [
        (f(2, 18, 20), (9, 8), (3, 2), (1, 1), (1, 1), (2, 2)), (f(2, 18, 25), (9, 8), (3, 2), (1, 1), (1, 1), (2, 2)),
    ],
    "full": [((2, 3), 1.0), ((), 0), ((2,), float("inf"))],
    "zeros ones": [((2, 3),), ((),), ((0, 2),)],
    "new_zeros new_ones": [(_X, (2, 3)), (i(3), ())],
    "new_full": [(_X, (2, 3), 1.0), (i(3), (2,), 4)],
    "eye": [(3,)],
    "eye.m": [(3, 4)],
    "scalar_tensor": [(1.5,), (2,)],
    "arange": [(5,), (0,)],
    "arange.start": [(2, 9), (5, 2)],
    "arange.start_step": [(2, 9, 2), (9, 2, -2)],
    **{f"{kind}_pad1d": [(f(2, 3, 9), (2, 1)), (f(3, 9), (0, 2))] for kind in ("reflection", "replication")},
    **{f"{kind}_pad2d": [(f(2, 3, 9, 8), (2, 1, 0, 3))] for kind in ("reflection", "replication")},
    **{f"{kind}_pad3d": [(f(2, 3, 9, 8, 7), (2, 1, 0, 3, 1, 1))] for kind in ("reflection", "replication")},
    **{f"{kind}_pad1d_backward": [(f(2, 3, 12), f(2, 3, 9), (2, 1))] for kind in ("reflection", "replication")},
    **{
        f"{kind}_pad2d_backward": [(f(2, 3, 12, 11), f(2, 3, 9, 8), (2, 1, 0, 3))]
        for kind in ("reflection", "replication")
    },
}  # fmt: skip
"""Positional arguments of calls that the library takes, and of a few that it does not, by operators."""
_NAMED: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "add.Tensor sub.Tensor rsub.Tensor": [((_X, f(4)), {"alpha": 0.5}), ((i(3), i(3)), {"alpha": 2})],
    "div.Tensor_mode": [((_X, f(4)), {"rounding_mode": "floor"}), ((i(3, 4), i(4)), {"rounding_mode": "trunc"})],
    "div.Scalar_mode": [((_X, 3), {"rounding_mode": "floor"}), ((i(3, 4), 2), {"rounding_mode": "trunc"})],
    "sort.stable": [((_X,), {"stable": _T}), ((i(3), 0, _T), {"stable": _T})],
    "_to_copy": [
        ((_X,), {"dtype": Keyword("dtype", "int64")}), ((b(3),), {"dtype": Keyword("dtype", "float32")}),
        ((_BN,), {"memory_format": Keyword("memory_format", "channels_last")}),
    ],
    "clone zeros_like": [((_BN,), {"memory_format": Keyword("memory_format", "channels_last")})],
    "sum prod": [((i(3),), {"dtype": Keyword("dtype", "float32")}), ((b(3),), {"dtype": Keyword("dtype", "int64")})],
    "gelu": [((_X,), {"approximate": "tanh"})],
    "var.correction std.correction": [((_X, (0,)), {"correction": 0, "keepdim": _T})],
    "logit": [((_X, 1e-6), {})],
    "zeros full": [],
    "clamp": [((_X, None, 2.0), {}), ((_X, 0, 1), {}), ((i(3), 0, 5), {})],
}  # fmt: skip


def _named(names: str) -> list[str]:
    return [f"aten.{name}" if "." in name else f"aten.{name}.default" for name in names.split()]


def examples() -> dict[str, list[ShapeCall]]:
    """Return calls by operator; of most operators the library takes all of them."""
    found: dict[str, list[ShapeCall]] = {
        f"counterfoil.{kind}": [ShapeCall(f"counterfoil.{kind}", ((2, 3), 0))]
        for kind in ("uniform", "normal", "exponential")
    }
    found[ROW_SCALE] = [ShapeCall(ROW_SCALE, (x,)) for x in (_X, _LONG, f(), f(2, 0), i(3, 4))]
    whole = {
        _SINGLES: [(_X,), (f(),), (i(3, 4),), (b(3, 4),), (_LONG,)],
        _PAIRS: [(_X, _X), (_X, f(4)), (_X, f()), (i(3, 4), i(4)), (i(3), f(3)), (b(3), b(3)), (i(3), f())],
        _WITH_NUMBER: [(_X, 2), (_X, 0.5), (i(3, 4), 2), (i(3), 0.5), (b(3), True), (f(), 1.0)],
        **_GIVEN,
    }
    for names, calls in whole.items():
        for name in _named(names):
            found.setdefault(name, []).extend(ShapeCall(name, args) for args in calls)
    for names, with_keywords in _NAMED.items():
        for name in _named(names):
            calls_of = found.setdefault(name, [])
            calls_of.extend(ShapeCall(name, args, tuple(sorted(kwargs.items()))) for args, kwargs in with_keywords)
    return found


_LENGTHS = (1, 1, 2, 3, 4, 5, 6, 0)
_NUMBERS = (0, 1, 1, 2, 2, 3, -1, -2, -3, 5, 2**40, 2**63 - 1, -(2**63))
_FRACTIONS = (0.5, 0.0, -1.0, 1.0, float("inf"), 1e300)


def changed(call: ShapeCall, chance: random.Random) -> ShapeCall:
    """Return a call with one thing changed by chance, or two: a length, a dtype, a number, an argument more or less."""
    for _ in range(chance.choice((1, 1, 2))):
        if call.kwargs and chance.random() < 0.3:
            at = chance.randrange(len(call.kwargs))
            name, item = call.kwargs[at]
            call = replace(call, kwargs=(*call.kwargs[:at], (name, _other(item, chance)), *call.kwargs[at + 1 :]))
        elif call.args:
            call = replace(call, args=_with_one_changed(call.args, chance))
    return call


def _with_one_changed(items: tuple[Any, ...], chance: random.Random) -> tuple[Any, ...]:
    if chance.random() < 0.04:
        return items[:-1]
    if chance.random() < 0.04:
        return (*items, chance.choice((items[-1], None, 1, True)))
    at = chance.randrange(len(items))
    return (*items[:at], _other(items[at], chance), *items[at + 1 :])


def _other(item: Any, chance: random.Random) -> Any:
    if isinstance(item, TensorType):
        return _other_type(item, chance)
    if isinstance(item, tuple):
        return _with_one_changed(item, chance) if item else (chance.choice(_NUMBERS),)
    if isinstance(item, bool):
        return not item
    if isinstance(item, (int, float)):
        return chance.choice(_NUMBERS if isinstance(item, int) or chance.random() < 0.3 else _FRACTIONS)
    if isinstance(item, Keyword):
        return Keyword("dtype", chance.choice(STATE_DTYPES)) if item.kind == "dtype" else item
    return chance.choice((None, item))


def _other_type(described: TensorType, chance: random.Random) -> TensorType:
    if chance.random() < 0.25:
        return TensorType(chance.choice(STATE_DTYPES), described.shape)
    shape = list(described.shape)
    what = chance.random()
    if shape and what < 0.6:
        shape[chance.randrange(len(shape))] = chance.choice(_LENGTHS)
    elif shape and what < 0.75:
        shape.pop(chance.randrange(len(shape)))
    elif shape and what < 0.85:
        chance.shuffle(shape)
    else:
        shape.insert(chance.randrange(len(shape) + 1), chance.choice(_LENGTHS))
    return TensorType(described.dtype, tuple(shape))


def variants(calls: list[ShapeCall], seed: str, count: int) -> Iterator[ShapeCall]:
    """Yield the calls, and ``count`` that chance made of them, the same for the same seed."""
    yield from calls
    chance = random.Random(seed)
    for _ in range(count):
        yield changed(chance.choice(calls), chance)
