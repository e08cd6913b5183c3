"""Convolutions and their two gradients: products as in :mod:`counterfoil.definite.products`, one exponent per tensor.

In float64 the library's direct convolution adds the same products in an order of its own, which changes nothing as
long as float64 holds every partial sum. The other forms, and longer sums, are unfolded to products of matrices. Float32
is always unfolded: libraries have fast algorithms there (Winograd) that form other products.

A transposed convolution is the gradient of an ordinary one by its input: its result is :func:`input_gradient` of x,
the gradient by its input :func:`convolution` of g, and the one by its weight :func:`weight_gradient` with x in the
place of g and g in that of x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from counterfoil.definite import fused_convolutions, loops
from counterfoil.definite.geometry import Geometry, both_sides, spread, windows
from counterfoil.definite.limits import check_operands, float64_block
from counterfoil.definite.products import Form, quantised_matmul
from counterfoil.definite.quantise import Quantised, quantise
from counterfoil.definite.single import from_float64


def convolution(x: Tensor, weight: Tensor, geometry: Geometry, bits: int, form: Form = Form.FLOAT64) -> Tensor:
    """Return the defined convolution, without bias.

    Args:
        x: float32 ``[N, C, *size]``.
        weight: float32 ``[O, C / groups, *kernel]``.
        geometry: How the kernel moves.
        bits: S, 8 to 24.
        form: How to compute it.

    Returns:
        float32 ``[N, O, *positions]``; infinite where the result is beyond float32's range.

    Raises:
        NonFiniteError: An element is infinite or not a number.
        ProgramError: ``C / groups * kernel`` is more than 2^(62 - 2 S).
    """
    count = math.prod(weight.shape[1:])
    check_operands(bits, bits, count)
    if form is Form.KARATSUBA and fused_convolutions.takes(x, weight, geometry, bits, count):
        return fused_convolutions.convolution(x, weight, geometry, bits)
    form = _unfused(form, x)
    left, right = quantise(weight, bits), quantise(x, bits)
    if _direct(form, x, count, bits):
        return from_float64(torch.ops.aten.convolution(right.values, left.values, None, *geometry.library_arguments()))
    padded = pad(right.values, both_sides(geometry.padding))
    seen = windows(padded.contiguous(), weight.shape[2:], geometry.stride, geometry.dilation)
    positions = seen.shape[2 : weight.dim()]
    rows = left.values.reshape(geometry.groups, -1, count)
    product = _grouped(left, rows, right, _columns(seen, geometry.groups), form)
    return _channels_second(product, x.shape[0], positions)


def input_gradient(
    g: Tensor, weight: Tensor, size: Sequence[int], geometry: Geometry, bits: int, form: Form = Form.FLOAT64
) -> Tensor:
    """Return the defined gradient of a convolution by its input.

    Args:
        g: float32 ``[N, O, *positions]``: the gradient that arrives.
        weight: float32 ``[O, C / groups, *kernel]``.
        size: Lengths of the input's spatial axes.
        geometry: How the kernel moves.
        bits: S, 8 to 24.
        form: How to compute it.

    Returns:
        float32 ``[N, C, *size]``. Raises as :func:`convolution` does, for ``O / groups * kernel``.
    """
    groups, kernel = geometry.groups, weight.shape[2:]
    count = weight.shape[0] // groups * math.prod(kernel)
    check_operands(bits, bits, count)
    if form is Form.KARATSUBA and fused_convolutions.takes(g, weight, geometry, bits, count):
        return fused_convolutions.input_gradient(g, weight, size, geometry, bits)
    form = _unfused(form, g)
    left, right = quantise(weight.contiguous(), bits), quantise(g, bits)
    if _direct(form, g, count, bits):
        shaped = right.values.new_empty((g.shape[0], weight.shape[1] * groups, *size))
        mask = [True, False, False]
        found = torch.ops.aten.convolution_backward(
            right.values, shaped, left.values, None, *geometry.library_arguments(), mask
        )
        return from_float64(found[0])
    between = spread(right.values, size, kernel, geometry)
    once = (1,) * len(kernel)
    columns = _columns(windows(between, kernel, once, geometry.dilation), groups)
    grouped = left.values.view(groups, weight.shape[0] // groups, *weight.shape[1:])
    turned = grouped.flip(tuple(range(-len(kernel), 0))).transpose(1, 2)
    product = _grouped(left, turned.reshape(groups, weight.shape[1], count), right, columns, form)
    return _channels_second(product, g.shape[0], size)


def weight_gradient(
    g: Tensor, x: Tensor, kernel: Sequence[int], geometry: Geometry, bits: int, form: Form = Form.FLOAT64
) -> Tensor:
    """Return the defined gradient of a convolution by its weight.

    Args:
        g: float32 ``[N, O, *positions]``: the gradient that arrives.
        x: float32 ``[N, C, *size]``: the input.
        kernel: Lengths of the kernel's axes.
        geometry: How the kernel moves.
        bits: S, 8 to 24.
        form: How to compute it.

    Returns:
        float32 ``[O, C / groups, *kernel]``. Raises as :func:`convolution` does, for ``N * positions``.
    """
    groups, outputs, inputs = geometry.groups, g.shape[1], x.shape[1] // geometry.groups
    count = g.shape[0] * math.prod(g.shape[2:])
    check_operands(bits, bits, count)
    if form is Form.KARATSUBA and fused_convolutions.takes(g, x, geometry, bits, 0):
        return fused_convolutions.weight_gradient(g, x, kernel, geometry, bits)
    form = _unfused(form, g)
    left, right = quantise(g, bits), quantise(x, bits)
    if _direct(form, g, count, bits):
        shaped = right.values.new_empty((outputs, inputs, *kernel))
        found = torch.ops.aten.convolution_backward(
            left.values, right.values, shaped, None, *geometry.library_arguments(), [False, True, False]
        )
        return from_float64(found[1])
    padded = pad(right.values, both_sides(geometry.padding)).contiguous()
    # A stride may leave elements at the end that no position reaches; the gradient says how many positions there are.
    columns = _columns(windows(padded, kernel, geometry.stride, geometry.dilation), groups)
    per_group = left.values.reshape(g.shape[0], groups, outputs // groups, math.prod(g.shape[2:]))
    rows = per_group.permute(1, 2, 0, 3).reshape(groups, outputs // groups, count)
    product = _grouped(left, rows, right, columns.transpose(1, 2), form)
    return product.reshape(outputs, inputs, *kernel)


def _unfused(form: Form, x: Tensor) -> Form:
    """The form where the CPU's kernels do not compute: unfolded digits of grouped convolutions take memory and time."""
    return Form.FLOAT64 if form is Form.KARATSUBA and loops.reach(x.device) else form


