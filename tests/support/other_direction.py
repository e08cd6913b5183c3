"""A run in which one logged decision was taken the other way, as other hardware does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.neighbours import neighbours
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.kernels.cpu.rounding import mix_values
from counterfoil_core.signing.keys import SigningKey
from support.jobs import record_run, recorded_by


class OtherDirection(RecordingRounder):
    """Rounds one logged value to its other neighbour, as hardware with another last bit does."""

    done = False

    def _round(self, node: Any, exponent: int, flat: torch.Tensor) -> int:
        before = flat.double().numpy().copy()
        fingerprint = super()._round(node, exponent, flat)
        log = self.logs[-1]
        if self.done or not len(log.indices):
            return fingerprint
        type(self).done = True
        where = log.indices[:1]
        old = flat.numpy()[where].astype(np.float64)
        new = neighbours(before[where], old, self._grid(self._site, exponent)).other
        flat[torch.from_numpy(where)] = torch.from_numpy(new).to(flat)
        ups = log.ups.copy()
        ups[0] = not ups[0]
        self.logs[-1] = SiteLog(log.exponent, log.indices, ups)
        key = np.uint64(self._site_key)
        return (fingerprint + int(mix_values(new, where, key)) - int(mix_values(old, where, key))) % 2**64


def record_other_direction(order: Path, run: Path, key: SigningKey, **settings: Any) -> Path:
    """Record a run in which the first decision of the first log goes the other way."""
    OtherDirection.done = False
    with recorded_by(OtherDirection):
        record_run(order, run, key, **settings)
    assert OtherDirection.done
    return run
