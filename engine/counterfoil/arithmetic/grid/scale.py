"""Scale rules: for each rounded operator a bound S on the size of the terms that make an element of its output.

The error of a computed sum is at most gamma_n times the sum of the magnitudes of its terms (Higham 2002, section 4.2),
so it scales with S and not with the result, which may have cancelled. Where the terms are products, Cauchy-Schwarz
bounds their sum by the product of two norms. S only has to be a bound within a modest factor: the grid needs its
exponent alone. docs/numerics.md derives each rule.

A rule takes the operator's arguments by name and its outputs, and returns one zero-dimensional float64 tensor or
number for each output (None for an output that has no floating-point values).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.arithmetic.grid.magnitude import (
    Magnitudes,
    Measured,
    Sizes,
    Vectors,
    along,
    centred_channels,
    energy,
    largest,
    largest_energy,
    largest_energy_product,
    largest_of_new,
    largest_row_total,
    largest_window,
    matrix_sizes,
    normalised_sizes,
    top_of,
)
from counterfoil.kernels.cpu import formulas
from counterfoil.kernels.cpu.measuring import LARGEST, SQUARES, TOTAL
from counterfoil.operators import sums

Arguments = Mapping[str, Any]
Outputs = Sequence[Tensor | None]
Scale = Tensor | float | None
Rule = Callable[[Arguments, Outputs], Sequence[Scale]]

_SQUARED_ERROR = 2.0**-12
"""Above every gamma_n that fits a profile, so that an error that is squared is below it times the squared size."""

_RULES: dict[str, Rule] = {}


def rule(name: str) -> Rule:
    """Return the scale rule of a name; the allow-list names one for each rounded operator."""
    return _RULES[name]


def rule_names() -> frozenset[str]:
    """The names of all rules."""
    return frozenset(_RULES)


def _named(name: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        _RULES[name] = function
        return function

    return register


def _norm(x: Tensor, dims: Sequence[int] | int, order: float = 2.0) -> Tensor:
    result: Tensor = torch.linalg.vector_norm(x, ord=order, dim=dims, dtype=torch.float64)
    return result


def _root(square: Tensor | float) -> Tensor | float:
    return square.sqrt() if isinstance(square, Tensor) else math.sqrt(square)


def _floating(arguments: Arguments) -> list[Tensor]:
    found = []
    for value in arguments.values():
        if isinstance(value, Tensor) and value.is_floating_point():
            found.append(value)
    return found


def _add(*parts: Tensor | float) -> Tensor | float:
    total: Tensor | float = 0.0
    for part in parts:
        total = total + part
    return total


@_named("output")
def _output(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Elementwise functions with an error relative to the result: the largest output."""
    return [None if out is None or not out.is_floating_point() else largest_of_new(out) for out in outputs]


