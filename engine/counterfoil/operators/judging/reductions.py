"""Sums, means, products, variances, norms, the softmax family and losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from counterfoil.operators.judging.forms import FUNCTION_COST, Call, ExactOutput, axes_of, exact_form, rows_over
from counterfoil.operators.judging.numbers import MP, Array, Fixed, Number, dyadic, exact_dot, exact_sum, fixed, number


@exact_form("sum", "mean")
def _sum(call: Call) -> ExactOutput:
    x = call["self"]
    rows = rows_over(x, axes_of(call.get("dim"), x.ndim))

    def element(index: int) -> Number:
        total = exact_sum(rows[index])
        return total / rows.shape[1] if call.kind == "mean" else total

    return ExactOutput(element, rows.shape[1])


@exact_form("cumsum")
def _cumsum(call: Call) -> ExactOutput:
    x = call["self"]
    axis = axes_of(call["dim"], x.ndim)

    def element(index: int) -> Number:
        if not axis:
            return number(x[()])
        place: list[int | slice] = list(call.place(index))
        place[axis[0]] = slice(0, call.place(index)[axis[0]] + 1)
        return fixed(x[tuple(place)]).total

    return ExactOutput(element, x.shape[axis[0]] if axis else 1)


@exact_form("prod")
def _prod(call: Call) -> ExactOutput:
    x = call["self"]
    rows = rows_over(x, axes_of(call.get("dim"), x.ndim))
    return ExactOutput(lambda index: fixed(rows[index]).product, 20 * rows.shape[1])


def spread(row: Fixed) -> Number:
    """Sum of the squared distances from the mean."""
    count, total = len(row.integers), int(row.integers.sum())
    squares = int((row.integers * row.integers).sum())
    return dyadic(count * squares - total * total, 2 * row.exponent) / count


@exact_form("var", "std", "var_mean")
def _var(call: Call) -> ExactOutput:
    x = call["self"]
    rows = rows_over(x, axes_of(call["dim"], x.ndim))
    correction = 1 if call["correction"] is None else call["correction"]

    def element(index: int) -> Number:
        row = fixed(rows[index])
        if call.output == 1:
            return row.total / rows.shape[1]
        variance = spread(row) / (rows.shape[1] - number(correction))
        return MP.sqrt(variance) if call.kind == "std" else variance

    return ExactOutput(element, 2 * rows.shape[1])


@exact_form("linalg_vector_norm", "norm")
def _norm(call: Call) -> ExactOutput:
    x = call["self"]
    given = call["ord"] if call.kind == "linalg_vector_norm" else call["p"]
    order = 2.0 if given is None else float(given)
    rows = rows_over(x, axes_of(call.get("dim"), x.ndim))

    def element(index: int) -> Number:
        if order == 2:
            return MP.sqrt(exact_dot(rows[index], rows[index]))
        if order == 1:
            return exact_sum(np.abs(rows[index]))
        row = fixed(rows[index]).magnitudes
        if order == 0:
            return number(int((row.integers != 0).sum()))
        if math.isinf(order):
            return dyadic(int(row.integers.max() if order > 0 else row.integers.min()), row.exponent)
        powers = (row[i] ** number(order) for i in range(len(row.integers)))
        return MP.fsum(powers) ** (1 / number(order))

    return ExactOutput(element, rows.shape[1] * (1 if order in (0, 1, 2) else FUNCTION_COST))


class _Exponentials:
    """Rows of numbers, minus infinity among them, and the sums of their exponentials."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.logarithm = cache(self._logarithm)
        """Returns log(sum(exp(row))) of a row; minus infinity for a row of nothing else."""
        self.cost = rows.shape[1] * FUNCTION_COST // 2

    def _logarithm(self, row: int) -> Number:
        values = self.rows[row]
        top = number(values.max())
        if top == -MP.inf:
            return top
        return top + MP.log(MP.fsum(MP.exp(number(value) - top) for value in values))


@exact_form("logsumexp")
def _logsumexp(call: Call) -> ExactOutput:
    x = call["self"]
    exponentials = _Exponentials(rows_over(x, axes_of(call["dim"], x.ndim)))
    return ExactOutput(exponentials.logarithm, exponentials.cost)


def _row_of(call: Call, x: Array, index: int) -> int:
    """The row, among those along ``dim``, that an element lies in."""
    axis = axes_of(call["dim"], x.ndim)[0]
    place, shape = list(call.place(index)), list(x.shape)
    del place[axis], shape[axis]
    return int(np.ravel_multi_index(place, shape)) if shape else 0


