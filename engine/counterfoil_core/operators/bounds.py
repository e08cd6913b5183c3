"""What the error bounds of several families of operators are made of.

Every bound has the form ``|computed - exact| <= factor * gamma_n * S`` with ``gamma_n = n u / (1 - n u)`` (Higham 2002,
section 3.1), u the unit roundoff of the compute dtype, S the operator's scale, and n a number of roundings that follows
from shapes alone. docs/numerics.md derives n and factor for each operator and states what they rest on. A bound is that
of the form in which the operator is computed: the library's, or one of our own
(:mod:`counterfoil_core.operators.sums`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.facts import Bound, BoundRule, Use

ULPS = 8
"""No library function of one element errs by more units in the last place (SLEEF 1 to 1.5, CUDA at most 5)."""
FUNCTION = 2 * ULPS
"""The same in unit roundoffs: an ulp is at most 2 u times the value."""
MOMENTS = 32
"""Roundings of a mean, a variance and what is made of them beside those of their sums: functions and products."""


def constant(terms: int, factor: float = 1.0) -> BoundRule:
    """Return the rule of operators whose number of roundings does not depend on shapes."""
    return lambda use: [Bound(terms, factor)] * use.outputs


def sum_terms(use: Use, lengths: Sequence[int]) -> int:
    """Return how many additions a term of a sum over axes of these lengths passes, in the form it is computed in."""
    return max(sums.blocked_terms(lengths) if use.own_form else math.prod(lengths), 1)


def always(use: Use) -> float:
    """Let an operator be computed in a form of our own whatever its shapes.

    Variances in two passes: a library's updates, or its sums of squares, lose by what factor the mean exceeds the
    deviation. Products of significands and sums of exponents: nothing in between can overflow or vanish.
    """
    return math.inf
