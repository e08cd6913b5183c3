"""What is known of reductions: error bounds, terms of exact profiles, types, classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import FUNCTION, MOMENTS, always, sum_terms
from counterfoil_core.operators.facts import (
    COMPARES_OR_LOGIC,
    COUNTS,
    ROW_SCALE,
    SELECTS,
    Bound,
    BoundRule,
    Operator,
    OperatorClass,
    Trait,
    Use,
    exact,
    rounded_operators,
)
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    alike,
    axes,
    axis,
    floats,
    require,
    tensor,
    without,
)
from counterfoil_core.operators.sums import reduced_lengths


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


def _terms(arguments: Arguments) -> tuple[int]:
    return (math.prod(reduced_lengths(arguments)),)


LIMITS: Mapping[str, Limited] = dict.fromkeys(("sum", "cumsum"), Limited(terms=_terms))
"""By operator kind."""


def _reduced(arguments: Arguments, dtype: str, given: Any) -> Results:
    x = tensor(arguments, "self")
    removed = axes(given, x.rank)
    return [Typed(dtype, without(x.shape, removed, keep=arguments.get("keepdim", False)))]


def _listed(given: Any) -> Any:
    return given if given is None or isinstance(given, list) else [given]


def _total_dtype(arguments: Arguments) -> str:
    """Of a sum: what is asked for; else integers are added in 64 bits."""
    x, asked = tensor(arguments, "self"), arguments["dtype"]
    return asked or (x.dtype if x.floating else "int64")


def _total(arguments: Arguments) -> Results:
    return _reduced(arguments, _total_dtype(arguments), _listed(arguments.get("dim")))


def _mean(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    require(arguments["dtype"] in (None, x.dtype))
    return _reduced(arguments, x.dtype, _listed(arguments.get("dim")))


def _cumsum(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    axis(arguments["dim"], x.rank)
    return [Typed(_total_dtype(arguments), x.shape)]


def _spread(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    return _reduced(arguments, x.dtype, arguments["dim"])


def _spread_and_mean(arguments: Arguments) -> Results:
    return [*_spread(arguments), *_spread(arguments)]


def _norm(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    require(arguments.get("dtype") in (None, x.dtype))
    return _reduced(arguments, x.dtype, _listed(arguments.get("dim")))


def _logsumexp(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    require(bool(arguments["dim"]))
    return _reduced(arguments, x.dtype, arguments["dim"])


def _extreme(arguments: Arguments) -> Results:
    return _reduced(arguments, tensor(arguments, "self").dtype, _listed(arguments.get("dim")))


def _extreme_along(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    (values,) = _reduced(arguments, x.dtype, [arguments["dim"]])
    (places,) = _reduced(arguments, "int64", [arguments["dim"]])
    return [values, places]


def _place(arguments: Arguments) -> Results:
    require(tensor(arguments, "self").dtype != "bool")
    return _reduced(arguments, "int64", _listed(arguments["dim"]))


def _sort(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    axis(arguments["dim"], x.rank)
    return [x, Typed("int64", x.shape)]


def _logic(arguments: Arguments) -> Results:
    # Of the first the library makes such again; and of no axes it reduces none, not all.
    require(tensor(arguments, "self").dtype != "uint8" and arguments.get("dim") != [])
    return _reduced(arguments, "bool", _listed(arguments.get("dim")))


def _row_scale(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    require(bool(x.rank))
    return _reduced({**arguments, "keepdim": True}, x.dtype, [-1])


def _softmax(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    axis(arguments["dim"], x.rank)
    require(not arguments.get("half_to_float", False) and arguments.get("dtype") in (None, x.dtype))
    return [x]


def _softmax_backward(arguments: Arguments) -> Results:
    gradient, _ = alike(arguments, "grad_output", "output")
    axis(arguments["dim"], gradient.rank)
    require(arguments["input_dtype"] == gradient.dtype)
    return [gradient]


_RULES: dict[str, ShapeRule] = {
    "sum.default sum.dim_IntList prod.default prod.dim_int": _total,
    "mean.default mean.dim": _mean,
    "cumsum.default": _cumsum,
    "var.correction std.correction": _spread,
    "var_mean.correction": _spread_and_mean,
    "linalg_vector_norm.default norm.ScalarOpt_dim norm.Scalar": _norm,
    "logsumexp.default": _logsumexp,
    "max.default min.default amax.default amin.default": _extreme,
    "max.dim min.dim": _extreme_along,
    "argmax.default argmin.default": _place,
    "sort.stable": _sort,
    "any.default any.dim any.dims all.default all.dim": _logic,
    "_softmax.default _safe_softmax.default _log_softmax.default": _softmax,
    "_softmax_backward_data.default _log_softmax_backward_data.default": _softmax_backward,
}
RULES = {ROW_SCALE: _row_scale, **{f"aten.{name}": rule for names, rule in _RULES.items() for name in names.split()}}
"""By operator."""


FACTS = (
    Operator(ROW_SCALE, OperatorClass.EXACT, "reads the exponent of one of its inputs", decides=(0,)),
    *exact(SELECTS, "max.default min.default amax.default amin.default"),
    *exact(SELECTS, "max.dim min.dim argmax.default argmin.default sort.stable", decides=(0, 1)),
    *exact(COMPARES_OR_LOGIC, "any.default any.dim any.dims all.default all.dim", decides=(0, 1)),
    *exact(COUNTS, "cumsum.default"),
    *rounded_operators(
        "output",
        softmax,
        "_softmax.default _safe_softmax.default",
        Trait.LAST_BIT,
        longest=longest_along("self"),
    ),
    *rounded_operators("inputs", log_softmax, "_log_softmax.default", longest=longest_along("self")),
    *rounded_operators("inputs", log_softmax, "logsumexp.default", longest=longest),
    *rounded_operators("sum", total, "sum.default sum.dim_IntList", Trait.INTEGERS, Trait.SUMS, longest=longest),
    *rounded_operators("mean", mean, "mean.default mean.dim", longest=longest),
    *rounded_operators("prod", product, "prod.default prod.dim_int", Trait.INTEGERS, longest=always),
    *rounded_operators("var", variance, "var.correction var_mean.correction", longest=always),
    *rounded_operators("std", variance, "std.correction", longest=always),
    *rounded_operators(
        "norm",
        vector_norm,
        "linalg_vector_norm.default norm.ScalarOpt_dim norm.Scalar",
        Trait.INFINITE,
        longest=longest_of_norm,
    ),
    *rounded_operators(
        "softmax_backward",
        gradient_along(4),
        "_softmax_backward_data.default",
        longest=longest_along("grad_output"),
    ),
    *rounded_operators(
        "log_softmax_backward",
        gradient_along(FUNCTION + 4),
        "_log_softmax_backward_data.default",
        longest=longest_along("grad_output"),
    ),
    *rounded_operators("cumsum", running_total, "cumsum.default", Trait.INTEGERS, Trait.SUMS, longest=longest),
)
