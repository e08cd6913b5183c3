"""Nets whose gradients are small and are added to zeros, under an exact profile: fraud shows, honest machines agree.

Gradients of pooling, of interpolation, of samples between pixels and of local normalisation are scattered: what they
add is of 1e-3 to 1e-8, onto zeros. Every machine must take the same exponent there, and so must whoever judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.imitations import IMITATIONS
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from support import jobs as jobs_module
from support.jobs import Job, audited, draw, own_order, record_job, record_run, replaced

CLASSES, ROWS, SIDE, STEP = 4, 24, 8, 3
SCALES = (1.0, 1e-3, 1e-5, 1e-8)
"""What the loss is multiplied by, and with it every gradient."""
MACHINES = ("reversed", "rewritten", "shuffled-5+split-4+jitter-3", IMITATIONS[-1])


class Segments(nn.Module):
    """A net that gives each pixel of an image a class."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.turn = nn.Parameter(torch.tensor([[1.0, 0.1, 0.05], [-0.1, 0.9, -0.05]]))
        self.classes = nn.Conv2d(4, CLASSES, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, 2, 8, 8]`` to logits ``[N, 4, 8, 8]``."""
        hidden = functional.local_response_norm(functional.relu(self.down(images)), 3)
        coarse = functional.adaptive_avg_pool2d(hidden, 3)
        wide = functional.interpolate(coarse, (SIDE, SIDE), mode="bilinear")
        places = functional.affine_grid(self.turn.expand(len(images), 2, 3), list(wide.shape), align_corners=False)
        logits: Tensor = self.classes(functional.grid_sample(wide, places, align_corners=False))
        return logits


def loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Cross entropy of each pixel, of the magnitude that the data say."""
    return functional.cross_entropy(model(batch["x"]), batch["labels"]) * batch["scale"][0]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Callable[[float], Job]:
    """An honest run for a scale."""
    labels = np.arange(ROWS * SIDE * SIDE).reshape(ROWS, SIDE, SIDE) // 5 % CLASSES
    images, captured = draw((ROWS, 2, SIDE, SIDE), 1), list[CapturedStep]()

    def once(*given: Any, **settings: Any) -> CapturedStep:
        if not captured:
            captured.append(capture(*given, **settings))
        return captured[0]

    def recorded(scale: float) -> Job:
        data = {"x": images, "labels": labels, "scale": np.full(ROWS, scale, np.float32)}
        with replaced(jobs_module, "capture", once):
            draft = own_order(Segments(), loss, data, steps=3, batch_size=2, precision=ExactPrecision(20))
        return record_job(tmp_path_factory.mktemp("small"), draft, trainer_key)

    return cache(recorded)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scale", SCALES)
def test_poisoned_labels_are_disputed(
    job: Callable[[float], Job], tmp_path: Path, trainer_key: SigningKey, scale: float
) -> None:
    order = job(scale).order
    run = record_run(order, tmp_path / "run.cfoil", trainer_key, tamper=LabelFlip(STEP, classes=CLASSES))
    report = audited(run, order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert report.dispute.finding is not None
    assert (report.dispute.step, report.dispute.finding.right) == (STEP, Right.REPLAY)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scale", SCALES)
def test_honest_machines_are_verified(job: Callable[[float], Job], scale: float) -> None:
    """The control."""
    honest = job(scale)
    for machine in (None, *MACHINES):
        report = audited(honest.run, honest.order, perturbation=machine).report
        assert report.outcome is Outcome.VERIFIED, (machine, report.reason)
