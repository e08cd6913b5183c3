"""ATen operators that are single operations of the exact profiles, computed by their definitions.

What a program of such a profile may hold besides views and exact operators. Composite operators are no entries: they
are lowered to these before a program is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil_core.operators.convolutions import exact as convolutions
from counterfoil_core.operators.exact import Rule
from counterfoil_core.operators.indexing import exact as indexing
from counterfoil_core.operators.moves import exact as moves
from counterfoil_core.operators.pointwise import exact as pointwise
from counterfoil_core.operators.pooling import exact as pooling
from counterfoil_core.operators.products import exact as products
from counterfoil_core.operators.reductions import exact as reductions

_FAMILIES = (convolutions, indexing, moves, pointwise, pooling, products, reductions)
SINGLES: Mapping[str, Rule] = {kind: rule for family in _FAMILIES for kind, rule in family.SINGLES.items()}
"""By operator kind: the name without library and overload, for instance ``mm``."""
