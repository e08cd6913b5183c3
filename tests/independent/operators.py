"""Operators in numpy: what each computes, the scale S of its rounded outputs, and the bound (n, c) of its error.

Written from docs/numerics.md; names, defaults, classes and scale rules are read from the table of docs/operators.md.
Only what the golden runs and the vectors use is here. Functions take the arguments by name as ``a``; arrays are
float64, int64, uint8 or bool; a scale takes the outputs before rounding too.
"""

# ruff: noqa: E731
from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Array = Any
PAGE = Path(__file__).parents[2] / "docs" / "operators.md"
_erf = np.vectorize(math.erf, otypes=[np.float64])


class Arguments(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


@dataclass(frozen=True)
class Row:
    """A row of the table: names and defaults of the arguments, class, name of the scale rule, deciding arguments."""

    names: list[str]
    defaults: dict[str, Any]
    sort: str
    scale: str
    decides: str

    def named(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Arguments:
        return Arguments(self.defaults | dict(zip(self.names, args, strict=False)) | kwargs)


def read_table() -> dict[str, Row]:
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
            name, arguments, sort, scale, decides = cells[:5]
            parts = re.findall(r"([^\s,=]+)(?:=(\[[^]]*]|[^,]+))?(?:, |$)", arguments)
            defaults = {key: json.loads(value) for key, value in parts if value}
            rows[name] = Row([key for key, _ in parts if key != "*"], defaults, sort, scale, decides)
    return rows


ROWS = read_table()


def top(x: Any) -> float:
    """Largest magnitude; 0 of nothing."""
    x = np.abs(np.asarray(0.0 if x is None else x, np.float64))
    return float(x.max()) if x.size else 0.0


def along(x: Array, axis: int) -> Array:
    """Magnitudes as ``[axis, everything else]``."""
    return np.abs(np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1))


def squares(x: Array, axis: int) -> Array:
    return (x * x).sum(axis)


def axes(x: Array, dim: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if dim is None or dim == [] else (dim,) if isinstance(dim, int) else tuple(dim)


def count(x: Array, dim: Any) -> int:
    return math.prod(x.shape[axis] for axis in axes(x, dim))


def rows(x: Array, a: Any) -> Array:
    """The rows of a layer norm."""
    return x.reshape(-1, math.prod(a.normalized_shape))


def of_channel(x: Array, like: Array) -> Array:
    return x.reshape(-1, *[1] * (like.ndim - 2))


# Computing, by name of the operator.


def _slice(x: Array, dim: int, start: Any, end: Any, step: int) -> Array:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _slice_backward(a: Any) -> Array:
    result = np.zeros(a.input_sizes)
    _slice(result, a.dim, a.start, a.end, a.step)[...] = a.grad_output
    return result


def _expand(a: Any) -> Array:
    own = [1] * (len(a.size) - a.self.ndim) + list(a.self.shape)
    return np.broadcast_to(a.self, [n if s == -1 else s for s, n in zip(a.size, own, strict=True)])


def _pad(a: Any) -> Array:
    pairs = list(zip(a.pad[::2], a.pad[1::2], strict=True))[::-1]
    return np.pad(a.self, [(0, 0)] * (a.self.ndim - len(pairs)) + pairs, constant_values=a.value)


def _gather(a: Any) -> Array:
    cut = tuple(slice(None) if axis == a.dim % a.self.ndim else slice(n) for axis, n in enumerate(a.index.shape))
    return np.take_along_axis(a.self[cut], a.index, a.dim)


_K = math.sqrt(2 / math.pi)
_tanh = lambda x: np.tanh(_K * (x + 0.044715 * x**3))


def _gelu(a: Any) -> Array:
    x = a.self
    return 0.5 * x * (1 + (_tanh(x) if a.approximate == "tanh" else _erf(x / math.sqrt(2))))


def _gelu_backward(a: Any) -> Array:
    x = a.self
    if a.approximate == "tanh":
        t = _tanh(x)
        return a.grad_output * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * _K * (1 + 3 * 0.044715 * x * x))
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return a.grad_output * (0.5 * (1 + _erf(x / math.sqrt(2))) + x * density)


def windows(x: Array, a: Any) -> Array:
    """What stands under the kernel: ``[N, C, positions, positions, kernel, kernel]``."""
    assert not a.transposed
    assert a.groups == 1
    assert set(a.dilation) == {1}
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in a.padding)])
    return sliding_window_view(padded, a.weight.shape[2:], (2, 3))[:, :, :: a.stride[0], :: a.stride[1]]


