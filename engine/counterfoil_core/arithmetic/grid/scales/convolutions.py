"""Scales of convolutions and of their gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.magnitude import along, energy, largest, largest_window, top_of
from counterfoil_core.arithmetic.grid.scales.shared import Arguments, Outputs, Rule, Scale, add, root, vector_norm
from counterfoil_core.kernels.cpu import formulas
from counterfoil_core.kernels.cpu.measuring import ALL, SQUARES, TOTAL

_MOST_TAPS = 1 << 16
"""Places that the tables of an axis hold at most; beyond them a library's convolution finds the sums."""


def _convolution(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Convolutions: largest norm of the input under the kernel times largest norm of a kernel."""
    x, weight, groups = arguments["input"], arguments["weight"], arguments["groups"]
    if arguments["transposed"]:
        # A transposed convolution is the input gradient of a convolution whose weight has the same layout.
        out = outputs[0]
        assert out is not None
        squares = _scattered_energy(x, out, weight, arguments, groups)
        product = _group_product(squares, _input_channel_norms(weight, groups))
    else:
        squares = _window_energy(x, weight, arguments, groups)
        product = _group_product(squares, _output_channel_norms(weight, groups))
    return [add(product, largest(arguments["bias"]))]


def _convolution_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of convolutions, by the same inequality over the axes that each of them sums."""
    g, x, weight, groups = (arguments[n] for n in ("grad_output", "input", "weight", "groups"))
    scales: list[Scale] = [None, None, None]
    # The sums of magnitudes are those of a bias alone.
    g_sizes = along(g, 1, SQUARES if outputs[2] is None else ALL)
    if outputs[0] is not None:
        if arguments["transposed"]:
            squares = _window_energy(g, weight, arguments, groups)
            norms = _output_channel_norms(weight, groups)
        else:
            squares = _scattered_energy(g, x, weight, arguments, groups)
            norms = _input_channel_norms(weight, groups)
        scales[0] = _group_product(squares, norms)
    if outputs[1] is not None:
        x_sizes = along(x, 1, SQUARES)
        if groups == 1:
            scales[1] = root(g_sizes.top(SQUARES) * x_sizes.top(SQUARES))
        else:
            g_squares, x_squares = (sizes.squares.reshape(groups, -1).amax(1) for sizes in (g_sizes, x_sizes))
            scales[1] = root(top_of(g_squares * x_squares))
    if outputs[2] is not None:
        scales[2] = g_sizes.top(TOTAL)
    return scales


def _grouped(x: Tensor, groups: int) -> Tensor:
    """Split axis 1 (channels) into groups: ``[N, groups, C / groups, ...]``."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _ones_kernel(weight: Tensor, groups: int) -> Tensor:
    return torch.ones((groups, 1, *weight.shape[2:]), dtype=torch.float64, device=weight.device)


def _is_pointwise(weight: Tensor, arguments: Arguments) -> bool:
    return all(n == 1 for n in weight.shape[2:]) and all(n == 0 for n in arguments["padding"])


def _per_axis(value: Sequence[int], x: Tensor) -> list[int]:
    """One number for each spatial axis of ``x``; a single one stands for all."""
    return list(value) * (x.dim() - 2) if len(value) == 1 else list(value)


def _compiled_window(
    x: Tensor, weight: Tensor, arguments: Arguments, groups: int, result: Tensor | None
) -> Tensor | float | None:
    """Return what :func:`largest_window` does, by the transposed kernel into ``result`` where that is given.

    None where no compiled pass takes the lengths.
    """
    space, kernel = x.shape[2:], weight.shape[2:]
    settings = arguments["stride"], arguments["padding"], arguments["dilation"]
    if not 1 <= len(space) <= 2:
        return None
    axes = []
    for axis, (length, taps) in enumerate(zip(space, kernel, strict=True)):
        # A single number stands for all axes.
        stride, padding, dilation = (given[axis] if len(given) > axis else given[0] for given in settings)
        count = (
            (length + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
            if result is None
            else result.shape[2 + axis]
        )
        if count * taps > _MOST_TAPS:
            return None
        axes.append(formulas.Axis(length, count, taps, stride, padding, dilation))
    return largest_window(x, groups, axes, transposed=result is not None)


def _window_energy(x: Tensor, weight: Tensor, arguments: Arguments, groups: int) -> Tensor | float:
    """Largest sum of squares under a position of the kernel, per group: ``[groups]``, or that of the only one."""
    tops = _compiled_window(x, weight, arguments, groups, None)
    if tops is not None:
        return tops
    squares = energy(_grouped(x, groups), 2)
    if _is_pointwise(weight, arguments):
        # Positions between the strides stand under no kernel.
        read: tuple[Any, ...] = tuple(slice(None, None, step) for step in _per_axis(arguments["stride"], x))
        return _largest_of_group(squares[(..., *read)])
    result: Tensor = torch.ops.aten.convolution.default(
        squares,
        _ones_kernel(weight, groups),
        None,
        arguments["stride"],
        arguments["padding"],
        arguments["dilation"],
        False,
        [0] * (x.dim() - 2),
        groups,
    )
    return _largest_of_group(result)


def _scattered_energy(g: Tensor, like: Tensor, weight: Tensor, arguments: Arguments, groups: int) -> Tensor | float:
    """The same of all elements of ``g`` that the transposed kernel brings to a position of ``like``."""
    tops = _compiled_window(g, weight, arguments, groups, like)
    if tops is not None:
        return tops
    squares = energy(_grouped(g, groups), 2)
    if _is_pointwise(weight, arguments) and all(n == 1 for n in arguments["stride"]):
        return _largest_of_group(squares)
    shape = (like.shape[0], groups, *like.shape[2:])
    result: Tensor = torch.ops.aten.convolution_backward.default(
        squares,
        torch.empty(shape, dtype=squares.dtype, device=g.device),
        _ones_kernel(weight, groups),
        None,
        arguments["stride"],
        arguments["padding"],
        arguments["dilation"],
        False,
        [0] * (g.dim() - 2),
        groups,
        [True, False, False],
    )[0]
    return _largest_of_group(result)


def _largest_of_group(squares: Tensor) -> Tensor:
    """Return the largest of ``[N, groups, ...]`` for each group; nothing where there is nothing."""
    flat = squares.transpose(0, 1).flatten(1)
    return flat.amax(1) if flat.numel() else flat.new_zeros(0)


def _group_product(squares: Tensor | float, norms: Tensor | float) -> Tensor | float:
    """Largest over the groups of the root of ``squares`` ``[groups]`` times a norm of ``norms`` ``[groups, ...]``.

    Either is a number where there is one group.
    """
    if isinstance(squares, Tensor):
        if squares.numel() == 0:
            return 0.0
        squares = squares.sqrt()
    else:
        squares = math.sqrt(squares)
    if isinstance(norms, Tensor):
        if norms.numel() == 0:
            return 0.0
        norms = norms.flatten(1).amax(1)
    product = squares * norms
    return top_of(product) if isinstance(product, Tensor) else product


def _output_channel_norms(weight: Tensor, groups: int) -> Tensor | float:
    """Norms of all that is summed for one output channel, ``[groups, O / groups]``, or the largest of one group."""
    if groups == 1 and weight.numel():
        return root(along(weight, 0, SQUARES).top(SQUARES))
    # weight is [O, C / groups, ...].
    return vector_norm(weight.reshape(groups, weight.shape[0] // groups, -1), 2)


def _input_channel_norms(weight: Tensor, groups: int) -> Tensor | float:
    """The same for one input channel."""
    if groups == 1 and weight.numel():
        return root(along(weight, 1, SQUARES).top(SQUARES))
    return vector_norm(weight.reshape(groups, weight.shape[0] // groups, weight.shape[1], -1), (1, 3))


RULES: Mapping[str, Rule] = {
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
}
