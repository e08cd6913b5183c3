"""Products of matrices, and convolutions as such products."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, rule
from counterfoil_core.base.arrays import Array

_FACTORS = {
    "mm": ("self", "mat2", ""),
    "addmm": ("mat1", "mat2", "self"),
    "mv": ("self", "vec", ""),
    "addmv": ("mat", "vec", "self"),
    "dot": ("self", "tensor", ""),
    "bmm": ("self", "mat2", ""),
    "baddbmm": ("batch1", "batch2", "self"),
}


@rule(*_FACTORS)
def _matrix(m: Machine, a: Arguments) -> Any:
    first, second, summand = _FACTORS[a.kind]
    left, right = a[first], a[second]
    if a.kind in ("bmm", "baddbmm"):
        product = np.stack([m.add.products(p, q) for p, q in zip(left, right, strict=True)])
    else:
        matrix = left[None] if left.ndim == 1 else left
        product = m.add.products(matrix, right[:, None] if right.ndim == 1 else right)
        product = product.reshape((*left.shape[:-1], *right.shape[1:]))
    if not summand:
        return product
    product = product * float(a["alpha"])
    return product if a["beta"] == 0 else product + a[summand] * float(a["beta"])


class _Geometry:
    """A convolution's settings, and which elements of its larger side meet each tap of the kernel.

    Position p of the smaller side meets position ``p * stride + tap * dilation - padding`` of the larger one.
    """

    def __init__(self, a: Arguments, kernel: Sequence[int], groups: int, large: Sequence[int], small: Sequence[int]):
        rank = len(kernel)

        def setting(name: str) -> list[int]:
            values = list(a[name])
            return values * rank if len(values) == 1 else values

        self.groups, self.large, self.small = groups, tuple(large), tuple(small)
        self.stride, self.padding, self.dilation = setting("stride"), setting("padding"), setting("dilation")
        self.taps = list(itertools.product(*(range(n) for n in kernel)))
        # The larger side with its padding, and with what the last window reaches beyond that.
        self.padded = tuple(
            max(length + 2 * pad, (count - 1) * step + (size - 1) * space + 1)
            for length, pad, count, step, size, space in zip(
                large, self.padding, small, self.stride, kernel, self.dilation, strict=True
            )
        )

    def under(self, tap: Sequence[int]) -> Any:
        """The places of the padded larger side that meet a tap, one for each place of the smaller side."""
        axes = zip(tap, self.dilation, self.stride, self.small, strict=True)
        return (..., *(slice(t * d, t * d + (count - 1) * s + 1, s) for t, d, s, count in axes))

    def inside(self) -> Any:
        """The larger side within its padding."""
        return (..., *(slice(pad, pad + length) for pad, length in zip(self.padding, self.large, strict=True)))

    def columns(self, x: Array) -> Array:
        """The larger side ``[N, C, ...]`` as ``[groups, C / groups * taps, N * places]``."""
        wide = np.zeros((*x.shape[:2], *self.padded), x.dtype)
        wide[self.inside()] = x
        parts = np.stack([wide[self.under(tap)] for tap in self.taps], 2)
        count, channels = x.shape[:2]
        grouped = parts.reshape(count, self.groups, channels // self.groups * len(self.taps), -1)
        result: Array = grouped.transpose(1, 2, 0, 3).reshape(self.groups, grouped.shape[2], -1)
        return result

    def folded(self, columns: Array, count: int) -> Array:
        """The transposed map: add columns up where they came from, the last tap first."""
        channels = columns.shape[1] // len(self.taps)
        parts = columns.reshape(self.groups, channels, len(self.taps), count, *self.small)
        wide = np.zeros((count, self.groups * channels, *self.padded), columns.dtype)
        for number, tap in reversed(list(enumerate(self.taps))):
            part = np.moveaxis(parts[:, :, number], 2, 0).reshape(count, -1, *self.small)
            wide[self.under(tap)] += part
        inner: Array = wide[self.inside()]
        return inner

    def side(self, y: Array) -> Array:
        """The smaller side ``[N, O, ...]`` as ``[groups, O / groups, N * places]``."""
        grouped = y.reshape(y.shape[0], self.groups, y.shape[1] // self.groups, -1)
        result: Array = grouped.transpose(1, 2, 0, 3).reshape(self.groups, grouped.shape[2], -1)
        return result

    def onto_side(self, rows: Array, count: int) -> Array:
        """The inverse of :meth:`side`."""
        parts = rows.reshape(self.groups, rows.shape[1], count, -1).transpose(2, 0, 1, 3)
        result: Array = parts.reshape(count, self.groups * rows.shape[1], *self.small)
        return result


def _by_group(m: Machine, a: Array, b: Array) -> Array:
    return np.stack([m.add.products(p, q) for p, q in zip(a, b, strict=True)])


def _weights(weight: Array, groups: int) -> Array:
    """``[O, C / groups, ...]`` as ``[groups, O / groups, C / groups * taps]``."""
    result: Array = weight.reshape(groups, weight.shape[0] // groups, -1)
    return result


def _to_small(m: Machine, x: Array, weight: Array, geometry: _Geometry) -> Array:
    products = _by_group(m, _weights(weight, geometry.groups), geometry.columns(x))
    return geometry.onto_side(products, x.shape[0])


def _to_large(m: Machine, y: Array, weight: Array, geometry: _Geometry) -> Array:
    transposed = _weights(weight, geometry.groups).transpose(0, 2, 1)
    return geometry.folded(_by_group(m, transposed, geometry.side(y)), y.shape[0])


def _to_weight(m: Machine, x: Array, y: Array, shape: Sequence[int], geometry: _Geometry) -> Array:
    products = _by_group(m, geometry.side(y), geometry.columns(x).transpose(0, 2, 1))
    result: Array = products.reshape(shape)
    return result


@rule("convolution")
def _convolution(m: Machine, a: Arguments) -> Any:
    x, weight, bias, groups = a["input"], a["weight"], a["bias"], a["groups"]
    batched = x if x.ndim == weight.ndim else x[None]
    lengths, kernel = batched.shape[2:], weight.shape[2:]

    def each(name: str) -> list[int]:
        values = list(a[name])
        return values * len(kernel) if len(values) == 1 else values

    axes = list(zip(lengths, kernel, each("stride"), each("padding"), each("dilation"), strict=True))
    if a["transposed"]:
        more = each("output_padding")
        large = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for (n, k, s, p, d), e in zip(axes, more, strict=True)]
        y = _to_large(m, batched, weight, _Geometry(a, kernel, groups, large, lengths))
    else:
        small = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in axes]
        y = _to_small(m, batched, weight, _Geometry(a, kernel, groups, lengths, small))
    if bias is not None:
        y = y + bias.reshape(-1, *(1 for _ in kernel))
    return y if batched is x else y[0]


@rule("convolution_backward")
def _convolution_backward(m: Machine, a: Arguments) -> Any:
    g, x, weight, mask = a["grad_output"], a["input"], a["weight"], a["output_mask"]
    kernel, groups, transposed = weight.shape[2:], a["groups"], a["transposed"]
    large, small = (g, x) if transposed else (x, g)
    geometry = _Geometry(a, kernel, groups, large.shape[2:], small.shape[2:])
    to_input = (_to_small if transposed else _to_large)(m, g, weight, geometry) if mask[0] else None
    to_weight = _to_weight(m, large, small, weight.shape, geometry) if mask[1] else None
    to_bias = m.add.over(g, [0, *range(2, g.ndim)]) if mask[2] else None
    return [to_input, to_weight, to_bias]
