"""What is known of each single operation of the exact profiles before it is computed, from types alone.

:mod:`counterfoil.arithmetic.exact.operators` has what computes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil.operators.convolutions import limits as convolutions
from counterfoil.operators.indexing import limits as indexing
from counterfoil.operators.limits import Limited
from counterfoil.operators.moves import limits as moves
from counterfoil.operators.pointwise import limits as pointwise
from counterfoil.operators.pooling import limits as pooling
from counterfoil.operators.products import limits as products
from counterfoil.operators.reductions import limits as reductions

_FAMILIES = (convolutions, indexing, moves, pointwise, pooling, products, reductions)
LIMITS: Mapping[str, Limited] = {kind: limited for family in _FAMILIES for kind, limited in family.LIMITS.items()}
"""By operator kind: the name without library and overload, for instance ``mm``."""
