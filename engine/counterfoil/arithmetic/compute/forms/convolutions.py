"""Gradients of convolutions in parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.arithmetic.compute.buffered import samples_at_once
from counterfoil.arithmetic.compute.forms.pieces import Form, Run, natively, total
from counterfoil.kernels import buffers
from counterfoil.operators import sums
from counterfoil.operators.sums import Arguments


def _convolution_backward(run: Run, a: Arguments) -> Any:
    """Gradients of convolutions: the weight's in parts of samples, or of rows of a sample; the bias's in blocks."""
    g, x, weight, mask = a["grad_output"], a["input"], a["weight"], a["output_mask"]
    settings = (a["stride"], a["padding"], a["dilation"], a["transposed"], a["output_padding"], a["groups"])

    def library(g: Tensor, x: Tensor, settings: Sequence[Any], mask: Sequence[bool]) -> Any:
        return run("aten.convolution_backward.default", g, x, weight, a["bias_sizes"], *settings, mask)

    results: list[Any] = [None, None, None]
    if mask[0]:
        count = samples_at_once(x, weight, None, settings, math.prod(g.shape[2:])) if run is natively else None
        if count is None or count >= len(x) or not g.is_contiguous():
            results[0] = library(g, x, settings, [True, False, False])[0]
        else:
            results[0] = buffers.empty(x.shape, x.dtype)
            for first in range(0, len(x), count):
                some = slice(first, first + count)
                results[0][some] = library(g[some], x[some], settings, [True, False, False])[0]
    if mask[1]:
        for part_g, part_x, part_settings in _weight_parts(a, settings):
            part = library(part_g, part_x, part_settings, [False, True, False])[1]
            results[1] = part if results[1] is None else results[1].add_(part)
    if mask[2]:
        results[2] = total(run, g, [axis for axis in range(g.dim()) if axis != 1])
    return results


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
