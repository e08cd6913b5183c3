"""The scale rule of each rounded operator, by the name that its declaration gives."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil_core.arithmetic.grid.scales import (
    convolutions,
    indexing,
    losses,
    moves,
    norms,
    pointwise,
    pooling,
    products,
    reductions,
)
from counterfoil_core.arithmetic.grid.scales.shared import Rule
from counterfoil_core.operators.facts import Operator

_FAMILIES = (convolutions, indexing, losses, norms, pointwise, pooling, products, reductions)
RULES: Mapping[str, Rule] = {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
"""Every rule but one."""
MAGNITUDES = "magnitudes"
"""That one, which computes the operator itself."""


def scale_rule(entry: Operator) -> Rule:
    """Return the scale rule of a rounded operator."""
    return moves.over_magnitudes(entry.kind) if entry.scale == MAGNITUDES else RULES[entry.scale]
