"""Convolutions and their two gradients: products as in :mod:`.kernels.exact.products`, an exponent each.

In float64 compiled loops, or the library's direct convolution, add the same products in an order of their own, which
changes nothing as long as float64 holds every partial sum. The other forms, and longer sums, are unfolded to products
of matrices. Float32 is always unfolded: libraries have fast algorithms there (Winograd) that form other products.

A transposed convolution is the gradient of an ordinary one by its input: its result is :func:`input_gradient` of x,
the gradient by its input :func:`convolution` of g, and the one by its weight :func:`weight_gradient` with x in the
place of g and g in that of x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cpu.convolutionloops import Convolution, convolution_of
from counterfoil_core.kernels.exact import device_products, digitconvolutions
from counterfoil_core.kernels.exact.geometry import Geometry, both_sides, spread, windows
from counterfoil_core.kernels.exact.limits import check_operands, float64_block
from counterfoil_core.kernels.exact.products import Form, quantised_matmul
from counterfoil_core.kernels.exact.quantise import Quantised, quantise
from counterfoil_core.kernels.exact.single import from_float64


@dataclass(frozen=True)
class _Laid:
    """A tensor that is an operand of a product once it is laid out, as windows are."""

    x: Tensor  # float32
    lay: Callable[[Tensor], Tensor]  # lays out a tensor of that shape, of any dtype: [groups, *rows, *columns]


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
    if form is Form.KARATSUBA and digitconvolutions.takes(x, weight, geometry, bits, count):
        return digitconvolutions.convolution(x, weight, geometry, bits)
    if form is Form.TENSOR_CORES and device_products.takes(x, weight, bits):
        return device_products.convolution(x, weight, geometry, bits)
    form = _unfused(form, x, geometry)
    if _direct(form, x, count, bits):
        left, right = quantise(weight, bits), quantise(x, bits)
        looped = _looped(right.values, left.values, geometry)
        if looped is not None and looped.takes(right.values, left.values, None):
            return from_float64(looped.output(right.values, left.values, None))
        return from_float64(torch.ops.aten.convolution(right.values, left.values, None, *geometry.library_arguments()))
    positions = geometry.positions(x.shape[2:], weight.shape[2:])

    def rows(values: Tensor) -> Tensor:
        return values.reshape(geometry.groups, -1, count)

    def columns(values: Tensor) -> Tensor:
        padded = pad(values, both_sides(geometry.padding)).contiguous()
        return _columns(windows(padded, weight.shape[2:], geometry.stride, geometry.dilation), geometry.groups)

    lengths = weight.shape[0] // geometry.groups, count, x.shape[0] * math.prod(positions)
    product = _product(_Laid(weight, rows), _Laid(x, columns), lengths, bits, form)
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
    if form is Form.KARATSUBA and digitconvolutions.takes(g, weight, geometry, bits, count):
        return digitconvolutions.input_gradient(g, weight, size, geometry, bits)
    if form is Form.TENSOR_CORES and device_products.takes(g, weight, bits):
        return device_products.input_gradient(g, weight, size, geometry, bits)
    form = _unfused(form, g, geometry)
    if _direct(form, g, count, bits):
        left, right = quantise(weight.contiguous(), bits), quantise(g, bits)
        shaped = right.values.new_empty((g.shape[0], weight.shape[1] * groups, *size))
        looped = _looped(shaped, left.values, geometry)
        if looped is not None and looped.takes_gradient(right.values, shaped, left.values):
            return from_float64(looped.by_input(right.values, left.values))
        mask = [True, False, False]
        found = torch.ops.aten.convolution_backward(
            right.values, shaped, left.values, None, *geometry.library_arguments(), mask
        )
        return from_float64(found[0])

    def rows(values: Tensor) -> Tensor:
        grouped = values.view(groups, weight.shape[0] // groups, *weight.shape[1:])
        turned = grouped.flip(tuple(range(-len(kernel), 0))).transpose(1, 2)
        return turned.reshape(groups, weight.shape[1], count)

    def columns(values: Tensor) -> Tensor:
        between = spread(values, size, kernel, geometry)
        return _columns(windows(between, kernel, (1,) * len(kernel), geometry.dilation), groups)

    lengths = weight.shape[1], count, g.shape[0] * math.prod(size)
    product = _product(_Laid(weight.contiguous(), rows), _Laid(g, columns), lengths, bits, form)
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
    if form is Form.KARATSUBA and digitconvolutions.takes(g, x, geometry, bits, 0):
        return digitconvolutions.weight_gradient(g, x, kernel, geometry, bits)
    if form is Form.TENSOR_CORES and device_products.takes(g, x, bits):
        return device_products.weight_gradient(g, x, kernel, geometry, bits)
    form = _unfused(form, g, geometry)
    if _direct(form, g, count, bits):
        left, right = quantise(g, bits), quantise(x, bits)
        shaped = right.values.new_empty((outputs, inputs, *kernel))
        looped = _looped(right.values, shaped, geometry)
        if looped is not None and looped.takes_gradient(left.values, right.values, shaped):
            return from_float64(looped.by_weight(left.values, right.values, samples=g.shape[0]))
        found = torch.ops.aten.convolution_backward(
            left.values, right.values, shaped, None, *geometry.library_arguments(), [False, True, False]
        )
        return from_float64(found[1])

    def rows(values: Tensor) -> Tensor:
        per_group = values.reshape(g.shape[0], groups, outputs // groups, math.prod(g.shape[2:]))
        return per_group.permute(1, 2, 0, 3).reshape(groups, outputs // groups, count)

    def columns(values: Tensor) -> Tensor:
        padded = pad(values, both_sides(geometry.padding)).contiguous()
        # A stride may leave elements at the end that no position reaches; the gradient says how many positions there
        # are.
        found = _columns(windows(padded, kernel, geometry.stride, geometry.dilation), groups)
        first = 2 + len(kernel)
        return found.permute(0, *range(first, found.dim()), *range(1, first))

    lengths = outputs // groups, count, inputs * math.prod(kernel)
    product = _product(_Laid(g, rows), _Laid(x, columns), lengths, bits, form)
    return product.reshape(outputs, inputs, *kernel)


def _unfused(form: Form, x: Tensor, geometry: Geometry) -> Form:
    """The form where no kernels compute: unfolded digits of grouped convolutions take memory and time."""
    if form is not Form.KARATSUBA:
        return form
    grouped = geometry.groups > 1 and devices.triton_reaches(x.device)
    return Form.FLOAT64 if devices.loops_reach(x.device) or grouped else form


def _direct(form: Form, x: Tensor, count: int, bits: int) -> bool:
    """Whether the library's float64 convolution is exact: on CUDA its algorithm is the library's choice."""
    return form is Form.FLOAT64 and x.device.type == "cpu" and 0 < count <= float64_block(2 * bits) and x.numel() > 0


def _looped(x: Tensor, weight: Tensor, geometry: Geometry) -> Convolution | None:
    """Return the loops for tensors of these shapes: those of the profiles with a log, for any order is right here."""
    stride, padding, dilation, transposed, _, groups = geometry.library_arguments()
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed, "groups": groups}
    return convolution_of({"input": x, "weight": weight, **settings})


def _columns(seen: Tensor, groups: int) -> Tensor:
    """Windows ``[N, C, *positions, *kernel]`` as ``[groups, C / groups, *kernel, N, *positions]``, a view."""
    axes = (seen.dim() - 2) // 2
    # [N, groups, C / groups, *positions, *kernel]
    split = seen.view(seen.shape[0], groups, seen.shape[1] // groups, *seen.shape[2:])
    return split.permute(1, 2, *range(3 + axes, 3 + 2 * axes), 0, *range(3, 3 + axes))


def _product(left: _Laid, right: _Laid, lengths: tuple[int, int, int], bits: int, form: Form) -> Tensor:
    """Return the defined product of two tensors through Q_S that are laid out: float32 ``[groups, m, n]``."""
    m, k, n = lengths
    return quantised_matmul(_matrices(left, (m, k), bits), _matrices(right, (k, n), bits), form)


def _matrices(laid: _Laid, shape: tuple[int, int], bits: int) -> Quantised:
    """A tensor through Q_S, of one exponent, as matrices ``[groups, *shape]``."""
    whole = quantise(laid.x, bits)
    values = laid.lay(whole.values)
    return Quantised(values.reshape(values.shape[0], *shape), whole.exponents.reshape(1, 1, 1), whole.bits)


def _channels_second(product: Tensor, samples: int, positions: Sequence[int]) -> Tensor:
    """Turn ``[groups, channels / groups, N * positions]`` into ``[N, channels, *positions]``."""
    channels = product.shape[0] * product.shape[1]
    return product.reshape(channels, samples, *positions).transpose(0, 1).contiguous()
