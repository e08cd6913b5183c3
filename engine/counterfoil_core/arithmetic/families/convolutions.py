"""Convolutions and their gradients: scales, compiled loops, weight gradients in parts, definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import along, energy, largest, largest_window, top_of
from counterfoil_core.arithmetic.families.parts import (
    Definition,
    Form,
    Outputs,
    Run,
    Scale,
    ScaleRule,
    add,
    natively,
    root,
    total,
    vector_norm,
)
from counterfoil_core.kernels.cpu import convolutionloops, formulas
from counterfoil_core.kernels.cpu.measures import ALL, SQUARES, TOTAL
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact import convolutions
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments, spatial

# Scales of convolutions and of their gradients.

_MOST_TAPS = 1 << 16
"""Places that the tables of an axis hold at most; beyond them a library's convolution finds the sums."""


def _convolution_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
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


def _convolution_backward_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
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
) -> Tensor | DeviceNumber | float | None:
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


def _window_energy(x: Tensor, weight: Tensor, arguments: Arguments, groups: int) -> Tensor | DeviceNumber | float:
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


def _scattered_energy(
    g: Tensor, like: Tensor, weight: Tensor, arguments: Arguments, groups: int
) -> Tensor | DeviceNumber | float:
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


def _group_product(
    squares: Tensor | DeviceNumber | float, norms: Tensor | DeviceNumber | float
) -> DeviceNumber | float:
    """Largest over the groups of the root of ``squares`` ``[groups]`` times a norm of ``norms`` ``[groups, ...]``.

    Either is a number where there is one group.
    """
    if any(isinstance(one, Tensor) and one.numel() == 0 for one in (squares, norms)):
        return 0.0
    if isinstance(norms, Tensor):
        norms = norms.flatten(1).amax(1)
    if isinstance(squares, Tensor) and isinstance(norms, Tensor):
        return top_of(squares.sqrt() * norms)
    return root(_only(squares)) * _only(norms)


def _only(of_group: Tensor | DeviceNumber | float) -> DeviceNumber | float:
    return top_of(of_group) if isinstance(of_group, Tensor) else of_group


