"""Products and convolutions of the exact profiles on a CUDA device, each by one kernel for its tensor cores.

:mod:`counterfoil_core.kernels.cuda.products` has the kernels. The host waits for nothing: an exponent stays on the
device, and what is not finite raises a flag there (:mod:`counterfoil_core.kernels.exact.refusals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.carriers import Carrier, carrier_of
from counterfoil_core.kernels.exact import digits
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.refusals import refusal_flag

MOST_BITS = 22
"""Most bits that the kernels round to."""


def takes(x: Tensor, y: Tensor, bits: int) -> bool:
    """Whether these kernels compute a product of two tensors, or a convolution of theirs."""
    return bits <= MOST_BITS and reaches(x.device) and x.numel() > 0 and y.numel() > 0


def reaches(device: torch.device) -> bool:
    """Whether these kernels are for a device."""
    return devices.triton_reaches(device) and _carrier(device) is not None


@cache
def _carrier(device: torch.device) -> Carrier | None:
    """What its tensor cores multiply; where they take nothing from Triton, torch's operator multiplies integers."""
    # What stands for a device, in tests and where a step's launches are counted, has the one that most devices have.
    return carrier_of(torch.cuda.get_device_capability(device)) if device.type == "cuda" else Carrier.INT8


def _carrier_at(x: Tensor) -> Carrier:
    carrier = _carrier(x.device)
    assert carrier is not None, "a device that these kernels do not reach"
    return carrier


def matmul(left: Tensor, right: Tensor, bits: int) -> Tensor:
    """Return the defined product: :func:`counterfoil_core.kernels.exact.products.matmul`, where :func:`takes` says so.

    Args:
        left: float32 ``[m, k]`` or ``[batch, m, k]``.
        right: float32 ``[k, n]`` or ``[batch, k, n]``.
        bits: S.
    """
    from counterfoil_core.kernels.cuda import products

    if left.dim() == 2:
        return matmul(left[None], right[None], bits)[0]
    with refusal_flag(left.device) as flag:
        tops = largest(left), largest(right)
        return products.multiply(left, right, tops, bits, flag, _carrier_at(left))


def largest(x: Tensor) -> Tensor:
    """Return the bits of the largest magnitudes of the matrices of a batch: once for two products that they occur in.

    Args:
        x: float32 ``[batch, rows, columns]``, not empty.

    Returns:
        int32 ``[batch]``.
    """
    from counterfoil_core.kernels.cuda import exact

    whole = x.mT if not x.is_contiguous() and x.mT.is_contiguous() else x.contiguous()
    batch, rows, columns = whole.shape
    lengths = (batch, 1, 1, rows * columns)
    return digits.once(whole, ("largest", lengths), lambda: exact.largest(whole, lengths))


def convolution(x: Tensor, weight: Tensor, geometry: Geometry, bits: int) -> Tensor:
    """Return the defined convolution, as :mod:`counterfoil_core.kernels.exact.convolutions` does."""
    positions = geometry.positions(x.shape[2:], weight.shape[2:])
    rows, inputs = weight.shape[0] // geometry.groups, weight.shape[1]
    result = x.new_empty((x.shape[0], weight.shape[0], *positions))
    return _convolve(
        weight, x, result, bits, groups=geometry.groups, rows=rows, outer=inputs, columns=x.shape[0],
        kernel=weight.shape[2:], positions=positions, size=x.shape[2:], of_n=geometry.stride, of_k=geometry.dilation,
        offset=[-zeros for zeros in geometry.padding], part=[1] * len(positions),
        left=_strides(weight, 0, rows, (0, 1)), right=_strides(x, 1, inputs, (0, 1)),
        result=_strides(result, 1, rows, (1, 0)),
    )  # fmt: skip


def input_gradient(g: Tensor, weight: Tensor, size: Sequence[int], geometry: Geometry, bits: int) -> Tensor:
    """Return the defined gradient by the input, as :mod:`counterfoil_core.kernels.exact.convolutions` does."""
    rows, outputs = weight.shape[1], weight.shape[0] // geometry.groups
    result = g.new_empty((g.shape[0], rows * geometry.groups, *size))
    return _convolve(
        weight, g, result, bits, groups=geometry.groups, rows=rows, outer=outputs, columns=g.shape[0],
        kernel=weight.shape[2:], positions=size, size=g.shape[2:], of_n=[1] * len(size),
        of_k=[-reach for reach in geometry.dilation], offset=geometry.padding, part=geometry.stride,
        left=_strides(weight, 0, outputs, (1, 0)), right=_strides(g, 1, outputs, (0, 1)),
        result=_strides(result, 1, rows, (1, 0)),
    )  # fmt: skip


def weight_gradient(g: Tensor, x: Tensor, kernel: Sequence[int], geometry: Geometry, bits: int) -> Tensor:
    """Return the defined gradient by the weight, as :mod:`counterfoil_core.kernels.exact.convolutions` does."""
    rows, inputs = g.shape[1] // geometry.groups, x.shape[1] // geometry.groups
    result = g.new_empty((g.shape[1], inputs, *kernel))
    return _convolve(
        g, x, result, bits, groups=geometry.groups, rows=rows, outer=g.shape[0], columns=inputs,
        kernel=g.shape[2:], positions=kernel, size=x.shape[2:], of_n=geometry.dilation, of_k=geometry.stride,
        offset=[-zeros for zeros in geometry.padding], part=[1] * len(kernel), left=_strides(g, 1, rows, (1, 0)),
        right=_strides(x, 1, inputs, (1, 0)), result=_strides(result, 0, rows, (0, 1)),
    )  # fmt: skip


def _strides(x: Tensor, grouped: int, members: int, order: tuple[int, int]) -> list[int]:
    """Strides of a tensor: from group to group, of its first two axes in an order, and of its spatial axes.

    Args:
        x: The tensor.
        grouped: The axis that has the groups.
        members: How many of that axis are in a group.
        order: Which axis is the first.
    """
    steps = x.stride()
    return [steps[grouped] * members, *(steps[axis] for axis in order), *steps[2:]]


def _convolve(
    a: Tensor,
    x: Tensor,
    into: Tensor,
    bits: int,
    *,
    groups: int,
    rows: int,
    outer: int,
    columns: int,
    **axes: Sequence[int],
) -> Tensor:
    from counterfoil_core.kernels.cuda import products

    if into.numel():
        with refusal_flag(a.device) as flag:
            first, second = (largest(each.reshape(1, 1, -1)) for each in (a, x))
            windows = products.Windows.of(groups, rows, outer, columns, **axes)
            products.convolve(a, x, into, windows, (first, second), bits, flag, _carrier_at(a))
    return into
