"""Batch, layer and group norm, their statistics and their gradients, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import Call, ExactOutput, Judge
from counterfoil_core.operators.judging.numbers import MP, Fixed, Number, exact_sum, fixed_point, number

JUDGE = Judge()


@dataclass(frozen=True)
class _Moments:
    """Mean, sum of squared distances from it, and count of what is normalised together."""

    mean: Number
    spread: Number
    count: int

    @classmethod
    def of(cls, values: Array) -> _Moments:
        row = fixed_point(values)
        count = len(row.integers)
        return cls(row.total / count, row.spread, count)

    def rstd(self, epsilon: Any) -> Number:
        """The reciprocal of the deviation."""
        return _rstd(self.spread / self.count, epsilon)


def _rstd(variance: Number, epsilon: Any) -> Number:
    return 1 / MP.sqrt(variance + number(epsilon))


def _scaled(value: Number, weight: Array | None, bias: Array | None, place: int) -> Number:
    if weight is not None:
        value = value * number(weight.flat[place])
    return value if bias is None else value + number(bias.flat[place])


@JUDGE.exact_form(
    "_native_batch_norm_legit_functional", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training"
)
def _batch_norm(call: Call) -> ExactOutput:
    x, weight, bias = call["input"], call["weight"], call["bias"]
    training = call.get("training", False)
    moments = cache(lambda channel: _Moments.of(x[:, channel]))

    def statistics(channel: int) -> tuple[Number, Number]:
        if training:
            return moments(channel).mean, moments(channel).rstd(call["eps"])
        return number(call["running_mean"][channel]), _rstd(number(call["running_var"][channel]), call["eps"])

    both = cache(statistics)

    def result(index: int) -> Number:
        channel = call.place(index)[1]
        mean, rstd = both(channel)
        return _scaled((number(x.flat[index]) - mean) * rstd, weight, bias, channel)

    def running(name: str, value: Callable[[_Moments], Number]) -> Callable[[int], Number]:
        def element(channel: int) -> Number:
            old = number(call[name][channel])
            if not training:
                return old
            momentum = number(call["momentum"])
            return old * (1 - momentum) + value(moments(channel)) * momentum

        return element

    elements = (
        result,
        lambda channel: both(channel)[0],
        lambda channel: both(channel)[1],
        running("running_mean", lambda m: m.mean),
        running("running_var", lambda m: m.spread / (m.count - 1)),
    )
    return ExactOutput(elements[call.output], 2 * x.size // x.shape[1])


@JUDGE.exact_form("native_batch_norm_backward")
def _batch_norm_backward(call: Call) -> ExactOutput:
    g, x, weight = call["grad_out"], call["input"], call["weight"]

    @cache
    def sums(channel: int) -> _GradientSums:
        if call["train"]:
            mean, rstd = number(call["save_mean"][channel]), number(call["save_invstd"][channel])
        else:
            mean = number(call["running_mean"][channel])
            rstd = _rstd(number(call["running_var"][channel]), call["eps"])
        return _GradientSums.of(fixed_point(g[:, channel]), fixed_point(x[:, channel]), mean, rstd)

    def of_input(index: int) -> Number:
        channel = call.place(index)[1]
        factor = 1 if weight is None else number(weight[channel])
        gradient = number(g.flat[index])
        if not call["train"]:
            return gradient * sums(channel).rstd * factor
        return sums(channel).input_gradient(gradient, number(x.flat[index])) * factor

    elements = (
        of_input,
        lambda channel: sums(channel).centred * sums(channel).rstd,
        lambda channel: sums(channel).total,
    )
    return ExactOutput(elements[call.output], 2 * x.size // x.shape[1])


@dataclass(frozen=True)
class _GradientSums:
    """Sums over what is normalised together: of g, and of g times x less the mean."""

    total: Number
    centred: Number
    mean: Number
    rstd: Number
    count: int

    @classmethod
    def of(cls, g: Fixed, x: Fixed, mean: Number, rstd: Number) -> _GradientSums:
        total = g.total
        return cls(total, g.dot(x) - mean * total, mean, rstd, len(g.integers))

    def input_gradient(self, g: Number, x: Number) -> Number:
        """Derivative of (x - mean) * rstd, where mean and rstd depend on every x."""
        along = (x - self.mean) * self.rstd * self.rstd * self.centred
        return self.rstd * (g - (self.total + along) / self.count)


@JUDGE.exact_form("native_layer_norm", "native_group_norm")
def _row_norm(call: Call) -> ExactOutput:
    x, weight, bias = call["input"], call["weight"], call["bias"]
    count, factor_of = _rows(call)
    rows = x.reshape(-1, count)

    @cache
    def statistics(row: int) -> tuple[Number, Number]:
        moments = _Moments.of(rows[row])
        return moments.mean, moments.rstd(call["eps"])

    def result(index: int) -> Number:
        mean, rstd = statistics(index // count)
        return _scaled((number(x.flat[index]) - mean) * rstd, weight, bias, factor_of(index))

    elements = (result, lambda row: statistics(row)[0], lambda row: statistics(row)[1])
    return ExactOutput(elements[call.output], 2 * count)


def _rows(call: Call) -> tuple[int, Callable[[Any], Any]]:
    """Elements that are normalised together, and which element of weight and bias belongs to flat indices."""
    if "normalized_shape" in call.arguments:
        count = int(np.prod(call["normalized_shape"]))
        return count, lambda index: index % count
    channels, positions = int(call["C"]), int(call["HxW"])
    return channels // int(call["group"]) * positions, lambda index: index // positions % channels


@JUDGE.exact_form("native_layer_norm_backward", "native_group_norm_backward")
def _row_norm_backward(call: Call) -> ExactOutput:
    g, x, weight = call["grad_out"].reshape(-1), call["input"].reshape(-1), call["weight"]
    mean, rstd = call["mean"].reshape(-1), call["rstd"].reshape(-1)
    count, factor_of = _rows(call)

    def factors(first: int, end: int) -> Fixed:
        return fixed_point(weight.reshape(-1)[factor_of(np.arange(first, end))])

    @cache
    def sums(row: int) -> _GradientSums:
        part = slice(row * count, (row + 1) * count)
        gradient = fixed_point(g[part])
        if weight is not None:
            gradient = gradient * factors(part.start, part.stop)
        return _GradientSums.of(gradient, fixed_point(x[part]), number(mean[row]), number(rstd[row]))

    def of_input(index: int) -> Number:
        factor = 1 if weight is None else number(weight.flat[factor_of(index)])
        return sums(index // count).input_gradient(number(g[index]) * factor, number(x[index]))

    @cache
    def indices(place: int) -> Array:
        """The flat indices that an element of weight or bias belongs to."""
        every = np.arange(len(x))
        chosen: Array = every[factor_of(every) == place]
        return chosen

    def of_weight(place: int) -> Number:
        at = indices(place)
        scaled = fixed_point(g[at]) * fixed_point(rstd[at // count])
        return scaled.dot(fixed_point(x[at])) - scaled.dot(fixed_point(mean[at // count]))

    def of_bias(place: int) -> Number:
        return exact_sum(g[indices(place)])

    places = max(len(x) // (weight.size if weight is not None else 1), 1)
    return ExactOutput((of_input, of_weight, of_bias)[call.output], (3 * count, 3 * places, places)[call.output])