@_named("terms")
def _terms(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums of a few terms: the sizes of the terms together."""
    if "tensor1" in arguments:
        # addcmul, addcdiv: what is added is the result less the first term, so no larger than both together.
        return [_add(largest(arguments["self"]), largest(arguments["self"]), largest_of_new(outputs[0]))]
    if "end" in arguments:
        span = _add(largest(arguments["self"]), largest(arguments["end"]))
        return [span * (1.0 + largest(arguments["weight"]))]
    # alpha belongs to one of both, to the first for rsub: a bound need not tell which.
    factor = max(1.0, abs(float(arguments["alpha"])))
    return [_add(largest(arguments["self"]), largest(arguments["other"])) * factor]


@_named("inputs")
def _inputs(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Means, weighted means and elementwise functions that add terms no larger than their inputs."""
    top = _add(*(largest(x) for x in _floating(arguments)))
    return [None if out is None or not out.is_floating_point() else _add(top, largest_of_new(out)) for out in outputs]


@_named("mm")
def _mm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Matrix products: largest row norm times largest column norm (Cauchy-Schwarz), and the matrix that is added."""
    if "vec" in arguments or "tensor" in arguments:
        matrix = arguments.get("mat", arguments["self"])
        vector = arguments["vec"] if "vec" in arguments else arguments["tensor"]
        product: Tensor | float = _root(largest_energy(matrix, -1) * largest_energy(vector, 0))
        added = arguments["self"] if "mat" in arguments else None
    else:
        first = arguments.get("mat1", arguments["self"])
        second = arguments["mat2"]
        product = _root(largest_energy(first, 1) * largest_energy(second, 0))
        added = arguments["self"] if "mat1" in arguments else None
    return [
        _add(
            product * abs(float(arguments.get("alpha", 1))),
            largest(added) * abs(float(arguments.get("beta", 1))) if added is not None else 0.0,
        )
    ]


@_named("bmm")
def _bmm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Batched matrix products: the largest of the batch."""
    first = arguments.get("batch1", arguments["self"])
    second = arguments["batch2"] if "batch2" in arguments else arguments["mat2"]
    if first.numel() == 0 or second.numel() == 0:
        product: Tensor | float = 0.0
    else:
        product = _root(largest_energy_product(first, second))
    if "batch1" not in arguments:
        return [product]
    added = largest(arguments["self"]) * abs(float(arguments["beta"]))
    return [_add(product * abs(float(arguments["alpha"])), added)]


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


_MOST_TAPS = 1 << 16
"""Places that the tables of an axis hold at most; beyond them a library's convolution finds the sums."""


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
        return _root(along(weight, 0).top(SQUARES))
    # weight is [O, C / groups, ...].
    return _norm(weight.reshape(groups, weight.shape[0] // groups, -1), 2)


def _input_channel_norms(weight: Tensor, groups: int) -> Tensor | float:
    """The same for one input channel."""
    if groups == 1 and weight.numel():
        return _root(along(weight, 1).top(SQUARES))
    return _norm(weight.reshape(groups, weight.shape[0] // groups, weight.shape[1], -1), (1, 3))


@_named("convolution")
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
    return [_add(product, largest(arguments["bias"]))]


@_named("convolution_backward")
def _convolution_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of convolutions, by the same inequality over the axes that each of them sums."""
    g, x, weight, groups = (arguments[n] for n in ("grad_output", "input", "weight", "groups"))
    scales: list[Scale] = [None, None, None]
    g_sizes = along(g, 1)
    if outputs[0] is not None:
        if arguments["transposed"]:
            squares = _window_energy(g, weight, arguments, groups)
            norms = _output_channel_norms(weight, groups)
        else:
            squares = _scattered_energy(g, x, weight, arguments, groups)
            norms = _input_channel_norms(weight, groups)
        scales[0] = _group_product(squares, norms)
    if outputs[1] is not None:
        x_sizes = along(x, 1)
        if groups == 1:
            scales[1] = _root(g_sizes.top(SQUARES) * x_sizes.top(SQUARES))
        else:
            g_squares, x_squares = (sizes.squares.reshape(groups, -1).amax(1) for sizes in (g_sizes, x_sizes))
            scales[1] = _root(top_of(g_squares * x_squares))
    if outputs[2] is not None:
        scales[2] = g_sizes.top(TOTAL)
    return scales


def _axes(arguments: Arguments, x: Tensor) -> list[int]:
    dims = arguments.get("dim")
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(x.dim()))
    return [dims] if isinstance(dims, int) else list(dims)


def _total(x: Tensor, axes: Sequence[int]) -> Tensor | float:
    """Largest sum of magnitudes over the axes."""
    if x.numel() == 0:
        return 0.0
    if not x.is_floating_point():
        x = x.to(torch.float64)
    if not x.dim():
        return x.abs().double()
    kept = [axis for axis in range(x.dim()) if axis not in {a % x.dim() for a in axes}]
    if len(kept) == 1:
        return along(x, kept[0]).top(TOTAL)
    if kept and kept == list(range(len(kept))):
        compiled = largest_row_total(x, len(kept))
        if compiled is not None:
            return compiled
    return top_of(_norm(x, list(axes), 1.0))


def _length(x: Tensor, axes: Sequence[int]) -> int:
    return math.prod(x.shape[axis] for axis in axes) if x.dim() else 1


@_named("sum")
def _sum(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums: the largest sum of magnitudes, which bounds every partial sum in every order."""
    x = arguments["self"]
    return [_total(x, _axes(arguments, x))]


@_named("mean")
def _mean(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Means: the same, divided by the number of terms."""
    x = arguments["self"]
    axes = _axes(arguments, x)
    return [_total(x, axes) / max(_length(x, axes), 1)]


@_named("cumsum")
def _cumsum(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Running sums: as the whole sum."""
    return [_total(arguments["self"], [arguments["dim"]])]


@_named("prod")
def _prod(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Products: an error relative to the result."""
    return [largest_of_new(outputs[0])]


@_named("var")
def _var(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Variances: an error relative to the result, and the square of the mean's; var_mean gives the mean as well."""
    top = largest(arguments["self"])
    return [_add(largest_of_new(outputs[0]), top * top * _SQUARED_ERROR), top][: len(outputs)]


@_named("std")
def _std(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Deviations: where all values are nearly the same, the mean's error is what is left of them."""
    return [_add(largest(arguments["self"]), largest_of_new(outputs[0]))]


@_named("norm")
def _vector_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Norms: sums of non-negative terms, so the error is relative to the result."""
    return [largest_of_new(outputs[0])]


@_named("softmax_backward")
def _softmax_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Softmax, y * (g - sum(g * y)): twice the largest of y times that of g, since y sums to 1 along the axis."""
    return [2.0 * largest(arguments["output"]) * largest(arguments["grad_output"])]


@_named("log_softmax_backward")
def _log_softmax_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Log softmax, g - exp(y) * sum(g): the sum of magnitudes of g along the axis bounds each term."""
    g = arguments["grad_output"]
    return [_add(largest(g), _total(g, [arguments["dim"]]))]


def _times(values: Tensor, weight: Tensor | None) -> Tensor:
    return values if weight is None else values * weight.abs()


@_named("batch_norm")
def _batch_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Batch norm: the size before the mean is taken off, times the factor that follows.

    The variance's error is relative to std * max|x|, the reciprocal root's to rstd^2 * max|x| (derivative of x^-1/2).
    """
    x, weight, bias = arguments["input"], arguments["weight"], arguments["bias"]
    save_rstd = outputs[2]
    x_sizes = along(x, 1)
    if save_rstd is None or save_rstd.numel() == 0:  # evaluation: running statistics are used, nothing is saved
        rstd = torch.rsqrt(arguments["running_var"] + arguments["eps"])
        size = top_of(_times((x_sizes.largest + arguments["running_mean"].abs()) * rstd, weight))
        kept = [largest(arguments[name]) for name in ("running_mean", "running_var")][: len(outputs) - 3]
        return [_add(size, largest(bias)), 0.0, 0.0, *kept]
    others = [bias, *(arguments[name] for name in ("running_mean", "running_var") if len(outputs) == 5)]
    size, deviation, quotient, square, *tops = _norm_terms(x_sizes, save_rstd, weight, others)
    top = x_sizes.top(LARGEST)
    scales: list[Scale] = [_add(2.0 * size, tops[0]), top, deviation]
    if len(outputs) == 5:
        scales.append(_add(tops[1], top))
        scales.append(_add(tops[2], quotient, square * _SQUARED_ERROR))
    return scales


def _norm_terms(
    sizes: Magnitudes | Vectors, rstd: Tensor, weight: Tensor | None, others: Sequence[Tensor | None] = ()
) -> Sequence[Tensor | float]:
    """Return the largest X r abs(w), r (1 + X r), X / r and X X over rows or channels, given their sizes.

    Behind them come the largest magnitudes of others.

    Args:
        sizes: Sizes of the argument; X is the largest magnitude.
        rstd: ``[n]``: the reciprocal deviations r.
        weight: ``[n]``: w; None for 1.
        others: ``[n]`` each; None for 0.
    """
    if isinstance(sizes, Vectors) and all(one is None or _wide(one, sizes.count) for one in (rstd, weight, *others)):
        places = (0 if one is None else one.data_ptr() for one in (weight, *others))
        return formulas.norm(sizes.count, sizes.address, rstd.data_ptr(), *places)
    top = sizes.largest
    size = top * rstd
    parts = (_times(size, weight), rstd * (1.0 + size), top / rstd, top * top)
    return [*map(top_of, parts), *map(largest, others)]


def _wide(x: Tensor, count: int) -> bool:
    """Whether a tensor is float64 ``[count]``, and contiguous."""
    return x.dtype == torch.float64 and x.numel() == count and x.is_contiguous()


def _gradient_terms(
    g: Magnitudes | Vectors,
    x: Magnitudes | Vectors,
    rstd: Tensor,
    weight: Tensor | None,
    length: int,
    *,
    normalised: bool = False,
    projects: bool = True,
) -> Sequence[Tensor | float]:
    """Return the largest r (2 G + H n h / length) abs(w) and n h over rows or channels.

    H is the largest magnitude of the normalised argument, h and n the norms of that and of the gradient.

    Args:
        g: Sizes of the gradient; G is the largest magnitude.
        x: Sizes of the argument less its mean.
        rstd: ``[n]``: the reciprocal deviations r.
        weight: ``[n]``: w; None for 1.
        length: Elements of a row or channel.
        normalised: Whether ``x`` is of the argument times r already.
        projects: Whether the projection on the argument is taken off, the second term.
    """
    length = max(length, 1)
    if (
        isinstance(g, Vectors)
        and isinstance(x, Vectors)
        and x.count == g.count
        and _wide(rstd, g.count)
        and (weight is None or _wide(weight, g.count))
    ):
        weights = 0 if weight is None else weight.data_ptr()
        return formulas.gradient(
            g.count, g.address, x.address, rstd.data_ptr(), weights, length, normalised=normalised, projects=projects
        )
    factor = torch.ones_like(rstd) if normalised else rstd
    x_norm = x.norm * factor
    projection = x.largest * factor * g.norm * x_norm / length if projects else 0.0
    return [top_of(_times(rstd * (2.0 * g.largest + projection), weight)), top_of(g.norm * x_norm)]


def _channel_deviations(x: Tensor, mean: Tensor) -> Magnitudes | Vectors:
    """Magnitudes of x less the mean of its channel, per channel."""
    if not x.numel() or x.dim() < 2:
        return along(x - mean.reshape(1, -1, *[1] * (x.dim() - 2)), 1)
    if x.dim() == 2 or math.prod(x.shape[2:]) == 1:
        return along(x.reshape(x.shape[:2]) - mean, 1)
    compiled = centred_channels(x, mean)
    if compiled is not None:
        return compiled
    rows = normalised_sizes(x.reshape(x.shape[0], x.shape[1], -1), mean, torch.ones_like(mean)).rows
    return Magnitudes(rows.largest.amax(0), rows.total.sum(0), rows.squares.sum(0))


@_named("batch_norm_backward")
def _batch_norm_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of batch norm: sizes before g's mean and g's projection on x are taken off."""
    g, x, weight, trained = (arguments[name] for name in ("grad_out", "input", "weight", "train"))
    if trained:
        mean, rstd = arguments["save_mean"], arguments["save_invstd"]
    else:
        mean, rstd = arguments["running_mean"], torch.rsqrt(arguments["running_var"] + arguments["eps"])
    # The gradients are sums of g and of g (x - mean): what is taken off x is exact but for its last bit.
    g_sizes = along(g, 1)
    x_sizes = _channel_deviations(x, mean)
    scales: list[Scale] = [None, None, None]
    if outputs[0] is not None or outputs[1] is not None:
        length = x.numel() // max(x.shape[1], 1)
        scales[:2] = _gradient_terms(g_sizes, x_sizes, rstd, weight, length, projects=bool(trained))
    if outputs[2] is not None:
        scales[2] = g_sizes.top(TOTAL)
    return scales


def _rows(x: Tensor, normalized_shape: Sequence[int]) -> Tensor:
    return x.reshape(-1, math.prod(normalized_shape))


def _row_norm_scales(x: Tensor, arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Scales of a norm over the rows of ``x`` ``[rows, n]``, whose outputs are (result, mean, rstd)."""
    rstd = outputs[2]
    assert rstd is not None
    sizes = along(x, 0)
    size, deviation, *_ = _norm_terms(sizes, rstd.flatten(), None)
    factor = largest(arguments["weight"]) if arguments["weight"] is not None else 1.0
    return [_add(2.0 * size * factor, largest(arguments["bias"])), sizes.top(LARGEST), deviation]


@_named("layer_norm")
def _layer_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Layer norm: as batch norm, with rows in the place of channels."""
    return _row_norm_scales(_rows(arguments["input"], arguments["normalized_shape"]), arguments, outputs)


@_named("layer_norm_backward")
def _layer_norm_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of layer norm: rows for the input's, columns for weight and bias."""
    rstd = arguments["rstd"].flatten()
    g, x = (arguments[name].reshape(rstd.numel(), -1) for name in ("grad_out", "input"))
    normalised = normalised_sizes(x[None], arguments["mean"].flatten(), rstd)
    sizes = matrix_sizes(g)
    one, other = _columns(sizes), _columns(normalised)
    return [
        None if outputs[0] is None else _row_gradient(sizes, normalised, rstd, arguments["weight"], g.shape[1]),
        None if outputs[1] is None else _largest_norms(one, other),
        None if outputs[2] is None else one.top(TOTAL),
    ]


def _columns(sizes: Sizes | Measured) -> Magnitudes | Vectors:
    """Return the magnitudes of the columns of the only matrix."""
    return sizes.column_vectors() if isinstance(sizes, Measured) else sizes.columns


def _rows_of(sizes: Sizes | Measured) -> Magnitudes | Vectors:
    """Return the magnitudes of the rows of the only matrix."""
    return sizes.row_vectors() if isinstance(sizes, Measured) else sizes.rows


def _largest_norms(one: Magnitudes | Vectors, other: Magnitudes | Vectors) -> Tensor | float:
    """Return the largest product of two norms of the same place."""
    if isinstance(one, Vectors) and isinstance(other, Vectors):
        return formulas.roots(one.count, one.address + 16 * one.count, other.address + 16 * other.count)
    return top_of(one.norm * other.norm)


def _row_gradient(
    g: Sizes | Measured, normalised: Sizes | Measured, rstd: Tensor, weight: Tensor | None, length: int
) -> Tensor | float:
    """Scale of the input's gradient: of g ``[rows, length]``, its mean, and its projection on the normalised row."""
    top = _gradient_terms(_rows_of(g), _rows_of(normalised), rstd, None, length, normalised=True)[0]
    return top * (1.0 if weight is None else largest(weight))


def _group_rows(x: Tensor, arguments: Arguments) -> Tensor:
    return x.reshape(int(arguments["N"]) * int(arguments["group"]), -1)


@_named("group_norm")
def _group_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Group norm: as layer norm, a row for each sample and group."""
    return _row_norm_scales(_group_rows(arguments["input"], arguments), arguments, outputs)


@_named("group_norm_backward")
def _group_norm_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of group norm."""
    g, rstd = arguments["grad_out"], arguments["rstd"].flatten()
    x = _group_rows(arguments["input"], arguments)
    normalised = (x - arguments["mean"].reshape(-1, 1)) * rstd[:, None]
    g_channels = along(g, 1)
    scales: list[Scale] = [None, None, None]
    if outputs[0] is not None:
        rows = _group_rows(g, arguments)
        sizes = normalised_sizes(x[None], arguments["mean"].flatten(), rstd)
        scales[0] = _row_gradient(matrix_sizes(rows), sizes, rstd, arguments["weight"], rows.shape[1])
    if outputs[1] is not None:
        scales[1] = _largest_norms(g_channels, along(normalised.reshape(g.shape), 1))
    if outputs[2] is not None:
        scales[2] = g_channels.top(TOTAL)
    return scales


@_named("loss")
def _loss(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Losses: the size of one term (a mean) or of all terms together (a sum, or a result without reduction)."""
    out = outputs[0]
    assert out is not None
    terms = max(_floating(arguments), key=lambda x: x.numel())
    top = _add(*(largest(x) for x in _floating(arguments)))
    top = _add(top, top * top, largest(out))  # squared and logarithmic losses
    total: Scale = top * float(terms.shape[0] if terms.dim() else 1) if arguments.get("reduction") == 2 else top
    # nll_loss also returns the total weight: a sum of weights that are not negative, so its terms are no larger.
    return [total, *(largest(weight) for weight in outputs[1:])]


def _most_repeats(indices: Tensor, count: int) -> Tensor | int:
    """How often the most frequent of the indices ``[n]``, below ``count``, occurs."""
    if not indices.numel():
        return 0
    if indices.device.type == "cpu":
        # As a float64 number: a number of Python times an int64 tensor is float32.
        return torch.bincount(indices, minlength=1).amax().double()
    # There a count of each value would wait for the device, to learn how many values there are.
    places = indices.long()
    return (
        torch.zeros(count, dtype=torch.int64, device=indices.device)
        .index_add(0, places, torch.ones_like(places))
        .amax()
        .double()
    )


@_named("scatter")
def _scatter(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums over repeated indices: all magnitudes that can meet in one element."""
    out = outputs[0]
    assert out is not None
    if "grad_output" in arguments:  # embedding: rows of grad_output meet where their indices are equal
        indices = arguments["indices"].flatten()
        return [largest(arguments["grad_output"]) * _most_repeats(indices, out.shape[0])]
    # The same sum over magnitudes, onto zeros: exactly the terms that meet in each element.
    zeros = torch.zeros_like(arguments["self"])
    if "values" in arguments:
        met = torch.ops.aten.index_put.default(zeros, arguments["indices"], arguments["values"].abs(), True)
    elif "src" in arguments:
        met = torch.ops.aten.scatter_add.default(zeros, arguments["dim"], arguments["index"], arguments["src"].abs())
    else:
        source = arguments["source"].abs() * abs(float(arguments.get("alpha", 1)))
        met = torch.ops.aten.index_add.default(zeros, arguments["dim"], arguments["index"], source)
    return [_add(largest(arguments["self"]), largest(met))]


@_named("overlap")
def _overlap(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients that overlapping windows bring together: the windows over one element times the largest of them."""
    g = arguments["grad_output"] if "grad_output" in arguments else _floating(arguments)[0]
    windows = 1.0
    if "kernel_size" in arguments:
        kernel = arguments["kernel_size"]
        stride = arguments.get("stride") or kernel
        dilation = arguments.get("dilation") or [1]
        axes = max(map(len, (kernel, stride, dilation)))
        windows = float(math.prod(map(sums.covering, *(sums.spatial(v, axes) for v in (kernel, stride, dilation)))))
    elif outputs[0] is not None and outputs[0].numel():
        windows = float(max(1, -(-g.numel() // outputs[0].numel()))) * 8.0
    return [largest(g) * windows]
