"""Convolutions in compiled loops, and gradients of convolutions in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.forms.pieces import Form, Run, natively, total
from counterfoil_core.kernels.cpu import convolving
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments


def looped(a: Arguments) -> Tensor | None:
    """Compute a convolution in compiled loops; None where they do not take its arguments."""
    convolution, given = convolving.convolution_of(a), (a["input"], a["weight"], a["bias"])
    return convolution.output(*given) if convolution is not None and convolution.takes(*given) else None


def looped_backward(a: Arguments) -> list[Any] | None:
    """Compute the gradients of a convolution in compiled loops; None where they do not take its arguments."""
    g, x, weight, mask = a["grad_output"], a["input"], a["weight"], a["output_mask"]
    convolution = convolving.convolution_of(a)
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
        results[2] = convolving.by_bias(g)
    return results


def _convolution_backward(run: Run, a: Arguments) -> Any:
    """Gradients of convolutions: the weight's in parts of samples, or of rows of a sample; the bias's in blocks."""
    if run is natively and (found := looped_backward(a)) is not None:
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


FORMS: dict[str, Form] = {"convolution_backward": _convolution_backward}
"""Forms by operator kind."""
