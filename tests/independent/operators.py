"""Operators in numpy: what each computes, the scale S of its rounded outputs, and the bound (n, c) of its error.

Written from docs/numerics.md and docs/operators.md alone. Functions take the arguments of the ATen schema, with its
names and defaults; arrays are float64, int64, uint8 or bool. A scale takes the arguments by name and the outputs
before rounding. Only what the golden runs and the vectors use is here.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Array = Any
SLACK = 16
FUNCTION = 16
"""Eight ulp in unit roundoffs."""
_erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class Operator:
    """``scale`` is None for operators that are not rounded; ``proven`` is the scale under guaranteed margins."""

    compute: Callable[..., Any]
    scale: Callable[[Any, list[Array]], Sequence[float]] | None = None
    bound: Callable[[Any], Sequence[tuple[int, float]]] | None = None
    proven: Callable[[Any, list[Array]], Sequence[float]] | None = None

    def named(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        bound = inspect.signature(self.compute).bind(*args, **kwargs)
        bound.apply_defaults()
        return Arguments(bound.arguments)


class Arguments(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


OPERATORS: dict[str, Operator] = {}


def operator(names: str, scale: Any = None, bound: Any = None, proven: Any = None) -> Callable[[Any], Any]:
    def enter(compute: Any) -> Any:
        for name in names.split():
            OPERATORS[f"aten.{name}"] = Operator(compute, scale, bound, proven or scale)
        return compute

    return enter


# Magnitudes. Along an axis: over everything but that axis.


def top(x: Any) -> float:
    x = np.abs(np.asarray(0.0 if x is None else x, np.float64))
    return float(x.max()) if x.size else 0.0


def along(x: Array, axis: int) -> Array:
    """Magnitudes as ``[axis, everything else]``."""
    return np.abs(np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1))


def squares(x: Array, axis: int) -> Array:
    return (x * x).sum(axis)


def output(a: Any, out: list[Array]) -> list[float]:
    return [top(y) for y in out]


def inputs(a: Any, out: list[Array]) -> list[float]:
    floats = [v for v in a.values() if isinstance(v, np.ndarray) and v.dtype == np.float64]
    return [sum(top(x) for x in floats) + top(y) for y in out]


def each(*bounds: tuple[int, float]) -> Callable[[Any], Sequence[tuple[int, float]]]:
    return lambda a: bounds


def lengths(x: Array, dim: Any) -> int:
    axes = range(x.ndim) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    return math.prod(x.shape[axis] for axis in axes)


def axes_of(x: Array, dim: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if dim is None or dim == [] else (dim,) if isinstance(dim, int) else tuple(dim)


# Views and exact operators.


@operator("view.default _unsafe_view.default")
def view(self: Array, size: list[int]) -> Array:
    return self.reshape(size)


@operator("expand.default")
def expand(self: Array, size: list[int], implicit: bool = False) -> Array:
    own = [1] * (len(size) - self.ndim) + list(self.shape)
    return np.broadcast_to(self, [n if s == -1 else s for s, n in zip(size, own, strict=True)])


@operator("slice.Tensor")
def slice_(self: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    return self[(slice(None),) * (dim % self.ndim) + (slice(start, end, step),)]


@operator("split.Tensor")
def split(self: Array, split_size: int, dim: int = 0) -> list[Array]:
    return np.split(self, range(split_size, self.shape[dim], split_size), dim)


@operator("slice_backward.default")
def slice_backward(grad_output: Array, input_sizes: list[int], dim: int, start: int, end: int, step: int) -> Array:
    result = np.zeros(input_sizes)
    slice_(result, dim, start, end, step)[...] = grad_output
    return result


@operator("constant_pad_nd.default")
def constant_pad_nd(self: Array, pad: list[int], value: float = 0) -> Array:
    pairs = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    return np.pad(self, [(0, 0)] * (self.ndim - len(pairs)) + pairs, constant_values=value)


@operator("gather.default")
def gather(self: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    cut = tuple(slice(None) if axis == dim % self.ndim else slice(n) for axis, n in enumerate(index.shape))
    return np.take_along_axis(self[cut], index, dim)


@operator("masked_fill.Scalar")
def masked_fill(self: Array, mask: Array, value: float) -> Array:
    return np.where(mask, value, self)


@operator("clamp.default")
def clamp(self: Array, min: float | None = None, max: float | None = None) -> Array:
    return np.clip(self, min, max)


def simple(name: str, compute: Callable[..., Any]) -> None:
    operator(name)(compute)


simple("t.default", lambda self: self.T)
simple("transpose.int", lambda self, dim0, dim1: np.swapaxes(self, dim0, dim1))
simple("unsqueeze.default", lambda self, dim: np.expand_dims(self, dim))
simple("mul.Tensor", lambda self, other: self * other)
simple("floor.default", lambda self: np.floor(self))
simple("relu.default", lambda self: np.maximum(self, 0.0))
simple("threshold_backward.default", lambda grad_output, self, threshold: np.where(self > threshold, grad_output, 0.0))
simple("where.self", lambda condition, self, other: np.where(condition, self, other))
simple("lt.Scalar", lambda self, other: self < other)
simple("clone.default _to_copy.default", lambda self, dtype=None, memory_format=None: self)
simple("cat.default", lambda tensors, dim=0: np.concatenate(tensors, dim))
simple("stack.default", lambda tensors, dim=0: np.stack(tensors, dim))
simple("triu.default", lambda self, diagonal=0: np.triu(self, diagonal))
simple("embedding.default", lambda weight, indices, padding_idx=-1: weight[indices])
simple("arange.default", lambda end, dtype=None: np.arange(end))
simple("ones.default", lambda size, dtype=None: np.ones(size))
simple("scalar_tensor.default", lambda s, dtype=None: np.asarray(s))
simple("full.default", lambda size, fill_value, dtype=None: np.full(size, fill_value))
simple("ones_like.default", lambda self, dtype=None, memory_format=None: np.ones(self.shape))
simple("zeros_like.default", lambda self, dtype=None, memory_format=None: np.zeros(self.shape))


# Sums of two terms: exact unless alpha is another than 1 and -1 (the replay looks at alpha).


def terms(a: Any, out: list[Array]) -> list[float]:
    return [(top(a.self) + top(a.other)) * max(1.0, abs(a.alpha))]


@operator("add.Tensor add.Scalar", terms, each((6, 1)))
def add(self: Array, other: Any, alpha: Any = 1) -> Array:
    return self + alpha * other


@operator("sub.Tensor sub.Scalar", terms, each((6, 1)))
def sub(self: Array, other: Any, alpha: Any = 1) -> Array:
    return self - alpha * other


# Functions of one element.


@operator("div.Tensor div.Scalar", output, each((FUNCTION, 1)))
def div(self: Array, other: Any) -> Array:
    return self / other


@operator("sqrt.default", output, each((FUNCTION, 1)))
def sqrt(self: Array) -> Array:
    return np.sqrt(self)


@operator("reciprocal.default", output, each((FUNCTION, 1)))
def reciprocal(self: Array) -> Array:
    return 1.0 / self


@operator("gelu.default", output, each((FUNCTION + 16, 1)), inputs)
def gelu(self: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return 0.5 * self * (1.0 + np.tanh(math.sqrt(2 / math.pi) * (self + 0.044715 * self**3)))
    return 0.5 * self * (1.0 + _erf(self / math.sqrt(2)))


def _gelu_gradient_size(a: Any, out: list[Array]) -> list[float]:
    if a.approximate != "tanh":
        return [top(a.grad_output) + top(out[0])]
    return [top(a.grad_output * (1.0 + 0.4 * np.abs(a.self) * (1.0 + 3 * 0.044715 * a.self**2)))]


@operator("gelu_backward.default", inputs, each((2 * FUNCTION + 16, 1)), _gelu_gradient_size)
def gelu_backward(grad_output: Array, self: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        k = math.sqrt(2 / math.pi)
        t = np.tanh(k * (self + 0.044715 * self**3))
        slope = 0.5 * (1.0 + t) + 0.5 * self * (1.0 - t * t) * k * (1.0 + 3 * 0.044715 * self**2)
    else:
        density = np.exp(-0.5 * self * self) / math.sqrt(2 * math.pi)
        slope = 0.5 * (1.0 + _erf(self / math.sqrt(2))) + self * density
    return grad_output * slope


# Sums.


def _total(x: Array, dim: Any) -> float:
    return top(np.abs(x).sum(axes_of(x, dim)))


@operator(
    "sum.dim_IntList sum.default", lambda a, out: [_total(a.self, a.dim)], lambda a: [(lengths(a.self, a.dim), 1)]
)
def sum_(self: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    return self.sum(axes_of(self, dim), keepdims=keepdim)


@operator(
    "mean.dim mean.default",
    lambda a, out: [_total(a.self, a.dim) / lengths(a.self, a.dim)],
    lambda a: [(lengths(a.self, a.dim) + 1, 1)],
)
def mean(self: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    return self.mean(axes_of(self, dim), keepdims=keepdim)


@operator("linalg_vector_norm.default", output, lambda a: [(lengths(a.self, a.dim) + 4, 1)])
def linalg_vector_norm(self: Array, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    assert ord == 2
    return np.sqrt((self * self).sum(axes_of(self, dim), keepdims=keepdim))


# Matrix products: largest row norm times largest column norm.


def _product(first: Array, second: Array) -> float:
    return math.sqrt(top(squares(first, 1)) * top(squares(second, 0)))


@operator("mm.default", lambda a, out: [_product(a.self, a.mat2)], lambda a: [(a.self.shape[1] + 3, 1)])
def mm(self: Array, mat2: Array) -> Array:
    return self @ mat2


@operator(
    "addmm.default",
    lambda a, out: [_product(a.mat1, a.mat2) * abs(a.alpha) + top(a.self) * abs(a.beta)],
    lambda a: [(a.mat1.shape[1] + 3, 1)],
)
def addmm(self: Array, mat1: Array, mat2: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    return beta * self + alpha * (mat1 @ mat2)


@operator(
    "bmm.default",
    lambda a, out: [max(_product(x, y) for x, y in zip(a.self, a.mat2, strict=True))],
    lambda a: [(a.self.shape[2] + 3, 1)],
)
def bmm(self: Array, mat2: Array) -> Array:
    return self @ mat2


# Convolutions over two axes, of one group, without dilation.


def _windows(x: Array, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> Array:
    """``[N, C, positions, positions, kernel, kernel]``."""
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    return sliding_window_view(padded, tuple(kernel), (2, 3))[:, :, :: stride[0], :: stride[1]]


def _scatter(g: Array, weight: Array, shape: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> Array:
    """The transposed kernel: brings ``g`` ``[N, O, ...]`` to ``[N, C, ...]``."""
    (ph, pw), (sh, sw) = padding, stride
    padded = np.zeros((shape[0], weight.shape[1], shape[2] + 2 * ph, shape[3] + 2 * pw))
    for i in range(weight.shape[2]):
        for j in range(weight.shape[3]):
            part = padded[:, :, i : i + sh * g.shape[2] : sh, j : j + sw * g.shape[3] : sw]
            part += np.einsum("nohw,oc->nchw", g, weight[:, :, i, j])
    return padded[:, :, ph : ph + shape[2], pw : pw + shape[3]]


def _convolution_size(a: Any, out: list[Array]) -> list[float]:
    under = _windows(squares(a.input, 1)[:, None], a.weight.shape[2:], a.stride, a.padding).sum((4, 5))
    return [math.sqrt(top(under) * top(squares(a.weight.reshape(len(a.weight), -1), 1))) + top(a.bias)]


@operator("convolution.default", _convolution_size, lambda a: [(math.prod(a.weight.shape[1:]) + 1, 1)])
def convolution(
    input: Array, weight: Array, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Array:  # fmt: skip
    assert not transposed and groups == 1 and set(dilation) == {1}
    y = np.einsum("nchwij,ocij->nohw", _windows(input, weight.shape[2:], stride, padding), weight)
    return y if bias is None else y + bias[:, None, None]


def _convolution_gradient_sizes(a: Any, out: list[Array]) -> list[float]:
    g, x, w = a.grad_output, a.input, a.weight
    met = _scatter(squares(g, 1)[:, None], np.ones((1, 1, *w.shape[2:])), x.shape, a.stride, a.padding)
    per_input = along(w, 1)
    return [
        math.sqrt(top(met) * top(squares(per_input, 1))),
        math.sqrt(top(squares(along(g, 1), 1)) * top(squares(along(x, 1), 1))),
        top(along(g, 1).sum(1)),
    ]


def _convolution_gradient_bounds(a: Any) -> list[tuple[int, float]]:
    positions = a.grad_output.size // a.grad_output.shape[1]
    return [(len(a.weight) * math.prod(a.weight.shape[2:]), 1), (positions, 1), (positions, 1)]


@operator("convolution_backward.default", _convolution_gradient_sizes, _convolution_gradient_bounds)
def convolution_backward(
    grad_output: Array, input: Array, weight: Array, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, output_mask: Any,
) -> list[Array]:  # fmt: skip
    assert not transposed and groups == 1 and set(dilation) == {1}
    windows = _windows(input, weight.shape[2:], stride, padding)
    windows = windows[:, :, : grad_output.shape[2], : grad_output.shape[3]]
    return [
        _scatter(grad_output, weight, input.shape, stride, padding),
        np.einsum("nohw,nchwij->ocij", grad_output, windows),
        grad_output.sum((0, 2, 3)),
    ]


# Normalisations.


def _batch_norm_sizes(a: Any, out: list[Array]) -> list[float]:
    x, r = along(a.input, 1).max(1), out[2]
    return [
        2 * top(x * r * np.abs(a.weight)) + top(a.bias),
        top(x),
        top(r * (1 + x * r)),
        top(a.running_mean) + top(x),
        top(a.running_var) + top(x / r) + 2.0**-20 * top(x * x),
    ]


def _batch_norm_proven(a: Any, out: list[Array]) -> list[float]:
    x, r = along(a.input, 1).max(1), out[2]
    first = top(x * r * (1 + x * r) * np.abs(a.weight)) + top(a.bias)
    return [first, *_batch_norm_sizes(a, out)[1:]]


def _per_channel(x: Array) -> int:
    return x.size // x.shape[1]


@operator(
    "_native_batch_norm_legit_functional.default",
    _batch_norm_sizes,
    lambda a: [(_per_channel(a.input) + SLACK, c) for c in (16, 1, 8, 1, 16)],
    _batch_norm_proven,
)
def batch_norm(
    input: Array, weight: Array, bias: Array, running_mean: Array, running_var: Array, training: bool,
    momentum: float, eps: float,
) -> list[Array]:  # fmt: skip
    assert training
    x = np.moveaxis(input, 1, 0).reshape(input.shape[1], -1)
    mean, variance = x.mean(1), x.var(1)
    r = 1 / np.sqrt(variance + eps)
    channel = (slice(None), *[None] * (input.ndim - 2))
    y = (input - mean[channel]) * r[channel] * weight[channel] + bias[channel]
    n = x.shape[1]
    kept = [momentum * new + (1 - momentum) * old for new, old in
            ((mean, running_mean), (variance * n / (n - 1), running_var))]  # fmt: skip
    return [y, mean, r, *kept]


def _batch_norm_gradient_sizes(a: Any, out: list[Array]) -> list[float]:
    g, x, r = along(a.grad_out, 1), along(a.input, 1), a.save_invstd
    g_norm, x_norm = np.sqrt(squares(g, 1)), np.sqrt(squares(x, 1))
    projection = x.max(1) * r * g_norm * x_norm * r / x.shape[1]
    return [
        top(r * (2 * g.max(1) + projection) * np.abs(a.weight)),
        top(g_norm * x_norm * r),
        top(g.sum(1)),
    ]


@operator(
    "native_batch_norm_backward.default",
    _batch_norm_gradient_sizes,
    lambda a: [(_per_channel(a.input) + SLACK, c) for c in (5, 2, 1)],
)
def batch_norm_backward(
    grad_out: Array, input: Array, weight: Array, running_mean: Array, running_var: Array, save_mean: Array,
    save_invstd: Array, train: bool, eps: float, output_mask: Any,
) -> list[Array]:  # fmt: skip
    assert train
    channel = (slice(None), *[None] * (input.ndim - 2))
    others = (0, *range(2, input.ndim))
    centred = input - save_mean[channel]
    dot, total = (grad_out * centred).sum(others), grad_out.sum(others)
    n = _per_channel(input)
    mixed = grad_out - (total / n)[channel] - centred * (save_invstd**2 * dot / n)[channel]
    return [mixed * (weight * save_invstd)[channel], dot * save_invstd, total]


def _rows(x: Array, shape: list[int]) -> Array:
    return x.reshape(-1, math.prod(shape))


def _layer_norm_sizes(a: Any, out: list[Array]) -> list[float]:
    x, r = np.abs(_rows(a.input, a.normalized_shape)).max(1), out[2].ravel()
    return [2 * top(x * r) * top(a.weight) + top(a.bias), top(x), top(r * (1 + x * r))]


def _layer_norm_proven(a: Any, out: list[Array]) -> list[float]:
    x, r = np.abs(_rows(a.input, a.normalized_shape)).max(1), out[2].ravel()
    return [top(x * r * (1 + x * r)) * top(a.weight) + top(a.bias), *_layer_norm_sizes(a, out)[1:]]


@operator(
    "native_layer_norm.default",
    _layer_norm_sizes,
    lambda a: [(math.prod(a.normalized_shape) + SLACK, c) for c in (16, 1, 8)],
    _layer_norm_proven,
)
def layer_norm(input: Array, normalized_shape: list[int], weight: Array, bias: Array, eps: float) -> list[Array]:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean = input.mean(axes, keepdims=True)
    r = 1 / np.sqrt(input.var(axes, keepdims=True) + eps)
    return [(input - mean) * r * weight + bias, mean, r]


def _layer_norm_gradient(a: Any, power: int) -> list[float]:
    g, x = (np.abs(_rows(v, a.normalized_shape)) for v in (a.grad_out, a.input))
    r = a.rstd.ravel()
    spread = 1 + x.max(1) * r
    columns = top(g.sum(0))
    return [top(g.max(1) * r * spread**power) * top(a.weight), columns * top(spread), columns]


def _layer_norm_gradient_bounds(a: Any) -> list[tuple[int, float]]:
    length = math.prod(a.normalized_shape)
    rows = a.input.size // length
    return [(length + SLACK, 8), (rows + SLACK, 2), (rows, 1)]


@operator(
    "native_layer_norm_backward.default",
    lambda a, out: _layer_norm_gradient(a, 1),
    _layer_norm_gradient_bounds,
    lambda a, out: _layer_norm_gradient(a, 2),
)
def layer_norm_backward(
    grad_out: Array, input: Array, normalized_shape: list[int], mean: Array, rstd: Array, weight: Array, bias: Array,
    output_mask: Any,
) -> list[Array]:  # fmt: skip
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    others = tuple(range(input.ndim - len(normalized_shape)))
    normal = (input - mean) * rstd
    g = grad_out * weight
    mixed = g - g.mean(axes, keepdims=True) - normal * (g * normal).mean(axes, keepdims=True)
    return [mixed * rstd, (grad_out * normal).sum(others), grad_out.sum(others)]


# Softmax, and the loss made of it.


def _shifted(x: Array, dim: int) -> Array:
    return x - x.max(dim, keepdims=True)


@operator(
    "_softmax.default",
    output,
    lambda a: [((n := a.self.shape[a.dim]) + n.bit_length() + 2 * FUNCTION + 16, 1)],
)
def softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    e = np.exp(_shifted(self, dim))
    return e / e.sum(dim, keepdims=True)


@operator(
    "_log_softmax.default",
    inputs,
    lambda a: [((n := a.self.shape[a.dim]) + n.bit_length() + 3 * FUNCTION + 16, 1.5)],
)
def log_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    z = _shifted(self, dim)
    return z - np.log(np.exp(z).sum(dim, keepdims=True))


@operator(
    "_softmax_backward_data.default",
    lambda a, out: [2 * top(a.output) * top(a.grad_output)],
    lambda a: [(a.output.shape[a.dim] + 4, 1)],
)
def softmax_backward(grad_output: Array, output: Array, dim: int, input_dtype: Any) -> Array:
    return output * (grad_output - (grad_output * output).sum(dim, keepdims=True))


@operator(
    "_log_softmax_backward_data.default",
    lambda a, out: [top(a.grad_output) + _total(a.grad_output, a.dim)],
    lambda a: [(a.output.shape[a.dim] + FUNCTION + 4, 1)],
)
def log_softmax_backward(grad_output: Array, output: Array, dim: int, input_dtype: Any) -> Array:
    return grad_output - np.exp(output) * grad_output.sum(dim, keepdims=True)


def _loss_size(a: Any, out: list[Array]) -> list[float]:
    one = top(a.self) + top(a.weight)
    return [one + one * one + top(out[0]), top(out[1])]


@operator(
    "nll_loss_forward.default",
    _loss_size,
    lambda a: [(2 * a.target.size + 3, 1), (a.target.size, 1)],
    lambda a, out: [top(a.self), top(out[1])],
)
def nll_loss(self: Array, target: Array, weight: Any, reduction: int, ignore_index: int) -> list[Array]:
    assert weight is None and reduction == 1 and not (target == ignore_index).any()
    return [-self[np.arange(len(target)), target].mean(), np.float64(len(target))]


@operator("nll_loss_backward.default", inputs, each((8, 1)), output)
def nll_loss_backward(
    grad_output: Array, self: Array, target: Array, weight: Any, reduction: int, ignore_index: int,
    total_weight: Array,
) -> Array:  # fmt: skip
    assert weight is None and reduction == 1 and not (target == ignore_index).any()
    result = np.zeros(self.shape)
    result[np.arange(len(target)), target] = -grad_output / total_weight
    return result


def _repeated(a: Any, out: list[Array]) -> list[float]:
    return [top(a.grad_output) * np.bincount(a.indices.ravel()).max()]


@operator("embedding_dense_backward.default", _repeated, lambda a: [(a.indices.size + 1, 1)])
def embedding_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    assert padding_idx == -1 and not scale_grad_by_freq
    result = np.zeros((num_weights, grad_output.shape[-1]))
    np.add.at(result, indices.ravel(), grad_output.reshape(-1, grad_output.shape[-1]))
    return result
