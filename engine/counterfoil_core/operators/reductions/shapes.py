"""Which type the results have: operators over axes."""

from __future__ import annotations

from typing import Any

from counterfoil_core.operators.shaping import (
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
RULES = {f"aten.{name}": rule for names, rule in _RULES.items() for name in names.split()}
"""By operator."""
