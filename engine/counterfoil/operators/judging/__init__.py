"""Exact values of single elements of an operator's outputs, from its definition and not from any library's kernel.

What judges. Nothing here is used by what computes, and nothing of that here, so that no mistake confirms itself.
"""

from counterfoil.operators.judging import (
    accumulation,
    elementwise,
    moves,
    normalisation,
    pointwise,
    products,
    reductions,
    selections,
    separable,
)
from counterfoil.operators.judging.forms import (
    WITHOUT,
    ExactOutput,
    defined_kinds,
    exact_elements,
    exact_kinds,
    exact_output,
)
from counterfoil.operators.judging.numbers import NotExactError, Number

__all__ = [
    "WITHOUT",
    "ExactOutput",
    "NotExactError",
    "Number",
    "accumulation",
    "defined_kinds",
    "elementwise",
    "exact_elements",
    "exact_kinds",
    "exact_output",
    "moves",
    "normalisation",
    "pointwise",
    "products",
    "reductions",
    "selections",
    "separable",
]
