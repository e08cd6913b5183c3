"""Losses and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, rule
from counterfoil_core.base.arrays import Array


def _reduced(m: Machine, a: Arguments, terms: Array) -> Array:
    if a["reduction"] == 0:
        return terms
    total = m.add.over(terms, list(range(terms.ndim)))
    return total * (1.0 / terms.size) if a["reduction"] == 1 else total


@rule("mse_loss")
def _mse(m: Machine, a: Arguments) -> Any:
    difference = a["self"] - a["target"]
    return _reduced(m, a, difference * difference)


@rule("smooth_l1_loss")
def _smooth_l1(m: Machine, a: Arguments) -> Any:
    size, beta = np.abs(a["self"] - a["target"]), float(a["beta"])
    if beta == 0:
        return _reduced(m, a, size)
    return _reduced(m, a, np.where(size < beta, size * (size / (2.0 * beta)), size - 0.5 * beta))


@rule("huber_loss")
def _huber(m: Machine, a: Arguments) -> Any:
    size, delta = np.abs(a["self"] - a["target"]), float(a["delta"])
    return _reduced(m, a, np.where(size <= delta, 0.5 * (size * size), delta * size - 0.5 * delta * delta))


@rule("binary_cross_entropy")
def _binary_cross_entropy(m: Machine, a: Arguments) -> Any:
    x, target = a["self"], a["target"]
    first, second = np.maximum(m.f["log"](x), -100.0), np.maximum(m.f["log1p"](-x), -100.0)
    terms = -(target * first + (1.0 - target) * second)
    return _reduced(m, a, terms if a["weight"] is None else terms * a["weight"])


def _share(a: Arguments) -> float:
    return 1.0 / a["self"].size if a["reduction"] == 1 else 1.0


@rule("mse_loss_backward")
def _mse_backward(m: Machine, a: Arguments) -> Any:
    return (a["self"] - a["target"]) * (a["grad_output"] * (2.0 * _share(a)))


@rule("smooth_l1_loss_backward")
def _smooth_l1_backward(m: Machine, a: Arguments) -> Any:
    difference, beta = a["self"] - a["target"], float(a["beta"])
    slope = np.clip(difference / beta, -1.0, 1.0) if beta else np.where(difference > 0, 1.0, -1.0)
    return slope * (a["grad_output"] * _share(a))


@rule("huber_loss_backward")
def _huber_backward(m: Machine, a: Arguments) -> Any:
    delta = float(a["delta"])
    return np.clip(a["self"] - a["target"], -delta, delta) * (a["grad_output"] * _share(a))


@rule("binary_cross_entropy_backward")
def _binary_cross_entropy_backward(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    least = x.dtype.type(np.float32(1e-12))
    factor = a["grad_output"] * _share(a) * (1.0 if a["weight"] is None else a["weight"])
    return (x - a["target"]) * factor / np.maximum(x * (1.0 - x), least)


def _chosen(a: Arguments) -> tuple[Array, Array, Array]:
    """The rows ``[n, classes]`` of nll_loss, its labels ``[n]``, and the weight of each, 0 where it is ignored."""
    x = a["self"]
    rows = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]) if x.ndim > 1 else x.reshape(1, -1)
    labels = a["target"].reshape(-1)
    counted = labels != a["ignore_index"]
    safe = np.where(counted, labels, 0)
    weights = np.ones(len(safe), x.dtype) if a["weight"] is None else a["weight"][safe]
    return rows, safe, np.where(counted, weights, 0.0)


@rule("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss(m: Machine, a: Arguments) -> Any:
    rows, labels, weights = _chosen(a)
    terms = np.where(weights == 0, 0.0, -weights * rows[np.arange(len(rows)), labels])
    if a["reduction"] == 0:
        return [terms.reshape(a["target"].shape), np.zeros((), rows.dtype)]
    total = m.add.rows(weights[None])[0]
    loss = m.add.rows(terms[None])[0]
    return [loss / total if a["reduction"] == 1 else loss, total]


@rule("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    rows, labels, weights = _chosen(a)
    g = np.broadcast_to(a["grad_output"].reshape(-1), labels.shape)
    scaled = weights * (g * (1.0 / a["total_weight"])) if a["reduction"] == 1 else weights * g
    out = np.zeros_like(rows)
    out[np.arange(len(rows)), labels] = np.where(weights == 0, 0.0, -scaled)
    if x.ndim < 2:
        return out.reshape(x.shape)
    moved = out.reshape(x.shape[0], *x.shape[2:], x.shape[1])
    return np.moveaxis(moved, -1, 1)
