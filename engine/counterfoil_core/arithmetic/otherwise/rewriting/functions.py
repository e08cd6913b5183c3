"""Functions of one element by other algorithms than the device's library: numpy's, and identities between functions.

Each errs by a few units in the last place, well within the 8 that error bounds take for granted (docs/numerics.md), so
a machine that computes like this conforms. There are two sets: numpy's functions, and functions derived from others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.additions import erf, erfc
from counterfoil_core.base.arrays import Array

Function = Callable[..., Any]
_LARGEST_TANH = 22.0
"""From here on tanh is 1 in float64."""
_SMALLEST_FACTOR = 2.0**-100
"""A reciprocal smaller than this could lose bits as a subnormal of float32."""


def quotient(x: Array, y: Array) -> Array:
    """``x / y`` as a product with the reciprocal; a division where the reciprocal leaves the range."""
    reciprocal = 1.0 / y
    usable = np.isfinite(reciprocal) & (np.abs(reciprocal) > _SMALLEST_FACTOR)
    result: Array = np.where(usable, x * np.where(usable, reciprocal, 1.0), x / y)
    return result


def square_root(x: Array) -> Array:
    """``x`` times the reciprocal of its root."""
    ordinary = (x > 0) & np.isfinite(x)
    safe = np.where(ordinary, x, 1.0)
    result: Array = np.where(ordinary, safe * (1.0 / np.sqrt(safe)), np.sqrt(x))
    return result


def _rsqrt_of_reciprocal(x: Array) -> Array:
    result: Array = np.where((x > 2.0**-100) & (x < 2.0**100), np.sqrt(1.0 / x), 1.0 / np.sqrt(x))
    return result


def _reciprocal_by_root(x: Array) -> Array:
    root = 1.0 / np.sqrt(np.abs(x))
    result: Array = np.copysign(root * root, x)
    return result


def _exp_by_half(x: Array) -> Array:
    half = np.exp(x * 0.5)
    result: Array = half * half
    return result


def _exp2_by_half(x: Array) -> Array:
    half = np.exp2(x * 0.5)
    result: Array = half * half
    return result


def _expm1_by_sinh(x: Array) -> Array:
    result: Array = 2.0 * np.exp(x * 0.5) * np.sinh(x * 0.5)
    return np.where(np.abs(x) > 80.0, np.expm1(x), result)


def _log1p_by_log(x: Array) -> Array:
    # Kahan: the error of 1 + x is taken out again.
    one = 1.0 + x
    near = one == 1.0
    usable = np.isfinite(one) & ~near & (one > 0)
    safe = np.where(usable, one, 2.0)
    result: Array = np.where(usable, np.log(safe) * (x / (safe - 1.0)), np.where(near, x, np.log1p(x)))
    return result


def _sin_by_half(x: Array) -> Array:
    result: Array = 2.0 * np.sin(x * 0.5) * np.cos(x * 0.5)
    return np.where(np.abs(x) < 1e-30, x, result)


def _cos_by_half(x: Array) -> Array:
    half = np.sin(x * 0.5)
    result: Array = np.where(np.abs(x) < 1.0, 1.0 - 2.0 * half * half, np.cos(x))
    return result


def _tan_by_both(x: Array) -> Array:
    result: Array = np.sin(x) / np.cos(x)
    return result


def _asin_by_atan2(x: Array) -> Array:
    result: Array = np.arctan2(x, np.sqrt((1.0 - x) * (1.0 + x)))
    return result


def _acos_by_atan2(x: Array) -> Array:
    result: Array = 2.0 * np.arctan2(np.sqrt(1.0 - x), np.sqrt(1.0 + x))
    return result


def _atan_by_atan2(x: Array) -> Array:
    result: Array = np.arctan2(x, np.ones_like(x))
    return result


def _sinh_by_expm1(x: Array) -> Array:
    e = np.expm1(np.abs(x))
    result: Array = np.copysign((e + e / (e + 1.0)) * 0.5, x)
    return result


def _cosh_by_exp(x: Array) -> Array:
    e = np.exp(np.abs(x))
    result: Array = (e + 1.0 / e) * 0.5
    return result


def _tanh_by_expm1(x: Array) -> Array:
    size = np.minimum(np.abs(x), _LARGEST_TANH)
    e = np.expm1(2.0 * size)
    result: Array = np.copysign(e / (e + 2.0), x)
    return result


def _asinh_by_log1p(x: Array) -> Array:
    size = np.abs(x)
    large = size > 1e9
    safe = np.where(large, 1.0, size)
    square = safe * safe
    small = np.log1p(safe + square / (1.0 + np.sqrt(1.0 + square)))
    result: Array = np.copysign(np.where(large, np.log(np.where(large, size, 1.0)) + math.log(2), small), x)
    return result


def _acosh_by_log1p(x: Array) -> Array:
    large = x > 1e9
    beyond = np.where(large, 0.0, x - 1.0)
    small = np.log1p(beyond + np.sqrt(beyond * (2.0 + beyond)))
    result: Array = np.where(large, np.log(np.where(large, x, 1.0)) + math.log(2), small)
    return result


def _atanh_by_log1p(x: Array) -> Array:
    size = np.abs(x)
    result: Array = np.copysign(0.5 * np.log1p(2.0 * size / (1.0 - size)), x)
    return result


def _erf_by_erfc(x: Array) -> Array:
    size = np.abs(x)
    result: Array = np.where(size > 0.5, np.copysign(1.0 - erfc(size), x), erf(x))
    return result


def _erfc_by_erf(x: Array) -> Array:
    result: Array = np.where(x < 0.5, 1.0 - erf(x), erfc(x))
    return result


def _sigmoid_by_product(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    result: Array = np.where(x < 0, e, 1.0) * (1.0 / (1.0 + e))
    return result


def _sigmoid_by_tanh(x: Array) -> Array:
    e = np.exp(np.minimum(x, 0.0))
    result: Array = np.where(x < -1.0, e / (1.0 + e), 0.5 + 0.5 * np.tanh(0.5 * x))
    return result


def _atan2_by_atan(y: Array, x: Array) -> Array:
    ordinary = (x != 0) & (y != 0) & np.isfinite(x) & np.isfinite(y)
    a, b = np.where(ordinary, y, 1.0), np.where(ordinary, x, 1.0)
    steep = np.abs(a) > np.abs(b)
    first = np.copysign(math.pi / 2, a) - np.arctan(b / a)
    second = np.arctan(a / b) + np.where(b < 0, np.copysign(math.pi, a), 0.0)
    # A ratio that vanishes may do so in one library and not in another; nobody asks for its bits.
    result: Array = np.where(ordinary, np.where(steep, first, second), np.arctan2(y, x))
    return result


def _pow_by_products(x: Array, exponent: Array) -> Array:
    result: Array = np.power(x, exponent)
    for whole in (2, 3, 4):
        product = x * x if whole == 2 else x * x * x if whole == 3 else (x * x) * (x * x)
        result = np.where(exponent == whole, product, result)
    return np.where(exponent == 0.5, square_root(x), result)


def _softplus(exp: Function, log1p: Function) -> Function:
    """log(1 + exp(x)): x and a correction where x is positive."""
    return lambda x: np.maximum(x, 0.0) + log1p(exp(-np.abs(x)))


_BY_NUMPY: Mapping[str, Function] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": erf,
    "erfc": erfc,
    "sigmoid": _sigmoid_by_product,
    "rsqrt": lambda x: quotient(np.ones_like(x), np.sqrt(x)),
    "sqrt": square_root,
    "reciprocal": _reciprocal_by_root,
    "atan2": np.arctan2,
    "pow": np.power,
    "softplus": _softplus(np.exp, np.log1p),
}
_BY_IDENTITIES: Mapping[str, Function] = {
    **_BY_NUMPY,
    "exp": _exp_by_half,
    "exp2": _exp2_by_half,
    "expm1": _expm1_by_sinh,
    "log": lambda x: np.log2(x) * math.log(2),
    "log2": lambda x: np.log(x) * (1.0 / math.log(2)),
    "log10": lambda x: np.log(x) * (1.0 / math.log(10)),
    "log1p": _log1p_by_log,
    "sin": _sin_by_half,
    "cos": _cos_by_half,
    "tan": _tan_by_both,
    "asin": _asin_by_atan2,
    "acos": _acos_by_atan2,
    "atan": _atan_by_atan2,
    "sinh": _sinh_by_expm1,
    "cosh": _cosh_by_exp,
    "tanh": _tanh_by_expm1,
    "asinh": _asinh_by_log1p,
    "acosh": _acosh_by_log1p,
    "atanh": _atanh_by_log1p,
    "erf": _erf_by_erfc,
    "erfc": _erfc_by_erf,
    "sigmoid": _sigmoid_by_tanh,
    "rsqrt": _rsqrt_of_reciprocal,
    "atan2": _atan2_by_atan,
    "pow": _pow_by_products,
    "softplus": _softplus(_exp_by_half, _log1p_by_log),
}


def functions(identities: bool) -> Mapping[str, Function]:
    """Return the functions of one set by name; each takes float64 or float32 arrays and gives the same dtype."""
    return _BY_IDENTITIES if identities else _BY_NUMPY
