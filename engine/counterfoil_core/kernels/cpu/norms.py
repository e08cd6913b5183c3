"""Layer norm, batch norm and their gradients in compiled loops: forms of :mod:`.arithmetic.families`.

A row, or a channel, is read from memory once and lies in the cache while its mean, its variance and its results are
computed. Every element is computed by the operations of the form in their order; sums are added in an order of their
own (:mod:`counterfoil_core.kernels.cpu.pairsums`), in which a term passes through no more additions than in blocks, so
that every bound holds. The order is the same on every machine and with every number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.pairsums import ROOM, total
from counterfoil_core.kernels.cpu.regions import Region, claimed, entered, floats_at, left, record_at

Arguments = Mapping[str, Any]

_FEW = 4
"""Rows that are added one after another; their sums are added in pairs."""
_PART = 1 << 14
"""Elements that a thread takes at a time, at the least one row or channel."""
_SHORT_RUN = 256
"""Elements side by side below which a channel is first gathered."""


def additions_of_rows(rows: int) -> int:
    """Return the same for a sum over rows, which the gradients of weight and bias are."""
    return min(max(rows - 1, 0), _FEW - 1 + (-(-rows // _FEW) - 1).bit_length())


def takes_layer_norm(a: Arguments) -> bool:
    """Return whether :func:`layer_norm` takes these arguments: a stranger's program may hold any."""
    x, shape = a["input"], tuple(a["normalized_shape"])
    return _rows_fit(x, shape) and _are((a["weight"], shape), (a["bias"], shape))


def takes_layer_norm_backward(a: Arguments) -> bool:
    """Return whether :func:`layer_norm_backward` takes these arguments."""
    x, shape = a["input"], tuple(a["normalized_shape"])
    statistics = (*x.shape[: x.dim() - len(shape)], *[1] * len(shape))
    wanted = ((a["grad_out"], x.shape), (a["mean"], statistics), (a["rstd"], statistics), (a["weight"], shape))
    return _rows_fit(x, shape) and a["mean"] is not None and a["rstd"] is not None and _are(*wanted)


def takes_batch_norm(a: Arguments) -> bool:
    """Return whether :func:`batch_norm` takes these arguments."""
    x, running = a["input"], [a.get("running_mean"), a.get("running_var")]
    if x.dim() < 2 or (running[0] is None) != (running[1] is None) or ("running_mean" in a and running[0] is None):
        return False
    return _are((x, x.shape), *((each, x.shape[1:2]) for each in (a["weight"], a["bias"], *running)))


def takes_batch_norm_backward(a: Arguments) -> bool:
    """Return whether :func:`batch_norm_backward` takes these arguments."""
    x, statistics = a["input"], [a["save_mean"], a["save_invstd"]]
    if x.dim() < 2 or any(each is None for each in statistics) or not a["train"]:
        return False
    return _are((x, x.shape), (a["grad_out"], x.shape), *((e, x.shape[1:2]) for e in (*statistics, a["weight"])))


def _rows_fit(x: Tensor, shape: tuple[int, ...]) -> bool:
    return 0 < len(shape) <= x.dim() and _are((x, (*x.shape[: x.dim() - len(shape)], *shape)))


def _are(*wanted: tuple[Tensor | None, Sequence[int]]) -> bool:
    """Whether tensors are float64 in the memory of the CPU, not empty, and of these shapes: loops look at none."""
    for x, shape in wanted:
        if x is not None and (type(x) is not Tensor or x.dtype is not torch.float64 or not x.is_cpu or not x.numel()):
            return False
        if x is not None and tuple(x.shape) != tuple(shape):
            return False
    return True


def layer_norm(a: Arguments) -> tuple[Tensor, Tensor, Tensor]:
    """Layer norm: the result, means and reciprocal deviations; arguments as ATen's operator has them."""
    x = a["input"].contiguous()
    length = math.prod(a["normalized_shape"])
    rows = x.numel() // length
    outer = x.shape[: x.dim() - len(a["normalized_shape"])]
    statistics = (*outer, *[1] * len(a["normalized_shape"]))
    out, mean, rstd = _empty(x.shape), x.new_empty(statistics), x.new_empty(statistics)
    weight, bias = _dense(a["weight"]), _dense(a["bias"])
    _run(_LAYER_NORM, rows, length, (x, weight, bias, out, mean, rstd), a["eps"])
    return out, mean, rstd


