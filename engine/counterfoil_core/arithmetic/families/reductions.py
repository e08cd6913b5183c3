"""Operators over axes (sums, spreads, norms, the softmax family): scales, forms in blocks, definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import (
    along,
    largest,
    largest_column_total,
    largest_of_new,
    largest_row_total,
    top_of,
)
from counterfoil_core.arithmetic.families.parts import (
    SQUARED_ERROR,
    Definition,
    Form,
    Outputs,
    Run,
    Scale,
    ScaleRule,
    add,
    cast,
    cut,
    mean_of,
    reduce_axes,
    total,
    vector_norm,
)
from counterfoil_core.kernels.cpu.measures import TOTAL
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact import sums as exact_sums
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments

# Scales of operators over axes: sums, spreads, norms and the softmax family's gradients.


def _sum_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums: the largest sum of magnitudes, which bounds every partial sum in every order."""
    x = arguments["self"]
    return [_total(x, _axes(arguments, x))]


def _mean(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Means: the same, divided by the number of terms."""
    x = arguments["self"]
    axes = _axes(arguments, x)
    return [_total(x, axes) / max(_length(x, axes), 1)]


def _cumsum_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Running sums: as the whole sum."""
    return [_total(arguments["self"], [arguments["dim"]])]


def _prod_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
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


def _softmax_backward_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Softmax, y * (g - sum(g * y)): twice the largest of y times that of g, since y sums to 1 along the axis."""
    return [2.0 * largest(arguments["output"]) * largest(arguments["grad_output"])]


def _log_softmax_backward_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Log softmax, g - exp(y) * sum(g): the sum of magnitudes of g along the axis bounds each term."""
    g = arguments["grad_output"]
    return [add(largest(g), _total(g, [arguments["dim"]]))]


def _axes(arguments: Arguments, x: Tensor) -> list[int]:
    dims = arguments.get("dim")
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(x.dim()))
    return [dims] if isinstance(dims, int) else list(dims)


def _total(x: Tensor, axes: Sequence[int]) -> DeviceNumber | float:
    """Largest sum of magnitudes over the axes."""
    if x.numel() == 0:
        return 0.0
    if not x.is_floating_point():
        x = x.to(torch.float64)
    if not x.dim():
        return top_of(x.abs())
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


SCALES: Mapping[str, ScaleRule] = {
    "sum": _sum_scale,
    "mean": _mean,
    "cumsum": _cumsum_scale,
    "prod": _prod_scale,
    "var": _var,
    "std": _std,
    "norm": _vector_norm,
    "softmax_backward": _softmax_backward_scale,
    "log_softmax_backward": _log_softmax_backward_scale,
}

# Sums, means, norms, products, variances, running sums and softmaxes in blocks.

_LARGEST_EXPONENT = 2200
"""Beyond this exponent a float64 number is zero or infinite whatever its significand."""


def _sum_form(run: Run, a: Arguments) -> Any:
    return total(run, cast(a["self"], a), sums.reduced_axes(a), keepdim=bool(a.get("keepdim")))


def _mean_form(run: Run, a: Arguments) -> Any:
    return mean_of(run, cast(a["self"], a), sums.reduced_axes(a), keepdim=bool(a.get("keepdim")))


def _norm(run: Run, a: Arguments) -> Any:
    """Norms; those of other orders than 1 and 2 of numbers that are at most 1, so that no power leaves the range."""
    x, axes, keep, order = cast(a["self"], a), sums.reduced_axes(a), bool(a.get("keepdim")), sums.norm_order(a)
    if order in (1.0, 2.0) or x.numel() == 0:

        def reduce(part: Tensor, axis: int) -> Tensor:
            result: Tensor = run("aten.linalg_vector_norm.default", part, order, [axis], True)
            return result

        return reduce_axes(reduce, x, axes, keepdim=keep) if axes else x.abs()
    size = x.abs()
    top = (size.amax(axes, True) if order > 0 else size.amin(axes, True)) if axes else size
    ratio = run("aten.div.Tensor", size, torch.where(top > 0, top, 1.0))
    summed = total(run, run("aten.pow.Tensor_Scalar", ratio, order), axes, keepdim=True)
    result = run("aten.pow.Tensor_Scalar", summed, 1.0 / order) * top
    return result if keep or not axes else result.squeeze(tuple(axes))


