"""What the tasks in a box need, loaded before the box is closed."""

from __future__ import annotations

import counterfoil_core.hearing.adjudicator
import counterfoil_core.hearing.session
import counterfoil_core.signing.keys  # noqa: F401
from counterfoil_core.kernels.cache import lacks_kernels

__all__ = ["lacks_kernels"]
