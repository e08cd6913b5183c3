"""The form of each operator that has one."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil.arithmetic.compute.forms import (
    convolutions,
    indexing,
    losses,
    norms,
    pooling,
    products,
    reductions,
)
from counterfoil.arithmetic.compute.forms.pieces import Form

_FAMILIES = (convolutions, indexing, losses, norms, pooling, products, reductions)
FORMS: Mapping[str, Form] = {kind: form for family in _FAMILIES for kind, form in family.FORMS.items()}
"""Forms by operator kind."""
