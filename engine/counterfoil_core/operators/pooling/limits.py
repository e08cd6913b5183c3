"""How many gradients of maxima meet in one element: single operations of the exact profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

from counterfoil_core.operators.limits import Limited


def _meeting(axes: int) -> Limited:
    """All gradients of a plane may go to one place of it."""
    return Limited(terms=lambda arguments: (math.prod(arguments["grad_output"].shape[-axes:]),), indexed=True)


LIMITS: Mapping[str, Limited] = {
    "max_pool2d_with_indices_backward": _meeting(2),
    "adaptive_max_pool2d_backward": _meeting(2),
    "max_pool3d_with_indices_backward": _meeting(3),
}
"""By operator kind."""