def scatter(g: Array, weight: Array, a: Any) -> Array:
    """The transposed kernel: brings ``g`` ``[N, O, ...]`` to the positions of the input."""
    (n, _, h, w), (ph, pw), (sh, sw) = a.input.shape, a.padding, a.stride
    padded = np.zeros((n, weight.shape[1], h + 2 * ph, w + 2 * pw))
    for i in range(weight.shape[2]):
        for j in range(weight.shape[3]):
            part = padded[:, :, i : i + sh * g.shape[2] : sh, j : j + sw * g.shape[3] : sw]
            part += np.einsum("nohw,oc->nchw", g, weight[:, :, i, j])
    return padded[:, :, ph : ph + h, pw : pw + w]


def _convolution(a: Any) -> Array:
    y = np.einsum("nchwij,ocij->nohw", windows(a.input, a), a.weight)
    return y if a.bias is None else y + a.bias[:, None, None]


def _convolution_backward(a: Any) -> list[Array]:
    g = a.grad_output
    under = windows(a.input, a)[:, :, : g.shape[2], : g.shape[3]]
    return [scatter(g, a.weight, a), np.einsum("nohw,nchwij->ocij", g, under), g.sum((0, 2, 3))]


def _batch_norm(a: Any) -> list[Array]:
    assert a.training
    x = np.moveaxis(a.input, 1, 0).reshape(a.input.shape[1], -1)
    n, m, v = x.shape[1], x.mean(1), x.var(1)
    r = (v + a.eps) ** -0.5
    m_, r_, w_, b_ = (of_channel(y, a.input) for y in (m, r, a.weight, a.bias))
    kept = [a.momentum * new + (1 - a.momentum) * old
            for new, old in ((m, a.running_mean), (v * n / (n - 1), a.running_var))]  # fmt: skip
    return [(a.input - m_) * r_ * w_ + b_, m, r, *kept]


def _batch_norm_backward(a: Any) -> list[Array]:
    assert a.train
    g, n, others = a.grad_out, a.input.size // a.input.shape[1], (0, *range(2, a.input.ndim))
    centred = a.input - of_channel(a.save_mean, g)
    d, total = (g * centred).sum(others), g.sum(others)
    mixed = g - of_channel(total / n, g) - centred * of_channel(a.save_invstd**2 * d / n, g)
    return [mixed * of_channel(a.weight * a.save_invstd, g), d * a.save_invstd, total]


def _layer_norm(a: Any) -> list[Array]:
    last = tuple(range(-len(a.normalized_shape), 0))
    m, v = a.input.mean(last, keepdims=True), a.input.var(last, keepdims=True)
    r = (v + a.eps) ** -0.5
    return [(a.input - m) * r * a.weight + a.bias, m, r]


def _layer_norm_backward(a: Any) -> list[Array]:
    last = tuple(range(-len(a.normalized_shape), 0))
    others = tuple(range(a.input.ndim - len(last)))
    h, q = (a.input - a.mean) * a.rstd, a.grad_out * a.weight
    mixed = q - q.mean(last, keepdims=True) - h * (q * h).mean(last, keepdims=True)
    return [mixed * a.rstd, (a.grad_out * h).sum(others), a.grad_out.sum(others)]


def _log_softmax(a: Any) -> Array:
    z = a.self - a.self.max(a.dim, keepdims=True)
    return z - np.log(np.exp(z).sum(a.dim, keepdims=True))


def _softmax(a: Any) -> Array:
    e = np.exp(a.self - a.self.max(a.dim, keepdims=True))
    return e / e.sum(a.dim, keepdims=True)


def _nll_loss(a: Any) -> list[Any]:
    """A mean or a sum over the targets that count."""
    assert a.weight is None
    assert a.reduction in (1, 2)
    counts = np.flatnonzero(a.target != a.ignore_index)
    total = -a.self[counts, a.target[counts]].sum()
    return [total / len(counts) if a.reduction == 1 else total, len(counts)]


def _nll_loss_backward(a: Any) -> Array:
    result = np.zeros(a.self.shape)
    counts = np.flatnonzero(a.target != a.ignore_index)
    result[counts, a.target[counts]] = -a.grad_output / (a.total_weight if a.reduction == 1 else 1)
    return result


def _index_put(a: Any) -> Array:
    assert a.accumulate
    result = a.self.copy()
    np.add.at(result, tuple(a.indices), a["values"])
    return result


def _embedding_backward(a: Any) -> Array:
    assert a.padding_idx == -1
    assert not a.scale_grad_by_freq
    result = np.zeros((a.num_weights, a.grad_output.shape[-1]))
    np.add.at(result, a.indices.ravel(), a.grad_output.reshape(-1, a.grad_output.shape[-1]))
    return result


