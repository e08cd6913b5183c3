"""The rule of each operator that has one: which type each of its results has (``operators/<family>/shapes.py``)."""

from __future__ import annotations

from counterfoil_core.operators.convolutions import facts as convolutions
from counterfoil_core.operators.draws import facts as draws
from counterfoil_core.operators.indexing import facts as indexing
from counterfoil_core.operators.losses import facts as losses
from counterfoil_core.operators.moves import facts as moves
from counterfoil_core.operators.norms import facts as norms
from counterfoil_core.operators.pointwise import facts as pointwise
from counterfoil_core.operators.pooling import facts as pooling
from counterfoil_core.operators.products import facts as products
from counterfoil_core.operators.reductions import facts as reductions
from counterfoil_core.operators.shaperules import ShapeRule

_FAMILIES = (convolutions, draws, indexing, losses, moves, norms, pointwise, pooling, products, reductions)
SHAPE_RULES: dict[str, ShapeRule] = {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
"""By operator."""