def _prod_form(run: Run, a: Arguments) -> Any:
    """Products of significands, halved again and again, beside sums of exponents: neither overflows nor vanishes."""
    x = cast(a["self"], a)
    axes = sums.reduced_axes(a)
    significand, exponent = torch.frexp(x)
    exponent = exponent.long()
    for axis in axes:
        if x.shape[axis] == 0:
            significand, exponent = (
                torch.full_like(part.sum(axis, keepdim=True), fill) for part, fill in ((significand, 1), (exponent, 0))
            )
        while (length := significand.shape[axis]) > 1:
            half = length // 2
            product = significand.narrow(axis, 0, half) * significand.narrow(axis, half, half)
            added = exponent.narrow(axis, 0, half) + exponent.narrow(axis, half, half)
            if length % 2:
                product = torch.cat([product, significand.narrow(axis, length - 1, 1)], axis)
                added = torch.cat([added, exponent.narrow(axis, length - 1, 1)], axis)
            significand, carried = torch.frexp(product)
            exponent = added + carried
    exponent = torch.where(significand == 0, 0, exponent).clamp(-_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    half_exponent = exponent // 2
    result = torch.ldexp(torch.ldexp(significand, half_exponent), exponent - half_exponent)
    return result if a.get("keepdim") or not axes else result.squeeze(tuple(axes))


def _variance(run: Run, a: Arguments) -> Any:
    """Variances in two passes."""
    x, axes, keep = a["self"], sums.reduced_axes(a), bool(a.get("keepdim"))
    mean = mean_of(run, x, axes, keepdim=True)
    centred = x - mean
    correction = a.get("correction")
    count = math.prod(x.shape[axis] for axis in axes)
    kept = max(count - (1.0 if correction is None else float(correction)), 0.0)
    variance = run("aten.div.Scalar", total(run, centred.mul_(centred), axes, keepdim=keep), kept)
    return variance, mean if keep else mean.squeeze(tuple(axes))


def _deviation(run: Run, a: Arguments) -> Any:
    return run("aten.sqrt.default", _variance(run, a)[0])


def _cumsum_form(run: Run, a: Arguments) -> Any:
    """Running sums within blocks, and the running sums of the blocks before."""
    x, axis = cast(a["self"], a), a["dim"] % a["self"].dim()
    length = x.shape[axis]
    block = sums.block_length(length)
    blocks = -(-length // block)
    after = [0, 0] * (x.dim() - 1 - axis)
    padded = torch.constant_pad_nd(x, [*after, 0, blocks * block - length])
    within = run("aten.cumsum.default", cut(padded, axis, block), axis + 1)
    last = within.select(axis + 1, block - 1)
    running = run("aten.cumsum.default", last, axis).narrow(axis, 0, blocks - 1)
    before = torch.constant_pad_nd(running, [*after, 1, 0])
    return (within + before.unsqueeze(axis + 1)).flatten(axis, axis + 1).narrow(axis, 0, length)


def _distances(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the largest element over the axes, and the distances from it."""
    top = x.amax(tuple(axes), True) if axes else x
    # Where all are -inf there is no distance: the exponentials of -inf itself are the zeros that they should be.
    return top, x - torch.where(torch.isinf(top), 0.0, top)


def _softmax(run: Run, a: Arguments) -> Any:
    axis = a["dim"] % a["self"].dim()
    powers = run("aten.exp.default", _distances(a["self"], [axis])[1])
    return run("aten.div.Tensor", powers, total(run, powers, [axis], keepdim=True))


def _safe_softmax(run: Run, a: Arguments) -> Any:
    """Softmax that gives zeros where every element is -inf."""
    x = cast(a["self"], a)
    return torch.where(x.amax(a["dim"], True) == -math.inf, 0.0, _softmax(run, {**a, "self": x}))


def _log_softmax(run: Run, a: Arguments) -> Any:
    axis = a["dim"] % a["self"].dim()
    _, distance = _distances(a["self"], [axis])
    summed = total(run, run("aten.exp.default", distance), [axis], keepdim=True)
    return distance.sub_(run("aten.log.default", summed))


def _logsumexp(run: Run, a: Arguments) -> Any:
    axes = sums.reduced_axes(a)
    top, distance = _distances(a["self"], axes)
    summed = total(run, run("aten.exp.default", distance), axes, keepdim=True)
    result = torch.where(torch.isinf(top), top, top + run("aten.log.default", summed))
    return result if a.get("keepdim") or not axes else result.squeeze(tuple(axes))


def _softmax_backward_form(run: Run, a: Arguments) -> Any:
    g, y = a["grad_output"], a["output"]
    projected = total(run, g * y, [a["dim"] % g.dim()], keepdim=True)
    return (g - projected).mul_(y)


def _log_softmax_backward_form(run: Run, a: Arguments) -> Any:
    g = a["grad_output"]
    summed = total(run, g, [a["dim"] % g.dim()], keepdim=True)
    return run("aten.exp.default", a["output"]).mul_(summed).neg_().add_(g)


FORMS: dict[str, Form] = {
    "sum": _sum_form,
    "mean": _mean_form,
    **dict.fromkeys(("linalg_vector_norm", "norm"), _norm),
    "prod": _prod_form,
    "cumsum": _cumsum_form,
    "var": lambda run, a: _variance(run, a)[0],
    "var_mean": _variance,
    "std": _deviation,
    "_softmax": _softmax,
    "_safe_softmax": _safe_softmax,
    "_log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "_softmax_backward_data": _softmax_backward_form,
    "_log_softmax_backward_data": _log_softmax_backward_form,
}
"""Forms by operator kind."""


def _sum_defined(arguments: Arguments, profile: Profile) -> Tensor:
    axes = arguments.get("dim")
    # Of no axes, torch sums all; a tensor without any lets them be named.
    axes = axes if arguments["self"].dim() else None
    return exact_sums.total(arguments["self"], axes or None, keepdim=arguments.get("keepdim", False))


def _cumsum_defined(arguments: Arguments, profile: Profile) -> Tensor:
    x = arguments["self"]
    return exact_sums.running_total(x, arguments["dim"]) if x.dim() else exact_sums.total(x)


DEFINITIONS: Mapping[str, Definition] = {"sum": _sum_defined, "cumsum": _cumsum_defined}
"""By operator kind."""
