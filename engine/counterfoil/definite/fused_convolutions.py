"""Convolutions on the CPU by int8 digits: operands are cut once, and the digits unfolded, a byte each.

The same as :mod:`counterfoil.definite.convolutions` by :data:`counterfoil.definite.products.Form.KARATSUBA`, for one
group. Channels come last, so that what is copied together lies together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import pad

from counterfoil.definite import fused
from counterfoil.definite.fused import Cut
from counterfoil.definite.geometry import Geometry, both_sides, spread, windows


@dataclass(frozen=True)
class Unfolded:
    """The windows of cut images as a matrix ``[N * positions, kernel * C]``, plane by plane: together they are large.

    Attributes:
        seen: int8 ``[planes, N, *positions, *kernel, C]``, a view.
        axes: Number of spatial axes.
        unit: Exponent of the unit.
        bits: b.
    """

    seen: Tensor
    axes: int
    unit: int
    bits: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return math.prod(self.seen.shape[1 : 2 + self.axes]), math.prod(self.seen.shape[2 + self.axes :])

    def plane(self, number: int) -> Tensor:
        """One plane, int8 ``[rows, columns]``; copied."""
        return self.seen[number].reshape(self.shape)


def takes(first: Tensor, second: Tensor, geometry: Geometry, bits: int) -> bool:
    """Whether these kernels compute a convolution or a gradient of it from two tensors: on the CPU, of one group."""
    return geometry.groups == 1 and fused.takes(first, second, bits)


def convolution(x: Tensor, weight: Tensor, geometry: Geometry, bits: int) -> Tensor:
    """Return the defined convolution; see :func:`counterfoil.definite.convolutions.convolution`."""
    kernel = weight.shape[2:]
    rows, positions = _rows(x, kernel, geometry.stride, geometry.padding, geometry.dilation, bits)
    product = fused.multiply(rows, _flat(weight, bits, weight.shape[0]).t())
    return _channels_second(product, (x.shape[0], *positions))


def input_gradient(g: Tensor, weight: Tensor, size: Sequence[int], geometry: Geometry, bits: int) -> Tensor:
    """Return the defined gradient by the input; see :func:`counterfoil.definite.convolutions.input_gradient`."""
    kernel = weight.shape[2:]
    turned = weight.flip(tuple(range(2, weight.dim()))).transpose(0, 1)
    once, none = (1,) * len(kernel), (0,) * len(kernel)
    # Of the whole gradient: what lies over padding alone is left out when it is spread.
    exponent = fused.exponent_of(g)
    rows, _ = _rows(spread(g, size, kernel, geometry), kernel, once, none, geometry.dilation, bits, exponent)
    product = fused.multiply(rows, _flat(turned, bits, turned.shape[0]).t())
    return _channels_second(product, (g.shape[0], *size))


def weight_gradient(g: Tensor, x: Tensor, kernel: Sequence[int], geometry: Geometry, bits: int) -> Tensor:
    """Return the defined gradient by the weight; see :func:`counterfoil.definite.convolutions.weight_gradient`."""
    rows, _ = _rows(x, kernel, geometry.stride, geometry.padding, geometry.dilation, bits)
    columns = _flat(g, bits, rows.shape[0])
    return _channels_second(fused.multiply(columns.t(), rows), (g.shape[1], *kernel))


def _flat(x: Tensor, bits: int, rows: int) -> Cut:
    """Cut ``[n, channels, *axes]`` with the channels last, as a matrix of so many rows."""
    return fused.cut(x.movedim(1, -1).reshape(rows, -1), bits)


def _rows(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    bits: int,
    exponent: int | None = None,
) -> tuple[Unfolded, tuple[int, ...]]:
    """Cut ``[N, C, *size]`` and unfold it: ``[N * positions, kernel * C]``, and the lengths of the positions."""
    channels, axes = x.shape[1], len(kernel)
    cut = fused.cut(x.movedim(1, -1).reshape(-1, channels), bits, exponent)
    images = cut.planes.view(-1, x.shape[0], *x.shape[2:], channels)
    padded = pad(images, [0, 0, *both_sides(padding)]).movedim(-1, 2)
    seen = windows(padded, kernel, stride, dilation).movedim(2, -1)
    return Unfolded(seen, axes, cut.unit, bits), tuple(seen.shape[2 : 2 + axes])


def _channels_second(product: Tensor, leading: Sequence[int]) -> Tensor:
    """Turn ``[n * axes, channels]``, or ``[n, axes * channels]``, into ``[n, channels, *axes]``."""
    return product.reshape(*leading, -1).movedim(-1, 1).contiguous()
