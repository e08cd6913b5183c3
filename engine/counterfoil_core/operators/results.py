"""The rule of each operator that has one: which type each of its results has (``operators/<family>/shapes.py``)."""

from __future__ import annotations

from counterfoil_core.operators.convolutions import shapes as convolutions
from counterfoil_core.operators.draws import shapes as draws
from counterfoil_core.operators.indexing import shapes as indexing
from counterfoil_core.operators.losses import shapes as losses
from counterfoil_core.operators.moves import shapes as moves
from counterfoil_core.operators.norms import shapes as norms
from counterfoil_core.operators.pointwise import shapes as pointwise
from counterfoil_core.operators.pooling import shapes as pooling
from counterfoil_core.operators.products import shapes as products
from counterfoil_core.operators.reductions import shapes as reductions
from counterfoil_core.operators.shaping import ShapeRule

_FAMILIES = (convolutions, draws, indexing, losses, moves, norms, pointwise, pooling, products, reductions)
SHAPE_RULES: dict[str, ShapeRule] = {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
"""By operator."""