def layer_norm_backward(a: Arguments) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of layer norm by its input, weight and bias; None for those that are not asked for."""
    g, x, mask = a["grad_out"].contiguous(), a["input"].contiguous(), a["output_mask"]
    shape = tuple(a["normalized_shape"])
    length = math.prod(shape)
    rows = x.numel() // length
    mean, rstd = a["mean"].contiguous(), a["rstd"].contiguous()
    to_input = _empty(x.shape) if mask[0] else None
    parts = -(-rows // _rows_of_part(length))
    to_weight, to_bias = (_empty((parts, length)) if asked else None for asked in mask[1:])
    _run(_LAYER_NORM_BACKWARD, rows, length, (g, x, mean, rstd, _dense(a["weight"]), to_input, to_weight, to_bias))
    return to_input, _joined(to_weight, shape), _joined(to_bias, shape)


def batch_norm(a: Arguments) -> tuple[Tensor, ...]:
    """Batch norm in training: the result, means and reciprocal deviations, and new running statistics if there are."""
    x = a["input"].contiguous()
    channels = x.shape[1]
    out = _empty(x.shape)
    running = [_dense(a[name]) for name in ("running_mean", "running_var")] if "running_mean" in a else [None, None]
    mean, rstd, *new = (x.new_empty(channels) for _ in range(4 if running[0] is not None else 2))
    tensors = (x, _dense(a["weight"]), _dense(a["bias"]), out, mean, rstd, *running, *(new or (None, None)))
    _run_channels(_BATCH_NORM, x, tensors, a["eps"], a["momentum"])
    return (out, mean, rstd, *new)


def batch_norm_backward(a: Arguments) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of batch norm in training by its input, weight and bias; None for those that are not asked for."""
    g, x, mask = a["grad_out"].contiguous(), a["input"].contiguous(), a["output_mask"]
    to_input = _empty(x.shape) if mask[0] else None
    to_weight, to_bias = (x.new_empty(x.shape[1]) if asked else None for asked in mask[1:])
    mean, rstd = a["save_mean"].contiguous(), a["save_invstd"].contiguous()
    _run_channels(_BATCH_NORM_BACKWARD, x, (g, x, mean, rstd, _dense(a["weight"]), to_input, to_weight, to_bias))
    return to_input, to_weight, to_bias


def _empty(shape: Sequence[int]) -> Tensor:
    return buffers.empty(shape, torch.float64)


def _dense(x: Tensor | None) -> Tensor | None:
    return None if x is None else x.contiguous()