COMPUTE: dict[str, Callable[[Any], Any]] = {
    "view.default": lambda a: a.self.reshape(a.size),
    "_unsafe_view.default": lambda a: a.self.reshape(a.size),
    "expand.default": _expand,
    "slice.Tensor": lambda a: _slice(a.self, a.dim, a.start, a.end, a.step),
    "split.Tensor": lambda a: np.split(a.self, range(a.split_size, a.self.shape[a.dim], a.split_size), a.dim),
    "t.default": lambda a: a.self.T,
    "transpose.int": lambda a: np.swapaxes(a.self, a.dim0, a.dim1),
    "unsqueeze.default": lambda a: np.expand_dims(a.self, a.dim),
    "slice_backward.default": _slice_backward,
    "constant_pad_nd.default": _pad,
    "gather.default": _gather,
    "masked_fill.Scalar": lambda a: np.where(a.mask, a.value, a.self),
    "clamp.default": lambda a: np.clip(a.self, a.min, a.max),
    "mul.Tensor": lambda a: a.self * a.other,
    "add.Tensor": lambda a: a.self + a.alpha * a.other,
    "sub.Tensor": lambda a: a.self - a.alpha * a.other,
    "floor.default": lambda a: np.floor(a.self),
    "round.default": lambda a: np.rint(a.self),
    "argmax.default": lambda a: a.self.argmax(a.dim),
    "bitwise_and.Tensor": lambda a: a.self & a.other,
    "relu.default": lambda a: np.maximum(a.self, 0.0),
    "threshold_backward.default": lambda a: np.where(a.self > a.threshold, a.grad_output, 0.0),
    "where.self": lambda a: np.where(a.condition, a.self, a.other),
    "lt.Scalar": lambda a: a.self < a.other,
    "ge.Scalar": lambda a: a.self >= a.other,
    "eq.Scalar": lambda a: a.self == a.other,
    "clone.default": lambda a: a.self,
    "_to_copy.default": lambda a: a.self,
    "cat.default": lambda a: np.concatenate(a.tensors, a.dim),
    "stack.default": lambda a: np.stack(a.tensors, a.dim),
    "triu.default": lambda a: np.triu(a.self, a.diagonal),
    "embedding.default": lambda a: a.weight[a.indices],
    "arange.default": lambda a: np.arange(a.end),
    "ones.default": lambda a: np.ones(a.size),
    "zeros.default": lambda a: np.zeros(a.size),
    "index_put.default": _index_put,
    "full.default": lambda a: np.full(a.size, a.fill_value),
    "scalar_tensor.default": lambda a: a.s,
    "ones_like.default": lambda a: np.ones(a.self.shape),
    "zeros_like.default": lambda a: np.zeros(a.self.shape),
    "div.Tensor": lambda a: a.self / a.other,
    "div.Scalar": lambda a: a.self / a.other,
    "sqrt.default": lambda a: np.sqrt(a.self),
    "reciprocal.default": lambda a: 1.0 / a.self,
    "gelu.default": _gelu,
    "gelu_backward.default": _gelu_backward,
    "sum.default": lambda a: a.self.sum(),
    "sum.dim_IntList": lambda a: a.self.sum(axes(a.self, a.dim), keepdims=a.keepdim),
    "mean.dim": lambda a: a.self.mean(axes(a.self, a.dim), keepdims=a.keepdim),
    "linalg_vector_norm.default": lambda a: np.linalg.norm(a.self.ravel(), {2: 2}[a.ord]),
    "mm.default": lambda a: a.self @ a.mat2,
    "addmm.default": lambda a: a.beta * a.self + a.alpha * (a.mat1 @ a.mat2),
    "bmm.default": lambda a: a.self @ a.mat2,
    "convolution.default": _convolution,
    "convolution_backward.default": _convolution_backward,
    "_native_batch_norm_legit_functional.default": _batch_norm,
    "native_batch_norm_backward.default": _batch_norm_backward,
    "native_layer_norm.default": _layer_norm,
    "native_layer_norm_backward.default": _layer_norm_backward,
    "_softmax.default": _softmax,
    "_log_softmax.default": _log_softmax,
    "_softmax_backward_data.default": lambda a: (
        a.output * (a.grad_output - (a.grad_output * a.output).sum(a.dim, keepdims=True))
    ),
    "_log_softmax_backward_data.default": lambda a: (
        a.grad_output - np.exp(a.output) * a.grad_output.sum(a.dim, keepdims=True)
    ),
    "nll_loss_forward.default": _nll_loss,
    "nll_loss_backward.default": _nll_loss_backward,
    "embedding_dense_backward.default": _embedding_backward,
}