def _output_channel_norms(weight: Tensor, groups: int) -> Tensor | DeviceNumber | float:
    """Norms of all that is summed for one output channel, ``[groups, O / groups]``, or the largest of one group."""
    if groups == 1 and weight.numel():
        return root(along(weight, 0, SQUARES).top(SQUARES))
    # weight is [O, C / groups, ...].
    return vector_norm(weight.reshape(groups, weight.shape[0] // groups, -1), 2)


def _input_channel_norms(weight: Tensor, groups: int) -> Tensor | DeviceNumber | float:
    """The same for one input channel."""
    if groups == 1 and weight.numel():
        return root(along(weight, 1, SQUARES).top(SQUARES))
    return vector_norm(weight.reshape(groups, weight.shape[0] // groups, weight.shape[1], -1), (1, 3))


SCALES: Mapping[str, ScaleRule] = {
    "convolution": _convolution_scale,
    "convolution_backward": _convolution_backward_scale,
}

# Convolutions in compiled loops, and gradients of convolutions in parts.


def convolve_in_loops(a: Arguments) -> Tensor | None:
    """Compute a convolution in compiled loops; None where they do not take its arguments."""
    convolution, given = convolutionloops.convolution_of(a), (a["input"], a["weight"], a["bias"])
    return convolution.output(*given) if convolution is not None and convolution.takes(*given) else None


def convolve_backward_in_loops(a: Arguments) -> list[Any] | None:
    """Compute the gradients of a convolution in compiled loops; None where they do not take its arguments."""
    g, x, weight, mask = a["grad_output"], a["input"], a["weight"], a["output_mask"]
    convolution = convolutionloops.convolution_of(a)
    if convolution is None or not convolution.takes_gradient(g, x, weight):
        return None
    parts = sums.WeightParts(a)
    results: list[Any] = [None, None, None]
    if mask[0]:
        results[0] = convolution.by_input(g, weight)
    if mask[1]:
        whole = parts.rows >= g.shape[2]
        results[1] = convolution.by_weight(g, x, parts.samples) if whole else _by_weight(natively, a)
    if mask[2]:
        results[2] = convolutionloops.by_bias(g)
    return results


def _convolution_backward_form(run: Run, a: Arguments) -> Any:
    """Gradients of convolutions: the weight's in parts of samples, or of rows of a sample; the bias's in blocks."""
    if run is natively and (found := convolve_backward_in_loops(a)) is not None:
        return found
    g, mask = a["grad_output"], a["output_mask"]
    results: list[Any] = [None, None, None]
    if mask[0]:
        results[0] = _library(run, a, g, a["input"], _settings(a), [True, False, False])[0]
    if mask[1]:
        results[1] = _by_weight(run, a)
    if mask[2]:
        results[2] = total(run, g, [axis for axis in range(g.dim()) if axis != 1])
    return results


def _by_weight(run: Run, a: Arguments) -> Tensor | None:
    summed: Tensor | None = None
    for g, x, settings in _weight_parts(a, _settings(a)):
        part = _library(run, a, g, x, settings, [False, True, False])[1]
        summed = part if summed is None else summed.add_(part)
    return summed


def _settings(a: Arguments) -> tuple[Any, ...]:
    return a["stride"], a["padding"], a["dilation"], a["transposed"], a["output_padding"], a["groups"]


def _library(run: Run, a: Arguments, g: Tensor, x: Tensor, settings: Sequence[Any], mask: Sequence[bool]) -> Any:
    return run("aten.convolution_backward.default", g, x, a["weight"], a["bias_sizes"], *settings, mask)


def _weight_parts(a: Arguments, settings: Sequence[Any]) -> Any:
    """Yield gradient, input and settings of each part of a convolution's weight gradient."""
    g, x = a["grad_output"], a["input"]
    parts = sums.WeightParts(a)
    rows, batch = g.shape[2], g.shape[0]
    for start in range(0, batch, parts.samples):
        count = min(parts.samples, batch - start)
        some_g, some_x = g.narrow(0, start, count), x.narrow(0, start, count)
        if a["transposed"] or parts.rows >= rows:
            yield some_g, some_x, settings
            continue
        stride, padding, dilation, *rest = settings
        axes = x.dim() - 2
        step, pad, spread = (sums.spatial(values, axes)[0] for values in (stride, padding, dilation))
        reach = (a["weight"].shape[2] - 1) * spread + 1
        # Rows that the kernel lays over the edge are zeros.
        padded = torch.constant_pad_nd(some_x, [0, 0] * (axes - 1) + [pad, pad])
        unpadded = [0, *sums.spatial(padding, axes)[1:]]
        for row in range(0, rows, parts.rows):
            height = min(parts.rows, rows - row)
            under = padded.narrow(2, row * step, (height - 1) * step + reach)
            yield some_g.narrow(2, row, height), under, (stride, unpadded, dilation, *rest)


FORMS: dict[str, Form] = {"convolution_backward": _convolution_backward_form}
"""Forms by operator kind."""
LOOPS: dict[str, Callable[[Arguments], Any]] = {
    "aten.convolution.default": convolve_in_loops,
    "aten.convolution_backward.default": convolve_backward_in_loops,
}
"""Compiled loops by operator."""


def _geometry(arguments: Arguments) -> Geometry:
    axes = arguments["weight"].dim() - 2
    stride, padding, dilation = (tuple(spatial(arguments[name], axes)) for name in ("stride", "padding", "dilation"))
    return Geometry(stride, padding, dilation, arguments["groups"])


def _convolution_defined(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["bias"] is None, "a bias is an operation of its own"
    x, weight, geometry = arguments["input"], arguments["weight"], _geometry(arguments)
    if not arguments["transposed"]:
        return convolutions.convolution(x, weight, geometry, profile.bits, profile.kernels)
    size = [
        (length - 1) * stride - 2 * padding + dilation * (taps - 1) + extra + 1
        for length, stride, padding, dilation, taps, extra in zip(
            x.shape[2:],
            geometry.stride,
            geometry.padding,
            geometry.dilation,
            weight.shape[2:],
            spatial(arguments["output_padding"], weight.dim() - 2),
            strict=True,
        )
    ]
    return convolutions.input_gradient(x, weight, size, geometry, profile.bits, profile.kernels)


def _convolution_backward_defined(arguments: Arguments, profile: Profile) -> tuple[Tensor | None, ...]:
    g, x, weight, geometry = (*(arguments[name] for name in ("grad_output", "input", "weight")), _geometry(arguments))
    wanted, kernel, settings = arguments["output_mask"], weight.shape[2:], (geometry, profile.bits, profile.kernels)
    assert not wanted[2], "the gradient of a bias is an operation of its own"
    results: list[Tensor | None] = [None, None, None]
    if arguments["transposed"]:
        if wanted[0]:
            results[0] = convolutions.convolution(g, weight, *settings)
        if wanted[1]:
            results[1] = convolutions.weight_gradient(x, g, kernel, *settings)
    else:
        if wanted[0]:
            results[0] = convolutions.input_gradient(g, weight, x.shape[2:], *settings)
        if wanted[1]:
            results[1] = convolutions.weight_gradient(g, x, kernel, *settings)
    return tuple(results)


DEFINITIONS: Mapping[str, Definition] = {
    "convolution": _convolution_defined,
    "convolution_backward": _convolution_backward_defined,
}
"""By operator kind."""
