"""Losses and their gradients, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from counterfoil_core.operators.judging.elementwise import At, elementwise
from counterfoil_core.operators.judging.forms import FUNCTION_COST, Call, ExactOutput, Judge
from counterfoil_core.operators.judging.numbers import MP, NotExactError, Number, fixed_point, number

JUDGE = Judge()


def _squared(difference: Number, _: Call) -> Number:
    return difference * difference


def _smooth_l1(difference: Number, call: Call) -> Number:
    size, beta = abs(difference), number(call["beta"])
    return size * size / (2 * beta) if size < beta else size - beta / 2


def _huber(difference: Number, call: Call) -> Number:
    size, delta = abs(difference), number(call["delta"])
    return size * size / 2 if size <= delta else delta * (size - delta / 2)


_DISTANCES = {"mse_loss": _squared, "smooth_l1_loss": _smooth_l1, "huber_loss": _huber}


@JUDGE.exact_form(*_DISTANCES, "binary_cross_entropy")
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


@JUDGE.exact_form("nll_loss_forward", "nll_loss2d_forward")
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
        total = fixed_point(weights).total
        if call.output == 1:
            return total
        loss = -fixed_point(rows[kept, chosen]).dot(fixed_point(weights))
        return loss / total if call["reduction"] == 1 else loss

    return ExactOutput(element, len(labels))


def _mean_factor(call: Call) -> Number:
    """1 / n for the gradient of a mean, else 1."""
    return 1 / number(call["self"].size) if call["reduction"] == 1 else MP.one


@elementwise(JUDGE, "mse_loss_backward")
def _mse_loss_backward(at: At) -> Number:
    return 2 * _mean_factor(at.call) * (at("self") - at("target")) * at("grad_output")


@elementwise(JUDGE, "smooth_l1_loss_backward")
def _smooth_l1_loss_backward(at: At) -> Number:
    if at("beta") == 0 and at("self") == at("target"):
        raise NotExactError("with beta 0 the slope of equal values is -1 in one library and not a number in another")
    slope = _clamped_ratio(at("self") - at("target"), at("beta"))
    return _mean_factor(at.call) * slope * at("grad_output")


@elementwise(JUDGE, "huber_loss_backward")
def _huber_loss_backward(at: At) -> Number:
    slope = _clamped_ratio(at("self") - at("target"), at("delta")) * at("delta")
    return _mean_factor(at.call) * slope * at("grad_output")


def _clamped_ratio(value: Number, limit: Number) -> Number:
    return MP.sign(value) if abs(value) >= limit else value / limit


_LEAST_VARIANCE = number(np.float32(1e-12))
"""What the gradient of binary cross entropy divides by at least: ``constexpr float EPSILON = 1e-12`` in torch's
Loss.cpp and Loss.cu, so the float32 number, in float64 as well, on the CPU and on CUDA."""


@elementwise(JUDGE, "binary_cross_entropy_backward")
def _binary_cross_entropy_backward(at: At) -> Number:
    x = at("self")
    slope = (x - at("target")) / max(x * (1 - x), _LEAST_VARIANCE)
    factor = MP.one if at.call["weight"] is None else at("weight")
    return _mean_factor(at.call) * slope * factor * at("grad_output")


@JUDGE.exact_form("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(call: Call) -> ExactOutput:
    g, target, weight = call["grad_output"], call["target"], call["weight"]
    axis = 1 if len(call.shape) > 1 else 0

    def element(index: int) -> Number:
        place = list(call.place(index))
        label = place.pop(axis)
        row: Any = tuple(place)
        if target[row] != label or label == call["ignore_index"]:
            return MP.zero
        gradient = number(g[row] if call["reduction"] == 0 else g.reshape(()))
        factor = MP.one if weight is None else number(weight[label])
        total = number(call["total_weight"].reshape(())) if call["reduction"] == 1 else MP.one
        return -gradient * factor / total

    return ExactOutput(element, FUNCTION_COST)