@exact_form("_softmax", "_safe_softmax", "_log_softmax")
def _softmax(call: Call) -> ExactOutput:
    x = np.atleast_1d(call["self"])
    exponentials = _Exponentials(rows_over(x, axes_of(call["dim"], x.ndim)))

    def element(index: int) -> Number:
        logarithm = exponentials.logarithm(_row_of(call, x, index) if call.shape else 0)
        if logarithm == -MP.inf:  # only _safe_softmax gives a finite result there
            return MP.zero
        value = number(x.flat[index]) - logarithm
        return value if call.kind == "_log_softmax" else MP.exp(value)

    return ExactOutput(element, exponentials.cost)


@exact_form("_softmax_backward_data", "_log_softmax_backward_data")
def _softmax_backward(call: Call) -> ExactOutput:
    g, y = np.atleast_1d(call["grad_output"]), np.atleast_1d(call["output"])
    axes = axes_of(call["dim"], g.ndim)
    g_rows, y_rows = rows_over(g, axes), rows_over(y, axes)
    logarithmic = call.kind == "_log_softmax_backward_data"

    @cache
    def total(row: int) -> Number:
        return exact_sum(g_rows[row]) if logarithmic else exact_dot(g_rows[row], y_rows[row])

    def element(index: int) -> Number:
        gradient, value = number(g.flat[index]), number(y.flat[index])
        rest = total(_row_of(call, g, index) if call.shape else 0)
        return gradient - MP.exp(value) * rest if logarithmic else value * (gradient - rest)

    return ExactOutput(element, g_rows.shape[1] + FUNCTION_COST)


def _squared(difference: Number, _: Call) -> Number:
    return difference * difference


def _smooth_l1(difference: Number, call: Call) -> Number:
    size, beta = abs(difference), number(call["beta"])
    return size * size / (2 * beta) if size < beta else size - beta / 2


def _huber(difference: Number, call: Call) -> Number:
    size, delta = abs(difference), number(call["delta"])
    return size * size / 2 if size <= delta else delta * (size - delta / 2)


_DISTANCES = {"mse_loss": _squared, "smooth_l1_loss": _smooth_l1, "huber_loss": _huber}


@exact_form(*_DISTANCES, "binary_cross_entropy")
def _elementwise_loss(call: Call) -> ExactOutput:
    x = call["self"]
    target = np.broadcast_to(call["target"], x.shape)
    weight = call.get("weight")
    weights = None if weight is None else np.broadcast_to(weight, x.shape)

    def term(index: int) -> Number:
        one, other = number(x.flat[index]), number(target.flat[index])
        if call.kind != "binary_cross_entropy":
            return _DISTANCES[call.kind](one - other, call)
        loss = (other - 1) * _bounded_log(1 - one) - other * _bounded_log(one)
        return loss if weights is None else loss * number(weights.flat[index])

    return _reduced(call, term, x.size)


def _bounded_log(value: Number) -> Number:
    """The logarithm, but no less than -100, as binary cross entropy has it."""
    return MP.mpf(-100) if value == 0 else max(MP.log(value), MP.mpf(-100))


def _reduced(call: Call, term: Callable[[int], Number], count: int) -> ExactOutput:
    if call["reduction"] == 0:
        return ExactOutput(term, FUNCTION_COST)

    def element(_: int) -> Number:
        total = MP.fsum(term(index) for index in range(count))
        return total / count if call["reduction"] == 1 else total

    return ExactOutput(element, count * FUNCTION_COST)


@exact_form("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss(call: Call) -> ExactOutput:
    x, target, weight = call["self"], call["target"], call["weight"]
    # [rows, classes]: classes are axis 1, or the only one.
    rows = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]) if x.ndim > 1 else x.reshape(1, -1)
    labels = target.reshape(-1)
    counted = labels != call["ignore_index"]
    kept, chosen = np.flatnonzero(counted), labels[counted]
    weights = np.ones(len(chosen)) if weight is None else weight[chosen]

    def single(index: int) -> Number:
        label = int(labels[index])
        if label == call["ignore_index"]:
            return MP.zero
        return -number(rows[index, label]) * (1 if weight is None else number(weight[label]))

    def element(index: int) -> Number:
        if call["reduction"] == 0:
            return MP.zero if call.output == 1 else single(index)
        total = fixed(weights).total
        if call.output == 1:
            return total
        loss = -fixed(rows[kept, chosen]).dot(fixed(weights))
        return loss / total if call["reduction"] == 1 else loss

    return ExactOutput(element, len(labels))
