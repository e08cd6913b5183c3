"""Sums, variances, norms and the softmax family."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.additions import rows_over
from counterfoil_core.arithmetic.otherwise.rewriting.functions import quotient, square_root
from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, keeps_axes, reduced_axes, rule
from counterfoil_core.base.arrays import Array

_BLOCK = 64
"""Elements of a row that softmax takes at once in its one pass."""


@rule("sum")
def _sum(m: Machine, a: Arguments) -> Any:
    x = a.floats("self")
    return m.add.over(x, reduced_axes(a, x), keeps_axes(a))


@rule("mean")
def _mean(m: Machine, a: Arguments) -> Any:
    x = a.floats("self")
    axes = reduced_axes(a, x)
    return m.add.over(x, axes, keeps_axes(a)) * (1.0 / math.prod(x.shape[axis] for axis in axes if x.ndim))


@rule("cumsum")
def _cumsum(m: Machine, a: Arguments) -> Any:
    """Blocks of eight, or a tree of shifted sums (Hillis and Steele 1986)."""
    x = a.floats("self")
    if x.ndim == 0:
        return x
    moved = np.moveaxis(x, a["dim"], -1)
    length = moved.shape[-1]
    if m.other:
        sums = moved.copy()
        shift = 1
        while shift < length:
            sums[..., shift:] = sums[..., shift:] + sums[..., :-shift].copy()
            shift *= 2
    else:
        padded = np.zeros((*moved.shape[:-1], -(-length // 8) * 8), x.dtype)
        padded[..., :length] = moved
        blocks = np.cumsum(padded.reshape(*moved.shape[:-1], -1, 8), -1)
        before = np.cumsum(blocks[..., -1], -1)
        before = np.concatenate([np.zeros_like(before[..., :1]), before[..., :-1]], -1)
        sums = (blocks + before[..., None]).reshape(padded.shape)[..., :length]
    return np.moveaxis(sums, -1, a["dim"])


@rule("var", "std", "var_mean")
def _var(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    axes = sorted(axis % x.ndim for axis in reduced_axes(a, x)) if x.ndim else []
    rows, kept = rows_over(x, axes)
    mean, spread = m.add.moments(rows)
    correction = 1 if a["correction"] is None else a["correction"]
    variance = spread / max(rows.shape[1] - correction, 0)

    def shaped(values: Array) -> Array:
        result: Array = values.reshape([x.shape[axis] for axis in kept])
        return np.expand_dims(result, tuple(axes)) if keeps_axes(a) else result

    if a.kind == "var_mean":
        return [shaped(variance), shaped(mean)]
    return shaped(square_root(variance) if a.kind == "std" else variance)


@rule("linalg_vector_norm", "norm")
def _norm(m: Machine, a: Arguments) -> Any:
    x = np.abs(a.floats("self"))
    axes = reduced_axes(a, x)
    given = a["ord"] if a.kind == "linalg_vector_norm" else a["p"]
    order = 2.0 if given is None else float(given)
    if math.isinf(order):
        chosen = tuple(axes)
        return x.max(chosen, keepdims=keeps_axes(a)) if order > 0 else x.min(chosen, keepdims=keeps_axes(a))
    if order == 0:
        return m.add.over((x != 0).astype(x.dtype), axes, keeps_axes(a))
    if order == 1:
        return m.add.over(x, axes, keeps_axes(a))
    # Those of other orders are computed in a form of our own, whose pieces come here.
    return square_root(m.add.over(x * x, axes, keeps_axes(a)))


# Softmax.


def _exponentials(m: Machine, rows: Array) -> tuple[Array, Array]:
    """The largest of each row, or 0 if it is infinite, and the sum of the exponentials of what lies below it."""
    if m.other:
        top = rows.max(1)
        top = np.where(np.isfinite(top), top, 0.0)
        return top, m.add.rows(m.f["exp"](rows - top[:, None]))
    # In one pass (Milakov and Gimelshein 2018): what was added so far shrinks when something larger comes.
    top = np.full(len(rows), -np.inf, rows.dtype)
    total = np.zeros(len(rows), rows.dtype)
    for start in range(0, rows.shape[1], _BLOCK):
        block = rows[:, start : start + _BLOCK]
        higher = np.maximum(top, block.max(1))
        shift = np.where(np.isfinite(higher), higher, 0.0)
        shrunk = np.where(np.isfinite(top), m.f["exp"](top - shift), 0.0)
        total = total * shrunk + m.add.rows(m.f["exp"](block - shift[:, None]))
        top = higher
    return np.where(np.isfinite(top), top, 0.0), total


@rule("logsumexp")
def _logsumexp(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    axes = reduced_axes(a, x)
    rows, kept = rows_over(x, axes)
    top, total = _exponentials(m, rows)
    result = (top + m.f["log"](total)).reshape([x.shape[axis] for axis in kept])
    return np.expand_dims(result, tuple(axis % x.ndim for axis in axes)) if keeps_axes(a) else result


@rule("_softmax", "_safe_softmax", "_log_softmax")
def _softmax(m: Machine, a: Arguments) -> Any:
    x = np.atleast_1d(a["self"])
    moved = np.moveaxis(x, a["dim"], -1)
    rows = moved.reshape(-1, moved.shape[-1])
    top, total = _exponentials(m, rows)
    if a.kind == "_log_softmax":
        result = rows - (top + m.f["log"](total))[:, None]
    else:
        powers = m.f["exp"](rows - top[:, None])
        result = quotient(powers, total[:, None]) if m.other else powers / total[:, None]
        if a.kind == "_safe_softmax":
            masked: Array = rows.max(1, keepdims=True) == -np.inf
            result = np.where(masked, 0.0, result)
    return np.moveaxis(result.reshape(moved.shape), -1, a["dim"]).reshape(a["self"].shape)


@rule("_softmax_backward_data", "_log_softmax_backward_data")
def _softmax_backward(m: Machine, a: Arguments) -> Any:
    g, y = np.atleast_1d(a["grad_output"]), np.atleast_1d(a["output"])
    if a.kind == "_log_softmax_backward_data":
        result = g - m.f["exp"](y) * m.add.over(g, [a["dim"]], True)
    else:
        inner = m.add.over(g * y, [a["dim"]], True)
        result = g * y - y * inner if m.other else y * (g - inner)
    return result.reshape(a["grad_output"].shape)