# Scales, by name of the rule (docs/numerics.md, "Scales").


def tensors(a: Any) -> float:
    return sum(top(v) for v in a.values() if isinstance(v, np.ndarray) and v.dtype == np.float64)


def product(first: Array, second: Array) -> float:
    return math.sqrt(top(squares(first, 1)) * top(squares(second, 0)))


def total(x: Array, dim: Any) -> float:
    return top(np.abs(x).sum(axes(x, dim)))


def _mm(a: Any, y: Any) -> list[float]:
    if "mat1" in a:
        return [product(a.mat1, a.mat2) * abs(a.alpha) + top(a.self) * abs(a.beta)]
    return [product(a.self, a.mat2)]


def _convolution_size(a: Any, y: Any) -> list[float]:
    under = windows(squares(a.input, 1)[:, None], a).sum((4, 5))
    return [math.sqrt(top(under) * top(squares(along(a.weight, 0), 1))) + top(a.bias)]


def _convolution_gradient_sizes(a: Any, y: Any) -> list[float]:
    g = along(a.grad_output, 1)
    met = scatter(squares(a.grad_output, 1)[:, None], np.ones((1, 1, *a.weight.shape[2:])), a)
    return [
        math.sqrt(top(met) * top(squares(along(a.weight, 1), 1))),
        math.sqrt(top(squares(g, 1)) * top(squares(along(a.input, 1), 1))),
        top(g.sum(1)),
    ]


def _batch_norm_sizes(a: Any, y: Any) -> list[float]:
    x, r, w = along(a.input, 1).max(1), y[2], np.abs(a.weight)
    return [
        2 * top(x * r * w) + top(a.bias),
        top(x),
        top(r * (1 + x * r)),
        top(a.running_mean) + top(x),
        top(a.running_var) + top(x / r) + 2.0**-12 * top(x * x),
    ]


def _batch_norm_gradient_sizes(a: Any, y: Any) -> list[float]:
    g, r, n = along(a.grad_out, 1), a.save_invstd, a.input.size // a.input.shape[1]
    h = along(a.input - of_channel(a.save_mean, a.input), 1) * r[:, None]
    g_norm, h_norm = np.sqrt(squares(g, 1)), np.sqrt(squares(h, 1))
    first = r * (2 * g.max(1) + h.max(1) * g_norm * h_norm / n) * np.abs(a.weight)
    return [top(first), top(g_norm * h_norm), top(g.sum(1))]


def _layer_norm_sizes(a: Any, y: Any) -> list[float]:
    x, r = np.abs(rows(a.input, a)).max(1), y[2].ravel()
    return [2 * top(x * r) * top(a.weight) + top(a.bias), top(x), top(r * (1 + x * r))]


def _layer_norm_gradient_sizes(a: Any, y: Any) -> list[float]:
    g, h, r = np.abs(rows(a.grad_out, a)), np.abs(rows((a.input - a.mean) * a.rstd, a)), a.rstd.ravel()
    projection = h.max(1) * np.sqrt(squares(g, 1) * squares(h, 1)) / g.shape[1]
    first = r * (2 * g.max(1) + projection)
    return [top(first) * top(a.weight), top(np.sqrt(squares(g, 0) * squares(h, 0))), top(g.sum(0))]


def _gelu_gradient_size(a: Any, y: Any) -> list[float]:
    if a.approximate != "tanh":
        return [top(a.grad_output) + top(y[0])]
    return [top(a.grad_output * (1 + 0.4 * np.abs(a.self) * (1 + 0.134145 * a.self**2)))]


SCALES: dict[str, Callable[[Any, list[Array]], list[float]]] = {
    "output": lambda a, y: [top(y[0])],
    "inputs": lambda a, y: [tensors(a) + top(y[0])],
    "terms": lambda a, y: [(top(a.self) + top(a.other)) * max(1.0, abs(a.alpha))],
    "mm": _mm,
    "bmm": lambda a, y: [max(map(product, a.self, a.mat2))],
    "convolution": _convolution_size,
    "convolution_backward": _convolution_gradient_sizes,
    "sum": lambda a, y: [total(a.self, a.get("dim"))],
    "mean": lambda a, y: [total(a.self, a.dim) / count(a.self, a.dim)],
    "norm": lambda a, y: [top(y[0])],
    "softmax_backward": lambda a, y: [2 * top(a.output) * top(a.grad_output)],
    "log_softmax_backward": lambda a, y: [top(a.grad_output) + total(a.grad_output, a.dim)],
    "batch_norm": _batch_norm_sizes,
    "batch_norm_backward": _batch_norm_gradient_sizes,
    "layer_norm": _layer_norm_sizes,
    "layer_norm_backward": _layer_norm_gradient_sizes,
    "nll_loss": lambda a, y: [top(a.self) * (a.target.size if a.reduction == 2 else 1), top(y[1])],
    "scatter": lambda a, y: [top(a.grad_output) * np.bincount(a.indices.ravel()).max()],
    "gelu_backward": _gelu_gradient_size,
}

