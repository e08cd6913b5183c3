"""The rule of each operator that has one: which type each of its results has (``operators/<family>/shapes.py``)."""

from __future__ import annotations

from counterfoil.operators.convolutions import shapes as convolutions
from counterfoil.operators.draws import shapes as draws
from counterfoil.operators.indexing import shapes as indexing
from counterfoil.operators.losses import shapes as losses
from counterfoil.operators.moves import shapes as moves
from counterfoil.operators.norms import shapes as norms
from counterfoil.operators.pointwise import shapes as pointwise
from counterfoil.operators.pooling import shapes as pooling
from counterfoil.operators.products import shapes as products
from counterfoil.operators.reductions import shapes as reductions
from counterfoil.operators.shaping import ShapeRule

_FAMILIES = (convolutions, draws, indexing, losses, moves, norms, pointwise, pooling, products, reductions)
SHAPE_RULES: dict[str, ShapeRule] = {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
"""By operator."""
