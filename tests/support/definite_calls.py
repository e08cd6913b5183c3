"""One call at least of every operator kind that the exact profiles compute, arguments by position."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

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
