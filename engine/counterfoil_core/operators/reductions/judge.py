"""Operators over axes, element by element: sums, spreads, norms and the softmax family; extremes and sorts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import (
    FUNCTION_COST,
    Arguments,
    Call,
    Element,
    ExactOutput,
    Judge,
    axes_of,
    rows_over,
)
from counterfoil_core.operators.judging.ieee import Value, convert_element
from counterfoil_core.operators.judging.numbers import MP, Number, dyadic, exact_dot, exact_sum, fixed_point, number
from counterfoil_core.operators.judging.quantisation import array_of, quantise_shared, terms_bits
from counterfoil_core.operators.judging.selections import first_extreme, plus_zero

JUDGE = Judge()


@JUDGE.exact_form("sum", "mean")
def _sum(call: Call) -> ExactOutput:
    x = call["self"]
    rows = rows_over(x, axes_of(call.get("dim"), x.ndim))

    def element(index: int) -> Number:
        total = exact_sum(rows[index])
        return total / rows.shape[1] if call.kind == "mean" else total

    return ExactOutput(element, rows.shape[1])


@JUDGE.exact_form("cumsum")
def _cumsum(call: Call) -> ExactOutput:
    x = call["self"]
    axis = axes_of(call["dim"], x.ndim)

    def element(index: int) -> Number:
        if not axis:
            return number(x[()])
        place: list[int | slice] = list(call.place(index))
        place[axis[0]] = slice(0, call.place(index)[axis[0]] + 1)
        return fixed_point(x[tuple(place)]).total

    return ExactOutput(element, x.shape[axis[0]] if axis else 1)


@JUDGE.exact_form("prod")
def _prod(call: Call) -> ExactOutput:
    x = call["self"]
    rows = rows_over(x, axes_of(call.get("dim"), x.ndim))
    return ExactOutput(lambda index: fixed_point(rows[index]).product, 20 * rows.shape[1])


@JUDGE.exact_form("var", "std", "var_mean")
def _var(call: Call) -> ExactOutput:
    x = call["self"]
    rows = rows_over(x, axes_of(call["dim"], x.ndim))
    correction = 1 if call["correction"] is None else call["correction"]

    def element(index: int) -> Number:
        row = fixed_point(rows[index])
        if call.output == 1:
            return row.total / rows.shape[1]
        variance = row.spread / (rows.shape[1] - number(correction))
        return MP.sqrt(variance) if call.kind == "std" else variance

    return ExactOutput(element, 2 * rows.shape[1])


@JUDGE.exact_form("linalg_vector_norm", "norm")
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
        row = fixed_point(rows[index]).magnitudes
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


@JUDGE.exact_form("logsumexp")
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


@JUDGE.exact_form("_softmax", "_safe_softmax", "_log_softmax")
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


@JUDGE.exact_form("_softmax_backward_data", "_log_softmax_backward_data")
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


@JUDGE.definition("max", "min", "amax", "amin", "argmax", "argmin")
def _extreme(call: Call) -> Element:
    """A zero is +0; of equal elements, zeros of both signs among them, the position is the first one's."""
    x, dim = call["self"], call.get("dim")
    sign = 1 if call.kind.endswith("max") else -1
    rows = rows_over(x, axes_of(dim, x.ndim))
    wants_position = call.kind.startswith("arg") or call.output == 1
    known: dict[int, int] = {}

    def element(index: int) -> Value:
        row = rows[index].tolist()
        if index not in known:
            known[index] = first_extreme(row, sign)
        return known[index] if wants_position else plus_zero(convert_element(row[known[index]], call.dtype))

    return element


@JUDGE.definition("row_scale")
def _row_scale(call: Call) -> Element:
    """2^floor(log2 of the largest magnitude), 2^-149 at least; infinite where an element is not finite."""
    rows = rows_over(call["self"], [call["self"].ndim - 1])

    def element(index: int) -> Value:
        row = [abs(value) for value in rows[index].tolist()]
        if not all(map(math.isfinite, row)):
            return math.inf
        return max(math.ldexp(0.5, math.frexp(max(row, default=0.0))[1]), 2.0**-149) if any(row) else 2.0**-149

    return element


@JUDGE.definition("any", "all")
def _quantified(call: Call) -> Element:
    x, dim = call["self"], call.get("dim")
    rows = rows_over(x, axes_of(dim, x.ndim))
    decide: Callable[[Iterable[object]], bool] = any if call.kind == "any" else all
    return lambda index: convert_element(decide(value != 0 for value in rows[index].tolist()), call.dtype)


@JUDGE.definition("sort")
def _sort(call: Call) -> Element:
    """Stable; what is no number is larger than all; a zero is +0."""
    x = call["self"]
    axis = call["dim"] % x.ndim if x.ndim else 0
    moved = np.moveaxis(np.atleast_1d(x), axis, -1)
    result = np.empty(moved.shape, np.int64 if call.output else x.dtype)
    for place in np.ndindex(*moved.shape[:-1]):
        row = moved[place].tolist()
        # What is no number is not even equal to itself, so it must not be compared.
        keys = [(value != value, 0.0 if value != value else value) for value in row]
        order = sorted(range(len(row)), key=keys.__getitem__, reverse=bool(call["descending"]))
        result[place] = order if call.output else [plus_zero(row[i]) for i in order]
    flat = np.moveaxis(result, -1, axis).reshape(-1)
    return lambda index: flat[index].item()


@JUDGE.quantised("sum", "cumsum")
def _over_axes(arguments: Arguments, bits: int) -> Arguments:
    """Of a sum over axes those that are added to one result have one, and n is their number; a running sum is alike."""
    x = array_of(arguments["self"])
    axes = axes_of(arguments.get("dim"), x.ndim)
    return {**arguments, "self": quantise_shared(x, terms_bits(math.prod(x.shape[axis] for axis in axes)), axes)}
