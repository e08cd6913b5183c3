"""What is computed of each operator: its scale, its form where its sums are long, its definition in exact profiles.

Each family of operators has its own: of a new operator nothing is written down here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from counterfoil_core.arithmetic.families import (
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
from counterfoil_core.arithmetic.families.parts import Definition, Form, ScaleRule
from counterfoil_core.operators.facts import Operator
from counterfoil_core.operators.sums import Arguments

_FAMILIES = (convolutions, indexing, losses, moves, norms, pointwise, pooling, products, reductions)


def _joined(name: str) -> dict[str, Any]:
    """The tables of one name, of the families that have one."""
    return {key: value for family in _FAMILIES for key, value in getattr(family, name, {}).items()}


SCALES: Mapping[str, ScaleRule] = _joined("SCALES")
"""Every scale rule but one, by the name that an operator's declaration gives."""
MAGNITUDES = "magnitudes"
"""That one, which computes the operator itself."""
FORMS: Mapping[str, Form] = _joined("FORMS")
"""Forms of our own, by operator kind."""
LOOPS: Mapping[str, Callable[[Arguments], Any]] = convolutions.LOOPS
"""Compiled loops that compute an operator in the library's place, by operator: they take arguments by name, and give
None for those that the library must compute. Sums are added in another order than the library's, within the bound of
the use that has no form of our own."""
DEFINITIONS: Mapping[str, Definition] = _joined("DEFINITIONS")
"""What a program of an exact profile may hold besides views and exact operators, by operator kind, for instance ``mm``.
Composite operators are no entries: they are lowered to these before a program is written."""


def scale_rule(entry: Operator) -> ScaleRule:
    """Return the scale rule of a rounded operator."""
    return moves.over_magnitudes(entry.kind) if entry.scale == MAGNITUDES else SCALES[entry.scale]
