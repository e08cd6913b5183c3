"""Pooling, padding and their gradients: linear maps that work on each spatial axis alone.

Along one axis such a map gives, for each place of its result, the places that it is made from and their weights. Over
several axes the weights multiply. The gradient is the transposed map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import Call, ExactOutput, Judge
from counterfoil_core.operators.judging.numbers import NotExactError, Number, number

Weights = list[list[tuple[int, Fraction]]]
"""For each place of the result along one axis: the places it is made from, each with its weight."""

WHOLE = Fraction(1)


def _transposed(weights: Weights, length: int) -> Weights:
    result: Weights = [[] for _ in range(length)]
    for place, sources in enumerate(weights):
        for source, weight in sources:
            result[source].append((place, weight))
    return result


def _mapped(call: Call, x: Array, axes: Sequence[Weights]) -> ExactOutput:
    """The map whose axes are the last ones of ``x``."""
    planes = x.reshape(-1, *x.shape[x.ndim - len(axes) :])
    area = math.prod(call.shape[len(call.shape) - len(axes) :])

    def element(index: int) -> Number:
        place = call.place(index)[len(call.shape) - len(axes) :]
        total = Fraction(0)
        for sources in product(*(axis[at] for axis, at in zip(axes, place, strict=True))):
            value = planes[(index // area, *(source for source, _ in sources))]
            if not math.isfinite(value):
                raise NotExactError("a value that reaches it is infinite or not a number")
            total += math.prod((weight for _, weight in sources), start=Fraction(float(value)))
        return number(total.numerator) / number(total.denominator)

    most = math.prod(max((len(sources) for sources in axis), default=1) for axis in axes)
    return ExactOutput(element, 20 * most)


def _backward(call: Call, axes: Sequence[Weights]) -> ExactOutput:
    lengths = call.shape[len(call.shape) - len(axes) :]
    transposed = [_transposed(axis, length) for axis, length in zip(axes, lengths, strict=True)]
    return _mapped(call, call["grad_output"], transposed)


def register(
    judge: Judge, axes: int, forward: Sequence[str], backward: Sequence[str], weights: Callable[..., list[Weights]]
) -> None:
    """Register kinds that map the last ``axes`` axes; ``weights`` takes the call and both sides' lengths."""

    def forward_rule(call: Call) -> ExactOutput:
        x = call["self"]
        return _mapped(call, x, weights(call, x.shape[x.ndim - axes :], call.shape[len(call.shape) - axes :]))

    def backward_rule(call: Call) -> ExactOutput:
        g = call["grad_output"]
        return _backward(call, weights(call, call.shape[len(call.shape) - axes :], g.shape[g.ndim - axes :]))

    judge.exact_form(*forward)(forward_rule)
    judge.exact_form(*backward)(backward_rule)
