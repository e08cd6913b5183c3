"""Mixed precision of a script: an order says by its profile how a step is computed."""

from __future__ import annotations

from counterfoil.training.scripts.handover import Wanted
from counterfoil_core.base.errors import DataError

NEAR = {"bf16": ("float32-bfloat16", "float64-24"), "fp16": ("float64-24", "exact-20")}
"""The profiles that come near to a mixed precision, the nearest first."""
_WORDS = {"bf16": "bfloat16", "fp16": "float16"}


def profile_for(mixed: str | None, wanted: Wanted) -> list[str]:
    """See to it that a profile is named for a script that computes in mixed precision; returns notes on it.

    Args:
        mixed: ``bf16``, ``fp16``, or ``no``.
        wanted: Has the profile afterwards.

    Raises:
        DataError: No profile is named, and nobody can be asked; or there is none for this precision.
    """
    if mixed in (None, "no"):
        return []
    if mixed not in NEAR:
        raise DataError(f"The script computes in {mixed}.", remedy="No profile comes near to it: choose bf16, or none.")
    name = _WORDS[mixed]
    wanted.profile(
        f"The script computes in mixed precision ({name}), but how a step is computed is said by the order's profile.",
        NEAR[mixed],
    )
    return [f"Mixed precision ({name}) is left out: the order's profile says how a step is computed."]
