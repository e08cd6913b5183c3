"""Error bounds of elementwise functions whose arguments have a say in it; docs/numerics.md derives each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators.bounds import FUNCTION
from counterfoil_core.operators.facts import Bound, Use

_LARGEST_LOGARITHM = 746
"""Largest magnitude of a logarithm of a float64 number, and of an argument whose exponential is one."""


def softplus(use: Use) -> Sequence[Bound]:
    """Softplus: beta times x is rounded before the exponential, unless beta is a power of two."""
    exact = abs(math.frexp(float(use.arguments["beta"]))[0]) == 0.5
    return [Bound(2 * FUNCTION + 8 + (0 if exact else _LARGEST_LOGARITHM))]


def elu_backward(use: Use) -> Sequence[Bound]:
    """ELU's gradient: the coefficients scale what is added."""
    coefficient = abs(use.arguments["alpha"] * use.arguments["scale"] * use.arguments["input_scale"])
    return [Bound(FUNCTION + 8, max(1.0, float(coefficient)))]
