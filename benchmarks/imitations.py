"""Other machines, imitated on this one, to record and to replay on; and what libraries are held to in a process."""

from __future__ import annotations

from collections.abc import Mapping
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

_AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "as it is": {},
    "AVX-512 without 8-bit dot products": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "AVX2": _AVX2,
    "SSE4": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "MKL_CBWR": "COMPATIBLE",  # MKL takes no other name on processors that are not Intel's
    },
}
"""Environments of a process; a library that knows none of its names goes on as before."""
INSTRUCTION_SETS: Mapping[str, Mapping[str, str]] = {
    "no vector instructions": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "SSE4.2 in matrix products": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "AVX2": _AVX2,
}
"""The same, one after the other."""


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
