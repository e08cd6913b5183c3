"""Other machines, imitated on this one, to record and to replay on."""

from __future__ import annotations

from dataclasses import replace

from counterfoil.audit.judgemachine import open_judge
from counterfoil_core.arithmetic.machine import Machine, OpenMachine
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb

IMITATIONS = (
    *PERTURBATIONS, "shuffled-1", "shuffled-2", "shuffled-3", "split-3", "split-8", "jitter-1", "reversed+jitter",
    "shuffled-4+jitter-2", "shuffled-5+split-4+jitter-3", "rewritten-1", "reversed+rewritten",
    "shuffled-6+rewritten-1+jitter-4",
)  # fmt: skip
"""Sixteen machines, for the tests that nobody is falsely accused."""


def imitated(name: str | None) -> OpenMachine:
    """Return what sets this machine up to record and replay as other hardware does; None as it is.

    Raises:
        ValueError: There is no perturbation of that name (:mod:`counterfoil_core.arithmetic.otherwise.perturbation`).
    """
    if name is not None:
        perturb(name)

    def opened(device: str, threads: int | None) -> Machine:
        return replace(open_judge(device, threads), imitates=name)

    return opened
