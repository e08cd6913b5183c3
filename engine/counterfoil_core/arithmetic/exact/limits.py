"""What is known of each single operation of the exact profiles before it is computed, from types alone.

:mod:`counterfoil_core.arithmetic.exact.operators` has what computes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil_core.operators.convolutions import facts as convolutions
from counterfoil_core.operators.indexing import facts as indexing
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.moves import limits as moves
from counterfoil_core.operators.pointwise import facts as pointwise
from counterfoil_core.operators.pooling import facts as pooling
from counterfoil_core.operators.products import facts as products
from counterfoil_core.operators.reductions import facts as reductions

_FAMILIES = (convolutions, indexing, moves, pointwise, pooling, products, reductions)
LIMITS: Mapping[str, Limited] = {kind: limited for family in _FAMILIES for kind, limited in family.LIMITS.items()}
"""By operator kind: the name without library and overload, for instance ``mm``."""
