"""Sums: terms through Q_b with ``b + ceil(log2 n) <= 53``, added exactly in float64 in any order, one rounding.

Where axes are summed, the terms of each result share an exponent. Where terms meet by index, or windows overlap, all
terms of the tensor do, and n is the most that shapes let meet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact import cpusums
from counterfoil_core.kernels.exact.geometry import runs, windows
from counterfoil_core.kernels.exact.limits import sum_bits, windows_over_one
from counterfoil_core.kernels.exact.quantise import quantise
from counterfoil_core.kernels.exact.refusals import note, refusal_flag
from counterfoil_core.kernels.exact.single import from_float64


def total(x: Tensor, axes: Sequence[int] | None = None, *, keepdim: bool = False) -> Tensor:
    """Return the defined sum over axes.

    Args:
        x: float32.
        axes: Which axes; all of them if None.
        keepdim: Whether they stay, with the length 1.

    Returns:
        float32; infinite where the sum is beyond float32's range, +0 where it is zero.

    Raises:
        NonFiniteError: An element is infinite or not a number.
        ProgramError: More than 2^29 terms.
    """
    summed = tuple(range(x.dim())) if axes is None else tuple(axis % x.dim() for axis in axes)
    bits = sum_bits(math.prod(x.shape[axis] for axis in summed))
    kept = [1 if axis in summed else n for axis, n in enumerate(x.shape)]
    if cpusums.takes(x, summed):
        found = cpusums.total(x, summed)
        return found.view(kept) if keepdim else found
    if devices.triton_reaches(x.device) and x.numel() and summed and len(runs(x.shape, summed)) <= 4:
        found = _total_there(x.contiguous(), summed, bits)
        return found.view(kept if keepdim else [n for axis, n in enumerate(x.shape) if axis not in summed])
    exact = quantise(x, bits, summed).values
    # Of no axes torch would sum all.
    return from_float64(exact.sum(summed, keepdim=keepdim) if summed else exact)


def _total_there(x: Tensor, summed: Sequence[int], bits: int) -> Tensor:
    """Return the sums on a CUDA device, without waiting: float32 ``[n]``."""
    from counterfoil_core.kernels.cuda import exact

    with refusal_flag(x.device) as flag:
        return exact.total(x, runs(x.shape, summed), bits, flag)


def running_total(x: Tensor, axis: int) -> Tensor:
    """Return the defined running sum along an axis: each prefix, of one exponent for the whole row, rounded once.

    Args:
        x: float32 with an axis at least.
        axis: Which axis.

    Returns:
        float32, the shape of ``x``; raises as :func:`total` does.
    """
    bits = sum_bits(x.shape[axis])
    return from_float64(quantise(x, bits, (axis,)).values.cumsum(axis))


def total_by_place(values: Tensor, places: Tensor, size: int, meeting: int, base: Tensor | None = None) -> Tensor:
    """Return the defined sums of values that an index brings together.

    Gradients of embeddings, of selections and of maximum pooling, ``index_add``, ``scatter_add`` and accumulating
    ``index_put`` are this one, with rows and axes flattened.

    Args:
        values: float32 ``[n]`` or ``[n, width]``.
        places: int64 ``[n]``, each in 0 to ``size - 1``.
        size: Number of places.
        meeting: The most values that can meet in one place by the operator's shapes. It decides how many bits a
            value keeps, so it is part of the definition; that it is true is checked.
        base: float32 ``[size]`` or ``[size, width]``: what the values are added to; nothing if None.

    Returns:
        float32 ``[size]`` or ``[size, width]``; +0 where nothing is added. Raises as :func:`total` does.
    """
    shape = (size, *values.shape[1:])
    bits = sum_bits(meeting + (base is not None))
    # Not more meet than there are.
    if places.numel() > meeting:
        wrong = (_counts(places, size) > meeting).any()
        assert note(wrong) or not bool(wrong), f"more values meet than the {meeting} that the shapes let"
    both = values.reshape(-1) if base is None else torch.cat((values.reshape(-1), base.reshape(-1)))
    exact = quantise(both, bits).values
    added = exact[: values.numel()].view(values.shape)
    start = exact.new_zeros(shape) if base is None else exact[values.numel() :].view(shape)
    return from_float64(start.index_add(0, places, added))


def _counts(places: Tensor, size: int) -> Tensor:
    """How many values each place gets: int64 ``[size]``."""
    if devices.loops_reach(places.device):
        return torch.bincount(places, minlength=size)
    # The library's function would wait for a device, to learn the largest place.
    counts = torch.zeros(size, dtype=torch.int64, device=places.device)
    return counts.index_add_(0, places, torch.ones_like(places))


def total_of_overlaps(
    g: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """Return the defined sums of window elements that lie over one place: col2im, gradients of unfolding and pooling.

    Args:
        g: float32 ``[..., *positions, *kernel]``: the elements of all windows.
        size: Lengths of the spatial axes of the result, without padding.
        stride: Elements from one window to the next.
        padding: What was padded on both sides; what falls there is dropped.
        dilation: Elements from one element of a window to the next.

    Returns:
        float32 ``[..., *size]``; raises as :func:`total` does.
    """
    axes = len(size)
    kernel, leading = g.shape[-axes:], g.shape[: g.dim() - 2 * axes]
    padded = [length + 2 * p for length, p in zip(size, padding, strict=True)]
    cells = math.prod(padded)
    places = windows(torch.arange(cells, device=g.device).view(padded), kernel, stride, dilation)
    exact = quantise(g, sum_bits(windows_over_one(kernel, stride, dilation))).values
    planes = exact.reshape(math.prod(leading), -1)
    summed = planes.new_zeros(planes.shape[0], cells).index_add(1, places.reshape(-1), planes)
    result = summed.view(*leading, *padded)
    for axis, (length, p) in enumerate(zip(size, padding, strict=True)):
        result = result.narrow(len(leading) + axis, p, length)
    return from_float64(result)
