"""A function that asserts, in a module whose assertions pytest leaves as they are written."""

from __future__ import annotations

import torch
from torch import Tensor


def asserts(x: Tensor) -> Tensor:
    """Return what is given; raises AssertionError unless it is finite and at most 9."""
    assert torch.isfinite(x).all() and not (x.abs() > 9).any(), "out of range"  # noqa: PT018
    return x
