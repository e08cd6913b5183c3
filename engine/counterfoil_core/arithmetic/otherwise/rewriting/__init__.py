"""Computes every rounded operator by another algorithm than the device's library does, as another vendor's would.

Each operator is computed from its definition: convolutions as products of matrices, norms and losses term by term,
division as a product with the reciprocal, softmax in one pass. All of it conforms to what error bounds rest on
(docs/numerics.md): IEEE 754, any order of additions, functions within 8 units in the last place. There are two
variants: 0 adds one after another, 1 as binary trees and with other formulas where an operator has several.

Long sums have a form of their own (:mod:`counterfoil_core.arithmetic.families`); its pieces are computed in this
way, and ``prod`` leaves no freedom at all.
"""

from counterfoil_core.arithmetic.otherwise.rewriting import (
    elementwise,
    indices,
    losses,
    normalisation,
    products,
    reductions,
    windows,
)
from counterfoil_core.arithmetic.otherwise.rewriting.machine import VARIANTS, rewritten, rewritten_kinds

__all__ = [
    "VARIANTS",
    "elementwise",
    "indices",
    "losses",
    "normalisation",
    "products",
    "reductions",
    "rewritten",
    "rewritten_kinds",
    "windows",
]
