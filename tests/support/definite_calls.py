"""One call at least of every operator kind that the exact profiles compute, arguments by position."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.operators.facts import ROW_SCALE

ATEN = torch.ops.aten
GENERATOR = torch.Generator().manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR)


def places(limit: int, *shape: int) -> Tensor:
    return torch.randint(limit, shape, generator=GENERATOR)


def _max_pool(axes: int) -> tuple[str, list[Any]]:
    x = draw(2, 3, *[9] * axes)
    operator = ATEN.max_pool2d_with_indices if axes == 2 else ATEN.max_pool3d_with_indices
    arguments = [[3] * axes, [2] * axes, [1] * axes, [1] * axes, False]
    result, indices = operator(x, *arguments)
    return f"aten.max_pool{axes}d_with_indices_backward.default", [draw(*result.shape), x, *arguments, indices]


def _adaptive() -> tuple[str, list[Any]]:
    x = draw(2, 3, 7, 9)
    result, indices = ATEN.adaptive_max_pool2d(x, [3, 4])
    return "aten.adaptive_max_pool2d_backward.default", [draw(*result.shape), x, indices]


GEOMETRY = ([2, 1], [1, 0], [1, 2])
TRANSPOSED = [draw(2, 6, 5, 6), draw(6, 2, 3, 2), None, *GEOMETRY, True, [1, 0], 2]
RESULT = ATEN.convolution(*TRANSPOSED)
PLAIN = [draw(2, 6, 9, 8), draw(4, 3, 3, 2), None, *GEOMETRY, False, [0, 0], 2]
CALLS: list[tuple[str, list[Any]]] = [
    ("aten.mm.default", [draw(5, 7), draw(7, 6)]),
    ("aten.bmm.default", [draw(3, 5, 7), draw(3, 7, 6)]),
    ("aten.mv.default", [draw(5, 7), draw(7)]),
    ("aten.dot.default", [draw(7), draw(7)]),
    ("aten.div.Tensor", [draw(5, 7), draw(7)]),
    ("aten.div.Tensor", [draw(5, 7), 3.0]),
    ("aten.convolution.default", PLAIN),
    ("aten.convolution.default", TRANSPOSED),
    ("aten.convolution.default", [draw(2, 3, 9), draw(4, 3, 3), None, [1], [1], [1], False, [0], 1]),
    (
        "aten.convolution_backward.default",
        [draw(*ATEN.convolution(*PLAIN).shape), *PLAIN[:2], [4], *PLAIN[3:], [True, True, False]],
    ),
    (
        "aten.convolution_backward.default",
        [draw(*RESULT.shape), *TRANSPOSED[:2], [4], *TRANSPOSED[3:], [True, True, False]],
    ),
    ("aten.sum.default", [draw(5, 7)]),
    ("aten.sum.dim_IntList", [draw(5, 7, 3), [0, -1]]),
    ("aten.sum.dim_IntList", [draw(5, 7, 3), [1], True]),
    ("aten.sum.dim_IntList", [draw(5, 7), []]),
    ("aten.cumsum.default", [draw(5, 7), -1]),
    ("aten.cumsum.default", [draw(), 0]),
    ("aten.embedding_dense_backward.default", [draw(4, 9, 5), places(6, 4, 9), 6, -1, False]),
    ("aten.embedding_dense_backward.default", [draw(4, 9, 5), places(6, 4, 9), 6, 2, False]),
    ("aten.index_add.default", [draw(4, 6, 3), -2, places(6, 11), draw(4, 11, 3)]),
    ("aten.index_add.default", [draw(), 0, places(1, 1), draw()]),
    ("aten.scatter_add.default", [draw(4, 6, 3), 1, places(6, 3, 9, 2), draw(4, 10, 3)]),
    ("aten.scatter_add.default", [draw(7), -1, places(7, 20), draw(20)]),
    ("aten.scatter_add.default", [draw(), 0, places(1), draw()]),
    ("aten.index_put.default", [draw(6, 4, 3), [places(6, 8)], draw(8, 4, 3), True]),
    ("aten.index_put.default", [draw(6, 4, 3), [None, places(4, 8), places(3, 8)], draw(6, 8), True]),
    ("aten.index_put.default", [draw(6, 4), [places(6, 5, 1), places(4, 7)], draw(1), True]),
    _max_pool(2),
    _max_pool(3),
    _adaptive(),
    ("aten.col2im.default", [draw(2, 12, 6), [6, 7], [2, 3], [2, 1], [1, 0], [2, 3]]),
    ("aten.unfold_backward.default", [draw(4, 4, 5, 3), [4, 9, 5], 1, 3, 2]),
    *((f"aten.{kind}.default", [draw(5, 7).abs() / 8]) for kind in ("exp", "log", "sqrt", "rsqrt", "erf", "tan")),
    ("aten.pow.Tensor_Scalar", [draw(5, 7).abs(), 1.5]),
    ("aten.pow.Tensor_Tensor", [draw(5, 7).abs(), draw(7)]),
    ("aten.pow.Scalar", [1.5, draw(7)]),
    ("aten.atan2.default", [draw(5, 7), draw(7)]),
    ("aten.xlogy.Tensor", [draw(5, 7), draw(7).abs()]),
]


def listed(result: Any) -> list[Tensor]:
    return [x for x in (result if isinstance(result, (tuple, list)) else [result]) if x is not None]


BOOLS = draw(5, 7) > 0
IMAGE, VOLUME = draw(1, 4, 5, 6), draw(1, 2, 4, 3, 5)
EXACT_CALLS: list[tuple[str, list[Any], dict[str, Any]]] = [
    *((f"aten.{kind}.default", [draw(5, 7)], {}) for kind in (
        "abs", "neg", "ceil", "floor", "trunc", "round", "frac", "sign", "sgn", "relu", "isinf", "isnan", "clone",
        "lift_fresh_copy", "logical_not", "all", "any", "max", "min", "argmax", "argmin", "zeros_like", "ones_like",
        "tril", "triu", "_to_copy",
    )),
    *((f"aten.{kind}.Tensor", [draw(5, 7), draw(7)], {}) for kind in (
        "add", "sub", "rsub", "mul", "eq", "ne", "lt", "le", "gt", "ge", "fmod", "remainder", "clamp_min", "clamp_max",
    )),
    *((f"aten.{kind}.Scalar", [draw(5, 7), 0.1], {}) for kind in (
        "add", "sub", "rsub", "mul", "eq", "ne", "lt", "le", "gt", "ge", "fmod", "remainder", "fill",
    )),
    *((f"aten.{kind}.default", [draw(5, 7), draw(7)], {}) for kind in (
        "maximum", "minimum", "logical_and", "logical_or", "logical_xor",
    )),
    *((f"aten.bitwise_{kind}.Tensor", [BOOLS, BOOLS.flip(0)], {}) for kind in ("and", "or", "xor")),
    ("aten.bitwise_not.default", [BOOLS], {}),
    ("aten.add.Tensor", [draw(5, 7), draw(7)], {"alpha": -1}),
    ("aten.add.Tensor", [draw(5, 7), places(9, 7)], {}),
    ("aten.mul.Tensor", [draw(5, 7), 0.1], {}),
    ("aten.div.Tensor_mode", [draw(5, 7), draw(7)], {"rounding_mode": "floor"}),
    ("aten.div.Tensor_mode", [draw(5, 7), draw(7)], {"rounding_mode": "trunc"}),
    ("aten.amax.default", [draw(5, 7), [1]], {}),
    (ROW_SCALE, [draw(5, 7)], {}),
    ("aten.amin.default", [draw(5, 7), [0]], {}),
    ("aten.sort.stable", [draw(5, 7)], {"stable": True, "dim": 1, "descending": True}),
    ("aten.clamp.default", [draw(5, 7), -0.1, 0.5], {}),
    ("aten.clamp.Tensor", [draw(5, 7), draw(7), draw(5, 1)], {}),
    ("aten.hardtanh.default", [draw(5, 7), -0.5, 0.3], {}),
    ("aten.hardtanh_backward.default", [draw(5, 7), draw(5, 7), -0.5, 0.3], {}),
    ("aten.leaky_relu.default", [draw(5, 7), 0.1], {}),
    ("aten.leaky_relu_backward.default", [draw(5, 7), draw(5, 7), 0.1, False], {}),
    ("aten.threshold.default", [draw(5, 7), 0.1, 0.3], {}),
    ("aten.threshold_backward.default", [draw(5, 7), draw(5, 7), 0.1], {}),
    ("aten.where.self", [BOOLS, draw(5, 7), draw(7)], {}),
    ("aten.where.ScalarOther", [BOOLS, draw(5, 7), 0.1], {}),
    ("aten.masked_fill.Scalar", [draw(5, 7), BOOLS, 0.1], {}),
    ("aten.full_like.default", [draw(5, 7), 0.1], {}),
    ("aten.new_full.default", [draw(5, 7), [3], 0.1], {}),
    ("aten.new_zeros.default", [draw(5, 7), [3]], {}),
    ("aten.new_ones.default", [draw(5, 7), [3]], {}),
    ("aten.full.default", [[3], 0.1], {"dtype": torch.float32}),
    ("aten.zeros.default", [[3]], {"dtype": torch.float32}),
    ("aten.ones.default", [[3]], {"dtype": torch.float32}),
    ("aten.scalar_tensor.default", [0.1], {"dtype": torch.float32}),
    ("aten.eye.m", [3, 4], {"dtype": torch.float32}),
    ("aten.arange.start", [-2, 5], {"dtype": torch.float32}),
    ("aten.cat.default", [[draw(5, 7), draw(2, 7)], 0], {}),
    ("aten.stack.default", [[draw(5, 7), draw(5, 7)], 1], {}),
    ("aten.copy.default", [draw(5, 7), draw(7)], {}),
    ("aten.flip.default", [draw(5, 7), [1]], {}),
    ("aten.roll.default", [draw(5, 7), [2], [1]], {}),
    ("aten.repeat.default", [draw(5, 7), [2, 1]], {}),
    ("aten.view_copy.default", [draw(5, 7), [7, 5]], {}),
    ("aten.permute_copy.default", [draw(5, 7), [1, 0]], {}),
    ("aten.expand_copy.default", [draw(5, 1), [2, 5, 7]], {}),
    ("aten.unfold_copy.default", [draw(5, 7), 1, 3, 2], {}),
    ("aten.gather.default", [draw(5, 7), 1, places(7, 5, 4)], {}),
    ("aten.index.Tensor", [draw(5, 7), [places(5, 9), places(7, 9)]], {}),
    ("aten.index_select.default", [draw(5, 7), 0, places(5, 9)], {}),
    ("aten.embedding.default", [draw(5, 7), places(5, 9)], {}),
    ("aten.select_scatter.default", [draw(5, 7), draw(5), 1, 3], {}),
    ("aten.slice_scatter.default", [draw(5, 7), draw(2, 7), 0, 1, 5, 2], {}),
    ("aten.diagonal_scatter.default", [draw(5, 7), draw(5), 1], {}),
    ("aten.select_backward.default", [draw(5, 7), [5, 3, 7], 1, 2], {}),
    ("aten.slice_backward.default", [draw(5, 7), [5, 20], 1, 2, 16, 2], {}),
    ("aten.scatter.value", [draw(5, 7), 0, places(5, 3, 7), 0.1], {}),
    ("aten.scatter.src", [draw(5, 7), 1, places(7, 5, 9), draw(5, 9)], {}),
    ("aten.scatter_reduce.two", [draw(5, 7), 1, places(7, 5, 9), draw(5, 9), "amax"], {"include_self": False}),
    ("aten.constant_pad_nd.default", [draw(5, 7), [1, 2], 0.1], {}),
    ("aten.reflection_pad1d.default", [IMAGE[0], [1, 2]], {}),
    ("aten.reflection_pad2d.default", [IMAGE, [1, 2, 1, 0]], {}),
    ("aten.reflection_pad3d.default", [VOLUME, [1, 2, 1, 0, 1, 1]], {}),
    ("aten.replication_pad1d.default", [IMAGE[0], [1, 2]], {}),
    ("aten.replication_pad2d.default", [IMAGE, [1, 2, 1, 0]], {}),
    ("aten.replication_pad3d.default", [VOLUME, [1, 2, 1, 0, 1, 1]], {}),
    ("aten.pixel_shuffle.default", [IMAGE, 2], {}),
    ("aten.pixel_unshuffle.default", [draw(1, 2, 4, 6), 2], {}),
    ("aten.im2col.default", [IMAGE, [3, 2], [1, 1], [1, 0], [1, 2]], {}),
    ("aten.max_pool2d_with_indices.default", [IMAGE, [3, 2], [2, 1], [1, 0]], {}),
    ("aten.max_pool3d_with_indices.default", [VOLUME, [2, 2, 2]], {}),
    ("aten.adaptive_max_pool2d.default", [IMAGE, [2, 3]], {}),
]  # fmt: skip
"""One use at least of every operator kind of class exact but for draws, with keyword arguments."""


def function_calls(kinds: Iterable[str]) -> list[tuple[str, list[Any]]]:
    """Uses of functions of one number, where each is defined."""
    low = {"acosh": 1.0}
    return [(f"aten.{kind}.default", [draw(5, 7).abs() / 8 + low.get(kind, 0.0)]) for kind in sorted(kinds)]


SITUATIONS = ("as it is", "onto zeros", "zeros onto it", "all zero", "small onto large", "large onto small")


def in_situation(name: str, args: list[Any], magnitude: float, situation: str) -> list[Any]:
    """The arguments of a call with its numbers of another magnitude.

    Args:
        name: Of the operator.
        args: By position.
        magnitude: What floating-point tensors are multiplied by.
        situation: One of SITUATIONS: which of them are zero instead, or stay as they are.
    """
    kept = {"small onto large": (True, False), "large onto small": (False, True)}.get(situation, (False, False))
    zero = {"onto zeros": (True, False), "zeros onto it": (False, True), "all zero": (True, True)}.get(situation)

    def changed(x: Any, first: bool) -> Any:
        if isinstance(x, list) and x and isinstance(x[0], Tensor):
            return [changed(item, first and not position) for position, item in enumerate(x)]
        if not isinstance(x, Tensor) or not x.is_floating_point():
            return x
        if zero is not None and zero[0 if first else 1]:
            return torch.zeros_like(x)
        return x if kept[0 if first else 1] else x * magnitude

    return [changed(x, not position) for position, x in enumerate(args)]
