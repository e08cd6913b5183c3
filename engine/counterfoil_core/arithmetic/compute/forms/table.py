"""The form of each operator that has one, and the compiled loops that compute an operator in the library's place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from counterfoil_core.arithmetic.compute.forms import (
    convolutions,
    indexing,
    losses,
    norms,
    pooling,
    products,
    reductions,
)
from counterfoil_core.arithmetic.compute.forms.pieces import Form
from counterfoil_core.operators.sums import Arguments

_FAMILIES = (convolutions, indexing, losses, norms, pooling, products, reductions)
FORMS: Mapping[str, Form] = {kind: form for family in _FAMILIES for kind, form in family.FORMS.items()}
"""Forms by operator kind."""
LOOPS: Mapping[str, Callable[[Arguments], Any]] = {
    "aten.convolution.default": convolutions.looped,
    "aten.convolution_backward.default": convolutions.looped_backward,
}
"""Loops by operator: they take arguments by name, and give None for those that the library must compute. Sums are added
in another order than the library's, within the bound of the use that has no form of our own."""