def _rows_of_part(length: int) -> int:
    """Return the rows of a part: a power of two, so that the sums of parts are added as those within one."""
    return _FEW << max(_PART // (_FEW * length), 1).bit_length() - 1


def _joined(partial: Tensor | None, shape: tuple[int, ...]) -> Tensor | None:
    """Add the sums of parts ``[parts, n]`` in pairs."""
    if partial is None:
        return None
    while len(partial) > 1:
        even = len(partial) // 2 * 2
        added = partial[0:even:2] + partial[1:even:2]
        partial = torch.cat([added, partial[even:]]) if even < len(partial) else added
    return partial.reshape(shape)


_GIVEN = [("g", "u8"), ("x", "u8"), ("means", "u8"), ("rstds", "u8"), ("weight", "u8")]
_GRADIENTS = [("to_input", "u8"), ("to_weight", "u8"), ("to_bias", "u8")]
_RESULTS = [("x", "u8"), ("weight", "u8"), ("bias", "u8"), ("out", "u8"), ("means", "u8"), ("rstds", "u8")]
_OF_ROWS = [("parts", "i8"), ("rows", "i8"), ("length", "i8"), ("of_part", "i8")]
_OF_CHANNELS = [("batch", "i8"), ("channels", "i8"), ("length", "i8")]
_STATISTICS = [("old_mean", "u8"), ("old_variance", "u8"), ("new_mean", "u8"), ("new_variance", "u8")]
_NORM_OF_ROWS = np.dtype([*_OF_ROWS, ("eps", "f8"), *_RESULTS])
_GRADIENTS_OF_ROWS = np.dtype([*_OF_ROWS, *_GIVEN, *_GRADIENTS])
_NORM_OF_CHANNELS = np.dtype([*_OF_CHANNELS, ("eps", "f8"), ("momentum", "f8"), *_RESULTS, *_STATISTICS])
_GRADIENTS_OF_CHANNELS = np.dtype([*_OF_CHANNELS, *_GIVEN, *_GRADIENTS])
"""Jobs: sizes, numbers, and addresses of tensors, 0 for none."""


def _addresses(tensors: tuple[Tensor | None, ...]) -> list[int]:
    return [0 if x is None else x.data_ptr() for x in tensors]


def _run(region: Region, rows: int, length: int, tensors: tuple[Tensor | None, ...], *numbers: float) -> None:
    of_part = _rows_of_part(length)
    parts = -(-rows // of_part)
    region.run(min(torch.get_num_threads(), parts), parts, rows, length, of_part, *numbers, *_addresses(tensors))


def _run_channels(region: Region, x: Tensor, tensors: tuple[Tensor | None, ...], *numbers: float) -> None:
    batch, channels = x.shape[:2]
    threads = torch.get_num_threads() if x.numel() >= 2 * _PART else 1
    length = x.numel() // (batch * channels)
    region.run(min(threads, channels), batch, channels, length, *numbers, *_addresses(tensors))


# Compiled.


@kernel(nogil=True, error_model="numpy")
def _take_row(levels: Any, row: Any, done: Any) -> None:
    """Add a row to the sum of the ``done`` rows before it.

    ``levels``, ``[n, length]``, holds sums in the making: the first that of up to four rows, each further one that of
    twice as many, where the number of fours has that bit.
    """
    sum_of_few = levels[0]
    if done % _FEW:
        for i in range(row.size):
            sum_of_few[i] += row[i]
    else:
        for i in range(row.size):
            sum_of_few[i] = row[i]
    if done % _FEW == _FEW - 1:
        level, fours = 1, done // _FEW
        while fours & 1:
            met = levels[level]
            for i in range(row.size):
                sum_of_few[i] = met[i] + sum_of_few[i]
            level, fours = level + 1, fours >> 1
        target = levels[level]
        for i in range(row.size):
            target[i] = sum_of_few[i]


@kernel(nogil=True, error_model="numpy")
def _finish_rows(levels: Any, target: Any, done: Any) -> None:
    """Write the sum of the ``done`` rows that were taken."""
    level, fours, begun = 1, done // _FEW, done % _FEW != 0
    if begun:
        sum_of_few = levels[0]
        for i in range(target.size):
            target[i] = sum_of_few[i]
    while fours:
        if fours & 1:
            met = levels[level]
            if begun:
                for i in range(target.size):
                    target[i] = met[i] + target[i]
            else:
                for i in range(target.size):
                    target[i] = met[i]
            begun = True
        level, fours = level + 1, fours >> 1


@kernel(nogil=True, error_model="numpy")
def _scaled(target: Any, values: Any, r: Any, has_weight: Any, weight: Any, has_bias: Any, bias: Any) -> None:
    """Multiply by r and by the weight, and add the bias; values that lay in the target would not be vectorised."""
    if has_weight and has_bias:
        for i in range(target.size):
            target[i] = values[i] * r * weight[i] + bias[i]
    elif has_weight:
        for i in range(target.size):
            target[i] = values[i] * r * weight[i]
    elif has_bias:
        for i in range(target.size):
            target[i] = values[i] * r + bias[i]
    else:
        for i in range(target.size):
            target[i] = values[i] * r


@kernel(nogil=True, error_model="numpy")
def _squares(centred: Any, squares: Any, values: Any, mean: Any) -> None:
    """Write differences from the mean, and their squares."""
    for i in range(values.size):
        d = values[i] - mean
        centred[i] = d
        squares[i] = d * d


@kernel(nogil=True, error_model="numpy")
def _normalise(normalised: Any, products: Any, gradient: Any, values: Any, mean: Any, rstd: Any) -> None:
    """Write normalised values, and the gradient times them."""
    for i in range(values.size):
        h = (values[i] - mean) * rstd
        normalised[i] = h
        products[i] = gradient[i] * h


@kernel(nogil=True, error_model="numpy")
def _multiply(target: Any, one: Any, other: Any) -> None:
    for i in range(target.size):
        target[i] = one[i] * other[i]


@kernel(nogil=True, error_model="numpy")
def _row_gradient(target: Any, weighted: Any, normalised: Any, share: Any, projected: Any, rstd: Any) -> None:
    """Write the gradient of a row: what arrives, less its mean and its projection on the row, times rstd."""
    for i in range(target.size):
        target[i] = ((weighted[i] - share) - normalised[i] * projected) * rstd


@kernel(nogil=True, error_model="numpy")
def _layer_norm_rows(pointer: Any) -> None:
    job = record_at(pointer, _NORM_OF_ROWS)
    rows, length, of_part, eps = job.rows, job.length, job.of_part, job.eps
    x, out = floats_at(job.x, rows * length), floats_at(job.out, rows * length)
    weight, bias = floats_at(job.weight, length), floats_at(job.bias, length)
    has_weight, has_bias = job.weight != 0, job.bias != 0
    means, rstds = floats_at(job.means, rows), floats_at(job.rstds, rows)
    centred, squares = np.empty(length, np.float64), np.empty(length, np.float64)
    room = np.empty(ROOM, np.float64)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        for row in range(part * of_part, min(rows, (part + 1) * of_part)):
            values, target = x[row * length : (row + 1) * length], out[row * length : (row + 1) * length]
            mean = total(values, room) / np.float64(length)
            _squares(centred, squares, values, mean)
            rstd = 1.0 / np.sqrt(total(squares, room) / np.float64(length) + eps)
            _scaled(target, centred, rstd, has_weight, weight, has_bias, bias)
            means[row], rstds[row] = mean, rstd


@kernel(nogil=True, error_model="numpy")
def _layer_norm_gradients(pointer: Any) -> None:
    job = record_at(pointer, _GRADIENTS_OF_ROWS)
    parts, rows, length, of_part = job.parts, job.rows, job.length, job.of_part
    g, x = floats_at(job.g, rows * length), floats_at(job.x, rows * length)
    means, rstds, weight = floats_at(job.means, rows), floats_at(job.rstds, rows), floats_at(job.weight, length)
    has_weight = job.weight != 0
    wants_input, wants_weight, wants_bias = job.to_input != 0, job.to_weight != 0, job.to_bias != 0
    to_input = floats_at(job.to_input, rows * length)
    to_weight, to_bias = floats_at(job.to_weight, parts * length), floats_at(job.to_bias, parts * length)
    levels = 2
    while _FEW << (levels - 2) < of_part:
        levels += 1
    weights, biases = np.empty((levels, length), np.float64), np.empty((levels, length), np.float64)
    normalised, products = np.empty(length, np.float64), np.empty(length, np.float64)
    weighted, slopes = np.empty(length, np.float64), np.empty(length, np.float64)
    room = np.empty(ROOM, np.float64)
    while True:
        part = claimed(pointer)
        if part >= parts:
            break
        done = 0
        for row in range(part * of_part, min(rows, (part + 1) * of_part)):
            gradient, values = g[row * length : (row + 1) * length], x[row * length : (row + 1) * length]
            mean, rstd = means[row], rstds[row]
            _normalise(normalised, products, gradient, values, mean, rstd)
            if wants_weight:
                _take_row(weights, products, done)
            if wants_bias:
                _take_row(biases, gradient, done)
            done += 1
            if not wants_input:
                continue
            if has_weight:
                _multiply(weighted, gradient, weight)
                _multiply(slopes, products, weight)
            projected = total(slopes if has_weight else products, room) / np.float64(length)
            given_on = weighted if has_weight else gradient
            share = total(given_on, room) / np.float64(length)
            target = to_input[row * length : (row + 1) * length]
            _row_gradient(target, given_on, normalised, share, projected, rstd)
        if wants_weight:
            _finish_rows(weights, to_weight[part * length : (part + 1) * length], done)
        if wants_bias:
            _finish_rows(biases, to_bias[part * length : (part + 1) * length], done)


@kernel(nogil=True, error_model="numpy")
def _gather(target: Any, x: Any, first: Any, step: Any, length: Any) -> None:
    """Copy the runs of a channel side by side."""
    for n in range(target.size // length):
        source = x[first + n * step : first + n * step + length]
        run = target[n * length : (n + 1) * length]
        for i in range(length):
            run[i] = source[i]


@kernel(nogil=True, error_model="numpy")
def _batch_norm_channels(pointer: Any) -> None:
    job = record_at(pointer, _NORM_OF_CHANNELS)
    batch, channels, length = job.batch, job.channels, job.length
    eps, momentum = job.eps, job.momentum
    count, step = batch * length, channels * length
    x, out = floats_at(job.x, batch * step), floats_at(job.out, batch * step)
    weight, bias = floats_at(job.weight, channels), floats_at(job.bias, channels)
    has_weight, has_bias, has_running = job.weight != 0, job.bias != 0, job.old_mean != 0
    means, rstds = floats_at(job.means, channels), floats_at(job.rstds, channels)
    old_mean, old_variance = floats_at(job.old_mean, channels), floats_at(job.old_variance, channels)
    new_mean, new_variance = floats_at(job.new_mean, channels), floats_at(job.new_variance, channels)
    # Runs of a channel, or all of it gathered as one.
    runs, long = (1, count) if length < _SHORT_RUN else (batch, length)
    gathered, squares, sums = np.empty(long, np.float64), np.empty(long, np.float64), np.empty(runs, np.float64)
    room = np.empty(ROOM, np.float64)
    while True:
        channel = claimed(pointer)
        if channel >= channels:
            break
        first = channel * length
        if long != length:
            _gather(gathered, x, first, step, length)
        for n in range(runs):
            sums[n] = total(gathered if long != length else x[first + n * step : first + n * step + length], room)
        mean = total(sums, room) / np.float64(count)
        for n in range(runs):
            values = gathered if long != length else x[first + n * step : first + n * step + length]
            _squares(gathered, squares, values, mean)
            sums[n] = total(squares, room)
        variance = total(sums, room) / np.float64(count)
        rstd = 1.0 / np.sqrt(variance + eps)
        w, b = weight[channel] if has_weight else 1.0, bias[channel] if has_bias else 0.0
        for n in range(batch):
            start = first + n * step
            target, values = out[start : start + length], x[start : start + length]
            if has_weight and has_bias:
                for i in range(length):
                    target[i] = (values[i] - mean) * rstd * w + b
            elif has_bias:
                for i in range(length):
                    target[i] = (values[i] - mean) * rstd + b
            else:
                for i in range(length):
                    target[i] = (values[i] - mean) * rstd * w
        means[channel], rstds[channel] = mean, rstd
        if has_running:
            unbiased = variance * (np.float64(count) / np.float64(max(count - 1, 1)))
            new_mean[channel] = old_mean[channel] * (1.0 - momentum) + mean * momentum
            new_variance[channel] = old_variance[channel] * (1.0 - momentum) + unbiased * momentum


@kernel(nogil=True, error_model="numpy")
def _batch_norm_gradients(pointer: Any) -> None:
    job = record_at(pointer, _GRADIENTS_OF_CHANNELS)
    batch, channels, length = job.batch, job.channels, job.length
    count, step = batch * length, channels * length
    g, x = floats_at(job.g, batch * step), floats_at(job.x, batch * step)
    means, rstds = floats_at(job.means, channels), floats_at(job.rstds, channels)
    weight, has_weight = floats_at(job.weight, channels), job.weight != 0
    wants_input, wants_weight, wants_bias = job.to_input != 0, job.to_weight != 0, job.to_bias != 0
    to_input = floats_at(job.to_input, batch * step)
    to_weight, to_bias = floats_at(job.to_weight, channels), floats_at(job.to_bias, channels)
    runs, long = (1, count) if length < _SHORT_RUN else (batch, length)
    gathered, products = np.empty(long, np.float64), np.empty(long, np.float64)
    sums, projections = np.empty(runs, np.float64), np.empty(runs, np.float64)
    room = np.empty(ROOM, np.float64)
    while True:
        channel = claimed(pointer)
        if channel >= channels:
            break
        first, mean, rstd = channel * length, means[channel], rstds[channel]
        if long != length:
            _gather(products, x, first, step, length)
            _gather(gathered, g, first, step, length)
        for n in range(runs):
            gradient = gathered if long != length else g[first + n * step : first + n * step + length]
            values = products if long != length else x[first + n * step : first + n * step + length]
            for i in range(long):
                products[i] = gradient[i] * (values[i] - mean)
            sums[n], projections[n] = total(gradient, room), total(products, room)
        summed, projected = total(sums, room), total(projections, room)
        if wants_weight:
            to_weight[channel] = projected * rstd
        if wants_bias:
            to_bias[channel] = summed
        if not wants_input:
            continue
        factor = rstd * weight[channel] if has_weight else rstd
        share = summed / np.float64(count)
        slope = projected * rstd * rstd / np.float64(count)
        for n in range(batch):
            start = first + n * step
            gradient, values, target = (
                g[start : start + length], x[start : start + length], to_input[start : start + length]
            )  # fmt: skip
            for i in range(length):
                target[i] = ((gradient[i] - share) - (values[i] - mean) * slope) * factor


def _layer_norm(pointer: Any) -> None:
    entered(pointer)
    _layer_norm_rows(pointer)
    left(pointer)


def _layer_norm_backward(pointer: Any) -> None:
    entered(pointer)
    _layer_norm_gradients(pointer)
    left(pointer)


def _batch_norm(pointer: Any) -> None:
    entered(pointer)
    _batch_norm_channels(pointer)
    left(pointer)


def _batch_norm_backward(pointer: Any) -> None:
    entered(pointer)
    _batch_norm_gradients(pointer)
    left(pointer)


_LAYER_NORM = Region(_layer_norm, _NORM_OF_ROWS)
_LAYER_NORM_BACKWARD = Region(_layer_norm_backward, _GRADIENTS_OF_ROWS)
_BATCH_NORM = Region(_batch_norm, _NORM_OF_CHANNELS)
_BATCH_NORM_BACKWARD = Region(_batch_norm_backward, _GRADIENTS_OF_CHANNELS)
