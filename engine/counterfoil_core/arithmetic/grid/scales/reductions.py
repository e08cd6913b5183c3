"""Scales of operators over axes: sums, spreads, norms and the softmax family's gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.magnitude import (
    along,
    largest,
    largest_column_total,
    largest_of_new,
    largest_row_total,
    top_of,
)
from counterfoil_core.arithmetic.grid.scales.shared import (
    SQUARED_ERROR,
    Arguments,
    Outputs,
    Rule,
    Scale,
    add,
    vector_norm,
)
from counterfoil_core.kernels.cpu.measuring import TOTAL


def _sum(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums: the largest sum of magnitudes, which bounds every partial sum in every order."""
    x = arguments["self"]
    return [_total(x, _axes(arguments, x))]


def _mean(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Means: the same, divided by the number of terms."""
    x = arguments["self"]
    axes = _axes(arguments, x)
    return [_total(x, axes) / max(_length(x, axes), 1)]


def _cumsum(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Running sums: as the whole sum."""
    return [_total(arguments["self"], [arguments["dim"]])]


def _prod(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Products: an error relative to the result."""
    return [largest_of_new(outputs[0])]


def _var(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Variances: an error relative to the result, and the square of the mean's; var_mean gives the mean as well."""
    top = largest(arguments["self"])
    return [add(largest_of_new(outputs[0]), top * top * SQUARED_ERROR), top][: len(outputs)]


def _std(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Deviations: where all values are nearly the same, the mean's error is what is left of them."""
    return [add(largest(arguments["self"]), largest_of_new(outputs[0]))]


def _vector_norm(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Norms: sums of non-negative terms, so the error is relative to the result."""
    return [largest_of_new(outputs[0])]


def _softmax_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Softmax, y * (g - sum(g * y)): twice the largest of y times that of g, since y sums to 1 along the axis."""
    return [2.0 * largest(arguments["output"]) * largest(arguments["grad_output"])]


def _log_softmax_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Log softmax, g - exp(y) * sum(g): the sum of magnitudes of g along the axis bounds each term."""
    g = arguments["grad_output"]
    return [add(largest(g), _total(g, [arguments["dim"]]))]


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
        return along(x, kept[0], TOTAL).top(TOTAL)
    if kept and kept == list(range(len(kept))):
        compiled = largest_row_total(x, len(kept))
        if compiled is not None:
            return compiled
    if kept and kept == list(range(x.dim() - len(kept), x.dim())):
        compiled = largest_column_total(x, x.dim() - len(kept))
        if compiled is not None:
            return compiled
    return top_of(vector_norm(x, list(axes), 1.0))


def _length(x: Tensor, axes: Sequence[int]) -> int:
    return math.prod(x.shape[axis] for axis in axes) if x.dim() else 1


RULES: Mapping[str, Rule] = {
    "sum": _sum,
    "mean": _mean,
    "cumsum": _cumsum,
    "prod": _prod,
    "var": _var,
    "std": _std,
    "norm": _vector_norm,
    "softmax_backward": _softmax_backward,
    "log_softmax_backward": _log_softmax_backward,
}
