"""Knowledge distillation: a small student learns what a larger teacher says of each image.

    cd examples/literature
    counterfoil order --from distillation:make_teacher --out teacher.cfoil
    counterfoil train teacher.cfoil --out teacher-run.cfoil --key trainer.pem
    counterfoil export teacher-run.cfoil --safetensors teacher
    counterfoil order --from distillation:make_student --out student.cfoil

Hinton, Vinyals and Dean 2015, "Distilling the Knowledge in a Neural Network" (arXiv 1503.02531), section 2: the
student's probabilities at a temperature are drawn to the teacher's, and its own to the labels. The teacher's weights
lie in the student's order and stay as they are, so a verdict on the student's run names the teacher, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from counterfoil import CustomJob
from counterfoil_resources.digits import load_digits

TEMPERATURE = 4.0
"""By what the logits are divided before they are compared."""
SOFT = 0.9
"""Weight of the teacher's probabilities; the labels have the rest."""
TEACHER = Path("teacher/model.safetensors")
"""What `counterfoil export` wrote of the teacher's run."""


def perceptron(width: int) -> nn.Sequential:
    """A network of two hidden layers: images ``[N, 64]`` to logits ``[N, 10]``."""
    return nn.Sequential(
        nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )  # fmt: skip


def pixels(batch: Mapping[str, Tensor]) -> Tensor:
    """The images as float32 ``[N, 64]`` in [0, 1]."""
    return batch["images"].to(torch.float32).flatten(1) * (1 / 16)


class Pair(nn.Module):
    """The student, and the teacher, which is not trained."""

    def __init__(self, student: nn.Module, teacher: nn.Module) -> None:
        super().__init__()
        self.student = student
        self.teacher = teacher.requires_grad_(False)


def distilled(model: Pair, batch: Mapping[str, Tensor]) -> Tensor:
    """The student's loss: cross entropies with the teacher's probabilities and with the labels.

    The first is a divergence, which differs from the cross entropy by a constant; it is multiplied by the square of
    the temperature, so that its gradient has the size of the second's.
    """
    images = pixels(batch)
    said = model.student(images)
    soft = functional.kl_div(
        functional.log_softmax(said / TEMPERATURE, 1),
        functional.softmax(model.teacher(images) / TEMPERATURE, 1),
        reduction="batchmean",
    )
    hard = functional.cross_entropy(said, batch["labels"])
    return SOFT * TEMPERATURE**2 * soft + (1 - SOFT) * hard


def learned(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The teacher's own loss."""
    return functional.cross_entropy(model(pixels(batch)), batch["labels"])


def job_of(
    title: str, model: nn.Module, objective: Callable[[Any, Mapping[str, Tensor]], Tensor], steps: int
) -> CustomJob:
    """A job on the digits, with what both trainings have in common."""
    images, labels = load_digits()
    return CustomJob(
        title=title,
        model=model,
        objective=objective,
        rule=torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=2e-3),
        data={"images": images, "labels": labels},
        steps=steps,
        batch_size=32,
        seed=1,
        checkpoint_every=5,
    )


def make_teacher(steps: int = 100) -> CustomJob:
    """The teacher's job, of so many steps."""
    torch.manual_seed(0)
    return job_of("Handwritten digits, the teacher", perceptron(64), learned, steps)


def make_student(steps: int = 20, teacher: nn.Module | None = None) -> CustomJob:
    """The student's job, of so many steps; the teacher is read from :data:`TEACHER` unless given."""
    if teacher is None:
        teacher = perceptron(64)
        teacher.load_state_dict(load_file(TEACHER))
    torch.manual_seed(1)
    return job_of("Handwritten digits, distilled", Pair(perceptron(16), teacher), distilled, steps)
