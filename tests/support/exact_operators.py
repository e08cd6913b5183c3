"""Operators in arithmetic of 120 digits, from their definitions: what their error bounds are held against."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from torch import Tensor

MP = mpmath.mp.clone()
MP.dps = 120
Exact = Any
"""A numpy array of mpmath numbers."""


def exact(tensor: Tensor) -> Exact:
    return each(MP.mpf, tensor.detach().double().numpy())


def zeros(*shape: int) -> Exact:
    result = np.empty(shape, object)
    result.fill(MP.mpf(0))
    return result


def each(function: Callable[..., Any], *arrays: Exact) -> Exact:
    result = np.empty(np.broadcast_shapes(*(np.shape(array) for array in arrays)), object)
    result[...] = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result


def _taps(x_shape: tuple[int, ...], weight: Exact, y_shape: tuple[int, ...], settings: list[Any]) -> Any:
    """Yield (output index, input index, weight index) of every product of a convolution."""
    stride, padding, dilation, groups = settings
    per_group = weight.shape[0] // groups
    for n, o in itertools.product(range(x_shape[0]), range(weight.shape[0])):
        for place in np.ndindex(*y_shape[2:]):
            for c in range(weight.shape[1]):
                for tap in np.ndindex(*weight.shape[2:]):
                    axes = zip(place, stride, tap, dilation, padding, strict=True)
                    source = tuple(p * s + t * d - a for p, s, t, d, a in axes)
                    if all(0 <= i < length for i, length in zip(source, x_shape[2:], strict=True)):
                        yield (n, o, *place), (n, o // per_group * weight.shape[1] + c, *source), (o, c, *tap)


def convolution(x: Exact, weight: Exact, bias: Exact, y_shape: tuple[int, ...], settings: list[Any], transposed: bool):
    y = zeros(*y_shape)
    if transposed:  # the input gradient of the convolution that maps y's shape to x's
        for out, source, tap in _taps(y_shape, weight, x.shape, settings):
            y[source] += x[out] * weight[tap]
    else:
        for out, source, tap in _taps(x.shape, weight, y_shape, settings):
            y[out] += x[source] * weight[tap]
    return y + bias.reshape(1, -1, *[1] * (y.ndim - 2))


def convolution_backward(g: Exact, x: Exact, weight: Exact, settings: list[Any], transposed: bool) -> list[Exact]:
    gx, gw = zeros(*x.shape), zeros(*weight.shape)
    if transposed:
        for out, source, tap in _taps(g.shape, weight, x.shape, settings):
            gx[out] += g[source] * weight[tap]
            gw[tap] += g[source] * x[out]
    else:
        for out, source, tap in _taps(x.shape, weight, g.shape, settings):
            gx[source] += g[out] * weight[tap]
            gw[tap] += g[out] * x[source]
    return [gx, gw, g.sum(axis=(0, *range(2, g.ndim)))]


def moments(rows: Exact, epsilon: float) -> tuple[Exact, Exact, Exact]:
    """Mean, variance and reciprocal deviation of each row, with the row's axis kept."""
    mean = rows.sum(axis=1, keepdims=True) / rows.shape[1]
    variance = ((rows - mean) ** 2).sum(axis=1, keepdims=True) / rows.shape[1]
    return mean, variance, each(lambda v: 1 / MP.sqrt(v + MP.mpf(epsilon)), variance)


def norm_gradient(g: Exact, x: Exact, mean: Exact, rstd: Exact) -> Exact:
    """Gradient of the normalisation of rows ``[rows, n]`` with given mean and reciprocal deviation ``[rows, 1]``."""
    centred = (x - mean) * rstd
    n = x.shape[1]
    projection = (g * centred).sum(axis=1, keepdims=True) / n
    return rstd * (g - g.sum(axis=1, keepdims=True) / n - centred * projection)


def softmax(rows: Exact) -> Exact:
    powers = each(MP.exp, rows)
    return powers / powers.sum(axis=-1, keepdims=True)


def accumulate(base: Exact, places: list[Any], values: list[Any]) -> Exact:
    result = base.copy()
    for place, value in zip(places, values, strict=True):
        result[place] = result[place] + value
    return result
