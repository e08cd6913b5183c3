"""A trainer whose recorder changes single rounded values, consistently.

Everything that follows from them is computed from the changed ones, and the fingerprint belongs to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.neighbours import neighbours
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.kernels.cpu.rounding import mix_values
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.program.graph import Program


class Bent(RecordingRounder):
    """Changes elements of one rounding site in one step, or in several."""

    step: int | range = 3
    site = 0
    choose: Callable[[np.ndarray, np.ndarray, Grid], dict[int, float]]
    steps_begun = 0
    changed: dict[int, float]

    def begin_step(self, key: int) -> None:
        type(self).steps_begun += 1
        super().begin_step(key)

    def _round(self, node: Any, exponent: int, flat: Tensor) -> int:
        before = flat.double().numpy().copy()
        fingerprint = super()._round(node, exponent, flat)
        steps = range(self.step, self.step + 1) if isinstance(self.step, int) else self.step
        if type(self).steps_begun not in steps or self._site != self.site:
            return fingerprint
        grid, after = self._grid(self._site, exponent), flat.numpy().copy()
        type(self).changed = type(self).choose(before, after, grid)
        indices = np.array(sorted(self.changed), np.int64)
        values = np.array([self.changed[int(index)] for index in indices])
        flat[torch.from_numpy(indices)] = torch.from_numpy(values)
        log = self.logs[-1]
        kept = ~np.isin(log.indices, indices)
        self.logs[-1] = SiteLog(log.exponent, log.indices[kept], log.ups[kept])
        key = np.uint64(self._site_key)
        difference = int(mix_values(values, indices, key)) - int(mix_values(after[indices], indices, key))
        return (fingerprint + difference) % 2**64


def bent(name: str, **attributes: Any) -> type[Bent]:
    wrapped = {key: staticmethod(value) if callable(value) else value for key, value in attributes.items()}
    return type(name, (Bent,), wrapped)


def rounding_site(program: Program, kind: str) -> int:
    return next(n for n, site in enumerate(program.sites) if program.nodes[site.node].entry.kind == kind)


def nearest_midpoint(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
    """Round the element that lies nearest to a midpoint to the other side, and do not log it."""
    beside = neighbours(before, after, grid)
    index = int(np.argmin(np.abs(beside.distance)))
    return {index: float(beside.other[index])}
