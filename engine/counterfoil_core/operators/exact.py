"""What computes single operations of the exact profiles: a rule for each, in the families' own modules ``exact``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from counterfoil_core.kernels.exact.forms import Profile

Arguments = Mapping[str, Any]
"""Arguments of an operator by name, with defaults; floating-point tensors are float32."""
Rule = Callable[[Arguments, Profile], Any]
"""Computes an operator by its definition."""
