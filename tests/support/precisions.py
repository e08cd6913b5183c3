"""Precision profiles of both sorts of margins."""

from __future__ import annotations

from counterfoil_core.base.precision import Precision

CALIBRATED = Precision(proven=False, margin_bits=50)
"""Margins that are measured, on a machine that errs by hardly anything: at nearly all sites smaller than what the error
bound asks."""
PROVEN = Precision(proven=True)
"""Margins that follow from the error bound of each site."""
COARSE = Precision(margin_bits=34)
"""The widest margins that there are: many decisions are logged."""
