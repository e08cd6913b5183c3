"""Error bounds of operators over axes; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import FUNCTION, MOMENTS, sum_terms
from counterfoil_core.operators.facts import Bound, BoundRule, Use


def total(use: Use) -> Sequence[Bound]:
    """Sums: one rounding for each addition."""
    return [Bound(sum_terms(use, sums.reduced_lengths(use.arguments)))]


def mean(use: Use) -> Sequence[Bound]:
    """Means: the division, or the product with a rounded reciprocal."""
    return [Bound(sum_terms(use, sums.reduced_lengths(use.arguments)) + FUNCTION)]


def running_total(use: Use) -> Sequence[Bound]:
    """Running sums: within blocks, of blocks, and both added."""
    (n,) = sums.reduced_lengths(use.arguments) or (1,)
    block = sums.block_length(n)
    return [Bound(block - (-n // block) + 1 if use.own_form else max(n, 1))]


def product(use: Use) -> Sequence[Bound]:
    """Products of significands, and the power of two by which the last is multiplied."""
    return [Bound(math.prod(sums.reduced_lengths(use.arguments)) + 2 * FUNCTION)]


def vector_norm(use: Use) -> Sequence[Bound]:
    """Norms, whose terms are not negative: a relative error. That of a power is divided again by its root."""
    lengths, order = sums.reduced_lengths(use.arguments), sums.norm_order(use.arguments)
    if order in (0.0, math.inf, -math.inf):
        return [Bound(1)]  # counts, and the largest or smallest element
    if order in (1.0, 2.0):
        # Each block's norm takes a square and a root.
        stages = 2 * max(len(lengths), 1) if use.own_form else 1
        return [Bound(sum_terms(use, lengths) + stages * (FUNCTION + 2))]
    size = abs(order)
    n = math.prod(lengths)
    powers = sums.blocked_terms(lengths) + FUNCTION * (size + 1) + math.log(max(n, 2))
    return [Bound(math.ceil(powers / size) + FUNCTION + 2)]


def variance(use: Use) -> Sequence[Bound]:
    """Variances and deviations in two passes; var_mean's second output is the mean."""
    lengths = sums.reduced_lengths(use.arguments)
    count = math.prod(lengths)
    correction = use.arguments.get("correction")
    kept = count - (1 if correction is None else correction)
    factor = 3.0 * count / kept if kept > 0 else 3.0
    terms = sums.blocked_terms(lengths) + MOMENTS
    return [Bound(terms, factor), Bound(terms)][: use.outputs]


def softmax(use: Use) -> Sequence[Bound]:
    """Softmax: the sum of exponentials, whose arguments err by their distance from the largest."""
    n = longest_along("self")(use)
    return [Bound(sum_terms(use, [n]) + n.bit_length() + 2 * FUNCTION + 16)]


def log_softmax(use: Use) -> Sequence[Bound]:
    """Log softmax and logsumexp: as softmax; the logarithm's error is absolute, and S is at least log n >= log 2."""
    lengths = sums.reduced_lengths(use.arguments)
    return [Bound(sum_terms(use, lengths) + math.prod(lengths).bit_length() + 3 * FUNCTION + 16, 1.5)]


def gradient_along(extra: int) -> BoundRule:
    """Gradients of softmax and log softmax: the sum along the axis."""
    return lambda use: [Bound(sum_terms(use, [longest_along("grad_output")(use)]) + extra)]


def longest(use: Use) -> float:
    """Return how many elements are summed."""
    return math.prod(sums.reduced_lengths(use.arguments))


def longest_along(name: str) -> Callable[[Use], int]:
    """Return what gives the length of the axis of an argument."""

    def length(use: Use) -> int:
        shape = use.shape(name)
        return shape[use.arguments["dim"]] if shape else 1

    return length


def longest_of_norm(use: Use) -> float:
    """Return the same of a norm; powers of other orders than 1 and 2 leave float64's range where it does not."""
    order = sums.norm_order(use.arguments)
    if order in (0.0, math.inf, -math.inf):
        return 0.0
    return longest(use) if order in (1.0, 2.0) else math.inf