def _direct(form: Form, x: Tensor, count: int, bits: int) -> bool:
    """Whether the library's float64 convolution is exact: on CUDA its algorithm is the library's choice."""
    return form is Form.FLOAT64 and x.device.type == "cpu" and 0 < count <= float64_block(2 * bits) and x.numel() > 0


def _columns(seen: Tensor, groups: int) -> Tensor:
    """Windows ``[N, C, *positions, *kernel]`` as columns ``[groups, C / groups * kernel, N * positions]``."""
    axes = (seen.dim() - 2) // 2
    # [N, groups, C / groups, *positions, *kernel]
    split = seen.view(seen.shape[0], groups, seen.shape[1] // groups, *seen.shape[2:])
    positions, kernel = range(3, 3 + axes), range(3 + axes, 3 + 2 * axes)
    ordered = split.permute(1, 2, *kernel, 0, *positions)
    columns: Tensor = ordered.reshape(
        groups, math.prod(ordered.shape[1 : 2 + axes]), math.prod(ordered.shape[2 + axes :])
    )
    return columns


def _grouped(left: Quantised, rows: Tensor, right: Quantised, columns: Tensor, form: Form) -> Tensor:
    """Multiply values of quantised tensors, rearranged to ``[groups, m, k]`` and ``[groups, k, n]``."""
    a, b = (
        Quantised(values, whole.exponents.reshape(1, 1, 1), whole.bits)
        for values, whole in ((rows, left), (columns, right))
    )
    return quantised_matmul(a, b, form)


def _channels_second(product: Tensor, samples: int, positions: Sequence[int]) -> Tensor:
    """Turn ``[groups, channels / groups, N * positions]`` into ``[N, channels, *positions]``."""
    channels = product.shape[0] * product.shape[1]
    return product.reshape(channels, samples, *positions).transpose(0, 1).contiguous()