# Bounds (n, c) of each output, by kind of operator (docs/numerics.md, "Proven margins").


def axis_terms(n: int) -> int:
    """Additions that a term passes when an axis is summed in blocks."""
    block = 1 << math.ceil(math.log2(max(n, 1)) / 2)
    return n * (n > 1) if n <= 128 else block - (-n // block)


def in_blocks(*lengths: int) -> int:
    return sum(map(axis_terms, lengths))


def added(*lengths: int) -> int:
    """The same in the form in which it is computed: the library's up to 4,096 terms."""
    return max(math.prod(lengths) if math.prod(lengths) <= 4096 else in_blocks(*lengths), 1)


def lengths(x: Array, dim: Any) -> list[int]:
    return [x.shape[axis] for axis in axes(x, dim)]


def _inner(a: Any) -> int:
    n = a.mat2.shape[-2]
    part = max(2048, 1 << math.ceil(math.log2(max(n, 1)) / 2))
    return n if n <= 4096 else part - (-n // part)


def _met(a: Any) -> int:
    n = a.indices.size
    block = 1 << math.ceil(math.log2(max(n, 1)) / 2)
    return n if n <= 4096 else block - (-n // block)


_channel = lambda a: in_blocks(*(n for axis, n in enumerate(a.input.shape) if axis != 1))
_layer = lambda a: in_blocks(*a.normalized_shape)
_rows = lambda a: in_blocks(*a.input.shape[: a.input.ndim - len(a.normalized_shape)])
_along = lambda x, a: added(x.shape[a.dim])


def _convolution_gradient_bounds(a: Any) -> list[tuple[int, float]]:
    positions = a.grad_output.size // a.grad_output.shape[1]
    assert positions <= 4096
    return [(len(a.weight) * math.prod(a.weight.shape[2:]), 1), (positions, 1), (positions, 1)]


BOUNDS: dict[str, Callable[[Any], Sequence[tuple[int, float]]]] = {
    **dict.fromkeys(("div", "sqrt", "reciprocal"), lambda a: [(16, 1)]),
    **dict.fromkeys(("add", "sub"), lambda a: [(6, 1)]),
    "nll_loss_backward": lambda a: [(8, 1)],
    "gelu": lambda a: [(32, 1)],
    "gelu_backward": lambda a: [(48, 1)],
    "sum": lambda a: [(added(*lengths(a.self, a.get("dim"))), 1)],
    "mean": lambda a: [(added(*lengths(a.self, a.dim)) + 16, 1)],
    "linalg_vector_norm": lambda a: [
        (added(*(n := lengths(a.self, a.dim))) + 18 * (2 * len(n) if math.prod(n) > 4096 else 1), 1)
    ],
    **dict.fromkeys(("mm", "addmm", "bmm"), lambda a: [(_inner(a) + 3, 1)]),
    "convolution": lambda a: [(math.prod(a.weight.shape[1:]) + 1, 1)],
    "convolution_backward": _convolution_gradient_bounds,
    "_native_batch_norm_legit_functional": lambda a: [(_channel(a) + 32, c) for c in (2, 1, 1, 1, 4)],
    "native_batch_norm_backward": lambda a: [((n := _channel(a)) + 48, 2), (n + 32, 1), (max(n, 1), 1)],
    "native_layer_norm": lambda a: [(_layer(a) + 32, c) for c in (2, 1, 1)],
    "native_layer_norm_backward": lambda a: [(_layer(a) + 48, 2), (_rows(a) + 8, 1), (max(_rows(a), 1), 1)],
    "_softmax": lambda a: [(_along(a.self, a) + a.self.shape[a.dim].bit_length() + 48, 1)],
    "_log_softmax": lambda a: [(_along(a.self, a) + a.self.shape[a.dim].bit_length() + 64, 1.5)],
    "_softmax_backward_data": lambda a: [(_along(a.output, a) + 4, 1)],
    "_log_softmax_backward_data": lambda a: [(_along(a.output, a) + 20, 1)],
    "nll_loss_forward": lambda a: [(2 * (n := added(*a.target.shape)) + 19, 1), (n, 1)],
    "embedding_dense_backward": lambda a: [(_met(a) + 16, 1)],
}
