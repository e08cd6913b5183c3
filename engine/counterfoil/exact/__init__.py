"""Exact values of single elements of an operator's outputs, from its definition and not from any library's kernel."""

from counterfoil.exact import accumulation, elementwise, normalisation, products, reductions, separable
from counterfoil.exact.numbers import NotExactError, Number
from counterfoil.exact.operators import WITHOUT, ExactOutput, exact_elements, exact_kinds, exact_output

__all__ = [
    "WITHOUT",
    "ExactOutput",
    "NotExactError",
    "Number",
    "accumulation",
    "elementwise",
    "exact_elements",
    "exact_kinds",
    "exact_output",
    "normalisation",
    "products",
    "reductions",
    "separable",
]
