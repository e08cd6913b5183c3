"""Which elementwise operators are single operations of the exact profiles: none adds terms that could be too many."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil_core.operators.limits import Limited

LIMITS: Mapping[str, Limited] = dict.fromkeys(
    (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "div", "erf", "erfc", "exp", "exp2",
        "expm1", "log", "log10", "log1p", "log2", "pow", "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt",
        "tan", "tanh", "xlogy",
    ),
    Limited(),
)  # fmt: skip
"""By operator kind."""
