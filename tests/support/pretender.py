"""A trainer who poisons the labels of a batch, and signs the fingerprint of the ordered ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.signing.keys import SigningKey
from support.jobs import record_run, recorded_by


def record_pretender(order: Path, run: Path, key: SigningKey, step: int) -> Path:
    """Record a run whose labels are flipped in ``step``, behind the fingerprint of the ordered labels."""
    ordered: dict[str, Tensor] = {}

    def tamper(inputs: StepInputs) -> StepInputs:
        ordered["labels"] = inputs.batch["labels"]
        return LabelFlip(step)(inputs)

    class Pretending(RecordingRounder):
        def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> None:
            name = self._program.places[place].name
            super().watch(place, ordered.get(name, value), arguments)

    with recorded_by(Pretending):
        return record_run(order, run, key, tamper=tamper)
