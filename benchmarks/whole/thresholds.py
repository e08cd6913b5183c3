"""Margins compared: those that are proven for each operator of a program, and fixed ones.

The paper's trainer logs a value whose rounding other hardware could turn, and finds by trial how close to a midpoint
that is, for each layer ("adaptive thresholds"). Ours follows from an error bound of each operator. A margin that is too
wide logs what no machine would turn; one that is too narrow lets a replay elsewhere end in another state.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.whole.pieces import Pieces
from counterfoil_core.base.precision import Precision

PROVEN = "proven"
FIXED = (50, 47, 44, 41, 38, 35)
"""m of each fixed margin 2^(E-m), from the narrowest that float64 allows."""
MARGINS = (PROVEN, *(f"m{bits}" for bits in FIXED))
STEPS = 2
"""Steps of each training."""


def precision_of(margin: str) -> Precision:
    """Return the precision of a margin by its name in :data:`MARGINS`."""
    return Precision() if margin == PROVEN else Precision(proven=False, margin_bits=int(margin[1:]))


def pieces_of_margin(whole: Pieces, margin: str) -> tuple[Pieces, Precision]:
    """Return the files of a short training with a margin, and its precision.

    Args:
        whole: Those of the whole training.
        margin: A name of :data:`MARGINS`.
    """
    short = replace(whole.job, steps=STEPS, checkpoint_every=STEPS)
    return replace(whole, folder=whole.folder / margin, job=short), precision_of(margin)
